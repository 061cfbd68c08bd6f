"""What the store promises: declarations, keys, ingest, versions, erasure, migrations."""

from tests.requirements.promise import Promise

PROMISES: dict[str, Promise] = {
    # meaning
    "store.meaning.model": Promise(
        source="issue 15: meaning, offline",
        says="Texts that say the same in other words have vectors that are near.",
    ),
    "store.meaning.damaged": Promise(
        source="issue 15: bad input",
        says="A model that is damaged is never used; search goes on by words, and it can be installed again.",
    ),
    "store.meaning.catch-up": Promise(
        source="issue 15: meaning, offline",
        says="Every record of a declared meaning is indexed once, and again when it has changed.",
    ),
    "store.meaning.erased": Promise(
        source="issue 15: meaning, offline",
        says="A vector is erased with its record, and stands in no byte of any file afterwards.",
    ),
    "store.meaning.doctor": Promise(
        source="issue 15: meaning, offline",
        says="`pdpp doctor` finds vectors that belong to no record or are missing in part, and makes them anew.",
    ),
    "store.meaning.other-model": Promise(
        source="issue 15: bad input",
        says="Vectors of another model, or made in another way, are never compared: they are made anew.",
    ),
    "store.declarations.shape": Promise(
        source="record model: source declaration",
        says="A declaration with a missing, extra or mistyped member is refused with the place of the fault.",
    ),
    "store.declarations.semantics": Promise(
        source="record model: source declaration",
        says="Duplicates, unknown references and wrong field types are refused, each with code, path and reference.",
    ),
    "store.declarations.local-references": Promise(
        source="record model: source declaration",
        says="A schema that refers outside itself is refused, and nothing is fetched.",
    ),
    "store.declarations.bounded-names": Promise(
        source="design: numbers",
        says="Stream and field names have at most 64 characters.",
    ),
    "store.declarations.snapshot": Promise(
        source="record model: source declaration",
        says="The exact declaration of a consent is kept and used for its grant after a newer one arrives.",
    ),
    "store.declarations.equivocation": Promise(
        source="record model: source declaration",
        says="The same source and version with other content is refused, and the first stays.",
    ),
    "store.keys.canonical": Promise(
        source="record model: records",
        says="A single key is its string, numbers included, and a compound key the short JSON list of its strings.",
    ),
    "store.keys.identity": Promise(
        source="record model: records",
        says="A record whose key differs from its primary key fields is rejected with `invalid_record_identity`.",
    ),
    "store.keys.reachable": Promise(
        source="design: one handle",
        says="A key whose handle would be longer than 512 bytes, or that holds a dot path component, is rejected.",
        ruling=(5,),
    ),
    "store.connections.short-id": Promise(
        source="ruling 45",
        says="A new connection is called by its connector key and five letters that cannot be mistaken, made from the "
        "digest that names it; where another account has or had that id it is lengthened, and ids from before stay.",
        ruling=(45,),
    ),
    "store.connections.stable-id": Promise(
        source="record model: identity",
        says="The same account of the same connector always gets the same `connection_id`.",
    ),
    "store.ingest.validated": Promise(
        source="record model: records",
        says="A record that breaks the schema of its stream is rejected with `invalid_record`.",
    ),
    "store.ingest.rejections": Promise(
        source="record model: ingest",
        says="A bad line is rejected with its index, code and receipt, and the lines around it are stored.",
    ),
    "store.ingest.malformed-lines": Promise(
        source="record model: ingest",
        says="Broken JSON is `malformed_ndjson`, bytes that are not UTF-8 `invalid_utf8`, and blank lines are skipped.",
    ),
    "store.ingest.idempotent": Promise(
        source="record model: ingest",
        says="The same data again, in any order of keys, makes no new version.",
        ruling=(22,),
    ),
    "store.ingest.append-only": Promise(
        source="record model: records",
        says="In an `append_only` stream the same key with other data is rejected with a receipt, and the first stays.",
        ruling=(21,),
    ),
    "store.ingest.atomic": Promise(
        source="record model: ingest",
        says="A failure in the middle of a batch leaves neither half a record nor an index entry without its record.",
    ),
    "store.crash.kill-write": Promise(
        source="design: the embedded store",
        says="After kill -9 of a writer every acknowledged batch is there and findable, and no batch is there by half.",
    ),
    "store.crash.kill-import": Promise(
        source="design: the embedded store",
        says="After kill -9 of an import what is there is the file up to the end of a batch.",
    ),
    "store.crash.run-again": Promise(
        source="design: commands",
        says="An import that was killed and is run again gives the same records as one that nobody disturbed.",
    ),
    "store.crash.kill-server": Promise(
        source="design: the embedded store",
        says="After kill -9 of a server all that it acknowledged, deliveries and erasures, has happened whole.",
    ),
    "store.crash.kill-removal": Promise(
        source="design: the embedded store",
        says="After kill -9 of a removal the connection is there whole or gone, and once gone no byte of it is left.",
    ),
    "store.crash.kill-migration": Promise(
        source="design: the embedded store",
        says="After kill -9 of a migration the next start finds the old database or the new one, and all records.",
    ),
    "store.crash.kill-backup": Promise(
        source="design: commands",
        says="After kill -9 of a backup the one before can still be restored, and running it again finishes it.",
    ),
    "store.disk.full": Promise(
        source="design: the embedded store",
        says="On a full disk writing is refused with a remedy, nothing is kept by half, and with room it works again.",
    ),
    "store.disk.read-only": Promise(
        source="design: no log line, no record",
        says="A home that cannot be written to refuses what it cannot log, in words, and never with a traceback.",
    ),
    "store.writers.two": Promise(
        source="design: the embedded store",
        says="Two processes that write at the same time wait for each other, and nothing of either is lost.",
    ),
    "store.writers.wait-ends": Promise(
        source="design: the embedded store",
        says="A writer that finds the database taken for too long is refused with a remedy, and stored nothing.",
    ),
    "store.model.any-order": Promise(
        source="design: the embedded store",
        says="After any sequence of writes, grants, revocations, reads and crashes every read equals a plain model.",
    ),
    "store.reads.asked-before": Promise(
        source="decision 0009: one snapshot per read",
        says="What a process was asked before changes no byte of an answer, whoever wrote what meanwhile.",
    ),
    "store.versions.monotonic": Promise(
        source="record model: ingest",
        says="Each effective change takes the next number of one clock, so that no two changes share one.",
    ),
    "store.versions.history": Promise(
        source="record model: records",
        says="Every effective change is kept as a change row beside the current record.",
    ),
    "store.changes.converge": Promise(
        source="resource server contract: change tracking",
        says="Whoever applies a change feed, from the beginning and then from bookmarks, holds what the grant shows, "
        "whatever was written in between.",
        ruling=(11, 17),
    ),
    "store.changes.retention": Promise(
        source="resource server contract: change tracking",
        says="History is kept for the number of changes that the setting names, and bookmarks within it stay good.",
    ),
    "store.deletes.tombstone": Promise(
        source="record model: ingest",
        says="A deletion leaves a tombstone with its time and no data, and deleting again changes nothing.",
    ),
    "store.index.same-transaction": Promise(
        source="design: the embedded store",
        says="An acknowledged record is found by its words at once, and a changed one no longer by its old words.",
    ),
    "store.index.proven-offsets": Promise(
        source="design: evidence is proven",
        says="The offsets that the index gives for a match are where the word stands in the stored text.",
        ruling=(9,),
    ),
    "store.erasure.index": Promise(
        source="design: the embedded store",
        says="After a deletion the words of a record stand in no byte of the full-text index.",
    ),
    "store.erasure.everywhere": Promise(
        source="design: the embedded store",
        says="After an erasure the values of a record stand in no byte of the home, history included; only the log of "
        "disclosures keeps the ids of records that were shown, and a deleted record its key.",
    ),
    "store.removal.grants": Promise(
        source="design: commands",
        says="A removed connection is gone from every answer at once, and grants that name it show what is left.",
    ),
    "store.removal.again": Promise(
        source="design: commands",
        says="What was removed can be brought in again, as new: no number of old points at it.",
    ),
    "store.search.hidden-time": Promise(
        source="design: D6",
        says="What a read looks at is bounded by what is visible: named records are read one by one, a filter stays "
        "inside the grant's time, a prefix is asked for by the words that begin with it.",
    ),
    "store.search.filters-by-index": Promise(
        source="decision 0008",
        says="A filter on the time of a stream is a shorter stretch of it, one on whole values is answered by their "
        "index; what passes is the same as by a look at every record.",
    ),
    "store.search.candidates": Promise(
        source="decision 0008",
        says="Of too many matches no more are scored than the limit says: the newest, or where the grant hides their "
        "time the last by their keys; counts that are kept are made anew when the stream changes.",
    ),
    "store.search.fullest": Promise(
        source="decision 0008",
        says="Of a single word that too many records hold, also those are scored that hold it most often, however old "
        "they are; a hidden time chooses none of them, and of as full ones that do not all fit none is taken.",
    ),
    "store.deadlines.query": Promise(
        source="design: the embedded store",
        says="A query past its deadline is stopped and refused, inside the word index too, and the connection serves "
        "the next one; what the owner writes has no deadline.",
    ),
    "store.migrations.refuse-newer": Promise(
        source="design: the embedded store",
        says="A database of a newer version is refused by name and not touched.",
    ),
    "store.migrations.words": Promise(
        source="decision 0008",
        says="Where a new version keeps words in another way, the index is made anew from the records, once, in the "
        "transaction of the migration, and whoever waits is told.",
    ),
    "store.migrations.once": Promise(
        source="design: the embedded store",
        says="Opening a database again applies no migration twice.",
    ),
    "store.migrations.backup": Promise(
        source="design: the embedded store",
        says="A migration makes a backup before it changes anything.",
    ),
    "store.backup.asked": Promise(
        source="issue 17: activity in sentences",
        says="A backup holds what was asked, sealed as it was.",
    ),
    "store.backup.restore": Promise(
        source="design: commands",
        says="A restored backup answers every read as the original did.",
    ),
    "store.backup.whole-batches": Promise(
        source="design: the embedded store",
        says="A backup made while records arrive holds whole batches only.",
    ),
    "store.backup.log": Promise(
        source="design: no log line, no record",
        says="The copy of the log grows by whole lines that continue it; a log changed since never replaces its copy.",
    ),
    "store.engines.same-answers": Promise(
        source="design: when one machine is not enough",
        says="What is ingested, fetched, paged and searched has the same answers on every engine, byte for byte.",
    ),
    "store.engines.one-owner": Promise(
        source="design: when one machine is not enough",
        says="On PostgreSQL a transaction sees no row of an owner whom it did not name.",
    ),
    "store.engines.values": Promise(
        source="design: when one machine is not enough",
        says="Values have one order on every engine: numbers by size, then texts by their bytes, then what is none.",
    ),
    "store.engines.setting": Promise(
        source="design: when one machine is not enough",
        says="PDPP_DATABASE_URL puts everything durable into PostgreSQL; a lost connection is made again.",
    ),
    "store.engines.refused": Promise(
        source="design: when one machine is not enough",
        says="A database that is away, damaged, full, too old, newer, read-only, without rights or opened above row "
        "security is refused by name with what to do, never with its password.",
    ),
    "store.engines.pool": Promise(
        source="design: when one machine is not enough",
        says="A process has so many connections to PostgreSQL and no more; hosts and TLS are those of its address.",
    ),
    "store.engines.round-trips": Promise(
        source="issue 16: the same promises",
        says="On PostgreSQL a fetch of a known client waits twice for the database: who asks and what it may read, "
        "then the line of the log. What it may not read is not asked for; what is asked again is not planned again.",
    ),
    "store.engines.one-snapshot": Promise(
        source="issue 16: the same promises",
        says="On PostgreSQL too everything that one read asks is of one moment: whoever asks more than was said ahead "
        "is answered out of a snapshot in which that is the same, or refused.",
    ),
    "store.engines.rows-read": Promise(
        source="issue 16: numbers",
        says="On PostgreSQL a fetch, a page and a search of a rare word look at few rows, also before it counted any.",
    ),
    "store.engines.batches": Promise(
        source="issue 16: the same promises",
        says="On PostgreSQL a batch of new records waits for the database as often as a few of them do.",
    ),
    "store.engines.nul": Promise(
        source="issue 16: the same promises",
        says="A NUL in what is asked is no failure on any engine: no record has one; a client's state keeps its own.",
    ),
    "store.engines.limits": Promise(
        source="design: when one machine is not enough",
        says="Limits, throttles and lockouts hold over all processes of a server; the rate of a token within a second.",
    ),
    "store.engines.balanced": Promise(
        source="design: when one machine is not enough",
        says="Two servers on one database pass the hosted scenarios behind a balancer that alternates, in both eras.",
    ),
    "store.engines.killed": Promise(
        source="design: when one machine is not enough",
        says="No acknowledged record and no line of a read is lost when the database or a server is killed under load.",
    ),
    "store.engines.promoted": Promise(
        source="issue 16: numbers",
        says="Where a standby follows synchronously, it takes over under load and nothing acknowledged is lost.",
    ),
    "store.engines.log": Promise(
        source="design: when one machine is not enough",
        says="On PostgreSQL a line of the log is committed there before its answer leaves, chained for each process.",
    ),
    "store.engines.keys": Promise(
        source="design: when one machine is not enough",
        says="On PostgreSQL keys are kept wrapped by one that is not in the database; a lost home is not missed.",
    ),
    "store.engines.upgrades": Promise(
        source="issue 16: many processes",
        says="A database of an older version gets what is missing when it is opened; the version before works on "
        "beside the next one, and a schema that is newer than that is refused by name.",
    ),
    "store.engines.doctor": Promise(
        source="issue 16: operating it",
        says="On PostgreSQL `pdpp doctor` says its version, role, row security, replicas, dead rows and what keeps "
        "erased ones, and looks at one owner's share and log.",
    ),
    "store.engines.restored": Promise(
        source="issue 16: operating it",
        says="A database that was dumped and restored by its own tools answers old tokens and cursors; its log holds.",
    ),
    "store.engines.deployed": Promise(
        source="issue 16: operating it",
        says="The examples for compose and Kubernetes name settings, probes, secrets and files that there are.",
    ),
    "store.engines.partitioned": Promise(
        source="issue 16: many owners",
        says="The owner leads every key: by the statements of the manual large tables become partitions by owner, each "
        "with row security of its own, and everything answers as before.",
    ),
    "store.move.whole": Promise(
        source="issue 16: moving",
        says="`pdpp move` takes everything durable from a home to PostgreSQL and back: every row, line, key and byte "
        "is compared, and tokens, cursors and answers of before are as they were.",
    ),
    "store.move.resumed": Promise(
        source="issue 16: moving",
        says="A move that was killed is gone on with; nobody finds what is not there whole; once more changes nothing.",
    ),
    "store.move.refused": Promise(
        source="issue 16: moving",
        says="A move into other data, of a home in use, to a database that is away or to a wrong address is refused "
        "with the reason, and never with a password.",
    ),
    "store.owners.many": Promise(
        source="issue 16: many owners",
        says="A process keeps ready what answers for the owners who came last; the rest is closed, unless somebody is "
        "in it or something goes on there.",
    ),
    "store.owners.same-bytes": Promise(
        source="issue 16: two worlds across owners",
        says="Whatever another owner of the database has and does, every answer and every line of the log is the same.",
    ),
    "store.owners.sign-in": Promise(
        source="issue 16: many owners",
        says="Where there are several owners each signs in by name and password, and sees nothing but their own.",
    ),
    "store.owners.invitation": Promise(
        source="issue 16: many owners",
        says="An owner chooses a password by a link that is good once; a new link resets it.",
    ),
    "store.owners.apart": Promise(
        source="issue 16: many owners",
        says="A token, cursor, handle, code, link or session of one owner is nothing at another's.",
    ),
    "store.owners.clients": Promise(
        source="issue 16: many owners",
        says="A client registers before anybody is known; what it asks then belongs to whoever signs in.",
    ),
    "store.owners.row-security": Promise(
        source="issue 16: many owners",
        says="Every table of owners has forced row security; without its policy the tests of it fail.",
    ),
    "store.owners.removed": Promise(
        source="issue 16: many owners",
        says="Erasing an owner erases every row of theirs, counted table by table, and no row of another.",
    ),
    "store.owners.limits": Promise(
        source="issue 16: many owners",
        says="Records, bytes, connections and requests can be limited for each owner; what is too much is refused.",
    ),
    "store.owners.metrics": Promise(
        source="issue 16: operating it",
        says="The numbers of a server tell how much each owner asks, by number and without a name.",
    ),
    "store.owners.reach": Promise(
        source="issue 16: many owners",
        says="No owner can make a server that several share reach for an address: no page follows an account there.",
    ),
    "store.owners.command": Promise(
        source="issue 16: many owners",
        says="`pdpp owners` adds, invites, lists, exports and removes; on a home that is a folder it says why not.",
    ),
    "store.blobs.content-addressed": Promise(
        source="record model: ingest",
        says="A blob is stored once under its digest and bound to its record in the same transaction.",
    ),
    "store.blobs.erased": Promise(
        source="design: the embedded store",
        says="A blob that no record refers to or was sent with any longer is in no file of the home.",
    ),
    "store.blobs.whole-or-nothing": Promise(
        source="design: the embedded store",
        says="A process that dies while it keeps or erases a blob leaves nothing of it that can be read.",
    ),
}

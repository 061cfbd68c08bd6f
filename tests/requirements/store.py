"""What the store promises: declarations, keys, ingest, versions, erasure, migrations."""

from tests.requirements import later
from tests.requirements.promise import Promise

PROMISES: dict[str, Promise] = {
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
    "store.versions.monotonic": Promise(
        source="record model: ingest",
        says="Each effective change takes the next version of its connection and stream, without gaps.",
    ),
    "store.versions.history": Promise(
        source="record model: records",
        says="Every effective change is kept as a change row beside the current record.",
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
        says="After an erasure the values of a record stand in no byte of the home, history included.",
        deferred="Erasure of history comes with the owner's doors for writing.",
    ),
    "store.deadlines.query": Promise(
        source="design: the embedded store",
        says="A query past its deadline is stopped and refused, and the connection serves the next one.",
    ),
    "store.migrations.refuse-newer": Promise(
        source="design: the embedded store",
        says="A database of a newer version is refused by name and not touched.",
    ),
    "store.migrations.once": Promise(
        source="design: the embedded store",
        says="Opening a database again applies no migration twice.",
    ),
    "store.migrations.backup": Promise(
        source="design: the embedded store",
        says="A migration makes a backup before it changes anything.",
        deferred="There is only one version of the database so far.",
    ),
    "store.backup.restore": Promise(
        source="design: commands",
        says="A restored backup answers every read as the original did.",
        deferred=later.OPERATIONS,
    ),
    "store.blobs.content-addressed": Promise(
        source="record model: ingest",
        says="A blob is stored once under its digest and bound to its record in the same transaction.",
        deferred=later.BLOBS,
    ),
}

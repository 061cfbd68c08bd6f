"""What importing promises: a file that the owner has becomes records, and nothing is lost in silence."""

from tests.requirements.promise import Promise

PROMISES: dict[str, Promise] = {
    "imp.ndjson.own-data": Promise(
        source="design: commands",
        says="An NDJSON file with a declaration and a name becomes a connection whose records can be read.",
    ),
    "imp.ndjson.again": Promise(
        source="design: commands",
        says="Importing the same file again stores nothing twice and counts its records as unchanged.",
    ),
    "imp.ndjson.rejected-lines": Promise(
        source="record model: ingest",
        says="A bad line is reported with file, line and reason, and the other lines are imported.",
    ),
    "imp.ndjson.bad-declaration": Promise(
        source="record model: source declaration",
        says="A faulty declaration is refused with every fault and its place, and nothing is imported.",
    ),
    "imp.ndjson.summary": Promise(
        source="design: commands",
        says="With --json one line for each connection counts accepted, unchanged and rejected records.",
    ),
    "imp.files.recognised": Promise(
        source="design: commands",
        says="An export is recognised by its content, and what was found is shown before it is imported.",
    ),
    "imp.files.opened-once": Promise(
        source="issue 13",
        says="To recognise an export each of its files is opened once, however many importers there are; "
        "pictures, recordings and films not at all.",
    ),
    "imp.files.every-part": Promise(
        source="issue 18",
        says="Of every part of an export that is not imported it is said what it seems to be, or that nobody knows.",
    ),
    "imp.files.expected-records": Promise(
        source="design: commands",
        says="Each importer turns its sample file into exactly the records that stand beside it.",
    ),
    "imp.files.same-everywhere": Promise(
        source="design: commands",
        says="A file, a folder and a zip are read alike: the same names in the same order, without litter and links.",
    ),
    "imp.files.progress": Promise(
        source="design: commands",
        says="Every byte that is read to recognise or to import is counted and told, so that progress shows.",
    ),
    "imp.files.unsafe-zip": Promise(
        source="design: commands",
        says="A zip with a member that no export has (a path that leads out, a link, a secret, a bomb) is refused by "
        "its name before anything of it is read.",
    ),
    "imp.files.damaged": Promise(
        source="design: commands", says="A file that is cut off or damaged is named, and what else is whole is kept."
    ),
    "imp.files.again": Promise(
        source="design: commands",
        says="Importing the same export again stores nothing twice and changes no rejection; read to its end once, it "
        "is not read again unless the owner says so.",
    ),
    "imp.files.goes-on": Promise(
        source="design: commands",
        says="An import that was stopped, killed or out of room is run again and ends with the same database.",
    ),
    "imp.files.rejected": Promise(
        source="record model: ingest",
        says="What cannot be read is counted and listed with place and reason, and stops nothing else.",
    ),
    "imp.files.wrong-kind": Promise(
        source="design: commands",
        says="What no importer knows is told with a guess of what it is, what two claim with both; and what to do.",
    ),
    "imp.files.attachments": Promise(
        source="record model: ingest", says="Bytes that belong to a record become a blob that the record refers to."
    ),
    "imp.files.big": Promise(
        source="design: commands", says="An import holds a bounded part of an export in memory, however large it is."
    ),
    "imp.files.garbage": Promise(
        source="design: commands",
        says="Files of any bytes, and exports that are cut or damaged anywhere, stop no importer.",
    ),
    "imp.files.keys": Promise(
        source="design D2",
        says="Every key that an importer gives can stand in a handle, and is the same in the next export.",
    ),
    "imp.mail.split": Promise(
        source="design: commands",
        says="An archive is split where messages begin and nowhere else, with or without a date between them; one that "
        "is too long is rejected by place.",
    ),
    "imp.mail.headers": Promise(
        source="design: commands",
        says="Names, subjects, addresses and times are read as they were meant, from broken headers too.",
    ),
    "imp.mail.own-words": Promise(
        source="design: commands",
        says="The body of a message is what its sender wrote, a bad byte costing one character; quoted text and "
        "signature stay in the full text.",
    ),
    "imp.mail.threads": Promise(
        source="design: commands",
        says="Messages that answer each other are one thread: by Gmail's number, by reference, or by subject.",
    ),
    "imp.calendar.clock": Promise(
        source="design: commands",
        says="Times of every kind of zone become the right instant, also where a clock skips or repeats an hour.",
    ),
    "imp.calendar.occurrences": Promise(
        source="design: commands",
        says="A repeating event is laid out time by time, with its exceptions and changes, and never without end.",
    ),
    "imp.contacts.versions": Promise(
        source="design: commands", says="Cards of vCard 2.1, 3.0 and 4.0 say the same where they mean the same."
    ),
    "imp.bank.amounts": Promise(
        source="design: commands",
        says="An amount is read exactly or not at all: marks of thousands, signs and units never change its size.",
    ),
    "imp.bank.once": Promise(
        source="design: commands",
        says="A booking of two exports that overlap is one record, and two equal bookings of one file are two.",
    ),
    "imp.bank.days": Promise(
        source="design: commands",
        says="A booking has the day of the bank's calendar, and the right instant where a time of day is given.",
    ),
    "imp.bank.trades": Promise(
        source="issue 18",
        says="What was bought, sold, received or moved in an investment account is read with the name of the security.",
    ),
    "imp.bank.batches": Promise(
        source="design: commands", says="Payments that were booked together are told one by one and counted once."
    ),
    "imp.bank.mapping": Promise(
        source="design: commands",
        says="A CSV is read as its mapping says; without one a mapping is proposed with rows, and its owner agrees.",
    ),
    "imp.bank.doubts": Promise(
        source="issue 18",
        says="Dates, signs and marks of thousands that can be meant in two ways are asked and never guessed; an answer "
        "is kept for the next file of the same form.",
    ),
    "imp.files.safe-xml": Promise(
        source="design: commands",
        says="XML that declares entities, is too deep or too long is refused with its line; what came before stays.",
    ),
    "imp.files.long-json": Promise(
        source="design: commands",
        says="Objects deep in a long JSON file are read one by one, whatever is broken or endless around them.",
    ),
    "imp.whatsapp.dates": Promise(
        source="design: commands",
        says="Which number is the day is decided from the whole file and told; where nothing decides it, that is told.",
    ),
    "imp.whatsapp.phones": Promise(
        source="design: commands",
        says="Messages of iPhones and Androids in two dozen languages are told from notes of WhatsApp and from files.",
    ),
    "imp.whatsapp.longer": Promise(
        source="design: commands",
        says="A message has the same key in a later, longer export, and in one with or without files.",
    ),
    "imp.telegram.messages": Promise(
        source="design: commands",
        says="Pieces of text, links, replies, reactions, notes and files of Telegram are read in old and new exports.",
    ),
    "imp.slack.messages": Promise(
        source="design: commands",
        says="Mentions and links of Slack are readable, threads are kept, and no address that opens a file is stored.",
    ),
    "imp.inbox.watched": Promise(
        source="design: commands",
        says="What is dropped into the inbox is imported once it has stopped growing, and then moved aside.",
    ),
    "imp.inbox.refused": Promise(
        source="design: commands",
        says="A faulty export in the inbox is moved aside with the reason beside it, and not tried again.",
    ),
    "imp.sources.overview": Promise(
        source="design: commands",
        says="The owner sees connections, streams, counts, date ranges, when each was imported, and rejected records.",
    ),
    "imp.json.bounded": Promise(
        source="design: commands",
        says="A JSON file of any length is read object by object; one that is too long is named and the next one read.",
    ),
    "imp.json.cut": Promise(
        source="design: commands",
        says="A JSON file that is cut off or broken gives every whole object, and names the place of the others.",
    ),
    "imp.chats.recognised": Promise(
        source="design: commands",
        says="ChatGPT and Claude exports are told apart by their content, and called by the address of their owner.",
    ),
    "imp.chats.branches": Promise(
        source="design: commands",
        says="The path that a ChatGPT conversation ended with is current, other answers are kept and marked, what "
        "ChatGPT hides is left out, and a tree of any shape ends.",
    ),
    "imp.chats.pieces": Promise(
        source="design: commands",
        says="What an assistant said, thought and did with tools are records of their own; attached texts are kept.",
    ),
    "imp.chats.twice": Promise(
        source="design: commands",
        says="A conversation that an export holds twice is there once; another of the same id is rejected.",
    ),
    "imp.agents.growing": Promise(
        source="design: commands",
        says="A log that is being written is read to its last whole line, and keys stay when it grows.",
    ),
    "imp.agents.sessions": Promise(
        source="design: commands",
        says="Logs of coding agents become sessions with titles, without repetitions and without what programs tell "
        "themselves.",
    ),
    "imp.notes.properties": Promise(
        source="design: commands",
        says="Title, times, tags and properties of a note are what it says, and nothing is made up where it says none.",
    ),
    "imp.notes.links": Promise(
        source="design: commands",
        says="Tags and links are read as an editor reads them, and a link leads to the note that it would open.",
    ),
    "imp.notes.vault": Promise(
        source="design: commands",
        says="A vault has the same keys wherever it lies; its settings and its trash are no notes.",
    ),
    "imp.newer.removes": Promise(
        source="ruling 52",
        says="A newer export of a calendar, an address book, a vault or a chat leaves what a fresh import of it "
        "would leave: what it has no longer is gone, with tombstones for whoever follows changes.",
    ),
    "imp.newer.guards": Promise(
        source="ruling 52",
        says="An export that is damaged, cut, rejected in part, older, not shown to be newer, or begun and not "
        "ended removes nothing; and says so.",
    ),
    "imp.newer.span": Promise(
        source="ruling 52",
        says="A chat removes only what lies between its first and its last message, and never what stands at its "
        "edges.",
    ),
    "imp.newer.statements": Promise(
        source="ruling 52",
        says="A statement (camt, MT940) is complete between its balances where its bookings make the one out of the "
        "other: then what a newer one has no longer of those days goes, but nothing that is dated outside its own "
        "statement.",
    ),
    "imp.newer.ofx": Promise(
        source="ruling 52",
        says="A download (OFX) is complete between its first and its last booking within the days that it names, if "
        "its list was read to the end: what a newer one has no longer of those days goes, under the same guards.",
    ),
    "imp.newer.others": Promise(
        source="ruling 52",
        says="What another collection or other hands brought too stays, and another collection of the same account "
        "is not touched.",
    ),
    "imp.newer.half": Promise(
        source="ruling 52",
        says="More than half goes only when the owner agrees; until then the export is read again when it is "
        "brought again.",
    ),
    "imp.newer.part": Promise(
        source="ruling 52",
        says="A calendar that lacks only what was before its first or after its last single event, and an address "
        "book whose cards share a label that none of the missing has, may be of some days or of a label: where that is "
        "no accident, nothing goes until the owner agrees.",
    ),
    "imp.newer.undo": Promise(
        source="ruling 52",
        says="A run that removed something can be undone for 90 days: what it removed is back with its blobs, and "
        "later runs keep it; what it changed is as before, and what it added is gone. What a later run, a followed "
        "account or the owner told since stays as it is, and the receipt says so; what the owner deletes does not come "
        "back.",
    ),
    "imp.newer.files": Promise(
        source="imports that lose nothing",
        says="An export of a chat that was made without files takes no file away that an earlier one brought.",
    ),
    "imp.newer.edited": Promise(
        source="issue 18",
        says="Where an export has ids, an edited message replaces its predecessor.",
    ),
    "imp.live.folder": Promise(
        source="issue 18",
        says="A folder that is followed is read when something in it changed and not otherwise; what is deleted there "
        "goes here, as ruling 52 says; nothing is written there.",
    ),
    "imp.live.trouble": Promise(
        source="issue 18",
        says="A source that cannot be read says why and what to do, removes nothing, and is tried again later "
        "and later; the others go on.",
    ),
    "imp.live.first": Promise(
        source="issue 18",
        says="A source that was opened is followed also when its first read fails: it says why, is tried again, "
        "and leaves no connection behind into which nothing came.",
    ),
    "imp.live.schedule": Promise(
        source="issue 18",
        says="Sources are asked while the server runs, or by `pdpp sync`, never by two processes at once.",
    ),
    "imp.live.listed": Promise(
        source="issue 18",
        says="`pdpp sources` shows what is followed: the last success, the next try, what went wrong; one that "
        "is stopped leaves what it brought.",
    ),
    "imp.live.oauth-once": Promise(
        source="issue 16",
        says="A refresh token is used by one process at a time, also where two servers in two homes share a database: "
        "the next renews with what the last one was given.",
    ),
    "imp.live.imap-same": Promise(
        source="issue 18",
        says="Mail that is followed over IMAP has the ids and the content of an export of the same account, and both "
        "are one.",
    ),
    "imp.live.imap-once": Promise(
        source="issue 18",
        says="No message is fetched twice, and a try that finds nothing new asks at most three questions a folder.",
    ),
    "imp.live.imap-untouched": Promise(
        source="issue 18", says="Folders are opened for reading only, and nothing is marked as read."
    ),
    "imp.live.imap-gone": Promise(
        source="ruling 52",
        says="What is deleted there goes here and can be undone, what is moved stays and says where it is.",
    ),
    "imp.live.imap-folders": Promise(
        source="issue 18",
        says="A folder that is renamed, deleted or made anew (UIDVALIDITY) loses and doubles nothing that is there.",
    ),
    "imp.live.imap-kill": Promise(
        source="issue 18", says="A try that ends anywhere goes on where it was: nothing is lost, nothing doubled."
    ),
    "imp.live.imap-idle": Promise(source="issue 18", says="While the server runs, new mail in the inbox is heard of."),
    "imp.live.imap-trouble": Promise(
        source="issue 18",
        says="A wrong password, an unknown host, a server that hangs, lies, sends garbage or closes in the middle: "
        "each is a sentence with what to do, and nothing is removed.",
    ),
    "imp.live.imap-certificate": Promise(
        source="issue 18",
        says="A certificate that does not fit is refused, with how to accept exactly that one on purpose.",
    ),
    "imp.live.secrets": Promise(
        source="issue 18",
        says="A password is kept in the keyring of the system, else sealed in the home; it is in no argument, log or "
        "export.",
    ),
    "imp.live.dav": Promise(
        source="issue 18",
        says="Calendars and address books are followed over CalDAV and CardDAV, by what the server says changed or "
        "else by its marks, each as the connection that its export would be.",
    ),
    "imp.live.dav-trouble": Promise(
        source="issue 18",
        says="A calendar server that refuses, lies, trickles, leads elsewhere or goes away is told of with what to do.",
    ),
    "imp.own.proposed": Promise(
        source="issue 18",
        says="NDJSON, JSON and CSV that nobody knows get a declaration proposed from all of their rows, shown before "
        "anything is written, and taken only when the owner agrees.",
    ),
    "imp.own.database": Promise(
        source="issue 18",
        says="Each table of a SQLite file is proposed as a stream; its log beside it is read too, nothing is written "
        "there, nothing in it is run, and a damaged one is a sentence.",
    ),
    "imp.own.same": Promise(
        source="issue 18",
        says="The same file again stores nothing twice, whether its rows have keys or not; numbers that begin with a "
        "zero stay text.",
    ),
    "imp.attached.text": Promise(
        source="issue 18",
        says="What attached PDF, Word, HTML and plain text files say is found by search and read in windows, with the "
        "name of the file.",
    ),
    "imp.attached.once": Promise(
        source="issue 18", says="An attached file is read once: what is kept with the same bytes keeps its text."
    ),
    "imp.attached.hostile": Promise(
        source="issue 18",
        says="Attached files are read in a process of its own with little memory and time; one that bursts, hangs or "
        "breaks it costs its own text, is told of in the receipt and in its record, and the mail is imported all "
        "the same.",
    ),
    "imp.elsewhere.same": Promise(
        source="issue 18",
        says="`pdpp import PATH --to URL` reads here and delivers there: the same connection, records, blobs and "
        "receipt as an import there, known again by its fingerprint, and nothing is kept or removed on the way.",
    ),
    "imp.elsewhere.resume": Promise(
        source="issue 18",
        says="A delivery to a server elsewhere that was stopped goes on where it was: what that server has is not sent "
        "again, and what it refused is told again.",
    ),
    "imp.elsewhere.refused": Promise(
        source="issue 18",
        says="A delivery without an owner's token, to a server that takes none or where a token could be read on its "
        "way, ends with a sentence before anything is sent.",
    ),
    "imp.packages.added": Promise(
        source="issue 18",
        says="A package that is installed beside the server adds a source by an entry point, as the template in the "
        "docs does.",
    ),
    "imp.packages.broken": Promise(
        source="issue 18", says="A package that cannot be used is left out and named; the others go on."
    ),
    "imp.sources.pages": Promise(
        source="issue 18",
        says="Every source has a page: how to get its files, what is read, what is left out, which presets there are, "
        "and after which description.",
    ),
    "imp.live.imap-oauth": Promise(
        source="issue 18",
        says="A mailbox that takes no passwords is opened by tokens (XOAUTH2): agreed to once on a page of the "
        "service, with the owner's own client id, and renewed ever after.",
    ),
}

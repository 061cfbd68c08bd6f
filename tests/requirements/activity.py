"""What the disclosure log promises: no answer without a durable line of what it held."""

from tests.requirements.promise import Promise

PROMISES: dict[str, Promise] = {
    "log.line.before-answer": Promise(
        source="design: no log line, no record",
        says="When an answer reaches the caller, its line survives the death of the process.",
    ),
    "log.line.what": Promise(
        source="design: no log line, no record",
        says="A line names grant, client, operation, time, request id, bytes, and the connections, streams, fields "
        "and records disclosed.",
        ruling=(24,),
    ),
    "log.line.hashed-content": Promise(
        source="design: no log line, no record",
        says="Search words and other content in a query stand in the log only as hashes.",
    ),
    "log.line.never-less": Promise(
        source="design: two channels",
        says="A line names at least every record and field that the answer showed.",
    ),
    "log.line.what-left": Promise(
        source="issue 11: nothing untrue, nothing unlogged",
        says="A line names the records and fields that its answer showed as it was sent, in either channel, and no "
        "others, whatever was related, shortened to fit, left out of one channel, or asked for again.",
    ),
    "log.line.one-way-out": Promise(
        source="issue 11: nothing untrue, nothing unlogged",
        says="What a read gives is pending until its line is written; there is no other way to take its value out.",
    ),
    "log.chain.hashes": Promise(
        source="design: no log line, no record",
        says="Each line holds the hash of the line before it in its segment.",
    ),
    "log.chain.one-segment-per-process": Promise(
        source="design: no log line, no record",
        says="Two processes write two segments, and neither waits for the other.",
    ),
    "log.verify.edits": Promise(
        source="design: no log line, no record",
        says="Verification names the first line that was changed, added or removed.",
    ),
    "log.verify.truncation": Promise(
        source="design: no log line, no record",
        says="Verification finds a segment that lost its end.",
    ),
    "log.day.root": Promise(
        source="issue 16: the log at scale",
        says="The first segment of a day names the last line of every segment of the day before: whoever takes one "
        "away, cuts it or writes it anew is found by it, and the hash of that one line stands for everything before.",
    ),
    "log.day.beside": Promise(
        source="issue 16: the log at scale",
        says="Every other segment of a day names the ends of the last eight that began before it that day: one that is "
        "taken away whole is missed before the day is closed.",
    ),
    "log.day.kept": Promise(
        source="issue 16: the log at scale",
        says="The log is kept for ever, or as many days as its owner says: then what is older goes with the first read "
        "of a day, with the words that were asked, and a note in the log names what went.",
    ),
    "log.failure.closed": Promise(
        source="design: no log line, no record",
        says="If the line cannot be written, the read is refused with 503 `disclosure_log_unavailable` and no data.",
        ruling=(37,),
    ),
    "log.index.derived": Promise(
        source="design: no log line, no record",
        says="The index of the log can be deleted and is built again from the segments with the same content.",
    ),
    "log.asked.kept": Promise(
        source="issue 17: activity in sentences",
        says="The words of a client's searches and the values of its filters are kept for the owner by request, sealed "
        "with the key of their month, in a table of their own; the log holds digests as before.",
    ),
    "log.asked.off": Promise(
        source="issue 17: activity in sentences",
        says="`PDPP_KEEP_ASKED=off` keeps none of them.",
    ),
    "log.asked.erased": Promise(
        source="issue 17: activity in sentences",
        says="What is erased takes along the words of every question that could have been answered from there.",
    ),
    "log.sync.full": Promise(
        source="design: no log line, no record",
        says="`PDPP_LOG_SYNC=full` asks the disk to keep each line before the answer leaves.",
    ),
    "log.owner.activity": Promise(
        source="design: commands",
        says="The owner reads what was disclosed, by grant, record or request, in the terminal.",
    ),
    "log.owner.page": Promise(
        source="design: no log line, no record",
        says="The owner reads the same on a page.",
    ),
}

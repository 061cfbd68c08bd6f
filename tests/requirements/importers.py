"""What importing promises: a file that the owner has becomes records, and nothing is lost in silence."""

from tests.requirements import later
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
        deferred=later.IMPORTERS,
    ),
    "imp.files.expected-records": Promise(
        source="design: commands",
        says="Each importer turns its sample file into exactly the records that stand beside it.",
        deferred=later.IMPORTERS,
    ),
    "imp.sources.overview": Promise(
        source="design: commands",
        says="The owner sees connections, streams, counts, date ranges, when each was imported, and rejected records.",
    ),
}

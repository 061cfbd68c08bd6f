"""Log books of the harbour: one entry a line, `2026-05-01 06:12 | Rosa | High water`."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from importlib.resources import files as resources

from pdpp_server.importers.identity import digest
from pdpp_server.importers.source import Account, Files, Head, Importer, Known, Outcome
from pdpp_server.model.ingest import Incoming, Rejection
from pdpp_server.model.times import iso

FIRST_LINE = b"# harbour log of "


def knows(head: Head) -> str | None:
    """By how the file begins, never by its name alone. What is told here is given to `accounts`."""
    start = head.first(200)
    if not start.startswith(FIRST_LINE):
        return None
    return start.splitlines()[0].removeprefix(FIRST_LINE).decode("utf-8", "replace").strip()


def accounts(files: Files, known: Known) -> Iterable[Account]:
    """One for each harbour; the same harbour is called the same every time, and so becomes the same connection."""
    for harbour in sorted(set(known.values())):
        those = tuple(file for file, told in known.items() if told == harbour)
        yield Account(harbour, those, files.zone)


def read(account: Account) -> Iterator[Outcome]:
    """Line by line: memory stays small however long a log book is. What is no entry is rejected with its place."""
    for file in account.files:
        with file.open() as stream:
            for number, line in enumerate(stream, 1):
                if line.startswith(b"#") or not line.strip():
                    continue
                yield _entry(line.decode("utf-8", "replace").strip(), f"{file.name}:{number}", account)


def _entry(line: str, place: str, account: Account) -> Incoming | Rejection:
    parts = [part.strip() for part in line.split("|", 2)]
    if len(parts) < 3:
        return Rejection(place, "invalid_record", "an entry is `time | keeper | text`")
    time, keeper, text = parts
    try:
        at = datetime.fromisoformat(time)
    except ValueError:
        return Rejection(place, "invalid_record", "the time cannot be read")
    key = digest(time, keeper, text)  # the same entry has the same key in every export
    written_at = iso(at if at.tzinfo else at.replace(tzinfo=account.zone))
    data = {"id": key, "written_at": written_at, "keeper": keeper, "text": text}
    return Incoming(place, "entries", key, data, None)


HARBOUR_LOG = Importer(
    key="harbour-log",  # as the source in the declaration ends
    knows=knows,
    accounts=accounts,
    read=read,
    takes="log books of the harbour (.log)",
    obtain="ask the keeper",
    declaration=(resources(__name__) / "declaration.json").read_bytes(),
)

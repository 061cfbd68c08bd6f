"""`python -m tools.expected FOLDER`: write what an importer makes of a sample, for somebody to read and agree to."""

import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import orjson

from pdpp_server.importers.attached.texts import attached_texts
from pdpp_server.importers.files import open_files
from pdpp_server.importers.registry import FoundAccount, recognise
from pdpp_server.importers.source import Attachment, Outcome
from pdpp_server.model.ingest import Incoming, Rejection

EXPECTED = "expected.jsonl"
ZONE = ZoneInfo("Europe/Berlin")  # not UTC: a time read in the wrong zone shows


def sample_of(folder: Path) -> tuple[Path, bytes | None]:
    """The one file or folder beside the expected lines, and what `mapping.*` says of it."""
    mappings = list(folder.glob("mapping.*"))
    others = [path for path in folder.iterdir() if path.name != EXPECTED and path not in mappings]
    (sample,) = [path for path in others if not (path / EXPECTED).exists()]
    return sample, mappings[0].read_bytes() if mappings else None


def found_in(folder: Path) -> list[FoundAccount]:
    sample, mapping = sample_of(folder)
    return recognise(open_files(sample, ZONE, mapping))


def lines_of(folder: Path) -> list[dict[str, Any]]:
    """Every account of the sample, each followed by its outcomes."""
    return [line for found in found_in(folder) for line in _lines(found)]


def _lines(found: FoundAccount) -> Iterator[dict[str, Any]]:
    account = found.account
    yield {
        "account": account.name,
        "importer": found.importer.key,
        "files": [file.name for file in account.files],
        "notes": list(account.notes),
    }
    with attached_texts(lambda _stream, _key: {}) as texts:
        for outcome in texts.filled(found.importer.read(account)):
            if line := _line(outcome):
                yield line


def _line(outcome: Outcome) -> dict[str, Any] | None:
    match outcome:
        case Incoming(place, stream, key, data, emitted_at):
            return {"place": place, "stream": stream, "key": key, "data": data, "emitted_at": emitted_at}
        case Rejection(place, code, reason):
            return {"place": place, "code": code, "reason": reason}
        case Attachment(stream, key, data, mime_type, _, _):
            digest = sha256(data).hexdigest()
            return {"stream": stream, "key": key, "sha256": digest, "size": len(data), "mime_type": mime_type}
        case _:
            return None  # what is said about records, not one of them


def encoded(lines: list[dict[str, Any]]) -> bytes:
    return b"".join(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in lines)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        lines = lines_of(Path(name))
        (Path(name) / EXPECTED).write_bytes(encoded(lines))
        print(f"{name}/{EXPECTED}: {len(lines)} lines")

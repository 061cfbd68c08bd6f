"""A source that nobody has, for whatever is the same for all sources.

A file of it starts with `TOY account`; then each line is `time|id|text`, and a text `+bytes` is a text with an
attachment. A line without three parts is rejected. `python -m tests.importers.toys` is `pdpp` with this source alone.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from pdpp_server.importers import registry
from pdpp_server.importers.registry import FoundAccount, recognise
from pdpp_server.importers.source import Account, Attachment, File, Files, Head, Importer, Known, Outcome
from pdpp_server.model.ingest import Incoming, Rejection

DECLARATION: dict[str, Any] = {
    "protocol_version": "0.1.0",
    "source": {"kind": "connector", "id": "https://registry.pdpp.dev/connectors/toy"},
    "declaration_version": "1",
    "publisher": {"id": "https://registry.pdpp.dev/"},
    "display": {"name": "Toy"},
    "streams": [
        {
            "name": "notes",
            "semantics": "mutable_state",
            "primary_key": ["id"],
            "cursor_field": "written_at",
            "consent_time_field": "written_at",
            "selection": {"fields": True, "resources": True},
            "schema": {
                "type": "object",
                "required": ["id"],
                "properties": {
                    "id": {"type": "string", "maxLength": 20},
                    "text": {"type": "string"},
                    "written_at": {"type": "string", "format": "date-time"},
                    "blob_ref": {"type": "object", "x_pdpp_role": "blob-reference"},
                },
            },
            "query": {"search": {"lexical_fields": ["text"]}},
        }
    ],
}


def knows_toys(head: Head) -> str | None:
    word, _, name = head.first(100).partition(b"\n")[0].decode(errors="replace").strip().partition(" ")
    return name if word == "TOY" else None


def accounts_of_toys(files: Files, known: Known) -> Iterator[Account]:
    by_name: dict[str, list[File]] = {}
    for file, name in known.items():
        by_name.setdefault(name, []).append(file)
    for name, mine in by_name.items():
        yield Account(name, tuple(mine), files.zone, notes=("a toy",))


def read_toys(account: Account) -> Iterator[Outcome]:
    for file in account.files:
        with file.open() as stream:
            for number, line in enumerate(stream, start=1):
                if number > 1:
                    yield from _outcomes(f"{file.name}:{number}", line.decode().rstrip("\n").split("|"))


def _outcomes(place: str, parts: list[str]) -> Iterator[Outcome]:
    if len(parts) != 3:
        yield Rejection(place, "invalid_record", f"{len(parts)} parts, not 3")
        return
    time, key, text = parts
    attachment = Attachment("notes", key, text.encode(), "text/plain") if text.startswith("+") else None
    blob = {"blob_ref": attachment.reference} if attachment else {}
    yield Incoming(place, "notes", key, {"id": key, "text": text, "written_at": time, **blob}, None)
    if attachment:
        yield attachment


TOY = Importer("toy", knows_toys, accounts_of_toys, read_toys, ("~/toys",), takes="toys (.toy)", obtain="Made by hand.")


def install(folder: Path, importers: tuple[Importer, ...] = (TOY,)) -> None:
    """Let these be all the importers that there are, each with the toy's declaration."""
    for importer in importers:
        (folder / f"{importer.key}.json").write_bytes(orjson.dumps(DECLARATION))
    registry.IMPORTERS, registry._DECLARATIONS = importers, folder
    registry.declaration_of.cache_clear()


def lines(count: int, account: str = "mine", first: int = 0) -> str:
    """The text of a file with so many notes."""
    notes = (f"2026-01-{1 + n % 28:02}T10:00:00Z|n{n}|word{n} and more\n" for n in range(first, first + count))
    return f"TOY {account}\n" + "".join(notes)


def found_in(files: Files) -> FoundAccount:
    (found,) = recognise(files, (TOY,))
    return found


if __name__ == "__main__":
    import os
    import sys
    import tempfile

    from pdpp_server.cli import watching
    from pdpp_server.cli.main import main
    from pdpp_server.importers import watch

    if os.environ.get("TOYS_IN_A_HURRY"):
        watch.QUIET_SECONDS, watching.PAUSE_SECONDS = 0.0, 0.01
    with tempfile.TemporaryDirectory() as declarations:
        install(Path(declarations))
        sys.argv[0] = "pdpp"
        main()

"""The command in a process of its own, on a home of its own."""

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.forked import pdpp

ROOT = Path(__file__).parents[3]
PDPP = [sys.executable, "-m", "pdpp_server.cli.main"]
SECONDS = 60

NOTES = "https://registry.pdpp.dev/connectors/notebook"
DECLARATION: dict[str, Any] = {
    "protocol_version": "0.1.0",
    "source": {"kind": "connector", "id": NOTES},
    "declaration_version": "1",
    "publisher": {"id": "https://example.org/notebook"},
    "display": {"name": "Notebook"},
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
                    "id": {"type": "string"},
                    "title": {"type": "string", "x_pdpp_role": "primary-title"},
                    "body": {"type": "string", "x_pdpp_role": "primary-body"},
                    "secret": {"type": "string"},
                    "written_at": {"type": "string", "format": "date-time"},
                },
            },
            "query": {
                "range_filters": {"written_at": ["gte", "lt"]},
                "search": {"lexical_fields": ["title", "body"]},
                "aggregations": {"count": True},
            },
        }
    ],
}
RECORDS: list[dict[str, Any]] = [
    {"id": "n1", "title": "Lease", "body": "The walrus clause.", "secret": "s1", "written_at": "2026-01-02T10:00:00Z"},
    {"id": "n2", "title": "Trip", "body": "A night train.", "secret": "s2", "written_at": "2026-06-12T22:00:00+02:00"},
]


@dataclass(frozen=True, slots=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one document on standard output."""
        (line,) = self.out.splitlines()
        return json.loads(line)


@dataclass(frozen=True, slots=True)
class Command:
    home: Path
    folder: Path

    def __call__(self, *words: str | Path, stdin: str = "", **variables: str) -> Ran:
        done = pdpp([*map(str, words)], stdin=stdin, env=self.environment(**variables), cwd=ROOT, seconds=SECONDS)
        return Ran(*done)

    def environment(self, **variables: str) -> dict[str, str]:
        """Nothing of whoever runs the tests: neither settings nor the files of their programs."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PDPP_", "XDG_", "CODEX_"))}
        return {**kept, "HOME": str(self.folder), "PDPP_HOME": str(self.home), **variables}

    def file(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text, "utf-8")
        return path

    def import_notes(self, text: str | None = None, name: str = "My notes") -> Ran:
        lines = "".join(json.dumps(record) + "\n" for record in RECORDS) if text is None else text
        declaration = self.file("notes.json", json.dumps(DECLARATION))
        return self("import", self.file("notes.ndjson", lines), "--declaration", declaration, "--name", name, "--json")

    def grant(self, *words: str, client: str = "my-agent", **stream: Any) -> dict[str, Any]:
        """A grant over the notes without their secrets, unless told otherwise."""
        selected = {"name": "notes", "fields": ["title", "body", "written_at"], **stream}
        selection = self.file("selection.json", json.dumps(selection_of(selected)))
        made = self("grants", "create", "--selection", selection, "--client", client, "--json", *words)
        assert made.code == 0, made.err
        return made.json


def selection_of(*streams: dict[str, Any], source: str = NOTES) -> dict[str, Any]:
    return {
        "type": "https://pdpp.dev/data-access",
        "source": {"id": source},
        "purpose_code": "https://pdpp.dev/purpose/assistant",
        "access_mode": "continuous",
        "streams": list(streams),
    }

"""The servers that an MCP client's own configuration file lists."""

import json
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from pdpp_server.wire.client_files import SECTIONS, Command
from pdpp_server.wire.envelope import object_of, text_of, texts_of


class ClientEntry(NamedTuple):
    """One server as a client knows it: by an address, or by a command that it starts."""

    name: str
    address: str | None
    command: Command | None


def decode_entries(client: str, text: str) -> list[ClientEntry]:
    """Raises ValueError: the file is not what it should be."""
    try:
        document: Any = tomllib.loads(text) if client == "codex" else json.loads(text or "{}")
    except RecursionError:
        raise ValueError from None
    whole = object_of({"whole": document}, "whole")
    # Claude Code also lists servers by the folder that they are for.
    parts = (whole, *map(_object, object_of(whole, "projects").values()))
    return [entry for part in parts for entry in _entries(object_of(part, SECTIONS[client]))]


def _entries(section: Mapping[str, Any]) -> Iterator[ClientEntry]:
    for name, value in section.items():
        entry = _object(value)
        program, variables = text_of(entry, "command"), object_of(entry, "env")
        command = program and Command(program, texts_of(entry, "args"), {key: str(variables[key]) for key in variables})
        yield ClientEntry(name, text_of(entry, "url"), command or None)


def _object(value: Any) -> Mapping[str, Any]:
    return object_of({"value": value}, "value")

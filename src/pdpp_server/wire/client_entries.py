"""The servers that an MCP client's own configuration file lists."""

import json
import tomllib
from collections.abc import Mapping
from typing import Any

from pdpp_server.wire.client_formats import BY_FOLDER, SECTIONS, ClientEntry, decode_entry
from pdpp_server.wire.envelope import object_of


def decode_entries(client: str, text: str) -> list[ClientEntry]:
    """Raises ValueError: the file is not what it should be."""
    try:
        document: Any = tomllib.loads(text) if client == "codex" else json.loads(text or "{}")
    except RecursionError:
        raise ValueError from None
    whole = object_of({"whole": document}, "whole")
    parts = (whole, *map(_object, object_of(whole, BY_FOLDER).values()))
    sections = [object_of(part, SECTIONS[client]) for part in parts]
    return [decode_entry(name, _object(value)) for section in sections for name, value in section.items()]


def _object(value: Any) -> Mapping[str, Any]:
    return object_of({"value": value}, "value")

"""The entry for a server in each MCP client's own configuration file, put in or taken out; all else is kept."""

import json
import shlex
import tomllib
from typing import Any, cast

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import InlineTable, Table

from pdpp_server.wire.client_formats import SECTIONS, Command
from pdpp_server.wire.envelope import Json


def stdio_lines(client: str, name: str, command: Command) -> tuple[str, ...]:
    """What the client's own command takes, where it has one."""
    run = ["--", command.program, *command.words]
    named = [word for pair in command.variables.items() for word in ("--env", "=".join(pair))]
    match client:
        case "claude-code":
            return (shlex.join(["claude", "mcp", "add", *named, "--transport", "stdio", name, *run]),)
        case "codex":
            return (shlex.join(["codex", "mcp", "add", name, *named, *run]),)
        case _:
            return ()


def edited(client: str, text: str, name: str, entry: Json | None) -> str:
    """The file with that entry, or without it where it is None; the very same text where nothing changes.

    Raises:
        ValueError: the file is not what it should be, in a sentence that says what is wrong.
    """
    edit = _edited_toml if client == "codex" else _edited_json
    return edit(text, SECTIONS[client], name, entry)


def is_bare(client: str, text: str) -> bool:
    """Whether nothing stands in that file, which was understood before."""
    document = tomllib.loads(text) if client == "codex" else json.loads(text)
    return not _used(document, SECTIONS[client])


def shown(client: str, name: str, entry: Json) -> str:
    """The same entry as a file of its own."""
    return edited(client, "", name, entry).rstrip("\n")


def _edited_json(text: str, section: str, name: str, entry: Json | None) -> str:
    try:
        document: Any = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError):
        raise ValueError("it is not plain JSON") from None
    wanted = _with(document, section, name, entry)
    return text if wanted == document else json.dumps(wanted, indent=2, ensure_ascii=False) + "\n"


def _with(document: Any, section: str, name: str, entry: Json | None) -> Json:
    if not isinstance(document, dict):
        raise ValueError("it is no JSON object")  # noqa: TRY004 - the file is wrong, not our caller
    whole = cast(Json, document)
    servers: Any = whole.get(section, {})
    if not isinstance(servers, dict):
        raise ValueError(f"its {section} is no object")  # noqa: TRY004
    others = {key: value for key, value in cast(Json, servers).items() if key != name or entry is not None}
    if entry is not None:
        others[name] = entry  # where it was, if it was there
    return {**whole, section: others} if others or section in whole else whole


def _edited_toml(text: str, section: str, name: str, entry: Json | None) -> str:
    """Comments and order stay; what was made of it is read again before it is believed."""
    try:
        document = tomlkit.parse(text)
    except TOMLKitError:
        raise ValueError("it is not TOML") from None
    plain = document.unwrap()
    wanted = _with(plain, section, name, entry)
    if wanted == plain:
        return text
    servers: Any = document.setdefault(section, tomlkit.table(is_super_table=True))
    servers.pop(name, None)
    if entry is not None:
        servers[name] = _table(entry)
    made = tomlkit.dumps(document)
    if _used(tomllib.loads(made), section) != _used(wanted, section):
        raise ValueError(f"its {section}.{name} is written in a way that only a person should change")
    return made


def _used(document: Json, section: str) -> Json:
    """A section without servers is none."""
    return {key: value for key, value in document.items() if key != section or value}


def _table(entry: Json) -> Table:
    table = tomlkit.table()
    for key, value in entry.items():
        table[key] = _inline(cast(Json, value)) if isinstance(value, dict) else value
    return table


def _inline(value: Json) -> InlineTable:
    inline = tomlkit.inline_table()
    for key, inner in value.items():
        inline[key] = inner
    return inline

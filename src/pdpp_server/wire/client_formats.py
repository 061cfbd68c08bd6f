"""What MCP clients call things in their own configuration: the one module that knows, for files and for links.

It is no format of ours and changes when they change it; so no other module of `wire` spells one of these names.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from pdpp_server.wire.envelope import Json, object_of, text_of, texts_of

# Client to the member under which its file lists servers.
SECTIONS = {
    "claude-code": "mcpServers",
    "claude-desktop": "mcpServers",
    "codex": "mcp_servers",
    "cursor": "mcpServers",
    "vscode": "servers",
}
BY_FOLDER = "projects"  # Claude Code also lists servers by the folder that they are for
TYPED = frozenset({"claude-code", "vscode"})  # they want to be told which transport it is


class Command(NamedTuple):
    """A program for standard input and output: its whole path, its words, and the variables that it needs."""

    program: str
    words: tuple[str, ...]
    variables: Mapping[str, str]


class ClientEntry(NamedTuple):
    """One server as a client knows it: by an address, or by a command that it starts."""

    name: str
    address: str | None
    command: Command | None


def http_entry(client: str, address: str) -> Json:
    return {**_typed(client, "http"), "url": address}


def stdio_entry(client: str, command: Command) -> Json:
    variables = {"env": dict(command.variables)} if command.variables else {}
    return {**_typed(client, "stdio"), "command": command.program, "args": list(command.words), **variables}


def _typed(client: str, transport: str) -> Json:
    return {"type": transport} if client in TYPED else {}


def decode_entry(name: str, entry: Mapping[str, Any]) -> ClientEntry:
    program, variables = text_of(entry, "command"), object_of(entry, "env")
    command = program and Command(program, texts_of(entry, "args"), {key: str(variables[key]) for key in variables})
    return ClientEntry(name, text_of(entry, "url"), command or None)


def file_of_one(client: str, name: str, entry: Json) -> Json:
    """A file that lists that server and no other."""
    return {SECTIONS[client]: {name: entry}}


def link_entry(name: str, entry: Json) -> Json:
    """An entry in a link: there is no list that would name it."""
    return {"name": name, **entry}

"""How each MCP client is told of a server: the line, the link or the file that it takes, exactly."""

import shlex
from base64 import b64encode
from typing import NamedTuple
from urllib.parse import quote, urlencode

import orjson

from pdpp_server.wire.client_formats import file_of_one, http_entry, link_entry


class WayIn(NamedTuple):
    """One client's way in: `lines` for a terminal, a `link` that opens the client, or a place to paste the address."""

    client: str
    lines: tuple[str, ...] = ()
    link: str | None = None
    place: str | None = None
    needs_public: bool = False  # it asks from its own machines, so it needs an https address that they can reach


def ways(name: str, address: str) -> tuple[WayIn, ...]:
    """Every client's way to the MCP endpoint at that address, which it will call `name`. Each signs in by itself."""
    return (
        WayIn("Claude Code", (claude_code_line(name, address),)),
        WayIn("Codex", codex_lines(name, address)),
        WayIn("Cursor", link=cursor_link(name, address)),
        WayIn("VS Code", link=vscode_link(name, address)),
        WayIn("Claude", place="Settings, Connectors, Add custom connector", needs_public=True),
        WayIn("ChatGPT", place="Settings, Apps & Connectors, Create", needs_public=True),
    )


def claude_code_line(name: str, address: str) -> str:
    return shlex.join(["claude", "mcp", "add", "--transport", "http", name, address])


def codex_lines(name: str, address: str) -> tuple[str, str]:
    return shlex.join(["codex", "mcp", "add", name, "--url", address]), shlex.join(["codex", "mcp", "login", name])


def cursor_link(name: str, address: str) -> str:
    config = b64encode(orjson.dumps(http_entry("cursor", address))).decode()
    return f"cursor://anysphere.cursor-deeplink/mcp/install?{urlencode({'name': name, 'config': config})}"


def vscode_link(name: str, address: str) -> str:
    server = orjson.dumps(link_entry(name, http_entry("vscode", address))).decode()
    return f"vscode:mcp/install?{quote(server, safe='')}"


def mcp_json(name: str, address: str) -> str:
    """A project's `.mcp.json`, which Claude Code and others read."""
    document = file_of_one("claude-code", name, http_entry("claude-code", address))
    return orjson.dumps(document, option=orjson.OPT_INDENT_2).decode()

"""How an app is connected: one address, then one line for each client."""

import json
import re
from base64 import b64decode
from urllib.parse import parse_qs, unquote, urlsplit

from tests.requirements import requirement
from tests.scenarios.console.visitor import Visitor, shown, visiting
from tests.worlds.world import World

MCP = "https://data.example.org/mcp"


@requirement("as.setup.page")
def test_the_resolved_address_comes_first_then_a_line_for_each_client(world: World) -> None:
    with visiting(world, public_url="https://data.example.org") as visitor:
        visitor.sign_in()
        page = visitor.page("/connect")

    text = shown(page).partition("Connect an app ")[2]
    assert text.partition(MCP)[0] == "Every app takes this one address: "
    assert f"claude mcp add --transport http my-data {MCP}" in text
    assert f"codex mcp add my-data --url {MCP}" in text
    assert "codex mcp login my-data" in text
    assert text.index("Claude Code") < text.index("Codex") < text.index("Cursor") < text.index("VS Code")


@requirement("as.setup.page")
def test_the_links_carry_what_each_client_reads(owner: Visitor) -> None:
    links = [
        link.replace("&amp;", "&") for link in re.findall(r'href="((?:cursor|vscode):[^"]+)"', owner.page("/connect"))
    ]
    cursor, vscode = (urlsplit(link) for link in links)

    config = parse_qs(cursor.query)["config"][0]
    assert json.loads(b64decode(config)) == {"url": "http://127.0.0.1/mcp"}
    server = {"name": "my-data", "type": "http", "url": "http://127.0.0.1/mcp"}
    assert json.loads(unquote(vscode.query)) == server


@requirement("as.setup.one-path", "as.setup.no-owner-bearer")
def test_nothing_of_profiles_or_tokens_is_shown(owner: Visitor) -> None:
    text = shown(owner.page("/connect")).lower()

    for word in ("profile", "bearer", "token", "pdpp_access_token", "pdpp_owner", "event", "subscri", "api key"):
        assert word not in text

"""The entry for a server in a client's own configuration file."""

import json

import pytest

from pdpp_server.wire.client_files import edited, shown, stdio_lines
from pdpp_server.wire.client_formats import Command, http_entry, stdio_entry

COMMAND = Command("/opt/my apps/pdpp", ("mcp",), {"PDPP_HOME": "/home/m"})
FAR = http_entry("cursor", "https://x.example/mcp")


def test_some_clients_want_to_be_told_the_transport() -> None:
    assert FAR == {"url": "https://x.example/mcp"}
    assert http_entry("vscode", "https://x.example/mcp") == {"type": "http", "url": "https://x.example/mcp"}
    assert stdio_entry("claude-code", COMMAND)["type"] == "stdio"
    assert "env" not in stdio_entry("cursor", COMMAND._replace(variables={}))


def test_a_line_to_paste_quotes_what_a_shell_would_split() -> None:
    assert stdio_lines("codex", "pdpp", COMMAND) == (
        "codex mcp add pdpp --env PDPP_HOME=/home/m -- '/opt/my apps/pdpp' mcp",
    )
    assert stdio_lines("claude-code", "pdpp", COMMAND)[0].startswith(
        "claude mcp add --env PDPP_HOME=/home/m --transport"
    )
    assert stdio_lines("cursor", "pdpp", COMMAND) == ()


def test_an_entry_is_put_in_and_taken_out_and_all_else_is_kept() -> None:
    before = '{"theme": "ä", "mcpServers": {"other": {"url": "u"}, "pdpp": {"url": "old"}}}'
    made = edited("cursor", before, "pdpp", FAR)
    assert json.loads(made) == {"theme": "ä", "mcpServers": {"other": {"url": "u"}, "pdpp": FAR}}
    assert "ä" in made
    assert edited("cursor", made, "pdpp", FAR) is made  # the very same text where nothing changes
    assert json.loads(edited("cursor", made, "pdpp", None))["mcpServers"] == {"other": {"url": "u"}}
    assert edited("cursor", before, "nobody", None) is before


def test_comments_and_order_of_toml_stay() -> None:
    before = '# mine\nmodel = "x"\n\n[mcp_servers.other]\nurl = "u" # keep\n'
    made = edited("codex", before, "pdpp", stdio_entry("codex", COMMAND))
    assert made.startswith(before)
    assert '[mcp_servers.pdpp]\ncommand = "/opt/my apps/pdpp"\nargs = ["mcp"]\n' in made
    assert edited("codex", made, "pdpp", None).strip() == before.strip()


def test_an_entry_alone_is_a_file_of_its_own() -> None:
    assert json.loads(shown("cursor", "pdpp", FAR)) == {"mcpServers": {"pdpp": FAR}}
    assert shown("codex", "pdpp", FAR) == '[mcp_servers.pdpp]\nurl = "https://x.example/mcp"'


@pytest.mark.parametrize(
    ("client", "text", "why"),
    [
        ("cursor", "{", "it is not plain JSON"),
        ("cursor", "[" * 100_000, "it is not plain JSON"),
        ("cursor", "[]", "it is no JSON object"),
        ("vscode", '{"servers": []}', "its servers is no object"),
        ("codex", "= 1", "it is not TOML"),
        ("codex", "mcp_servers = 1\n", "its mcp_servers is no object"),
    ],
)
def test_a_file_that_is_not_what_it_should_be_is_left_alone_with_the_reason(client: str, text: str, why: str) -> None:
    with pytest.raises(ValueError, match=f"^{why}$"):
        edited(client, text, "pdpp", FAR)

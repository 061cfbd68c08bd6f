"""The servers that a client's own configuration file lists."""

import pytest

from pdpp_server.wire.client_entries import decode_entries
from pdpp_server.wire.client_formats import ClientEntry, Command


def test_a_server_is_an_address_or_a_command() -> None:
    text = """{"mcpServers": {"far": {"url": "https://x.example/mcp"}, "near": {"command": "/bin/pdpp", "args": ["mcp"],
    "env": {"N": 7}}, "odd": 3}}"""
    assert decode_entries("cursor", text) == [
        ClientEntry("far", "https://x.example/mcp", None),
        ClientEntry("near", None, Command("/bin/pdpp", ("mcp",), {"N": "7"})),
        ClientEntry("odd", None, None),
    ]


def test_each_client_lists_its_servers_in_its_own_place() -> None:
    assert [one.name for one in decode_entries("vscode", '{"servers": {"a": {}}, "mcpServers": {"b": {}}}')] == ["a"]
    assert [one.name for one in decode_entries("codex", "[mcp_servers.a]\nurl = 'https://x.example'\n")] == ["a"]
    projects = '{"mcpServers": {"a": {}}, "projects": {"/home/m": {"mcpServers": {"b": {}}}, "/odd": []}}'
    assert [one.name for one in decode_entries("claude-code", projects)] == ["a", "b"]


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"mcpServers": []}'])
def test_a_file_without_servers_lists_none(text: str) -> None:
    assert decode_entries("cursor", text) == []


@pytest.mark.parametrize(("client", "text"), [("cursor", "{"), ("codex", "= 1"), ("cursor", "[" * 100_000)])
def test_a_file_that_is_none_is_refused(client: str, text: str) -> None:
    with pytest.raises(ValueError):
        decode_entries(client, text)

"""An entry as clients write it, both directions, and the list that a file of one has."""

import pytest

from pdpp_server.wire.client_formats import (
    SECTIONS,
    ClientEntry,
    Command,
    decode_entry,
    file_of_one,
    http_entry,
    link_entry,
    stdio_entry,
)

COMMANDS = [Command("/bin/pdpp", ("mcp",), {}), Command("/bin/pdpp", ("mcp", "--client", "a"), {"PDPP_HOME": "/h"})]


@pytest.mark.parametrize("client", SECTIONS)
@pytest.mark.parametrize("command", COMMANDS)
def test_an_entry_comes_back_as_it_was(client: str, command: Command) -> None:
    assert decode_entry("mine", stdio_entry(client, command)) == ClientEntry("mine", None, command)
    assert decode_entry("mine", http_entry(client, "http://h/mcp")) == ClientEntry("mine", "http://h/mcp", None)


@pytest.mark.parametrize(("client", "is_told"), [("claude-code", True), ("vscode", True), ("cursor", False)])
def test_the_transport_is_named_where_a_client_wants_it(client: str, is_told: bool) -> None:
    assert ("type" in http_entry(client, "u")) is is_told
    assert ("type" in stdio_entry(client, COMMANDS[0])) is is_told


def test_a_file_names_a_server_by_its_list_and_a_link_by_a_member() -> None:
    assert file_of_one("vscode", "mine", {"url": "u"}) == {"servers": {"mine": {"url": "u"}}}
    assert list(link_entry("mine", {"url": "u"}).items()) == [("name", "mine"), ("url", "u")]

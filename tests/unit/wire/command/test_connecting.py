"""Connecting as the owner's command prints it."""

from pdpp_server.evidence.text import compact_json
from pdpp_server.wire.clients import WayIn
from pdpp_server.wire.command.connecting import (
    encode_by_address,
    encode_by_command,
    encode_server_connected,
    encode_server_forgotten,
    encode_taken_out,
    encode_written,
)


def test_a_client_reaches_this_home_by_its_address_or_by_a_command() -> None:
    by_address = encode_by_address("cursor", "http://h/mcp", WayIn("Cursor", link="cursor:x"), is_running=True)
    assert compact_json(by_address) == (
        '{"client":"cursor","transport":"http","address":"http://h/mcp","server_running":true,"lines":[],'
        '"link":"cursor:x","place":null}'
    )
    by_command = encode_by_command("codex", "mine", "grt_1", ("codex mcp add",))
    assert compact_json(by_command) == (
        '{"client":"codex","transport":"stdio","saved_as":"mine","grant_id":"grt_1","lines":["codex mcp add"]}'
    )


def test_the_entry_of_a_client_is_told_with_its_file() -> None:
    written = encode_written({"client": "cursor"}, "/f", {"url": "u"}, is_written=True, is_changed=False)
    assert compact_json(written) == '{"client":"cursor","file":"/f","entry":{"url":"u"},"written":true,"changed":false}'
    taken_out = encode_taken_out("cursor", None, is_changed=True, revoked="grt_1")
    assert compact_json(taken_out) == '{"client":"cursor","file":null,"changed":true,"revoked":"grt_1"}'


def test_another_server_is_connected_and_forgotten() -> None:
    connected = encode_server_connected("https://h", "h", "/f", None)
    assert compact_json(connected) == '{"provider_url":"https://h","saved_as":"h","file":"/f","grant_id":null}'
    forgotten = encode_server_forgotten("https://h", "h", is_changed=False)
    assert compact_json(forgotten) == '{"provider_url":"https://h","saved_as":"h","changed":false}'

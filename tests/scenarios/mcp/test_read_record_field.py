"""`read_record_field` on the real store: windows that the store cuts, one after the other."""

from typing import Any

import pytest

from pdpp_server.model.pending import Pending
from pdpp_server.model.queries import WindowQuery
from pdpp_server.model.text import FieldWindow
from pdpp_server.port.local import LocalReader
from pdpp_server.reads import read_record_field as reads
from tests.harness.sights import split_window
from tests.requirements import requirement
from tests.scenarios.mcp.agents import Agent, Connect, agent_on, handle_of
from tests.scenarios.mcp.rest import get
from tests.worlds import chat
from tests.worlds.world import World


@requirement("mcp.search.opens-at-match", "mcp.channels.next-step-is-a-tool", "mcp.field.continuation")
def test_an_agent_that_reads_only_text_goes_from_the_match_to_the_end(agent: Agent) -> None:
    window = agent.call("search", query="walrus")
    read = ""
    while "\nnext: " in window.text.partition("\nrecord text follows")[0]:
        tool, arguments = window.next_call
        window = agent.call(tool, **arguments)
        read += split_window(window.text)[1]

    assert "Then the walrus clause ends it." in read
    assert chat.LONG_TEXT.endswith(read)


@requirement("ev.windows.cover", "mcp.field.cursor-is-offset")
def test_the_windows_of_a_text_one_after_the_other_are_the_text(agent: Agent, world: World) -> None:
    place: dict[str, Any] = {"id": handle_of(world, "m2"), "field_path": "text", "limit_chars": 5000}
    window = agent.call("read_record_field", **place).structured["window"]
    read = window["text"]
    while window["next_cursor"] is not None:
        assert window["next_cursor"] == str(len(read))
        window = agent.call("read_record_field", **place, cursor=window["next_cursor"]).structured["window"]
        read += window["text"]

    assert read == chat.LONG_TEXT


@requirement("mcp.field.window-from-server")
def test_the_adapter_gets_the_window_and_never_the_body(world: World) -> None:
    held: list[FieldWindow] = []

    class Watched(LocalReader):
        def read_record_field(self, query: WindowQuery) -> Pending[FieldWindow]:
            answer = super().read_record_field(query)
            return answer.shaped(lambda window: held.append(window) or window)

        def fetch(self, query: Any) -> Any:
            raise AssertionError("the whole record is not asked for")

    agent = agent_on(Watched(world.services, world.token))
    shown = agent.call("read_record_field", id=handle_of(world, "m2"), field_path="text", offset_chars=7, limit_chars=9)

    (window,) = held
    assert window.text == chat.LONG_TEXT[7:16] == shown.structured["window"]["text"]
    assert window.total == len(chat.LONG_TEXT)


@requirement("rs.window.cut-in-store")
def test_the_store_cuts_after_the_grant_was_asked(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[str] = []
    cut = reads.read_record_field

    def watched(*asked: Any) -> FieldWindow:
        window = cut(*asked)
        given.append(window.text)
        return window

    monkeypatch.setattr(reads, "read_record_field", watched)
    narrow = world.grant(world.both("messages", fields=["subject"]))
    path = f"/v1/streams/messages/records/m2/field-window?field=text&limit_chars=20&connection_id={world.work}"

    over_http = get(world, path).json()["window"]["text"]
    agent_on(world.reader).call("read_record_field", id=handle_of(world, "m2"), field_path="text", limit_chars=30)
    refused = get(world, path, narrow)

    assert over_http == chat.LONG_TEXT[:20]
    assert given == [chat.LONG_TEXT[:20], chat.LONG_TEXT[:30]]
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "field_not_granted")


@requirement("mcp.field.json", "mcp.adapter.same-door")
def test_an_object_is_read_as_its_canonical_json(agent: Agent, world: World) -> None:
    path = f"/v1/streams/messages/records/m1/field-window?field=reactions&connection_id={world.work}"

    window = agent.call("read_record_field", id=handle_of(world, "m1"), field_path="reactions").structured

    assert (window["field"]["type"], window["window"]["text"]) == ("json", '{"thumbs":2}')
    assert window["window"]["text"] == get(world, path).json()["window"]["text"]


@requirement("mcp.refusals.same-code")
@pytest.mark.parametrize(
    ("field", "more", "code"),
    [
        ("author", {}, "field_not_granted"),
        ("nonsense", {}, "unknown_field"),
        ("text", {"q": "nowhere to be found"}, "query_not_found"),
        ("text", {"q": "lease", "offset_chars": 1}, "invalid_field_window_selector"),
        ("text", {"lines": 3}, "invalid_request"),
    ],
)
def test_a_refusal_has_its_code(field: str, more: dict[str, Any], code: str, connect: Connect, world: World) -> None:
    agent = connect(world.grant(world.both("messages", fields=["text"])))

    refused = agent.call("read_record_field", id=handle_of(world, "m2"), field_path=field, **more)

    assert refused.code == code
    assert "walrus" not in refused.text

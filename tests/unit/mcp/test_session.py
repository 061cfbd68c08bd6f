"""Framing and eras: what a session answers before any tool is known."""

import json
from typing import Any

import pytest

from pdpp_server.mcp.session import (
    CAPABILITIES_KEY,
    HANDSHAKE,
    HANDSHAKE_VERSIONS,
    MODERN,
    VERSION_KEY,
    McpSession,
    ProtocolFault,
    load_answers,
    strict_json,
    tool_call,
)

FRONT = {
    HANDSHAKE: {"initialize": {"capabilities": {}}, "ping": {}, "tools/list": {"tools": ["é"]}},
    MODERN: {"server/discover": {"a": 1}, "tools/list": {"tools": [], "ttlMs": 1}, "tools/call": {"_meta": {}}},
}
ENVELOPE = {VERSION_KEY: MODERN, CAPABILITIES_KEY: {}}


def serve(_: str, params: dict[str, Any]) -> bytes:
    name, arguments = tool_call(params)
    if name == "broken":
        raise ProtocolFault(-32603, "Internal error.")
    return json.dumps({"name": name, "arguments": arguments}).encode()


@pytest.fixture
def session() -> McpSession:
    return McpSession(load_answers(json.dumps(FRONT).encode()), decode=strict_json, serve=serve)


def ask(session: McpSession, method: str, params: Any = None, **others: Any) -> Any:
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params, **others}
    reply = session.handle(json.dumps({key: value for key, value in message.items() if value is not None}).encode())
    return None if reply is None else json.loads(reply)


def modern(session: McpSession, method: str, **params: Any) -> Any:
    return ask(session, method, {"_meta": ENVELOPE, **params})


@pytest.mark.parametrize("version", HANDSHAKE_VERSIONS)
def test_a_known_version_is_agreed_to(session: McpSession, version: str) -> None:
    assert ask(session, "initialize", {"protocolVersion": version})["result"] == {
        "protocolVersion": version,
        "capabilities": {},
    }


@pytest.mark.parametrize("asked", ["1999-01-01", MODERN, None, 7, ["2025-03-26"]])
def test_an_unknown_version_gets_the_newest_of_the_handshake(session: McpSession, asked: Any) -> None:
    assert ask(session, "initialize", {"protocolVersion": asked})["result"]["protocolVersion"] == HANDSHAKE_VERSIONS[-1]


def test_answers_go_out_as_text_not_as_escapes(session: McpSession) -> None:
    reply = session.handle(b'{"jsonrpc":"2.0","id":"x","method":"tools/list"}')

    assert reply == '{"jsonrpc":"2.0","id":"x","result":{"tools":["é"]}}'.encode()


@pytest.mark.parametrize(
    "line", [b"", b"garbage", b'{"jsonrpc"', b"\xff\xfe", b'"\xed\xa0\xbd"', b'{"id":NaN}', b"[" * 100_000]
)
def test_what_is_no_json_is_a_parse_error(session: McpSession, line: bytes) -> None:
    reply = json.loads(session.handle(line) or b"")

    assert (reply["id"], reply["error"]["code"]) == (None, -32700)


@pytest.mark.parametrize(
    ("message", "id"),
    [
        ([], None),
        ([{"jsonrpc": "2.0", "id": 1, "method": "ping"}], None),
        ("ping", None),
        (None, None),
        ({}, None),
        ({"jsonrpc": "1.0", "id": 4, "method": "ping"}, 4),
        ({"jsonrpc": "2.0", "id": 4}, 4),
        ({"jsonrpc": "2.0", "id": "four", "method": 4}, "four"),
        ({"jsonrpc": "2.0", "id": None, "method": "ping"}, None),
        ({"jsonrpc": "2.0", "id": True, "method": "ping"}, None),
        ({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}, None),
        ({"jsonrpc": "2.0", "id": 4, "method": "ping", "params": [1]}, 4),
    ],
)
def test_what_is_no_request_is_refused_with_the_id_it_has(session: McpSession, message: Any, id: Any) -> None:
    reply = json.loads(session.handle(json.dumps(message).encode()) or b"")

    assert (reply["id"], reply["error"]["code"]) == (id, -32600)


@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
        {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "broken"}},
        {"jsonrpc": "2.0", "id": 9, "result": {}},
        {"jsonrpc": "2.0", "id": 9, "error": {"code": 1, "message": "x"}},
    ],
)
def test_what_asks_for_nothing_gets_no_answer(session: McpSession, message: Any) -> None:
    assert session.handle(json.dumps(message).encode()) is None


def test_half_a_surrogate_pair_in_an_id_goes_back_as_it_came(session: McpSession) -> None:
    assert session.handle(rb'{"jsonrpc":"2.0","id":"\ud83d","method":"ping"}') == (
        rb'{"jsonrpc":"2.0","id":"\ud83d","result":{}}'
    )


@pytest.mark.parametrize("method", ["prompts/list", "server/discover", "logging/setLevel", "x" * 1_000_000])
def test_a_method_we_do_not_serve_is_not_found(session: McpSession, method: str) -> None:
    reply = ask(session, method)

    assert reply["error"]["code"] == -32601
    assert len(json.dumps(reply)) < 400


def test_a_list_has_no_second_page(session: McpSession) -> None:
    assert ask(session, "tools/list", {"cursor": "x"})["error"]["code"] == -32602


@pytest.mark.parametrize(
    "params", [None, {}, {"name": 7}, {"name": "x", "arguments": []}, {"name": "x", "arguments": "y"}]
)
def test_a_call_needs_a_name_and_an_object(session: McpSession, params: Any) -> None:
    assert ask(session, "tools/call", params)["error"]["code"] == -32602


@pytest.mark.parametrize("given", [{}, {"arguments": None}, {"arguments": {}}])
def test_a_call_may_leave_its_arguments_out(session: McpSession, given: Any) -> None:
    assert ask(session, "tools/call", {"name": "x", **given})["result"] == {"name": "x", "arguments": {}}


def test_a_fault_of_a_call_is_an_error_with_its_id(session: McpSession) -> None:
    reply = ask(session, "tools/call", {"name": "broken"}, id="b")

    assert reply == {"jsonrpc": "2.0", "id": "b", "error": {"code": -32603, "message": "Internal error."}}


class TestBatches:
    def test_are_answered_where_the_version_has_them(self, session: McpSession) -> None:
        ask(session, "initialize", {"protocolVersion": "2025-03-26"})
        batch = [
            {"jsonrpc": "2.0", "id": 1, "method": "ping"},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {"jsonrpc": "2.0", "id": 2, "method": "nothing"},
            7,
        ]

        replies = json.loads(session.handle(json.dumps(batch).encode()) or b"")

        assert [(reply["id"], reply.get("error", {}).get("code")) for reply in replies] == [
            (1, None),
            (2, -32601),
            (None, -32600),
        ]

    def test_of_notifications_get_no_answer(self, session: McpSession) -> None:
        ask(session, "initialize", {"protocolVersion": "2025-03-26"})

        assert session.handle(b'[{"jsonrpc":"2.0","method":"notifications/initialized"}]') is None

    def test_of_nothing_are_refused(self, session: McpSession) -> None:
        ask(session, "initialize", {"protocolVersion": "2025-03-26"})

        assert json.loads(session.handle(b"[]") or b"")["error"]["code"] == -32600

    def test_are_refused_in_other_versions(self, session: McpSession) -> None:
        ask(session, "initialize", {"protocolVersion": "2025-06-18"})

        reply = json.loads(session.handle(b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]') or b"")

        assert (reply["id"], reply["error"]["code"]) == (None, -32600)


class TestStatelessEra:
    def test_begins_with_an_envelope(self, session: McpSession) -> None:
        assert modern(session, "server/discover")["result"] == {"a": 1}
        assert modern(session, "tools/list")["result"]["ttlMs"] == 1

    def test_marks_what_a_call_returns(self, session: McpSession) -> None:
        assert modern(session, "tools/call", name="x")["result"] == {"_meta": {}, "name": "x", "arguments": {}}

    def test_is_not_begun_by_a_notification(self, session: McpSession) -> None:
        session.handle(json.dumps({"jsonrpc": "2.0", "method": "x", "params": {"_meta": ENVELOPE}}).encode())

        assert ask(session, "ping")["result"] == {}

    def test_has_no_ping(self, session: McpSession) -> None:
        assert modern(session, "ping")["error"]["code"] == -32601

    @pytest.mark.parametrize(
        ("meta", "code"),
        [
            (None, -32602),
            ({}, -32602),
            ({VERSION_KEY: MODERN}, -32602),
            ({CAPABILITIES_KEY: {}}, -32602),
            ({VERSION_KEY: 7, CAPABILITIES_KEY: {}}, -32602),
            ({VERSION_KEY: "2031-01-01", CAPABILITIES_KEY: {}}, -32022),
            ("x", -32602),
        ],
    )
    def test_needs_its_envelope_on_every_request(self, session: McpSession, meta: Any, code: int) -> None:
        modern(session, "server/discover")

        assert ask(session, "tools/list", {"_meta": meta})["error"]["code"] == code

    def test_names_the_versions_it_has(self, session: McpSession) -> None:
        reply = ask(session, "server/discover", {"_meta": {VERSION_KEY: "2031-01-01", CAPABILITIES_KEY: {}}})

        assert reply["error"]["data"] == {"supported": [MODERN], "requested": "2031-01-01"}

    def test_takes_no_handshake(self, session: McpSession) -> None:
        modern(session, "server/discover")

        reply = ask(session, "initialize", {"protocolVersion": "2025-06-18"})

        assert reply["error"]["code"] == -32022
        assert reply["error"]["data"] == {"supported": [MODERN], "requested": "2025-06-18"}

    def test_is_not_entered_after_a_handshake(self, session: McpSession) -> None:
        ask(session, "initialize", {"protocolVersion": "2025-06-18"})

        assert modern(session, "tools/list")["error"]["code"] == -32600

    def test_is_not_entered_by_an_enveloped_handshake(self, session: McpSession) -> None:
        assert modern(session, "initialize", protocolVersion="2025-06-18")["result"]["protocolVersion"] == "2025-06-18"

"""GET and PUT /v1/state/{connector_id}."""

from typing import Any

import orjson
import pytest

from pdpp_server.resource_server import state as handler
from tests.requirements import requirement
from tests.scenarios.resource_server.writes import OwnersTools


def _put(tools: OwnersTools, state: Any, query: str = "") -> Any:
    path = f"/v1/state/chats?connection_id={tools.chats.work}{query}"
    return tools.send("PUT", path, orjson.dumps({"state": state}))


def _get(tools: OwnersTools, query: str = "", connection_id: str = "") -> Any:
    return tools.send("GET", f"/v1/state/chats?connection_id={connection_id or tools.chats.work}{query}").json()


@requirement("rs.state.round-trip")
def test_what_a_collector_puts_down_it_gets_again(tools: OwnersTools) -> None:
    empty = {
        "object": "stream_state",
        "connector_id": "chats",
        "connector_instance_id": tools.chats.work,
        "grant_id": None,
        "state": {},
        "updated_at": None,
    }
    assert _get(tools) == empty

    put = _put(tools, {"messages": {"page": [1, {"é": None}]}, "photos": {}})

    assert put.status_code == 200
    assert put.json() == {
        **empty,
        "state": {"messages": {"page": [1, {"é": None}]}, "photos": {}},
        "updated_at": "2026-11-15T12:00:00.000Z",
    }
    assert _get(tools) == put.json()
    assert _get(tools, connection_id=tools.chats.mine)["state"] == {}


@requirement("rs.state.round-trip")
def test_a_stream_that_is_not_named_keeps_its_cursor(tools: OwnersTools) -> None:
    _put(tools, {"messages": {"page": 1}, "photos": {"page": 1}})

    assert _put(tools, {"photos": {"page": 2}}).json()["state"] == {"messages": {"page": 1}, "photos": {"page": 2}}


@requirement("rs.state.grant")
def test_a_grant_has_a_state_of_its_own(tools: OwnersTools) -> None:
    _put(tools, {"messages": {"of": "connection"}})
    of_grant = _put(tools, {"messages": {"of": "grant"}}, "&grant_id=grt_1").json()

    assert (of_grant["grant_id"], of_grant["state"]) == ("grt_1", {"messages": {"of": "grant"}})
    assert _get(tools)["state"] == {"messages": {"of": "connection"}}


@requirement("rs.state.grant")
def test_only_a_grant_that_lives_and_goes_on_has_one(tools: OwnersTools) -> None:
    chats = tools.chats
    chats.grant("grt_once", "tok_once", mode="single_use")
    chats.grant("grt_gone", "tok_gone")
    chats.revoke("grt_gone")
    chats.grant("grt_over", "tok_over", hours=-1)

    for grant_id, refused in {
        "grt_never": (404, "not_found"),
        "grt_once": (400, "invalid_request"),
        "grt_gone": (403, "grant_revoked"),
        "grt_over": (403, "grant_expired"),
    }.items():
        for method, body in (("GET", b""), ("PUT", b'{"state":{}}')):
            path = f"/v1/state/chats?connection_id={chats.work}&grant_id={grant_id}"
            assert tools.refusal(method, path, body)[:2] == refused


@requirement("rs.state.streams")
def test_a_stream_must_be_declared_and_covered_by_the_grant(tools: OwnersTools) -> None:
    _put(tools, {"messages": {"page": 1}})

    assert _put(tools, {"messages": {"page": 2}, "nothing": {}}).json()["error"]["code"] == "not_found"
    assert _get(tools)["state"] == {"messages": {"page": 1}}
    refused = _put(tools, {"diary": {}}, "&grant_id=grt_1")
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "invalid_request")
    of_mine = f"/v1/state/chats?connection_id={tools.chats.mine}&grant_id=grt_1"
    assert tools.refusal("PUT", of_mine, b'{"state":{"photos":{}}}')[:2] == (400, "invalid_request")


@requirement("rs.state.bad-input")
@pytest.mark.parametrize(
    "body",
    ["", "nothing", "[]", "{}", '{"state":[]}', '{"state":{"messages":7}}', '{"state":{"messages":null}}',
     '{"state":{},"more":1}'],
)  # fmt: skip
def test_a_body_of_another_shape_is_refused(tools: OwnersTools, body: str) -> None:
    path = f"/v1/state/chats?connection_id={tools.chats.work}"

    assert tools.refusal("PUT", path, body.encode())[:2] == (400, "invalid_request")


@requirement("rs.state.bad-input")
@pytest.mark.parametrize(
    ("path", "refused"),
    [
        ("/v1/state/nothing", (400, "connector_invalid", "connector_id")),
        ("/v1/state/chats", (409, "ambiguous_connector_instance", "connection_id")),
        ("/v1/state/chats?connection_id=cin_x", (404, "connector_instance_not_found", "connection_id")),
        ("/v1/state/chats?stream=messages", (400, "invalid_request", "stream")),
        ("/v1/state/chats?connector_id=chats", (400, "invalid_request", "connector_id")),
        ("/v1/state/chats?grant_id=a&grant_id=b", (400, "invalid_request", "grant_id")),
    ],
)
def test_a_state_of_nobody_is_refused(tools: OwnersTools, path: str, refused: tuple[Any, ...]) -> None:
    assert tools.refusal("GET", path) == refused
    assert tools.refusal("PUT", path, b'{"state":{}}') == refused


@requirement("rs.state.bad-input")
def test_a_state_that_is_too_long_is_refused(tools: OwnersTools) -> None:
    assert _put(tools, {"messages": {"x": "x" * handler.BODY_BYTES_MAX}}).json()["error"]["code"] == "resource_limit"


@requirement("rs.state.round-trip")
def test_the_connector_of_the_path_may_be_its_address(tools: OwnersTools) -> None:
    path = f"/v1/state/https%3A%2F%2Fregistry.pdpp.dev%2Fconnectors%2Fchats?connection_id={tools.chats.work}"

    assert tools.send("GET", path).json()["connector_id"] == "chats"

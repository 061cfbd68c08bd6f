"""POST /v1/connections."""

import json
from typing import Any

import pytest

from tests.requirements import requirement
from tests.scenarios.cli.command import DECLARATION, RECORDS
from tests.scenarios.resource_server.writes import OwnersTools


def _declared(tools: OwnersTools, name: Any = "My notes", **changed: Any) -> Any:
    body = {"declaration": {**DECLARATION, **changed}, "display_name": name}
    return tools.send("POST", "/v1/connections", json.dumps(body).encode())


@requirement("rs.connections.declare")
def test_a_tool_declares_a_connection_and_delivers_into_it(tools: OwnersTools) -> None:
    made = _declared(tools).json()
    connection_id = made["connection_id"]

    assert made == {
        "object": "connection",
        "connection_id": connection_id,
        "connector_key": "notebook",
        "display_name": "My notes",
    }
    assert _declared(tools).json() == made
    assert _declared(tools, "Others").json()["connection_id"] != connection_id
    to = f"connector_id=notebook&connection_id={connection_id}"
    lines = [{"key": record["id"], "data": record} for record in RECORDS]
    told = tools.post("notes", *lines, to=to).json()
    assert (told["records_accepted"], told["records_unchanged"]) == (2, 0)
    again = tools.post("notes", *lines, to=to).json()
    assert (again["records_accepted"], again["records_unchanged"]) == (2, 2)


@requirement("rs.connections.faulty")
def test_what_does_not_fit_makes_nothing(tools: OwnersTools) -> None:
    first = _declared(tools).json()["connection_id"]

    assert _declared(tools, publisher={"id": "https://example.org/other"}).status_code == 400
    assert _declared(tools, "Broken", streams=[]).json()["error"]["code"] == "invalid_declaration"
    told = tools.send("GET", "/v1/streams?connector_id=notebook").json()["data"]
    assert {one["connection_id"] for one in told} == {first}


@requirement("rs.connections.faulty")
@pytest.mark.parametrize(
    "body",
    [
        b"no json",
        b"[]",
        b"{}",
        b'{"declaration":[],"display_name":"x"}',
        b'{"declaration":{},"display_name":"x","more":1}',
        b'{"declaration":{},"display_name":""}',
        b'{"declaration":{},"display_name":7}',
        b'{"declaration":{},"display_name":" x"}',
    ],
)
def test_a_body_of_another_shape_is_refused(tools: OwnersTools, body: bytes) -> None:
    assert tools.refusal("POST", "/v1/connections", body)[:2] == (400, "invalid_request")


@requirement("rs.state.emptied")
def test_of_an_emptied_stream_nobody_is_said_to_have_come_far(tools: OwnersTools) -> None:
    state = b'{"state":{"messages":{"page":1},"photos":{"page":1}}}'
    path = f"/v1/state/chats?connection_id={tools.chats.work}"
    tools.send("PUT", path, state)

    tools.send("DELETE", f"/v1/streams/messages/records?{tools.work}")

    assert tools.send("GET", path).json()["state"] == {"photos": {"page": 1}}

"""Bytes that were written as text: described in every tool, refused as text, and whole over REST."""

import base64
import json
from typing import Any

import pytest

from pdpp_server.model.ingest import Incoming
from pdpp_server.wire.declarations import decode_declaration
from pdpp_server.wire.grants import decode_selection
from tests.requirements import requirement
from tests.scenarios.mcp.agents import Agent, Connect
from tests.scenarios.mcp.rest import get
from tests.worlds import chat
from tests.worlds.world import World

SOURCE = {"kind": "connector", "id": "https://registry.pdpp.dev/connectors/scans"}
LONG = base64.b64encode(bytes(range(256)) * 12).decode()
SHORT = base64.b64encode(b"a small picture, forty bytes and some").decode()
PROSE = "A note that is longer than any limit of ours. " * 30
TEXT: dict[str, Any] = {"type": "string"}
FIELDS: dict[str, Any] = {
    "photo": {**TEXT, "contentEncoding": "base64", "contentMediaType": "image/png"},
    "thumb": {**TEXT, "contentMediaType": "image/webp"},
    "avatar": TEXT,
    "raw": TEXT,
    "lines": TEXT,
    "parts": {
        "type": "array",
        "items": {"type": "object", "properties": {"icon": {**TEXT, "contentEncoding": "base64"}}},
    },
    "deep": {"type": "object"},
}
READABLE: dict[str, Any] = {
    "note": {**TEXT, "contentMediaType": "text/markdown"},
    "settings": {**TEXT, "contentMediaType": "application/vnd.x+json"},
    "plain": {"type": "object"},
}
STREAM: dict[str, Any] = {
    "name": "scans",
    "semantics": "mutable_state",
    "schema": {"type": "object", "required": ["id"], "properties": {"id": TEXT, **FIELDS, **READABLE}},
    "primary_key": ["id"],
    "selection": {"fields": True, "resources": True},
    "query": {"search": {"lexical_fields": ["note", "raw"]}, "aggregations": {"group_by": ["raw"], "count": True}},
}
DATA: dict[str, Any] = {
    "id": "s1",
    "photo": SHORT,
    "thumb": SHORT,
    "avatar": f"data:image/png;base64,{SHORT}",
    "raw": LONG,
    "lines": base64.encodebytes(bytes(range(256)) * 12).decode(),
    "parts": [{"icon": SHORT, "size": 3}],
    "deep": {"scan": {"bytes": LONG}, "page": 7},
    "note": PROSE,
    "settings": '{"a":1}',
    "plain": {"words": "plain words"},
}


@pytest.fixture
def scans(world: World) -> str:
    """The token of a client that may read the scans."""
    declaration = decode_declaration({**chat.DOCUMENT, "source": SOURCE, "streams": [STREAM]})
    writer = world.owner.writer(declaration, "Scans")
    assert writer.deliver([Incoming("test:s1", "scans", None, DATA, chat.EMITTED_AT)]).accepted == 1
    details = [{**chat.detail({"name": "scans"}), "source": {"id": SOURCE["id"]}}]
    return world.owner.create_grant(decode_selection(details), "Reader", None).token


def id_of(agent: Agent) -> str:
    return agent.call("query_records", stream="scans", fields=["id"]).structured["data"]["data"][0]["handle"]


@requirement("ev.binary.metadata-only")
def test_no_tool_shows_bytes_in_either_channel(connect: Connect, world: World, scans: str) -> None:
    agent = connect(scans)
    id = id_of(agent)
    answers = {
        "listed": agent.call("query_records", stream="scans"),
        "fetched": agent.call("fetch", id=id),
        "picked": agent.call("fetch", id=id, fields=["raw", "deep"]),
        "searched": agent.call("search", query=f"{LONG[:40]}* note"),
        "counted": agent.call("aggregate", stream="scans", metric="count", group_by="raw"),
    }

    for name, answer in answers.items():
        for said in (answer.text, json.dumps(answer.structured)):
            assert SHORT[:20] not in said, name
            assert LONG[:30] not in said, name
            assert LONG[600:630] not in said, name
    listed = answers["listed"].structured["data"]["data"][0]["data"]
    assert listed["photo"] == {
        "binary": True, "encoding": "base64", "media_type": "image/png", "size_chars": len(SHORT),
    }  # fmt: skip
    assert listed["avatar"]["media_type"] == "image/png"
    assert listed["raw"] == {"binary": True, "looks_like": "base64", "size_chars": len(LONG)}
    assert (listed["deep"]["page"], listed["parts"][0]["size"], listed["plain"]) == (7, 3, {"words": "plain words"})
    assert "looks like base64" in answers["fetched"].text
    assert PROSE[:60] in answers["fetched"].text


@requirement("ev.binary.not-text")
@pytest.mark.parametrize("field", [*FIELDS])
def test_bytes_are_refused_as_text_and_whole_over_rest(field: str, connect: Connect, world: World, scans: str) -> None:
    agent = connect(scans)
    id = id_of(agent)

    for place in ({}, {"offset_chars": 5, "limit_chars": 30}):
        refused = agent.call("read_record_field", id=id, field_path=field, **place)
        assert refused.code == "field_not_text"
        assert refused.structured["error"]["next_step"]
    path = f"/v1/streams/scans/records/s1/field-window?field={field}"
    window = get(world, path, token=scans).json()
    whole = DATA[field] if isinstance(DATA[field], str) else json.dumps(DATA[field])
    assert window["window"]["total_chars"] >= len(whole) - 20
    assert window["field"]["text_like"] is False
    assert get(world, "/v1/streams/scans/records/s1", token=scans).json()["data"] == DATA


@requirement("ev.binary.metadata-only")
@pytest.mark.parametrize("field", [*READABLE])
def test_text_and_json_stay_readable(field: str, connect: Connect, scans: str) -> None:
    agent = connect(scans)

    read = agent.call("read_record_field", id=id_of(agent), field_path=field)

    assert read.structured["window"]["text"][:7] in str(DATA[field]).replace("'", '"').replace(": ", ":")

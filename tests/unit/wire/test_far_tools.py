"""What is sent to another server's tools and what comes back."""

from collections.abc import Callable
from typing import Any

import pytest

from pdpp_server.errors import InvalidRequest, PdppError, SourceUnavailable
from pdpp_server.wire.envelope import Json
from pdpp_server.wire.far_tools import (
    ListedRecords,
    ToolAnswer,
    ToolHit,
    decode_arguments,
    decode_found,
    decode_next,
    decode_records,
    decode_reply,
    decode_result,
    encode_call,
)
from pdpp_server.wire.tools import encode_next


def test_a_call_is_one_message() -> None:
    assert encode_call("fetch", {"id": "1"}) == {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "fetch", "arguments": {"id": "1"}},
    }


@pytest.mark.parametrize(
    ("body", "refusal", "says"),
    [
        ({"error": {"code": -32602, "message": "no such field"}}, InvalidRequest, "no such field"),
        ({"error": {"code": -32603, "message": "broken"}}, SourceUnavailable, "broken"),
        ({"error": {"code": True, "message": "broken"}}, SourceUnavailable, "broken"),
        ({"error": {}}, SourceUnavailable, "neither a result nor a reason"),
        ({}, SourceUnavailable, "neither a result nor a reason"),
        ({"error": "no"}, SourceUnavailable, "neither a result nor a reason"),
    ],
)
def test_only_a_call_that_was_not_taken_is_the_callers_fault(
    body: dict[str, Any], refusal: type[PdppError], says: str
) -> None:
    with pytest.raises(refusal, match=says):
        decode_reply(body)


def test_the_result_is_given_as_it_is() -> None:
    assert decode_reply({"result": {"a": 1}}) == {"a": 1}


def test_the_arguments_of_each_tool_are_known_by_name() -> None:
    tools = [{"name": "fetch", "inputSchema": {"properties": {"id": {}}}}, {"name": "odd"}, {"inputSchema": {}}, 3]
    assert decode_arguments({"tools": tools}) == {"fetch": frozenset({"id"}), "odd": frozenset()}


def test_both_channels_are_kept_and_a_server_that_suggests_nothing_suggests_nothing() -> None:
    content = [{"type": "text", "text": "one"}, {"type": "image"}, {"type": "text", "text": "two"}]
    told = decode_result({"content": content, "structuredContent": {"data": []}, "isError": False})
    assert told == ToolAnswer("one\ntwo", {"data": [], "next": []}, False)
    assert decode_result({"isError": True}) == ToolAnswer("", {}, True)
    assert decode_result({"isError": "yes"}).is_error is False


def test_the_request_id_of_a_refusal_is_read_from_its_error() -> None:
    assert ToolAnswer("", {"error": {"request_id": "req_1"}}, True).refused_as == "req_1"
    assert ToolAnswer("", {"request_id": "req_1"}, False).refused_as is None


def test_an_answer_is_read_as_hits_records_and_next_calls() -> None:
    found = {"results": [{"id": "a/notes:1", "title": "Lease", "url": ""}]}
    assert decode_found(found) == [ToolHit("a/notes:1", "Lease")]
    page = {"data": {"data": [{"id": "1", "data": {"title": "Lease"}}], "next_cursor": "c"}}
    assert decode_records(page) == ListedRecords(({"title": "Lease"},), "c")
    assert decode_records({"data": {"data": [], "next_cursor": None}}) == ListedRecords((), None)
    steps = [("fetch", {"id": "a/notes:1"})]
    assert decode_next({"next": encode_next(steps)}) == steps


@pytest.mark.parametrize("read", [decode_found, decode_records, decode_next])
def test_what_is_no_such_answer_is_not_taken_for_an_empty_one(read: Callable[[Json], object]) -> None:
    with pytest.raises(SourceUnavailable):
        read({"error": {}})

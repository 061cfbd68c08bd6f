"""Calling a tool: arguments checked in words, refusals as results, bugs without detail."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from pdpp_server.errors import GrantRevoked
from pdpp_server.mcp.server import McpServer, decode
from pdpp_server.mcp.session import ProtocolFault
from pdpp_server.mcp.tool import Tool, ToolResult
from pdpp_server.model.activity import NOTHING
from pdpp_server.model.pending import Pending
from pdpp_server.port.reader import Reader
from tests.requirements import requirement
from tests.unit.mcp.fakes import given

SCHEMA = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "minLength": 1, "maxLength": 600},
        "limit": {"type": "integer", "minimum": 1, "maximum": 100},
        "mode": {"enum": ["auto", "lexical"]},
        "fields": {"type": "array", "items": {"type": "string"}, "minItems": 1},
        "view": {"type": "string", "minLength": 1},
        "cursor": {"type": "string", "pattern": "^[0-9]+$"},
        "names": {"type": "array", "items": {"type": "string"}, "minItems": 1},
        "filter": {"type": "object", "minProperties": 1, "additionalProperties": {"type": ["string", "number"]}},
        "most": {"type": "object", "minProperties": 1, "additionalProperties": {"type": "integer", "minimum": 1}},
        "either": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "place": {"type": "object", "properties": {"x": {}}, "required": ["x"], "additionalProperties": False},
    },
    "required": ["id"],
    "additionalProperties": False,
}


def no_reader() -> Reader:
    raise AssertionError("Nothing may be read.")


def some_reader() -> Reader:
    return object()  # pyright: ignore[reportReturnType]


def server(answer: Callable[[Reader, Mapping[str, Any]], ToolResult]) -> McpServer:
    def call(reader: Reader, arguments: Mapping[str, Any]) -> Pending[ToolResult]:
        return given(answer(reader, arguments), "req_1")

    return McpServer([Tool("look", "Look", "Looks.", SCHEMA, {"type": "object"}, call)])


def echo(_: Reader, arguments: Mapping[str, Any]) -> ToolResult:
    return ToolResult("seen", dict(arguments), NOTHING, NOTHING)


def refused(arguments: dict[str, Any]) -> dict[str, Any]:
    result = json.loads(server(echo).call(no_reader, "look", arguments))
    assert result["isError"] is True
    return result["structuredContent"]["error"]


def test_a_result_has_both_channels() -> None:
    result = json.loads(server(echo).call(some_reader, "look", {"id": "ü"}))

    assert result == {"content": [{"type": "text", "text": "seen"}], "structuredContent": {"id": "ü"}}


@requirement("mcp.tools.strict-arguments")
@pytest.mark.parametrize(
    ("arguments", "param", "words"),
    [
        ({"id": "x", "bogus": 1}, "bogus", "look does not take 'bogus'. It takes: id, limit, mode, fields, view,"),
        ({}, "id", "id is required."),
        ({"id": 7}, "id", "id must be of type string."),
        ({"id": ""}, "id", "id must have at least 1 character(s)."),
        ({"id": "x" * 601}, "id", "id must have at most 600 characters."),
        ({"id": "x", "limit": 0}, "limit", "limit must be at least 1."),
        ({"id": "x", "limit": 101}, "limit", "limit must be at most 100."),
        ({"id": "x", "limit": "500"}, "limit", "limit must be at most 100."),
        ({"id": "x", "limit": "-1"}, "limit", "limit must be at least 1."),
        ({"id": "x", "limit": "5.0"}, "limit", "limit must be of type integer."),
        ({"id": "x", "limit": " 5"}, "limit", "limit must be of type integer."),
        ({"id": "x", "limit": "\u0665"}, "limit", "limit must be of type integer."),
        ({"id": "x", "limit": "9" * 5000}, "limit", "limit must be of type integer."),
        ({"id": "x", "limit": True}, "limit", "limit must be of type integer."),
        ({"id": "x", "limit": 1.5}, "limit", "limit must be of type integer."),
        ({"id": "x", "limit": []}, "limit", "limit must be of type integer."),
        ({"id": None}, "id", "id must be of type string."),
        ({"id": "x", "bogus": None}, "bogus", "look does not take 'bogus'."),
        ({"id": "x", "mode": "magic"}, "mode", 'mode must be one of ["auto","lexical"].'),
        ({"id": "x", "fields": []}, "fields", "fields must have at least 1 item(s)."),
        ({"id": "x", "fields": None}, "fields", "fields must be of type array."),
        ({"id": "x", "fields": ""}, "fields", "fields must be of type array."),
        ({"id": "x", "view": None}, "view", "view must be of type string."),
        ({"id": "x", "view": ""}, "view", "view must have at least 1 character(s)."),
        ({"id": "x", "fields": ["a", 7]}, "fields", "fields[1] must be of type string."),
        ({"id": "x", "cursor": "abc"}, "cursor", "cursor must match ^[0-9]+$."),
        ({"id": "x", "either": 7}, "either", "either does not fit the input schema of look."),
        ({"id": "x", "place": {"y": 2}}, "place", "x is required in place."),
        ({"id": "x", "place": {"x": 1, "y": 2}}, "place", "place does not take 'y'."),
        ({"id": "\ud83d"}, None, "half of a surrogate pair"),
    ],
)
def test_bad_arguments_are_refused_in_words_before_any_read(
    arguments: dict[str, Any], param: str | None, words: str
) -> None:
    error = refused(arguments)

    assert error["code"] == "invalid_request"
    assert error.get("param") == param
    assert words in error["message"]
    assert error["request_id"].startswith("req_")


def test_several_problems_are_told_at_once() -> None:
    message = refused({"limit": 0, "mode": "magic"})["message"]

    assert "id is required." in message
    assert "limit must be at least 1." in message


def test_a_made_up_name_is_shown_short_and_escaped() -> None:
    message = refused({"id": "x", "\u202e" + "evil\n" * 100_000: 1, **{f"n{i}": i for i in range(1000)}})["message"]

    assert "\u202e" not in message
    assert "\n" not in message
    assert len(message) < 500


@requirement("mcp.arguments.empty-is-absent")
@pytest.mark.parametrize("nothing", [None, ""])
@pytest.mark.parametrize("name", ["limit", "mode", "cursor", "names", "filter", "most", "place"])
def test_an_optional_argument_that_says_nothing_is_absent(name: str, nothing: str | None) -> None:
    result = json.loads(server(echo).call(some_reader, "look", {"id": "x", name: nothing}))

    assert result["structuredContent"] == {"id": "x"}


@requirement("mcp.arguments.empty-is-absent")
def test_an_empty_list_or_object_is_absent_where_one_is_taken() -> None:
    empty = {"id": "x", "names": [], "filter": {}, "most": {}}
    result = json.loads(server(echo).call(some_reader, "look", empty))

    assert result["structuredContent"] == {"id": "x"}


@requirement("mcp.arguments.empty-is-absent")
@pytest.mark.parametrize("arguments", [{"fields": []}, {"fields": None}, {"view": ""}, {"view": None}])
def test_what_would_widen_by_being_absent_is_refused_with_the_way_out(arguments: dict[str, Any]) -> None:
    (name,) = arguments

    assert f"Leave {name} out" in refused({"id": "x", **arguments})["next_step"]


@requirement("mcp.arguments.number-as-text")
def test_a_whole_number_written_as_text_is_that_number() -> None:
    sent = {"id": "5", "limit": "5", "most": {"letters": "3"}, "filter": {"likes": "5"}}
    result = json.loads(server(echo).call(some_reader, "look", sent))

    meant = {"id": "5", "limit": 5, "most": {"letters": 3}, "filter": {"likes": "5"}}
    assert repr(result["structuredContent"]) == repr(meant)


def test_a_whole_number_written_as_a_fraction_is_a_whole_number() -> None:
    result = json.loads(server(echo).call(some_reader, "look", {"id": "x", "limit": 5.0}))

    assert repr(result["structuredContent"]["limit"]) == "5"


@requirement("mcp.refusals.same-code")
def test_a_refusal_is_a_result_with_its_code() -> None:
    def revoked(_: Reader, __: Mapping[str, Any]) -> ToolResult:
        raise GrantRevoked("Grant g1 was revoked.")

    result = json.loads(server(revoked).call(some_reader, "look", {"id": "x"}))

    assert result["isError"] is True
    assert result["structuredContent"]["error"]["code"] == "grant_revoked"
    assert "grant_revoked" in result["content"][0]["text"]


@requirement("mcp.protocol.unknown-tool")
def test_an_unknown_tool_is_a_protocol_error() -> None:
    with pytest.raises(ProtocolFault) as caught:
        server(echo).call(no_reader, "nothing", {})

    assert caught.value.body == {"code": -32602, "message": "There is no such tool. The tools are: look."}


def test_a_bug_is_told_without_detail_and_logged_without_its_words(capsys: pytest.CaptureFixture[str]) -> None:
    def bug(_: Reader, arguments: Mapping[str, Any]) -> ToolResult:
        raise KeyError(arguments["id"])

    with pytest.raises(ProtocolFault) as caught:
        server(bug).call(some_reader, "look", {"id": "text of a record"})

    said, logged = str(caught.value), capsys.readouterr().err
    assert caught.value.body["code"] == -32603
    assert said.rsplit(" ", 1)[-1].rstrip(".") == logged.split(" ", 1)[0]
    assert "KeyError" in logged
    assert "in bug" in logged
    assert "text of a record" not in said + logged


@pytest.mark.parametrize("text", ["\ud83d", "a\udcff"])
def test_what_cannot_be_encoded_is_a_fault_not_the_end(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ProtocolFault):
        server(lambda _, __: ToolResult(text, {}, NOTHING, NOTHING)).call(some_reader, "look", {"id": "x"})

    assert "Error" in capsys.readouterr().err


def test_a_reader_that_cannot_be_opened_is_answered_at_the_call(capsys: pytest.CaptureFixture[str]) -> None:
    looking = server(echo)

    looking.warm(no_reader)
    with pytest.raises(ProtocolFault):
        looking.call(no_reader, "look", {"id": "x"})

    assert "AssertionError" in capsys.readouterr().err


def test_half_a_surrogate_pair_can_be_read_so_that_it_can_be_refused() -> None:
    assert decode(rb'{"query":"\ud83d"}') == {"query": "\ud83d"}


@pytest.mark.parametrize("line", [b"NaN", b"{", b"", b"\xff"])
def test_what_is_no_json_stays_an_error(line: bytes) -> None:
    with pytest.raises(ValueError):
        decode(line)

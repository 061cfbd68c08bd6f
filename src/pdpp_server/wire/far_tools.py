"""Tools as whoever calls them knows them: what is sent to those of another server (JSON-RPC 2.0), what any answers."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from pdpp_server.errors import InvalidRequest, SourceUnavailable
from pdpp_server.wire.envelope import Json, listed, object_of, objects_of, text_of, whole_of

HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
_INVALID_PARAMS = -32602


class ToolAnswer(NamedTuple):
    """Both channels of an answer, as its server wrote them."""

    text: str
    structured: Json
    is_error: bool

    @property
    def refused_as(self) -> str | None:
        """The request id of a refusal that has one."""
        return text_of(object_of(self.structured, "error"), "request_id")


def encode_request(method: str, params: Mapping[str, Any]) -> Json:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": dict(params)}


def encode_call(tool: str, arguments: Mapping[str, Any]) -> Json:
    return encode_request("tools/call", {"name": tool, "arguments": dict(arguments)})


def decode_reply(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """The result. Raises: InvalidRequest where the call was not taken, SourceUnavailable for any other fault."""
    if "result" in body:
        return object_of(body, "result")
    error = object_of(body, "error")
    message = text_of(error, "message")
    if message is None:
        raise SourceUnavailable("The server's answer has neither a result nor a reason.")
    is_ours = whole_of(error, "code") == _INVALID_PARAMS
    raise (InvalidRequest if is_ours else SourceUnavailable)(f"The tools of that server refused: {message}")


def decode_arguments(result: Mapping[str, Any]) -> dict[str, frozenset[str]]:
    """The names that each tool takes."""
    return {
        name: frozenset(object_of(object_of(tool, "inputSchema"), "properties"))
        for tool in objects_of(result, "tools")
        if (name := text_of(tool, "name"))
    }


class ToolHit(NamedTuple):
    """A hit of `search`, as the flat list beside the whole answer has it."""

    id: str
    title: str


class ListedRecords(NamedTuple):
    """What the records of one page hold, and where the next begins."""

    data: tuple[Mapping[str, Any], ...]
    next_cursor: str | None


def decode_found(structured: Mapping[str, Any]) -> list[ToolHit]:
    return [ToolHit(each["id"], each["title"]) for each in listed(structured, "results")]


def decode_records(structured: Mapping[str, Any]) -> ListedRecords:
    page = object_of(structured, "data")
    data = tuple(object_of(record, "data") for record in listed(page, "data"))
    return ListedRecords(data, text_of(page, "next_cursor"))


def decode_next(structured: Mapping[str, Any]) -> list[tuple[str, Json]]:
    """The calls that an answer suggests: the tool and its arguments."""
    return [(step["tool"], step["arguments"]) for step in listed(structured, "next")]


def decode_result(result: Mapping[str, Any]) -> ToolAnswer:
    """A server that suggests no next step suggests none."""
    blocks = [text for block in objects_of(result, "content") if (text := text_of(block, "text")) is not None]
    structured: Json = dict(object_of(result, "structuredContent"))
    if "data" in structured:
        structured.setdefault("next", [])
    return ToolAnswer("\n".join(blocks), structured, result.get("isError") is True)

"""Another server's tools at its own `/mcp`: what is sent there and what comes back (JSON-RPC 2.0)."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from pdpp_server.errors import InvalidRequest, SourceUnavailable
from pdpp_server.wire.envelope import Json, object_of, objects_of, text_of, whole_of

HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
_INVALID_PARAMS = -32602


class FarResult(NamedTuple):
    """Both channels of an answer, as the other server wrote them."""

    text: str
    structured: Json
    is_error: bool


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


def decode_result(result: Mapping[str, Any]) -> FarResult:
    """A server that suggests no next step suggests none."""
    blocks = [text for block in objects_of(result, "content") if (text := text_of(block, "text")) is not None]
    structured: Json = dict(object_of(result, "structuredContent"))
    if "data" in structured:
        structured.setdefault("next", [])
    return FarResult("\n".join(blocks), structured, result.get("isError") is True)

"""Everything the adapter sends is what the official SDK's types of that protocol version describe."""

import json
import subprocess
import sys
from typing import Any

import pytest
from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    PROTOCOL_VERSION_META_KEY,
    SERVER_INFO_META_KEY,
    UNSUPPORTED_PROTOCOL_VERSION,
    UnsupportedProtocolVersionErrorData,
    methods,
    version,
)
from mcp_types.jsonrpc import JSONRPCError, JSONRPCResponse, jsonrpc_message_adapter

from pdpp_server.errors import AmbiguousConnection, Candidate
from pdpp_server.mcp import session as ours
from pdpp_server.mcp.generate import FRONT, front_text
from pdpp_server.mcp.resources import TEMPLATES
from pdpp_server.mcp.server import McpServer, decode
from pdpp_server.mcp.session import McpSession, load_answers
from pdpp_server.mcp.surface import TOOLS
from pdpp_server.mcp.tool import Tool, ToolResult
from pdpp_server.model.activity import NOTHING
from pdpp_server.model.catalogue import Catalogue
from pdpp_server.model.pending import Pending
from tests.requirements import requirement
from tests.unit.mcp.fakes import FakeReader, given

MODERN = version.LATEST_MODERN_VERSION
LISTS = ["tools/list", "resources/list", "resources/templates/list"]
CASES = [
    *((each, method) for each in version.HANDSHAKE_PROTOCOL_VERSIONS for method in ["ping", *LISTS]),
    *((MODERN, method) for method in ["server/discover", *LISTS]),
]


def answer(_: Any, arguments: Any) -> Pending[ToolResult]:
    if "refuse" in arguments:
        raise AmbiguousConnection("Several.", candidates=(Candidate("c1", "mail"), Candidate("c2", "mail")))
    if "break" in arguments:
        raise ZeroDivisionError
    return given(ToolResult("Found 1.", {"data": [1, None, {"é": "ü"}]}, NOTHING, NOTHING), "req_1")


def session(protocol: str) -> McpSession:
    anything: dict[str, Any] = {"type": "object"}
    reader = FakeReader(catalogue=Catalogue("client", None, (), ()))
    server = McpServer([Tool(name, "Look", "Looks.", anything, anything, answer) for name in ("look", "fetch")])
    opened = McpSession(
        load_answers(FRONT.read_bytes()),
        decode=decode,
        serve=lambda method, params: server.serve(lambda: reader, method, params).result,
    )
    if protocol == MODERN:
        ask(opened, protocol, "server/discover")
    else:
        hello = {"protocolVersion": protocol, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        ask(opened, protocol, "initialize", hello)
    return opened


def ask(opened: McpSession, protocol: str, method: str, params: dict[str, Any] | None = None) -> Any:
    envelope = {PROTOCOL_VERSION_META_KEY: protocol, CLIENT_CAPABILITIES_META_KEY: {}}
    params = {**(params or {}), **({"_meta": envelope} if protocol == MODERN else {})}
    methods.validate_client_request(method, protocol, params)
    reply = opened.handle(json.dumps({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}).encode())
    return jsonrpc_message_adapter.validate_json(reply or b"")


def assert_described(method: str, protocol: str, message: Any) -> dict[str, Any]:
    """The version's own type accepts the result and leaves nothing of it out, save nulls inside our data."""
    assert isinstance(message, JSONRPCResponse)
    described = methods.serialize_server_result(method, protocol, message.result)
    assert described == message.result
    methods.parse_server_result(method, protocol, message.result)
    return message.result


def test_our_versions_are_those_of_the_sdk() -> None:
    assert ours.HANDSHAKE_VERSIONS == version.HANDSHAKE_PROTOCOL_VERSIONS
    assert (ours.MODERN,) == version.MODERN_PROTOCOL_VERSIONS
    assert ours.VERSION_KEY == PROTOCOL_VERSION_META_KEY
    assert ours.CAPABILITIES_KEY == CLIENT_CAPABILITIES_META_KEY
    assert ours.UNSUPPORTED_PROTOCOL_VERSION == UNSUPPORTED_PROTOCOL_VERSION


def test_the_generated_answers_are_up_to_date() -> None:
    assert FRONT.read_text("utf-8") == front_text(), "run make fix"


def test_the_first_answers_need_nothing_that_is_dear_to_import() -> None:
    dear = ["asyncio", "dataclasses", "hashlib", "orjson", "pathlib", "typing", "pdpp_server.mcp.server"]
    script = f"import sys; sys.path.insert(0, {str(FRONT.parents[2])!r}); import pdpp_server.mcp.stdio; "
    script += f"print([name for name in {dear} if name in sys.modules])"

    done = subprocess.run([sys.executable, "-I", "-S", "-c", script], capture_output=True, text=True, check=False)

    assert (done.stdout, done.stderr) == ("[]\n", "")


@requirement("mcp.tools.annotations")
def test_every_tool_is_listed_with_all_four_hints() -> None:
    listed = json.loads(FRONT.read_bytes())[ours.HANDSHAKE]["tools/list"]["tools"]

    assert [tool["name"] for tool in listed] == [tool.name for tool in TOOLS]
    for tool in listed:
        assert tool["annotations"] == {
            "readOnlyHint": True,
            "destructiveHint": False,
            "idempotentHint": True,
            "openWorldHint": False,
        }


@pytest.mark.parametrize("protocol", version.HANDSHAKE_PROTOCOL_VERSIONS)
def test_the_handshake_is_described(protocol: str) -> None:
    hello = {"protocolVersion": protocol, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}

    result = assert_described("initialize", protocol, ask(session(protocol), protocol, "initialize", hello))

    assert result["protocolVersion"] == protocol
    assert result["serverInfo"]["name"] == "pdpp"
    assert result["instructions"]


@requirement("mcp.protocol.both-eras")
@pytest.mark.parametrize(("protocol", "method"), CASES)
def test_every_constant_answer_is_described(protocol: str, method: str) -> None:
    result = assert_described(method, protocol, ask(session(protocol), protocol, method))

    assert ("ttlMs" in result) == (protocol == MODERN)
    assert (SERVER_INFO_META_KEY in result.get("_meta", {})) == (protocol == MODERN)


@pytest.mark.parametrize("protocol", version.KNOWN_PROTOCOL_VERSIONS)
@pytest.mark.parametrize(("arguments", "error"), [({}, False), ({"refuse": 1}, True)])
def test_what_a_call_returns_is_described(protocol: str, arguments: dict[str, Any], error: bool) -> None:
    reply = ask(session(protocol), protocol, "tools/call", {"name": "look", "arguments": arguments})

    result = assert_described("tools/call", protocol, reply)
    assert result.get("isError", False) is error
    assert result["content"][0]["type"] == "text"
    assert (result.get("resultType") == "complete") == (protocol == MODERN)


READ = {"uri": "pdpp://record/c1/notes:n1"}
COMPLETED = {
    "ref": {"type": "ref/resource", "uri": TEMPLATES[0].uri},
    "argument": {"name": "name", "value": ""},
}


@requirement("mcp.resources.advertised")
@pytest.mark.parametrize("protocol", version.KNOWN_PROTOCOL_VERSIONS)
@pytest.mark.parametrize(("method", "params"), [("resources/read", READ), ("completion/complete", COMPLETED)])
def test_what_else_is_live_is_described(protocol: str, method: str, params: dict[str, Any]) -> None:
    result = assert_described(method, protocol, ask(session(protocol), protocol, method, params))

    assert (result.get("resultType") == "complete") == (protocol == MODERN)
    assert result.get("cacheScope", "private") == "private"


@pytest.mark.parametrize("protocol", version.KNOWN_PROTOCOL_VERSIONS)
def test_a_resource_that_is_not_there_has_the_code_of_its_era(protocol: str) -> None:
    reply = ask(session(protocol), protocol, "resources/read", {"uri": "file:///etc/passwd"})

    assert isinstance(reply, JSONRPCError)
    assert reply.error.code == (-32602 if protocol == MODERN else -32002)
    assert reply.error.data["uri"] == "file:///etc/passwd"


@pytest.mark.parametrize("protocol", version.KNOWN_PROTOCOL_VERSIONS)
@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("completion/complete", {**COMPLETED, "argument": {"name": "other", "value": ""}}, -32602),
        ("completion/complete", {**COMPLETED, "ref": {"type": "ref/prompt", "name": "x"}}, -32602),
        ("tools/call", {"name": "nothing"}, -32602),
        ("tools/call", {"name": "look", "arguments": {"break": 1}}, -32603),
        ("prompts/list", {}, -32601),
        ("tools/list", {"cursor": "x"}, -32602),
    ],
)
def test_every_fault_is_an_error_with_its_id(protocol: str, method: str, params: dict[str, Any], code: int) -> None:
    reply = ask(session(protocol), protocol, method, params)

    assert isinstance(reply, JSONRPCError)
    assert (reply.id, reply.error.code) == (7, code)


@pytest.mark.parametrize("line", [b"garbage", b"[]", b"7", b'{"jsonrpc":"2.0"}'])
def test_a_fault_without_a_request_is_an_error_without_an_id(line: bytes) -> None:
    reply = jsonrpc_message_adapter.validate_json(session(MODERN).handle(line) or b"")

    assert isinstance(reply, JSONRPCError)
    assert reply.id is None


def test_an_unsupported_version_is_told_in_the_typed_way() -> None:
    opened = session(MODERN)
    reply = jsonrpc_message_adapter.validate_json(
        opened.handle(b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}')
        or b""
    )

    assert isinstance(reply, JSONRPCError)
    data = UnsupportedProtocolVersionErrorData.model_validate(reply.error.data)
    assert (data.supported, data.requested) == ([MODERN], "2025-06-18")

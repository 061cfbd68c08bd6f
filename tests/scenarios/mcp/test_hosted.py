"""/mcp of a running server: who is let in, what is a message, and both protocol eras."""

import json
import socket
from collections.abc import Iterator
from datetime import timedelta
from threading import current_thread
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CLIENT_CAPABILITIES_META_KEY, HEADER_MISMATCH, PROTOCOL_VERSION_META_KEY
from starlette.testclient import TestClient

from pdpp_server.app import create_app
from pdpp_server.mcp.generate import front
from pdpp_server.mcp.http import BATCH_MAX, BODY_BYTES, LOOP_BYTES, SLOWED_BYTES
from pdpp_server.mcp.server import decode
from pdpp_server.mcp.session import HANDSHAKE
from pdpp_server.reads import services
from pdpp_server.settings import Settings
from pdpp_server.store.engine import Reading
from tests.requirements import requirement
from tests.scenarios.mcp.agents import agent_on, handle_of, hosted_agent, hosting, reads_of
from tests.worlds.served import served
from tests.worlds.world import NOW, World

METADATA = "http://127.0.0.1/.well-known/oauth-protected-resource/mcp"
MODERN = "2026-07-28"
ENVELOPE = {PROTOCOL_VERSION_META_KEY: MODERN, CLIENT_CAPABILITIES_META_KEY: {}}
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.fixture
def client(world: World) -> Iterator[TestClient]:
    with hosting(world) as client:
        yield client


def post(client: TestClient, token: str, message: Any, /, **headers: str) -> Any:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return client.post("/mcp", json=message, headers={"Authorization": f"Bearer {token}", **named})


def call(tool: str, /, **arguments: Any) -> dict[str, Any]:
    return {**PING, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


def code_of(response: Any) -> tuple[int, Any]:
    return response.status_code, response.json()["error"]["code"]


@requirement("mcp.hosted.initialize", "mcp.protocol.both-eras")
@pytest.mark.parametrize(("mode", "protocol"), [("legacy", "2025-11-25"), ("auto", MODERN), (MODERN, MODERN)])
async def test_the_official_client_reads_over_a_socket_in_both_eras(world: World, mode: str, protocol: str) -> None:
    bearer = {"Authorization": f"Bearer {world.token}"}
    with served(create_app(Settings(home=world.home), world.services)) as address:
        async with (
            httpx2.AsyncClient(headers=bearer) as http,
            Client(streamable_http_client(f"{address}/mcp", http_client=http), mode=mode) as client,
        ):
            tools = (await client.list_tools()).tools
            results = [await client.call_tool(tool, given) for tool, given in reads_of(world).items()]
            wrong = await client.call_tool("search", {"query": "lease", "profile": "full"})

            assert client.session.protocol_version == protocol

    assert len(tools) == 6
    assert not any(result.is_error for result in results)
    assert wrong.is_error


@requirement("mcp.hosted.initialize")
def test_no_session_is_opened(world: World, client: TestClient) -> None:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}

    response = post(client, world.token, {**PING, "method": "initialize", "params": hello})

    assert response.json()["result"]["protocolVersion"] == "2025-06-18"
    assert response.json()["result"]["serverInfo"]["name"] == "pdpp"
    assert "mcp-session-id" not in response.headers


@requirement("mcp.hosted.icons")
def test_the_same_icon_stands_in_both_greetings_and_in_the_challenge(world: World) -> None:
    with hosting(world, public_url="https://me.example") as client:
        hello = post(client, world.token, {**PING, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}})
        modern = {**PING, "method": "server/discover", "params": {"_meta": ENVELOPE}}
        found = post(client, world.token, modern, MCP_Protocol_Version=MODERN, Mcp_Method="server/discover")
        stranger = client.post("/mcp", json=PING)

    icon = {"src": "https://me.example/icon.svg", "mimeType": "image/svg+xml", "sizes": ["any"]}
    assert hello.json()["result"]["serverInfo"]["icons"] == [icon]
    assert found.json()["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["icons"] == [icon]
    assert stranger.headers["link"] == f'<{icon["src"]}>; rel="icon"; type="image/svg+xml"'


@requirement("mcp.hosted.same-surface", "mcp.tools.annotations")
def test_the_tools_are_those_of_the_other_doors(world: World, client: TestClient) -> None:
    listed = hosted_agent(client, world.token).ask("tools/list")

    assert listed == json.loads(json.dumps(front()[HANDSHAKE]["tools/list"]))


@requirement("mcp.hosted.challenge", "rs.discovery.protected-resource-mcp")
@pytest.mark.parametrize("token", [None, "nobody"])
def test_without_a_good_token_the_challenge_names_the_metadata_of_mcp(client: TestClient, token: str | None) -> None:
    headers = {"Authorization": f"Bearer {token}"} if token else {}

    response = client.post("/mcp", json=PING, headers=headers)

    fault = 'error="invalid_token", ' if token else ""
    challenge = f'Bearer {fault}resource_metadata="{METADATA}", scope="pdpp:read"'
    assert response.headers["www-authenticate"] == challenge
    assert code_of(response) == (401, "authentication_error")
    assert response.json()["error"]["resource_metadata"] == METADATA
    assert client.get(METADATA).json() == {
        "resource": "http://127.0.0.1/mcp",
        "resource_name": "Personal data server",
        "authorization_servers": ["http://127.0.0.1"],
        "scopes_supported": ["pdpp:read"],
        "bearer_methods_supported": ["header"],
        "pdpp_token_kinds_supported": ["client", "mcp_package"],
        "pdpp_agent_discovery": {"mcp": {"endpoint": "http://127.0.0.1/mcp"}},
    }


@requirement("mcp.hosted.owner-refused")
@pytest.mark.parametrize("message", [PING, call("schema")])
def test_an_owner_token_is_refused_and_reads_nothing(world: World, client: TestClient, message: Any) -> None:
    assert code_of(post(client, world.owner_token, message)) == (403, "permission_error")
    assert world.owner.activity() == []


@requirement("mcp.hosted.each-request")
@pytest.mark.parametrize("message", [PING, call("schema")])
def test_a_revocation_counts_from_the_next_request(world: World, client: TestClient, message: Any) -> None:
    assert post(client, world.token, message).status_code == 200

    world.owner.revoke(world.grant_id)

    assert code_of(post(client, world.token, message)) == (403, "grant_revoked")


@requirement("mcp.hosted.each-request")
@pytest.mark.parametrize(
    "sent",
    [
        {"method": "GET"},
        {"method": "POST", "content": b"{}", "headers": {"Content-Type": "text/plain"}},
        {"method": "POST", "content": b"[", "headers": {"Content-Type": "application/json"}},
        {"method": "POST", "json": call("fetch", id="")},
        {"method": "POST", "json": call("nothing")},
        {"method": "POST", "json": [PING, call("schema")]},
    ],
)
def test_whoever_was_revoked_learns_that_and_nothing_else(
    world: World, client: TestClient, sent: dict[str, Any]
) -> None:
    assert post(client, world.token, PING).status_code == 200
    world.owner.revoke(world.grant_id)

    headers = {**sent.get("headers", {}), "Authorization": f"Bearer {world.token}"}
    asked: dict[str, Any] = {**sent, "headers": headers}

    assert code_of(client.request(url="/mcp", **asked)) == (403, "grant_revoked")
    assert world.owner.activity() == []


@requirement("mcp.hosted.each-request")
@pytest.mark.parametrize("message", [PING, call("fetch", id="x"), call("schema"), call("fetch", id="")])
def test_a_token_is_settled_once_in_a_call(
    world: World, client: TestClient, monkeypatch: pytest.MonkeyPatch, message: Any
) -> None:
    assert post(client, world.token, PING).status_code == 200
    settled: list[str] = []
    looked_up = services.row_of

    def counted(reading: Reading, bearer: str | None, digest: bytes | None) -> tuple[bytes, tuple[Any, ...]]:
        settled.append(str(bearer))
        return looked_up(reading, bearer, digest)

    monkeypatch.setattr(services, "row_of", counted)

    assert post(client, world.token, message).status_code == 200
    assert settled == [world.token]


@requirement("mcp.hosted.each-request")
def test_whoever_was_revoked_called_no_tool(world: World) -> None:
    with hosting(world, metrics_remote=True) as client:
        post(client, world.token, PING)
        world.owner.revoke(world.grant_id)
        post(client, world.token, call("schema"))
        counted = client.get("/metrics").text

    assert 'pdpp_requests_total{operation="mcp",code="grant_revoked"} 1' in counted
    assert 'operation="schema"' not in counted


@requirement("mcp.hosted.each-request")
def test_a_token_that_has_expired_is_nobodys(world: World, client: TestClient) -> None:
    token = world.grant(world.both("messages"), expires_at="2026-11-15T13:00:00Z")
    assert post(client, token, PING).status_code == 200

    world.clock.moment = NOW + timedelta(hours=2)

    assert code_of(post(client, token, PING)) == (401, "authentication_error")


@requirement("mcp.hosted.same-door")
def test_no_more_leaves_than_by_the_other_door(world: World, client: TestClient) -> None:
    token = world.grant(world.both("messages", fields=["id", "text"]))
    agent, bearer = hosted_agent(client, token), {"Authorization": f"Bearer {token}"}

    rest = client.get(f"/v1/streams/messages/records?connection_id={world.work}", headers=bearer).json()
    page = agent.call("query_records", stream="messages", connection_id=world.work)

    assert [one["data"] for one in page.structured["data"]["data"]] == [one["data"] for one in rest["data"]][:10]
    assert agent.call("fetch", id=handle_of(world, "c1", stream="channels")).code == "grant_stream_not_allowed"


@requirement("mcp.hosted.methods")
@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "OPTIONS"])
def test_messages_are_posted_and_nothing_else(world: World, client: TestClient, method: str) -> None:
    stranger = client.request(method, "/mcp")
    known = client.request(method, "/mcp", headers={"Authorization": f"Bearer {world.token}"})

    assert stranger.status_code == 401
    assert (known.status_code, known.headers["allow"]) == (405, "POST")


@requirement("mcp.hosted.request-id")
def test_one_request_id_stands_everywhere(world: World, client: TestClient) -> None:
    response = post(client, world.token, call("search", query="walrus"))
    refused = post(client, world.token, call("search", query="walrus", profile="full"), Request_Id="mine-1")

    said = response.headers["request-id"]
    assert response.json()["result"]["structuredContent"]["request_id"] == said
    assert {line.request_id for line in world.owner.activity()} == {said}
    assert refused.headers["request-id"] == "mine-1"
    assert refused.json()["result"]["structuredContent"]["error"]["request_id"] == "mine-1"


@requirement("mcp.hosted.origin")
@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://localhost:6274", 200),
        ("http://[::1]:80", 200),
        ("https://me.example", 200),
        ("https://pages.example", 200),
        ("https://evil.example", 403),
        ("https://localhost.evil.example", 403),
        ("https://evil.example/127.0.0.1", 403),
        ("null", 403),
    ],
)
def test_a_page_of_another_site_is_not_answered(world: World, origin: str, status: int) -> None:
    with hosting(world, public_url="https://me.example", trusted_hosts=("pages.example",)) as client:
        assert post(client, world.token, PING, Origin=origin).status_code == status
        assert client.get("/v1/schema", headers={"Origin": origin}).status_code == 401


@requirement("mcp.hosted.messages")
@pytest.mark.parametrize("protocol", ["2025-06-18", MODERN])
@pytest.mark.parametrize(
    ("body", "code"), [(b"garbage", -32700), (b"\xff", -32700), (b"7", -32600), (b"[]", -32600), (b"{}", -32600)]
)
def test_what_is_no_message_is_told_so(world: World, client: TestClient, protocol: str, body: bytes, code: int) -> None:
    headers = {"Authorization": f"Bearer {world.token}", "Content-Type": "application/json"}

    response = client.post("/mcp", content=body, headers={**headers, "MCP-Protocol-Version": protocol})

    assert code_of(response) == (400, code)


@requirement("mcp.hosted.messages")
@pytest.mark.parametrize(
    ("headers", "size", "status"),
    [
        ({"Content-Type": "text/plain"}, 10, 400),
        ({"Content-Type": "application/json", "Accept": "text/event-stream"}, 10, 406),
        ({"Content-Type": "application/json; charset=utf-8", "Accept": "application/*"}, BODY_BYTES, 200),
        ({"Content-Type": "application/json"}, BODY_BYTES + 1, 413),
    ],
)
def test_a_message_is_json_of_bounded_size(
    world: World, client: TestClient, headers: dict[str, str], size: int, status: int
) -> None:
    body = json.dumps(PING).encode().ljust(size)

    response = client.post("/mcp", content=body, headers={"Authorization": f"Bearer {world.token}", **headers})

    assert response.status_code == status


@requirement("mcp.hosted.messages")
def test_what_asks_for_nothing_is_accepted_in_silence(world: World, client: TestClient) -> None:
    for message in ({"method": "notifications/initialized"}, {"id": 1, "result": {}}):
        response = post(client, world.token, {"jsonrpc": "2.0", **message})

        assert (response.status_code, response.content) == (202, b"")


@requirement("mcp.hosted.messages", "mcp.hosted.versions")
def test_a_batch_is_for_the_version_that_knows_batches(world: World, client: TestClient) -> None:
    batch = [{**PING, "id": id} for id in range(BATCH_MAX)]

    for headers in ({}, {"MCP_Protocol_Version": "2025-03-26"}):
        assert [reply["id"] for reply in post(client, world.token, batch, **headers).json()] == [*range(BATCH_MAX)]
        assert code_of(post(client, world.token, [*batch, PING], **headers)) == (400, -32600)
    assert code_of(post(client, world.token, batch, MCP_Protocol_Version="2025-06-18")) == (400, -32600)


@requirement("mcp.hosted.versions")
@pytest.mark.parametrize("message", [PING, {"jsonrpc": "2.0", "method": "notifications/cancelled"}])
@pytest.mark.parametrize("version", ["1900-01-01", "not-a-version"])
def test_a_version_that_nobody_speaks_is_refused(
    world: World, client: TestClient, version: str, message: dict[str, Any]
) -> None:
    response = post(client, world.token, message, MCP_Protocol_Version=version)

    assert code_of(response) == (400, -32022)
    assert MODERN in response.json()["error"]["data"]["supported"]


@requirement("mcp.hosted.versions")
@pytest.mark.parametrize(
    ("changed", "status", "code"),
    [
        ({}, 200, None),
        ({"Mcp-Method": " tools/call "}, 200, None),
        ({"Mcp-Name": "=?base64?c2NoZW1h?="}, 200, None),
        ({"Mcp-Name": "=?base64?c2NoZW1?="}, 400, HEADER_MISMATCH),
        ({"Mcp-Name": "fetch"}, 400, HEADER_MISMATCH),
        ({"Mcp-Name": None}, 400, HEADER_MISMATCH),
        ({"Mcp-Method": None}, 400, HEADER_MISMATCH),
        ({"Mcp-Method": "tools/list"}, 400, HEADER_MISMATCH),
        ({"MCP-Protocol-Version": None}, 400, HEADER_MISMATCH),
        ({"MCP-Protocol-Version": "2025-11-25"}, 400, HEADER_MISMATCH),
        ({"MCP-Protocol-Version": "2027-01-01"}, 400, HEADER_MISMATCH),
    ],
)
def test_in_the_stateless_era_headers_say_what_the_body_says(
    world: World, client: TestClient, changed: dict[str, str | None], status: int, code: int | None
) -> None:
    message = call("schema")
    message["params"]["_meta"] = ENVELOPE
    agreeing = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": "schema"}
    headers = {name: value for name, value in (agreeing | changed).items() if value is not None}

    response = post(client, world.token, message, **headers)

    assert (response.status_code, response.json().get("error", {}).get("code")) == (status, code)


@requirement("mcp.hosted.versions")
@pytest.mark.parametrize(("version", "status"), [("2025-11-25", 200), (MODERN, 404)])
def test_a_method_that_is_not_there_has_the_status_of_its_era(
    world: World, client: TestClient, version: str, status: int
) -> None:
    message = {**PING, "method": "prompts/list", "params": {"_meta": ENVELOPE} if version == MODERN else {}}

    response = post(client, world.token, message, MCP_Protocol_Version=version, Mcp_Method="prompts/list")

    assert code_of(response) == (status, -32601)


@requirement("mcp.hosted.observed")
def test_calls_are_counted_by_tool_and_code(world: World) -> None:
    with hosting(world, metrics_remote=True) as client:
        post(client, world.token, call("schema"))
        post(client, world.token, call("fetch", id=handle_of(world, "none")))
        post(client, world.token, call("made_up"))
        counted = client.get("/metrics").text

    for operation, code in (("schema", "ok"), ("fetch", "not_found"), ("mcp", "invalid_request")):
        assert f'pdpp_requests_total{{operation="{operation}",code="{code}"}} 1' in counted
    assert 'pdpp_stage_seconds_count{operation="schema",stage="read"} 1' in counted
    assert "made_up" not in counted


@requirement("mcp.hosted.observed", "mcp.hosted.trouble")
@pytest.mark.parametrize(("version", "status"), [("2025-11-25", 200), (MODERN, 429)])
def test_calls_are_metered_and_a_client_is_told_so_in_its_session(world: World, version: str, status: int) -> None:
    message = {**PING, "params": {"_meta": ENVELOPE}} if version == MODERN else PING
    with hosting(world, rate_per_second=1, rate_burst=2, metrics_remote=True) as client:
        asked = {"MCP_Protocol_Version": version, "Mcp_Method": "ping"}
        *answered, refused = [post(client, world.token, message, **asked) for _ in range(3)]
        unheard = post(client, world.token, {"jsonrpc": "2.0", "method": "notifications/initialized"})
        nonsense = post(client, world.token, "no message")
        batch = post(client, world.token, [PING, PING])
        counted = client.get("/metrics").text

    assert ["error" in answer.json() for answer in answered] == [version == MODERN] * 2  # which has no ping
    assert (refused.status_code, refused.headers["Retry-After"]) == (status, "1")
    assert (refused.json()["id"], refused.json()["error"]["code"]) == (PING["id"], -32603)
    assert "rate_limit_exceeded" in refused.json()["error"]["message"]
    assert refused.json()["error"]["data"]["error"]["request_id"] == refused.headers["Request-Id"]
    assert (unheard.status_code, nonsense.json()["error"]["code"], len(batch.json())) == (202, -32600, 2)
    assert 'pdpp_requests_total{operation="mcp",code="rate_limit_exceeded"} 4' in counted


@requirement("rs.limits.rate")
def test_of_a_token_that_has_nothing_left_to_pay_with_no_long_message_is_heard(world: World) -> None:
    long = {**PING, "params": {"a": "a" * SLOWED_BYTES}}
    with hosting(world, rate_per_second=1, rate_burst=2) as client:
        statuses = [post(client, world.token, message).status_code for message in (long, PING, PING, long)]

    assert statuses == [200, 200, 200, 429]


@requirement("rs.limits.shares")
def test_a_long_message_is_decoded_where_its_token_has_a_share(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    decoded_by: list[str] = []

    def noted(body: bytes) -> Any:
        decoded_by.append(current_thread().name.partition("_")[0])
        return decode(body)

    monkeypatch.setattr("pdpp_server.mcp.http.decode", noted)
    with hosting(world) as client:
        long = post(client, world.token, {**PING, "params": {"a": "a" * LOOP_BYTES}})
        short = post(client, world.token, PING)
        asked = {"Authorization": f"Bearer {world.token}", "Content-Type": "application/json"}
        cut = client.post("/mcp", content=b"[" * LOOP_BYTES * 2, headers=asked)

    assert (long.json(), code_of(cut)) == (short.json(), (400, -32700))
    assert [name == "reader" for name in decoded_by[-3:]] == [True, False, True]


@requirement("rs.limits.rate")
def test_whoever_has_no_token_that_is_known_has_no_session_to_lose(world: World) -> None:
    with hosting(world, rate_per_second=1, rate_burst=2) as client:
        statuses = [post(client, guess, PING).status_code for guess in ("a", "b", "c")]

    assert statuses == [401, 401, 429]


@requirement("mcp.hosted.goes-on")
def test_a_bug_is_told_by_its_request_id_alone(
    world: World, client: TestClient, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("pdpp_server.port.local.LocalReader.schema", lambda *_: {}["walrus"])

    response = post(client, world.token, call("schema"))

    said, request_id = capsys.readouterr().err, response.headers["request-id"]
    assert code_of(response) == (200, -32603)
    assert request_id in response.json()["error"]["message"]
    assert "walrus" not in response.text + said
    assert [json.loads(line)["kind"] for line in said.splitlines() if '"bug"' in line] == ["KeyError"]
    assert post(client, world.token, PING).status_code == 200


@requirement("mcp.hosted.goes-on")
def test_a_client_that_hangs_up_disturbs_nobody(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    body = json.dumps(call("search", query="walrus"))
    with served(create_app(Settings(home=world.home), world.services)) as address:
        host, port = address.removeprefix("http://").split(":")
        for sent in (body, body[:20]):
            with socket.create_connection((host, int(port))) as gone:
                head = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {world.token}\r\n"
                length = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
                gone.sendall(f"{head}{length}{sent}".encode())
        with httpx2.Client(headers={"Authorization": f"Bearer {world.token}"}) as other:
            assert other.post(f"{address}/mcp", json=PING).status_code == 200

    assert '"bug"' not in capsys.readouterr().err


@requirement("ev.url.absolute")
def test_a_url_is_of_the_address_that_was_asked_and_opens_the_owners_page(world: World) -> None:
    id = handle_of(world, "m1")
    with hosting(world) as client:
        agent = hosted_agent(client, world.token)
        found = agent.call("search", query="draft ready").structured["results"][0]
        document = agent.call("fetch", id=id).structured
        page = client.get(document["url"], headers={"Accept": "text/html"}, follow_redirects=False)
        strange = client.post("/mcp", headers={"Host": "evil.example", "Authorization": f"Bearer {world.token}"})

    assert found["url"] == document["url"] == f"http://127.0.0.1/records/{id}"
    assert page.status_code in {302, 303}, "to the sign-in, and then to the record"
    assert strange.status_code == 421, "no address of a stranger's choice is ever told"
    with hosting(world, public_url="https://me.example") as client:
        named = hosted_agent(client, world.token).call("fetch", id=id).structured
    assert named["url"] == f"https://me.example/records/{id}"
    assert agent_on(world.reader).call("fetch", id=id).structured["url"] == "", "nobody knows an address"

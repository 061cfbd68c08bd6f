"""Clients of other makers, by their own OAuth: from a bare address to a tool's answer, and what they do later."""

import json
import socket
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path

import httpx2
import orjson
import pytest

from pdpp_server.app import create_app
from pdpp_server.model.authorization import ClientDocument
from pdpp_server.settings import Settings
from tests.requirements import requirement
from tests.scenarios.authorization_server.flow import query
from tests.scenarios.clients.expected import AUTHORIZATION, INSPECTOR
from tests.scenarios.clients.node import Client, Fault, client, ended, guided
from tests.scenarios.console.visitor import Visitor, at_home
from tests.worlds.world import World

NAMES = {"1.x": ["sdk.mjs"], "2.x": ["client.mjs", "legacy"], "2.x, modern": ["client.mjs", "auto"]}
REDIRECT = "http://localhost:33418/callback"
COMPLAINT = (
    r'(\[mcp-sdk\] OAuth "invalid_grant" .*The owner\'s grant has ended\. Ask the owner again.*"\n)?'  # 2.x tells of it
)
DOCUMENT = "https://agent.example/client.json"


def fetch(url: str) -> ClientDocument:
    return ClientDocument(orjson.dumps({"client_id": url, "client_name": "Agent X", "redirect_uris": [REDIRECT]}), None)


@pytest.fixture
def owner(world: World) -> Iterator[Visitor]:
    with at_home(world, create_app(Settings(home=world.home), world.services, fetch)) as owner:
        yield owner


@pytest.fixture(params=list(NAMES.values()), ids=list(NAMES))
def script(request: pytest.FixtureRequest) -> list[str]:
    return request.param


def bare(address: str, document: str | None = None) -> dict[str, object]:
    return {"url": address, "oauth": {"redirect": REDIRECT, "document": document}}


def let_in(other: Client, owner: Visitor, world: World) -> None:
    """The client sent its owner to us, who allows one connection; it goes on with what comes back."""
    consent = owner.get(other.do("kept")["asked"]).headers["location"]
    back = owner.allow(consent, pick=f"0:{world.work}").headers["location"]
    assert back.startswith(f"{REDIRECT}?code=")
    other.do("finish", query(back))


def connect(other: Client, owner: Visitor, world: World) -> None:
    with pytest.raises(Fault, match="Unauthorized"):
        other.do("connect")
    let_in(other, owner, world)
    other.do("connect")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]


def go(owner: Visitor, world: World, address: str) -> None:
    """As a browser: to us, and with the owner's answer to the client that listens on this machine."""
    consent = owner.get(address).headers["location"]
    back = owner.allow(consent, pick=f"0:{world.work}").headers["location"]
    with httpx2.Client(transport=httpx2.HTTPTransport(retries=3)) as http:
        assert http.get(back).status_code == 200


def found(other: Client) -> int:
    answer = other.do("callTool", {"name": "search", "arguments": {"query": "lease"}})
    return len(answer["structuredContent"]["results"])


@requirement("mcp.clients.oauth", "as.clients.registration", "as.tokens.rotation")
def test_it_registers_is_let_in_and_stays_beyond_the_end_of_its_token(
    script: list[str], owner: Visitor, world: World
) -> None:
    with client(script, bare(f"{owner.origin}/mcp")) as other:
        connect(other, owner, world)
        before, hits = other.do("kept"), found(other)
        world.clock.moment += timedelta(hours=2)

        assert found(other) == hits > 0
        after = other.do("kept")
        assert before["client"]["client_id"].startswith("cli_")
        assert after["tokens"]["refresh_token"] != before["tokens"]["refresh_token"]
        assert after["asked"] == before["asked"], "the owner was not asked again"


@requirement("mcp.clients.oauth", "as.metadata.ended")
def test_taken_away_it_asks_again_at_once_and_goes_on_when_it_is_allowed(
    script: list[str], owner: Visitor, world: World
) -> None:
    with client(script, bare(f"{owner.origin}/mcp"), COMPLAINT) as other:
        connect(other, owner, world)
        hits = found(other)
        owner.end("Agent X")
        with pytest.raises(Fault, match="Unauthorized"):
            found(other)
        assert "tokens" not in other.do("kept")

        let_in(other, owner, world)

        assert found(other) == hits


@requirement("mcp.clients.oauth", "as.clients.metadata-document", "as.metadata.as-typed", "mcp.hosted.icons")
@pytest.mark.parametrize("script", [NAMES["1.x"], NAMES["2.x, modern"]], ids=["1.x", "2.x, modern"])
def test_named_by_its_document_it_needs_no_registration_and_a_slash_does_no_harm(
    script: list[str], owner: Visitor, world: World
) -> None:
    with client(script, bare(f"{owner.origin}/mcp/", DOCUMENT)) as other:
        connect(other, owner, world)
        kept, (icon,) = other.do("kept"), other.do("getServerVersion")["icons"]

        assert kept["client"]["client_id"] == DOCUMENT
        assert query(kept["asked"])["resource"] == f"{owner.origin}/mcp/"
        assert icon == {"src": f"{owner.origin}/icon.svg", "mimeType": "image/svg+xml", "sizes": ["any"]}
        assert found(other) > 0


@requirement("mcp.clients.oauth", "mcp.clients.inspector")
def test_the_inspector_sends_its_owner_to_us_and_lists_the_tools(owner: Visitor, world: World, tmp_path: Path) -> None:
    listening = f"http://127.0.0.1:{free_port()}/oauth/callback"
    asked = [f"{owner.origin}/mcp", "--method", "tools/list", "--format", "json", "--callback-url", listening]

    *_, said = (
        line
        for line in guided("mcp-inspector", "--cli", *asked, home=tmp_path, go=partial(go, owner, world))
        if line.startswith("{")
    )

    assert len(json.loads(said)["result"]["tools"]) == 6


@requirement("mcp.clients.inspector")
@pytest.mark.parametrize("options", INSPECTOR)
def test_the_inspector_alone_says_that_it_needs_its_owner(
    owner: Visitor, options: tuple[str, ...], tmp_path: Path
) -> None:
    code, exit_code, _ = INSPECTOR[options]

    asked = [f"{owner.origin}/mcp", "--method", "tools/list", "--format", "json", *options]
    done = ended("mcp-inspector", "--cli", *asked, home=tmp_path)

    assert (done.returncode, json.loads(done.stderr)["error"]["code"]) == (exit_code, code)


@requirement("mcp.clients.conformance", "as.metadata.document", "as.authorize.pkce")
def test_the_suite_finds_nothing_wrong_with_the_authorization_server(
    owner: Visitor, world: World, tmp_path: Path
) -> None:
    port = free_port()
    asked = {"client_name": "Suite", "redirect_uris": [f"http://127.0.0.1:{port}/callback"]}
    client_id = owner.http.post("/oauth/register", json=asked).json()["client_id"]
    where = ["--url", owner.origin, "--resource", f"{owner.origin}/mcp", "--client-id", client_id]
    told = [*where, "--port", str(port), "--output-dir", str(tmp_path)]

    said = guided("conformance", "authorization", *told, home=tmp_path, go=partial(go, owner, world))

    checks = [check for report in tmp_path.glob("*/checks.json") for check in json.loads(report.read_bytes())]
    assert {check["id"]: check["status"] for check in checks} == dict.fromkeys(AUTHORIZATION, "SUCCESS"), said

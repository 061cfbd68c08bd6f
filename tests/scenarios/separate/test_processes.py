"""Two `pdpp serve`, each with a home of its own, told of each other by their environments alone."""

import re
import socket
import subprocess
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pytest
from anyio import fail_after, to_thread
from httpx2 import AsyncClient, Client
from mcp import Client as McpClient
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata

from pdpp_server.port.callback import waiting
from pdpp_server.port.connect import by_browser, discover, register
from pdpp_server.reads.services import open_services
from tests.requirements import requirement
from tests.scenarios.authorization_server.test_sdk import Kept
from tests.scenarios.cli.command import PDPP, ROOT, SECONDS, Command
from tests.scenarios.connect.browser import Browser, with_password
from tests.scenarios.separate.servers import NAME, PUBLIC

_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")


@contextmanager
def serving(command: Command, port: int = 0, /, **variables: str) -> Generator[str]:
    """The address of a server that runs until the end of the block."""
    process = subprocess.Popen(
        [*PDPP, "serve", "--port", str(port)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=ROOT,
        env=command.environment(PYTHONUNBUFFERED="1", **variables),
    )
    try:
        assert process.stdout
        yield next(found[0] for line in process.stdout if (found := _ADDRESS.search(line)))
    finally:
        process.kill()
        process.communicate(timeout=SECONDS)


def asking(issuing: str, secret: Path, *, issuer: str, public_url: str) -> dict[str, str]:
    return {
        "PDPP_INTROSPECTION_URL": f"{issuing}/introspect",
        "PDPP_INTROSPECTION_CLIENT": NAME,
        "PDPP_INTROSPECTION_SECRET_FILE": str(secret),
        "PDPP_ISSUER": issuer,
        "PDPP_PUBLIC_URL": public_url,
    }


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


@pytest.mark.sqlite("a second server is a restored copy of a folder")
@requirement("rs.separate.reads", "rs.separate.revocation", "rs.separate.settings")
def test_a_restored_home_reads_by_tokens_of_the_home_that_it_came_from(tmp_path: Path) -> None:
    first, second = Command(tmp_path / "first", tmp_path), Command(tmp_path / "second", tmp_path)
    assert first.import_notes().code == 0
    secret = first.file("secret", first("owner", "resource-server", NAME, "--json").json["secret"] + "\n")
    made = first.grant()
    assert first("backup", tmp_path / "backup").code == second("restore", tmp_path / "backup").code == 0

    with serving(first, PDPP_PUBLIC_URL=PUBLIC) as issuing:
        told = asking(issuing, secret, issuer=PUBLIC, public_url=PUBLIC)
        bearer = {"Authorization": f"Bearer {made['token']}"}
        with serving(second, **told) as reading, Client(base_url=reading, headers=bearer) as http:
            assert http.get("/v1/search?q=walrus").json()["data"][0]["record_key"] == "n1"

            first("grants", "revoke", made["grant_id"])

            assert http.get("/v1/search?q=walrus").json()["error"]["code"] == "grant_revoked"
    missing = second("sources", PDPP_INTROSPECTION_URL="http://127.0.0.1:9/introspect")
    assert missing.code != 0
    assert "PDPP_ISSUER, PDPP_PUBLIC_URL" in missing.err


class Apart(NamedTuple):
    """Two servers with an address each: tokens are issued `there`, and records are read `here`."""

    here: str
    there: str
    connection_id: str


@pytest.fixture(scope="module")
def apart(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Apart]:
    folder = tmp_path_factory.mktemp("apart")
    first, second = Command(folder / "first", folder), Command(folder / "second", folder)
    connection_id = first.import_notes().json["connection_id"]
    with closing(open_services(first.home, now=lambda: datetime.now(UTC))) as services:
        with_password(services)
    assert first("backup", folder / "backup").code == second("restore", folder / "backup").code == 0
    port = free_port()
    here = f"http://127.0.0.1:{port}"
    secret = first.file("secret", first("owner", "resource-server", NAME, "--address", here, "--json").json["secret"])
    with serving(first) as there, serving(second, port, **asking(there, secret, issuer=there, public_url=here)):
        yield Apart(here, there, connection_id)


@pytest.mark.sqlite("a second server is a restored copy of a folder")
@requirement("rs.separate.address", "as.tokens.elsewhere")
def test_whoever_starts_at_the_second_asks_the_first_and_reads_at_the_second(apart: Apart) -> None:
    browser = Browser(f"0:{apart.connection_id}")

    def tell(address: str, _: str | None) -> None:
        browser.open(address)

    found = discover(apart.here)
    given = by_browser(found, register(found, "Agent"), tell, SECONDS)
    with Client(headers={"Authorization": f"Bearer {given.access_token}"}) as http:
        read, refused = (http.get(f"{server}/v1/search?q=walrus") for server in (apart.here, apart.there))
        at_other_door = http.post(f"{apart.here}/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})

    assert browser.opened[0].startswith(f"{apart.there}/oauth/authorize?")
    assert read.json()["data"][0]["record_key"] == "n1"
    assert refused.status_code == at_other_door.status_code == 401


@pytest.mark.sqlite("a second server is a restored copy of a folder")
@requirement("rs.separate.address", "as.tokens.elsewhere")
@pytest.mark.anyio
async def test_the_official_client_needs_no_more_than_the_address_of_the_second(apart: Apart) -> None:
    browser, address = Browser(f"0:{apart.connection_id}"), f"{apart.here}/mcp"

    async def go(page: str) -> None:
        await to_thread.run_sync(browser.open, page)

    async def come_back() -> AuthorizationCodeResult:
        came = callback.wait(SECONDS) or {}
        return AuthorizationCodeResult(code=came["code"], state=came["state"], iss=came["iss"])

    with fail_after(SECONDS), waiting() as callback:
        about = OAuthClientMetadata.model_validate({"client_name": "Agent", "redirect_uris": [callback.address]})
        auth = OAuthClientProvider(address, about, Kept(), go, come_back)
        async with (
            AsyncClient(auth=auth) as http,
            McpClient(streamable_http_client(address, http_client=http)) as client,
        ):
            answer = await client.call_tool("search", {"query": "walrus"})

    assert browser.opened[0].startswith(f"{apart.there}/oauth/authorize?")
    assert answer.structured_content is not None
    assert [hit["connection_id"] for hit in answer.structured_content["results"]] == [apart.connection_id]

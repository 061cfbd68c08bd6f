"""A resource server with an address of its own: tokens for it, and who hears of them."""

import re
from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from pdpp_server.errors import InvalidAuthorizationDetails, InvalidRequest
from pdpp_server.owner.sign_in import SignIn
from tests.requirements import requirement
from tests.scenarios.authorization_server.flow import MCP, REST, Flow, flowing, query, with_notes
from tests.scenarios.console.visitor import PASSWORD, Visitor, cheap_passwords, shown
from tests.scenarios.separate.servers import PUBLIC, Servers
from tests.worlds import chat
from tests.worlds.world import World

ARCHIVE = "https://archive.example"
NOBODYS: dict[str, Any] = {"active": False}


@pytest.fixture
def flow(world: World) -> Iterator[Flow]:
    with flowing(world) as opened:
        opened.desk.name_resource_server("archive", ARCHIVE)
        yield opened


def told(flow: Flow, token: str, name: str = "archive", address: str | None = None) -> Any:
    secret = flow.desk.name_resource_server(name, address)  # named again, it keeps its address
    return flow.http.post("/introspect", data={"token": token}, auth=(name, secret)).json()


@requirement("as.tokens.elsewhere", "rs.tokens.audience")
@pytest.mark.parametrize(
    ("resource", "aud"),
    [("", ARCHIVE), ("/", ARCHIVE), ("/v1", ARCHIVE), ("/mcp", f"{ARCHIVE}/mcp"), ("/mcp/", f"{ARCHIVE}/mcp")],
)
def test_a_token_for_another_server_is_good_there_alone(flow: Flow, resource: str, aud: str) -> None:
    token = flow.tokens(resource=ARCHIVE + resource)["access_token"]

    assert (told(flow, token)["active"], told(flow, token)["aud"]) == (True, aud)
    assert told(flow, token, "other", "https://other.example") == told(flow, token, "ours") == NOBODYS
    for _ in range(2):  # the second time it would be known already
        assert (flow.reads(token), flow.calls(token)) == (401, 401)


@requirement("as.tokens.elsewhere")
@pytest.mark.parametrize("resource", [None, REST, MCP])
def test_it_hears_of_no_token_that_is_not_for_it(flow: Flow, resource: str | None) -> None:
    body = flow.tokens(resource=resource)
    ours = told(flow, body["access_token"], "ours")

    assert told(flow, body["access_token"]) == told(flow, flow.world.token) == NOBODYS
    assert ours["aud"] == (resource or [REST, MCP])
    flow.world.owner.revoke(body["grant_id"])
    assert told(flow, body["access_token"]) == NOBODYS  # not even how it ended


@requirement("as.tokens.elsewhere")
def test_it_is_told_how_a_token_of_its_own_ended(flow: Flow) -> None:
    body = flow.tokens(resource=ARCHIVE)
    flow.world.owner.revoke(body["grant_id"])

    assert told(flow, body["access_token"]) == {"active": False, "inactive_reason": "grant_revoked"}


@requirement("as.tokens.elsewhere", "rs.separate.packages")
def test_a_token_for_it_reads_one_source(flow: Flow) -> None:
    flow.sign_in()
    details = [chat.detail(flow.world.both("messages")), with_notes(flow.world)]
    several = flow.authorize(resource=f"{ARCHIVE}/mcp", authorization_details=orjson.dumps(details).decode())
    open_ask = flow.ask(resource=f"{ARCHIVE}/mcp", authorization_details=None)

    assert query(several.headers["location"])["error"] == "invalid_authorization_details"
    with pytest.raises(InvalidAuthorizationDetails, match="choose one"):
        flow.approved(open_ask, flow.decision(*details))


@requirement("as.tokens.elsewhere")
def test_clients_of_a_server_that_moves_stay(flow: Flow) -> None:
    body, waiting = flow.tokens(resource=ARCHIVE), flow.ask(resource=ARCHIVE)
    moved = told(flow, body["access_token"], address="https://moved.example")
    renewed = flow.refresh(body["refresh_token"], resource="https://moved.example").json()

    assert moved["aud"] == told(flow, renewed["access_token"])["aud"] == "https://moved.example"
    assert flow.refresh(renewed["refresh_token"], resource=ARCHIVE).json()["error"] == "invalid_target"
    with pytest.raises(InvalidRequest, match="moved"):
        flow.approved(waiting)


@requirement("as.tokens.elsewhere")
def test_an_address_has_one_server_and_ours_stays_ours(flow: Flow) -> None:
    with pytest.raises(InvalidRequest, match="address"):
        flow.desk.name_resource_server("other", ARCHIVE)
    token = flow.tokens(resource=MCP)["access_token"]

    assert told(flow, token, "beside", REST)["aud"] == MCP
    assert flow.calls(flow.tokens(resource=MCP)["access_token"]) == 200


@requirement("rs.separate.pages")
def test_every_link_of_its_pages_leads_somewhere(servers: Servers) -> None:
    assert servers.get(servers.world.token).status_code == 200
    with cheap_passwords():
        SignIn(servers.copy).set_password(PASSWORD)
        owner = Visitor(servers.http, SignIn(servers.copy))
        owner.sign_in()
        pages = [owner.page(path) for path in ("/", "/activity", "/sources", "/search?q=lease")]
        links = {link for page in pages for link in re.findall(r'(?:href|action)="(/[^"]*)"', page)}
        missing = [link for link in links if owner.get(link).status_code == 404]

    assert (missing, len(links) > 5) == ([], True)
    assert f"at {PUBLIC} ." in shown(pages[0])

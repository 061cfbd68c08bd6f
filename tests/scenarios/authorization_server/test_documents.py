"""Clients that describe themselves in a document at the address that is their id."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import orjson
import pytest

from pdpp_server.errors import SourceUnavailable
from pdpp_server.model.authorization import ClientDocument
from tests.requirements import requirement
from tests.scenarios.authorization_server.flow import DEVICE, REDIRECT, Flow, error, flowing, nobody
from tests.worlds.world import World

CLIENT = "https://agent.example/oauth/client.json"


class Site:
    """What answers at the address of the client, and how often it was asked."""

    def __init__(self) -> None:
        self.document: Any = {"client_id": CLIENT, "client_name": "Agent", "redirect_uris": [REDIRECT], "more": "else"}
        self.fresh_seconds: int | None = None
        self.asked = 0
        self.is_up = True
        self.trouble: SourceUnavailable | None = None

    def fetch(self, url: str) -> ClientDocument:
        self.asked += 1
        if self.trouble:
            raise self.trouble
        if not self.is_up:
            return nobody(url)
        return ClientDocument(orjson.dumps(self.document), self.fresh_seconds)


@pytest.fixture
def site() -> Site:
    return Site()


@pytest.fixture
def described(world: World, site: Site) -> Iterator[Flow]:
    with flowing(world, site.fetch) as flow:
        flow.client_id = CLIENT
        yield flow


@requirement("as.clients.metadata-document")
def test_a_client_by_its_document_goes_the_whole_way(described: Flow) -> None:
    ask = described.desk.ask(described.ask())

    assert (ask.client.name, ask.client.is_verified) == ("Agent", True)
    assert described.tokens()["expires_in"] == 3600


@requirement("as.clients.document-flows")
def test_a_stranger_cannot_begin_a_device_flow_under_the_name_of_somebody_elses_document(described: Flow) -> None:
    response = described.http.post("/oauth/device_authorization", data=described.parameters())

    assert error(response) == (400, "unauthorized_client")
    assert described.refresh(described.tokens()["refresh_token"]).status_code == 200


@requirement("as.clients.document-flows")
def test_a_document_that_lists_the_device_flow_opens_it(described: Flow, site: Site) -> None:
    site.document["grant_types"] = ["authorization_code", DEVICE]

    begun = described.device_code()

    assert described.desk.ask_by_user_code(begun["user_code"]).client.client_id == CLIENT


@requirement("as.clients.metadata-document")
@pytest.mark.parametrize(
    "document",
    [
        [],
        "text",
        {"client_id": CLIENT},
        {"client_id": f"{CLIENT}/", "redirect_uris": [REDIRECT]},
        {"client_id": CLIENT, "redirect_uris": ["http://evil.example/"]},
        {"client_id": CLIENT, "redirect_uris": [REDIRECT], "client_secret": "s"},
        {"client_id": CLIENT, "redirect_uris": [REDIRECT], "token_endpoint_auth_method": "private_key_jwt"},
    ],
)
def test_a_document_that_does_not_name_itself_soundly_is_nobodys(described: Flow, site: Site, document: Any) -> None:
    site.document = document

    assert error(described.authorize()) == (400, "invalid_client")


@requirement("as.clients.metadata-document")
@pytest.mark.parametrize(
    "client_id",
    [
        "http://agent.example/client.json",
        "https://agent.example",
        "https://agent.example/",
        "https://user@agent.example/client.json",
        "https://agent.example/a/../client.json",
        "https://agent.example/client.json#x",
        "https://agent.example:port/client.json",
        "https:///client.json",
        "https://agent.example/" + "x" * 2000,
    ],
)
def test_other_addresses_are_not_even_asked(described: Flow, site: Site, client_id: str) -> None:
    assert error(described.authorize(client_id=client_id)) == (400, "invalid_client")
    assert site.asked == 0


@requirement("as.clients.metadata-document")
@pytest.mark.parametrize(("told", "kept"), [(None, 3600), (0, 60), (600, 600), (10**9, 24 * 3600)])
def test_a_document_is_kept_for_a_minute_at_least_and_a_day_at_most(
    described: Flow, site: Site, told: int | None, kept: int
) -> None:
    site.fresh_seconds = told
    described.ask()
    described.world.clock.moment += timedelta(seconds=kept - 1)
    described.ask()
    assert site.asked == 1
    described.world.clock.moment += timedelta(seconds=1)
    described.ask()

    assert site.asked == 2


@requirement("as.clients.document-away")
def test_while_its_site_is_down_a_client_is_what_it_said_before(described: Flow, site: Site) -> None:
    refresh_token = described.tokens()["refresh_token"]
    site.is_up = False
    described.world.clock.moment += timedelta(days=2)

    assert described.desk.ask(described.ask()).client.client_id == CLIENT
    assert described.refresh(refresh_token).status_code == 200
    described.ask()
    assert site.asked == 2, "and nobody waits for it each time"
    described.world.clock.moment += timedelta(minutes=10)
    site.is_up, site.document["client_name"] = True, "Agent 2"
    assert described.desk.ask(described.ask()).client.name == "Agent 2"


@requirement("as.clients.document-away")
def test_a_document_that_is_gone_for_good_is_not_kept(described: Flow, site: Site) -> None:
    described.ask()
    site.trouble = SourceUnavailable("Its host answered 404.")
    described.world.clock.moment += timedelta(days=2)

    assert error(described.authorize()) == (400, "invalid_client")


def advertised(flow: Flow) -> bool:
    metadata = flow.http.get("/.well-known/oauth-authorization-server").json()
    offered = metadata["client_id_metadata_document_supported"]
    assert offered == ("client_id_metadata_document" in metadata["pdpp_registration_modes_supported"])
    return offered


@requirement("as.clients.no-way-out")
def test_where_no_document_can_be_had_clients_are_asked_to_register_for_ten_minutes(
    described: Flow, site: Site
) -> None:
    assert advertised(described)
    site.is_up = False
    refused = described.authorize()
    assert error(refused) == (400, "invalid_client")
    assert not advertised(described)
    described.world.clock.moment += timedelta(minutes=10)
    assert advertised(described)
    described.authorize()
    site.is_up = True
    described.ask()

    assert advertised(described), "one that works ends it at once"


@requirement("as.clients.no-way-out")
def test_a_host_that_does_not_exist_changes_nothing_where_others_were_reached(described: Flow, site: Site) -> None:
    described.ask()
    site.is_up = False

    described.authorize(client_id="https://no.such.example/client.json")

    assert advertised(described)


@requirement("as.clients.no-way-out")
def test_switched_off_no_document_is_read_and_none_is_offered(world: World, site: Site) -> None:
    with flowing(world, site.fetch, client_documents=False) as flow:
        refused = flow.authorize(client_id=CLIENT)

        assert error(refused) == (400, "invalid_client")
        assert not advertised(flow)
        assert flow.tokens()["access_token"], "whoever registers is served"
    assert site.asked == 0


@requirement("as.clients.no-way-out", "con.pages.trouble")
def test_a_person_gets_the_remedy_as_a_page_and_a_program_the_error(described: Flow, site: Site) -> None:
    site.is_up = False
    browser = {"Accept": "text/html,application/xhtml+xml"}
    page = described.http.get("/oauth/authorize", params=described.parameters(), headers=browser)
    program = described.authorize()

    assert (page.status_code, page.headers["content-type"]) == (400, "text/html; charset=utf-8")
    assert "agent.example" in page.text
    assert "PDPP_CLIENT_DOCUMENTS=off" in page.text
    assert "HTTPS_PROXY" in page.text
    assert "set-cookie" not in page.headers
    assert program.json()["error"] == "invalid_client"


@requirement("as.clients.document-changed")
@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({"redirect_uris": [REDIRECT, "https://new.example/"]}, 400),
        ({"jwks_uri": "https://new.example/keys"}, 400),
        ({"client_name": "Agent 2"}, 200),
    ],
)
def test_whoever_answers_there_with_other_addresses_inherits_nothing(
    described: Flow, site: Site, changed: dict[str, Any], status: int
) -> None:
    refresh_token = described.tokens()["refresh_token"]
    site.document |= changed
    described.world.clock.moment += timedelta(days=2)
    described.ask()

    assert described.refresh(refresh_token).status_code == status

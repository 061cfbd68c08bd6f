"""Clients that describe themselves in a document at the address that is their id."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import orjson
import pytest

from pdpp_server.model.authorization import Document
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

    def fetch(self, url: str) -> Document:
        self.asked += 1
        if not self.is_up:
            return nobody(url)
        return Document(orjson.dumps(self.document), self.fresh_seconds)


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


@requirement("as.clients.metadata-document")
def test_while_its_site_is_down_a_client_starts_nothing_new_and_keeps_what_it_has(described: Flow, site: Site) -> None:
    refresh_token = described.tokens()["refresh_token"]
    site.is_up = False
    described.world.clock.moment += timedelta(days=2)

    assert error(described.authorize()) == (400, "invalid_client")
    assert described.refresh(refresh_token).status_code == 200


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

"""The authorization endpoint: whom it sends where."""

from datetime import timedelta
from typing import Any

import orjson
import pytest

from pdpp_server.authorization_server import asking
from pdpp_server.errors import RateLimited
from pdpp_server.http.limiter import InWindow, Limiter
from pdpp_server.wire.discovery import AUTHORIZE, DEVICE, PUSH, REGISTER, REVOKE, TOKEN
from tests.requirements import requirement
from tests.scenarios.authorization_server.flow import REDIRECT, STATE, Flow, error, query
from tests.worlds import chat
from tests.worlds.world import Clock

Json = dict[str, Any]


def details(*streams: Json, **changed: Any) -> str:
    return orjson.dumps([{**chat.detail(*streams), **changed}]).decode()


@requirement("as.authorize.pkce")
@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge": "short"}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": None}, "invalid_request"),
    ],
)
def test_only_code_with_s256_and_errors_go_back(flow: Flow, changed: Json, says: str) -> None:
    flow.sign_in()

    location = flow.authorize(**changed).headers["location"]

    assert location.startswith(f"{REDIRECT}?error={says}&")
    assert (query(location)["state"], query(location)["iss"]) == (STATE, "http://127.0.0.1")


@requirement("as.authorize.owner-first")
@pytest.mark.parametrize("accept", ["text/html,*/*", "application/json"])
def test_nobody_is_sent_to_a_client_with_an_error_before_the_owner_signed_in(flow: Flow, accept: str) -> None:
    asked = flow.parameters(response_type="token")
    response = flow.http.get("/oauth/authorize", params=asked, headers={"Accept": accept}, follow_redirects=False)

    assert (response.status_code, response.headers.get("location")) == (400, None)
    assert "unsupported_response_type" in response.text


@requirement("as.errors.pages")
@pytest.mark.parametrize(
    ("changed", "message", "remedy"),
    [
        ({"client_id": "nope"}, "No such client is known here.", "add it again"),
        ({"client_id": None}, "client_id is missing.", "tell its makers"),
        ({"redirect_uri": "https://evil.example/"}, "none that this client registered", "Nothing was sent anywhere."),
        ({"response_type": "token"}, "response_type is code.", "tell its makers"),
        ({"code_challenge": "<b>"}, "PKCE is needed", "tell its makers"),
        ({"resource": "https://elsewhere.example/"}, "The resource is no address of this server", "page Connect"),
        ({"request_uri": "urn:nothing"}, "No request of this client waits there", "Go back to the app"),
    ],
)
def test_bad_input_is_a_page_in_a_browser(flow: Flow, changed: Json, message: str, remedy: str) -> None:
    asked = flow.parameters(**changed)
    response = flow.http.get("/oauth/authorize", params=asked, headers={"Accept": "text/html"}, follow_redirects=False)

    assert (response.status_code, response.headers["content-type"]) == (400, "text/html; charset=utf-8")
    assert message in response.text
    assert remedy in response.text
    assert "default-src 'none'" in response.headers["content-security-policy"]
    assert response.headers["cache-control"] == "no-store"


@requirement("as.errors.pages")
def test_whoever_asks_too_often_reads_for_how_long_to_wait(flow: Flow) -> None:
    for _ in range(120):
        flow.authorize(client_id="nope")
    response = flow.http.get("/oauth/authorize", params=flow.parameters(), headers={"Accept": "text/html"})

    assert (response.status_code, response.headers["retry-after"]) == (429, "600")
    assert "The next one is heard in 600 s." in response.text


@requirement("as.errors.pages")
def test_programs_are_told_what_to_do_in_the_error_itself(flow: Flow) -> None:
    unknown = flow.authorize(client_id="nope").json()["error_description"]
    ended = flow.refresh("rt_" + "x" * 43).json()["error_description"]

    assert unknown.endswith("and start again.")
    assert ended.endswith("Ask the owner again, by a new authorization.")


@requirement("as.authorize.pkce", "as.clients.unknown")
@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"client_id": "cli_nobody"}, "invalid_client"),
        ({"client_id": None}, "invalid_request"),
        ({"redirect_uri": "https://evil.example/callback"}, "invalid_redirect_uri"),
        ({"redirect_uri": f"{REDIRECT}/../evil"}, "invalid_redirect_uri"),
        ({"redirect_uri": None}, "invalid_redirect_uri"),
    ],
)
def test_a_stranger_is_told_here_and_nobody_is_sent_there(flow: Flow, changed: Json, says: str) -> None:
    response = flow.authorize(**changed)

    assert error(response) == (400, says)
    assert "location" not in response.headers


@requirement("as.authorize.pkce")
def test_a_parameter_given_twice_is_refused(flow: Flow) -> None:
    response = flow.http.get("/oauth/authorize?client_id=a&client_id=b", follow_redirects=False)

    assert error(response) == (400, "invalid_request")


@requirement("as.selection.checked")
@pytest.mark.parametrize(
    "sent",
    [
        "no json",
        "{}",
        "[]",
        "[" * 5000,
        details({"name": "messages"}, client_claims={"commitments": ["x" * 40_000]}),
        details({"name": "messages"}, client_claims={"commitments": [[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]}),
        details({"name": "nothing"}),
        details({"name": "messages", "fields": ["nothing"]}),
        details({"name": "messages", "view": "nothing"}),
        details({"name": "messages", "view": "a", "fields": ["text"]}),
        details({"name": "channels", "time_range": {"since": "2026-01-01"}}),
        details({"name": "messages", "instance_ids": ["cin_nobody"]}),
        details({"name": "*"}, source={"id": "https://registry.pdpp.dev/connectors/nothing"}),
        details({"name": "*"}, source={"id": chat.SOURCE_ID, "kind": "provider_native"}),
        details({"name": "*"}, type="https://elsewhere.example/type"),
        details({"name": "*"}, selection_preset="all"),
    ],
)
def test_what_cannot_be_granted_is_not_put_before_the_owner(flow: Flow, sent: str) -> None:
    flow.sign_in()

    location = flow.authorize(authorization_details=sent).headers["location"]

    assert query(location)["error"] == "invalid_authorization_details"


@requirement("as.selection.checked")
def test_without_details_the_owner_picks(flow: Flow) -> None:
    ask = flow.desk.ask(flow.ask(authorization_details=None))

    assert ask.selections == ()
    assert [offer.declaration.source.id for offer in flow.desk.offers(ask)] == [chat.SOURCE_ID]


@requirement("as.clients.redirect-match")
def test_on_loopback_any_port_and_the_code_is_bound_to_it(flow: Flow) -> None:
    other = "http://localhost:40123/callback"
    code = flow.code(redirect_uri=other)

    assert error(flow.redeem(code, redirect_uri=REDIRECT)) == (400, "invalid_grant")
    assert flow.redeem(code, redirect_uri=other).status_code == 200


@requirement("as.flows.bounded")
def test_one_address_cannot_fill_the_owners_desk(flow: Flow) -> None:
    answers = [flow.authorize() for _ in range(121)]

    assert {answer.status_code for answer in answers[:120]} == {302}
    assert error(answers[120]) == (429, "slow_down")
    assert answers[120].headers["retry-after"] == "600"


@requirement("as.flows.bounded")
def test_so_much_of_strangers_waits_for_the_owner_and_no_more(flow: Flow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "ASKS_OF_STRANGERS", 2)
    waiting = [flow.ask(), flow.ask()]

    assert error(flow.authorize()) == (503, "temporarily_unavailable")
    assert all(flow.desk.ask(ask_id) for ask_id in waiting)


@requirement("as.flows.bounded")
def test_asks_that_expired_or_were_decided_take_no_room(flow: Flow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "ASKS_OF_STRANGERS", 2)
    flow.ask()
    flow.desk.deny(flow.ask())
    flow.ask()
    assert error(flow.authorize()) == (503, "temporarily_unavailable")

    flow.world.clock.moment += timedelta(seconds=600)

    assert flow.ask()


@requirement("as.flows.room")
def test_strangers_take_no_room_from_a_client_that_was_let_in(flow: Flow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "ASKS_OF_STRANGERS", 2)
    monkeypatch.setattr(asking, "ASKS_OF_ONE", 3)
    known, stranger = flow.client_id, flow.registered()
    flow.tokens()
    for _ in range(2):
        flow.ask(client_id=stranger)
    assert error(flow.authorize(client_id=stranger)) == (503, "temporarily_unavailable")

    assert [flow.authorize(client_id=known).status_code for _ in range(4)] == [302, 302, 302, 503]


@requirement("as.flows.room")
def test_tries_of_strangers_at_the_same_address_hold_up_no_client_that_was_let_in(flow: Flow) -> None:
    flow.tokens()
    tries = [flow.authorize(client_id="nope").status_code for _ in range(121)]
    registered = [flow.http.post("/oauth/register", json={}).status_code for _ in range(121)]

    assert (tries[-1], registered[-1]) == (429, 429)
    assert flow.tokens()["expires_in"] == 3600


@requirement("as.flows.room")
def test_tries_of_strangers_everywhere_hold_up_no_address_that_is_known() -> None:
    clock = Clock()
    limiter = Limiter(InWindow(3, 600), clock, strangers=InWindow(10, 600))
    limiter.know("home")
    for number in range(10):
        limiter.take(f"address {number}")

    with pytest.raises(RateLimited):
        limiter.take("another")
    for _ in range(3):
        limiter.take("home")
    with pytest.raises(RateLimited):
        limiter.take("home")


@requirement("as.flows.room")
def test_a_page_in_the_owners_browser_uses_up_nothing_of_the_programs_there(flow: Flow) -> None:
    inside = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}
    parameters = {**flow.parameters(), "client_id": "nope"}
    for _ in range(121):
        refused = flow.http.get("/oauth/authorize", params=parameters, headers=inside)
        assert error(refused) == (400, "invalid_request")
        flow.http.post("/oauth/register", json={}, headers=inside)

    assert error(flow.http.post("/oauth/register", json={}, headers=inside)) == (429, "slow_down")
    assert flow.registered()
    assert flow.ask()


@requirement("as.flows.room")
def test_the_owners_own_browser_is_held_up_by_nobody(flow: Flow) -> None:
    for _ in range(121):
        flow.authorize()
    assert error(flow.authorize()) == (429, "slow_down")

    flow.sign_in()

    assert flow.ask()


@requirement("as.selection.checked")
def test_a_description_has_only_characters_that_it_may_have(flow: Flow) -> None:
    flow.sign_in()

    location = flow.authorize(authorization_details=details({"name": 'a"b\\é'})).headers["location"]

    assert set(query(location)["error_description"]).isdisjoint('"\\é')


@requirement("as.authorize.pkce", "as.errors.pages")
@pytest.mark.parametrize(
    ("method", "path", "takes"),
    [("POST", AUTHORIZE, "GET"), *(("GET", path, "POST") for path in (TOKEN, REGISTER, PUSH, DEVICE, REVOKE))],
)
def test_another_method_is_an_error_of_oauth_too(flow: Flow, method: str, path: str, takes: str) -> None:
    response = flow.http.request(method, path)

    assert (response.status_code, response.headers["allow"]) == (405, takes)
    assert (response.json()["error"], takes in response.json()["error_description"]) == ("invalid_request", True)


@requirement("as.errors.pages")
def test_another_method_is_a_page_with_a_remedy_in_a_browser(flow: Flow) -> None:
    page = flow.http.get(TOKEN, headers={"Accept": "text/html"})

    assert (page.status_code, page.headers["allow"]) == (405, "POST")
    assert "connect the app again" in page.text

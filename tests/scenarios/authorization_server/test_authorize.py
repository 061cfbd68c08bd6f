"""The authorization endpoint: whom it sends where."""

from typing import Any

import orjson
import pytest

from pdpp_server.authorization_server import asking
from tests.requirements import requirement
from tests.scenarios.authorization_server.flow import REDIRECT, STATE, Flow, error, query
from tests.worlds import chat

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
    location = flow.authorize(**changed).headers["location"]

    assert location.startswith(f"{REDIRECT}?error={says}&")
    assert (query(location)["state"], query(location)["iss"]) == (STATE, "http://127.0.0.1")


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
def test_so_much_waits_for_the_owner_and_no_more(flow: Flow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "ASKS_MAX", 2)
    waiting = [flow.ask(), flow.ask()]
    refused = query(flow.authorize().headers["location"])

    assert refused["error"] == "temporarily_unavailable"
    assert all(flow.desk.ask(ask_id) for ask_id in waiting)


@requirement("as.selection.checked")
def test_a_description_has_only_characters_that_it_may_have(flow: Flow) -> None:
    location = flow.authorize(authorization_details=details({"name": 'a"b\\é'})).headers["location"]

    assert set(query(location)["error_description"]).isdisjoint('"\\é')


@requirement("as.authorize.pkce")
def test_only_get_is_taken(flow: Flow) -> None:
    response = flow.http.post("/oauth/authorize", data=flow.parameters())

    assert (response.status_code, response.headers["allow"]) == (405, "GET")

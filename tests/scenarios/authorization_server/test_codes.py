"""Codes: one for one set of tokens."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from tests.requirements import requirement
from tests.scenarios.authorization_server.flow import MCP, REDIRECT, REST, STATE, Flow, error, query
from tests.worlds import chat


@requirement("as.authorize.pkce", "as.tokens.lifetime", "as.tokens.not-cached")
def test_the_whole_way_from_a_request_to_a_token_that_reads(flow: Flow) -> None:
    back = flow.approved(flow.ask())
    response = flow.redeem(query(back)["code"])
    body = response.json()

    assert back.startswith(f"{REDIRECT}?")
    assert (query(back)["state"], query(back)["iss"]) == (STATE, "http://127.0.0.1")
    assert (response.status_code, body["token_type"], body["expires_in"]) == (200, "Bearer", 3600)
    assert (response.headers["cache-control"], response.headers["pragma"]) == ("no-store", "no-cache")
    assert [detail["source"]["id"] for detail in body["authorization_details"]] == [chat.SOURCE_ID]
    assert body["scope"] == "pdpp:read offline_access"
    assert flow.calls(body["access_token"]) == 200


@requirement("as.tokens.lifetime")
def test_an_access_token_ends_after_an_hour(flow: Flow) -> None:
    token = flow.tokens()["access_token"]
    flow.world.clock.moment += timedelta(seconds=3599)
    assert flow.calls(token) == 200
    flow.world.clock.moment += timedelta(seconds=1)

    assert flow.calls(token) == 401


@requirement("as.tokens.lifetime")
def test_a_token_never_outlives_its_grant(flow: Flow) -> None:
    soon = flow.decision(expires_at="2026-11-15T12:10:00Z")

    assert flow.tokens(soon)["expires_in"] == 600


@requirement("as.codes.single-use")
def test_a_code_is_redeemed_once_and_a_replay_ends_what_it_gave(flow: Flow) -> None:
    code = flow.code()
    given = flow.redeem(code).json()

    assert error(flow.redeem(code)) == (400, "invalid_grant")
    assert flow.calls(given["access_token"]) == 401
    assert error(flow.refresh(given["refresh_token"])) == (400, "invalid_grant")


@requirement("as.codes.single-use")
def test_two_redemptions_at_once_give_one_token(flow: Flow) -> None:
    code = flow.code()
    with ThreadPoolExecutor(2) as threads:
        answers = list(threads.map(lambda _: flow.redeem(code).status_code, range(2)))

    assert sorted(answers) == [200, 400]


@requirement("as.codes.single-use")
def test_a_code_lives_five_minutes(flow: Flow) -> None:
    code = flow.code()
    flow.world.clock.moment += timedelta(seconds=300)

    assert error(flow.redeem(code)) == (400, "invalid_grant")


@requirement("as.authorize.pkce", "as.codes.single-use")
@pytest.mark.parametrize(
    ("sent", "says"),
    [
        ({"code_verifier": "w" * 64}, "invalid_grant"),
        ({"code_verifier": ""}, "invalid_request"),
        ({"redirect_uri": "http://localhost:1/callback"}, "invalid_grant"),
        ({"code": "another"}, "invalid_grant"),
        ({"code": ""}, "invalid_request"),
        ({"resource": REST}, "invalid_target"),
        ({"resource": "https://elsewhere.example/mcp"}, "invalid_target"),
        ({"grant_type": "password"}, "unsupported_grant_type"),
        ({"grant_type": ""}, "invalid_request"),
    ],
)
def test_what_does_not_fit_gives_no_token_and_spends_nothing(flow: Flow, sent: dict[str, str], says: str) -> None:
    code = flow.code()

    assert error(flow.redeem(code, **sent)) == (400, says)
    assert flow.redeem(code, resource=MCP).status_code == 200


@requirement("as.codes.single-use")
def test_a_code_is_good_for_its_own_client_only(flow: Flow) -> None:
    code, other = flow.code(), flow.registered()

    assert error(flow.redeem(code, client_id=other)) == (400, "invalid_grant")


@requirement("as.clients.unknown")
def test_an_unknown_client_is_told_to_register_again(flow: Flow) -> None:
    assert error(flow.redeem(flow.code(), client_id="cli_forgotten")) == (401, "invalid_client")


@requirement("grants.lifecycle.consumed")
def test_a_single_use_that_gave_its_token_gives_no_second_one(flow: Flow) -> None:
    once = {**chat.detail(flow.world.both("messages")), "access_mode": "single_use"}
    code = flow.code(flow.decision(once))

    assert flow.redeem(code).status_code == 200
    assert error(flow.redeem(code)) == (400, "invalid_grant")


@requirement("as.tokens.single-use-grant")
def test_a_single_use_is_consumed_with_its_first_token_and_never_refreshed(flow: Flow) -> None:
    once = {**chat.detail(flow.world.both("messages")), "access_mode": "single_use"}
    body = flow.tokens(flow.decision(once))
    (row,) = flow.world.owner.grant(body["grant_id"])

    assert "refresh_token" not in body
    assert body["scope"] == "pdpp:read"
    assert row.state.consumed_at == "2026-11-15T12:00:00.000Z"
    assert row.grant.expires_at == "2026-11-16T12:00:00.000Z"


@requirement("as.tokens.json-body")
def test_a_body_may_be_json(flow: Flow) -> None:
    sent = {"grant_type": "refresh_token", "client_id": flow.client_id, "refresh_token": flow.tokens()["refresh_token"]}

    assert flow.http.post("/oauth/token", json=sent).status_code == 200
    assert error(flow.http.post("/oauth/token", content="a=1&a=2")) == (400, "invalid_request")
    assert error(flow.http.post("/oauth/token", content="[", headers={"Content-Type": "application/json"})) == (
        400,
        "invalid_request",
    )


@requirement("as.flows.forgotten")
def test_what_nobody_redeemed_is_forgotten_and_its_grant_ends(flow: Flow) -> None:
    flow.code()
    flow.world.clock.moment += timedelta(hours=2)
    flow.ask()

    words = {row.grant.client_name: row.state.word("2026-11-15T14:00:00.000Z") for row in flow.world.owner.grants()}
    assert words == {"Agent": "active", "Agent X": "revoked"}


@requirement("as.flows.forgotten")
def test_a_client_to_whom_nothing_was_given_is_forgotten_after_a_week(flow: Flow) -> None:
    flow.tokens()
    idle = flow.registered()
    flow.world.clock.moment += timedelta(days=8)
    flow.registered()

    assert flow.authorize().status_code == 302
    assert error(flow.authorize(client_id=idle)) == (400, "invalid_client")

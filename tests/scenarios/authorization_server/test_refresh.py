"""Refresh tokens: one after the other, and never two."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import orjson
import pytest

from tests.requirements import requirement
from tests.scenarios.authorization_server.flow import REST, Flow, error
from tests.worlds import chat


@requirement("as.tokens.rotation")
def test_a_refresh_gives_new_tokens_for_the_same_grant(flow: Flow) -> None:
    first = flow.tokens()
    flow.world.clock.moment += timedelta(days=100)
    second = flow.refresh(first["refresh_token"]).json()
    flow.world.clock.moment += timedelta(days=100)
    third = flow.refresh(second["refresh_token"]).json()

    assert {body["grant_id"] for body in (first, second, third)} == {first["grant_id"]}
    assert len({body["refresh_token"] for body in (first, second, third)}) == 3
    assert flow.calls(third["access_token"]) == 200


@requirement("as.tokens.rotation")
def test_a_replay_ends_the_whole_family(flow: Flow) -> None:
    first = flow.tokens()
    second = flow.refresh(first["refresh_token"]).json()
    replayed = flow.refresh(first["refresh_token"])

    assert error(replayed) == (400, "invalid_grant")
    assert replayed.json()["fresh_authorization_required"] is True
    assert flow.calls(first["access_token"]) == flow.calls(second["access_token"]) == 401
    assert error(flow.refresh(second["refresh_token"])) == (400, "invalid_grant")


@requirement("as.tokens.rotation")
def test_two_refreshes_at_once_leave_nobody_with_the_family(flow: Flow) -> None:
    token = flow.tokens()["refresh_token"]
    with ThreadPoolExecutor(2) as threads:
        answers = list(threads.map(lambda _: flow.refresh(token), range(2)))
    (given,) = [answer.json() for answer in answers if answer.status_code == 200]

    assert flow.calls(given["access_token"]) == 401


@requirement("as.tokens.rotation")
def test_after_half_a_year_of_rest_it_has_ended(flow: Flow) -> None:
    token = flow.tokens()["refresh_token"]
    flow.world.clock.moment += timedelta(days=180)

    assert error(flow.refresh(token)) == (400, "invalid_grant")


@requirement("as.tokens.rotation", "as.tokens.audience")
def test_it_is_good_for_its_own_client_and_resource_only(flow: Flow) -> None:
    token = flow.tokens()["refresh_token"]

    assert error(flow.refresh(token, client_id=flow.registered())) == (400, "invalid_grant")
    assert error(flow.refresh(token, resource=REST)) == (400, "invalid_target")
    assert error(flow.refresh("rt_" + "x" * 43)) == (400, "invalid_grant")
    assert flow.refresh(token).status_code == 200


@requirement("as.tokens.narrowed")
@pytest.mark.parametrize("scope", ["pdpp:read", "pdpp:read offline_access", "offline_access  pdpp:read"])
def test_a_scope_within_what_was_given_is_what_the_answer_says(flow: Flow, scope: str) -> None:
    renewed = flow.refresh(flow.tokens()["refresh_token"], scope=scope).json()

    assert renewed["scope"] == " ".join(scope.split())
    assert flow.refresh(renewed["refresh_token"]).json()["scope"] == "pdpp:read offline_access"


@requirement("as.tokens.narrowed")
@pytest.mark.parametrize("scope", ["pdpp:write", "pdpp:read admin", "offline_access", "PDPP:READ", '"pdpp:read"'])
def test_another_scope_is_refused_and_costs_nothing(flow: Flow, scope: str) -> None:
    given = flow.tokens()

    assert error(flow.refresh(given["refresh_token"], scope=scope)) == (400, "invalid_scope")
    assert flow.calls(given["access_token"]) == 200
    assert flow.refresh(given["refresh_token"]).status_code == 200


@requirement("as.tokens.narrowed")
def test_details_are_those_that_were_granted_or_are_refused(flow: Flow) -> None:
    given = flow.tokens()
    told = given["authorization_details"]
    narrower = [{**told[0], "streams": [{**told[0]["streams"][0], "fields": ["id"]}]}]
    wider = [*told, *told]

    for details in (narrower, wider, [], {}, "no json", [chat.detail({"name": "*"})], "[" * 5000):
        sent = details if isinstance(details, str) else orjson.dumps(details).decode()
        refused = flow.refresh(given["refresh_token"], authorization_details=sent)
        assert error(refused) == (400, "invalid_authorization_details"), details
    renewed = flow.refresh(given["refresh_token"], authorization_details=orjson.dumps(told).decode())

    assert renewed.json()["authorization_details"] == told


@requirement("as.tokens.narrowed")
def test_a_code_is_not_spent_by_details_that_were_not_granted(flow: Flow) -> None:
    code = flow.code()

    refused = flow.redeem(code, authorization_details=orjson.dumps([chat.detail({"name": "*"})]).decode())

    assert error(refused) == (400, "invalid_authorization_details")
    assert flow.redeem(code).status_code == 200


@requirement("as.revocation.immediate")
def test_a_revoked_grant_is_not_refreshed(flow: Flow) -> None:
    body = flow.tokens()
    flow.world.owner.revoke(body["grant_id"])

    assert error(flow.refresh(body["refresh_token"])) == (400, "invalid_grant")


@requirement("as.tokens.digests")
def test_nothing_that_opens_a_door_is_kept_as_it_is(flow: Flow) -> None:
    code = flow.code()
    body = flow.redeem(code).json()
    device = flow.device_code()
    with flow.world.services.database.reading() as reading:
        tables = ("asks", "codes", "tokens", "families")
        kept = [reading.rows(f"select * from {table}") for table in tables]

    for secret in (code, body["access_token"], body["refresh_token"], device["device_code"]):
        assert secret not in repr(kept)

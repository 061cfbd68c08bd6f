"""Devices: a code to show, a code to poll with (RFC 8628)."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from pdpp_server.errors import ApprovalConflict, NotFound, RateLimited
from tests.requirements import requirement
from tests.scenarios.authorization_server.flow import ORIGIN, Flow, error, query


def wait(flow: Flow, seconds: int) -> None:
    flow.world.clock.moment += timedelta(seconds=seconds)


@requirement("as.device.single-use")
def test_a_device_is_let_in_once(flow: Flow) -> None:
    begun = flow.device_code()
    assert flow.approved(flow.desk.ask_by_user_code(begun["user_code"]).ask_id) == ""
    given = flow.poll(begun["device_code"])

    assert given.json()["expires_in"] == 3600
    assert error(flow.poll(begun["device_code"])) == (400, "invalid_grant")
    assert flow.calls(given.json()["access_token"]) == 401  # whoever came second may have been the first


@requirement("mcp.hosted.device-token")
def test_its_token_works_at_mcp_and_never_is_the_owners(flow: Flow) -> None:
    begun = flow.device_code(authorization_details=None)
    flow.approved(flow.desk.ask_by_user_code(begun["user_code"]).ask_id)
    token = flow.poll(begun["device_code"]).json()["access_token"]

    assert (flow.calls(token), flow.calls(flow.world.owner_token)) == (200, 403)


@requirement("as.device.single-use")
def test_two_polls_at_once_give_one_token(flow: Flow) -> None:
    begun = flow.device_code()
    flow.approved(flow.desk.ask_by_user_code(begun["user_code"]).ask_id)
    with ThreadPoolExecutor(2) as threads:
        answers = list(threads.map(lambda _: flow.poll(begun["device_code"]).status_code, range(2)))

    assert sorted(answers) == [200, 400]


@requirement("as.device.polling")
def test_a_device_waits_and_must_not_hurry(flow: Flow) -> None:
    begun = flow.device_code()
    assert (begun["interval"], begun["expires_in"]) == (2, 600)

    assert error(flow.poll(begun["device_code"])) == (400, "authorization_pending")
    hurried = flow.poll(begun["device_code"])
    assert (error(hurried), hurried.json()["interval"]) == ((400, "slow_down"), 7)
    wait(flow, 6)
    assert error(flow.poll(begun["device_code"])) == (400, "slow_down")
    wait(flow, 12)
    assert error(flow.poll(begun["device_code"])) == (400, "authorization_pending")


@requirement("as.device.polling")
def test_a_device_is_told_why_it_gets_nothing(flow: Flow) -> None:
    denied, expired = flow.device_code(), flow.device_code()
    assert flow.desk.deny(flow.desk.ask_by_user_code(denied["user_code"]).ask_id) is None
    assert error(flow.poll(denied["device_code"])) == (400, "access_denied")
    wait(flow, 600)

    assert error(flow.poll(expired["device_code"])) == (400, "expired_token")
    assert error(flow.poll("nothing")) == (400, "invalid_grant")
    assert error(flow.poll(expired["device_code"], client_id=flow.registered())) == (400, "invalid_grant")
    assert error(flow.poll(expired["device_code"], client_id="cli_nobody")) == (401, "invalid_client")


@requirement("as.device.single-use")
def test_a_device_code_is_no_code_of_a_redirect(flow: Flow) -> None:
    begun = flow.device_code()
    flow.approved(flow.desk.ask_by_user_code(begun["user_code"]).ask_id)
    code = flow.code()

    assert error(flow.redeem(begun["device_code"], redirect_uri="")) == (400, "invalid_grant")
    assert error(flow.poll(code)) == (400, "invalid_grant")


@requirement("as.device.user-codes")
def test_a_user_code_is_easy_to_type(flow: Flow) -> None:
    begun = flow.device_code()
    code: str = begun["user_code"]
    ask = flow.desk.ask_by_user_code(code)

    assert begun["verification_uri"] == f"{ORIGIN}/device"
    assert query(begun["verification_uri_complete"]) == {"user_code": code}
    assert (len(code), code[4]) == (9, "-")
    assert set(code).isdisjoint("AEIOUY0123456789")
    for typed in (code.lower(), code.replace("-", ""), f" {code[:4]} {code[5:]} "):
        assert flow.desk.ask_by_user_code(typed) == ask
    flow.approved(ask.ask_id)
    with pytest.raises(ApprovalConflict):
        flow.desk.ask_by_user_code(code)


@requirement("as.device.user-codes")
def test_guessing_is_slow(flow: Flow) -> None:
    right = flow.device_code()["user_code"]
    for _ in range(30):
        with pytest.raises(NotFound):
            flow.desk.ask_by_user_code("BBBB-BBBB")

    with pytest.raises(RateLimited):
        flow.desk.ask_by_user_code(right)
    wait(flow, 600)
    with pytest.raises(NotFound):
        flow.desk.ask_by_user_code(right)  # it has expired meanwhile


@requirement("as.device.polling")
def test_without_details_the_owner_picks_and_nothing_else_is_needed(flow: Flow) -> None:
    begun = flow.http.post("/oauth/device_authorization", data={"client_id": flow.client_id}).json()
    flow.approved(flow.desk.ask_by_user_code(begun["user_code"]).ask_id)

    assert flow.poll(begun["device_code"]).status_code == 200

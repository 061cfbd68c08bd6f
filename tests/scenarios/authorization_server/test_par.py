"""Requests pushed before the browser is sent (RFC 9126)."""

from datetime import timedelta
from typing import Any

from httpx2 import Response

from tests.requirements import requirement
from tests.scenarios.authorization_server.flow import ORIGIN, REDIRECT, Flow, error, query


def pushed(flow: Flow, **changed: Any) -> str:
    response = flow.http.post("/oauth/par", data=flow.parameters(**changed))
    assert (response.status_code, response.json()["expires_in"]) == (201, 300)
    return response.json()["request_uri"]


def opened(flow: Flow, request_uri: str, **changed: Any) -> Response:
    asked = {"client_id": flow.client_id, "request_uri": request_uri, **changed}
    return flow.http.get("/oauth/authorize", params=asked, follow_redirects=False)


@requirement("as.par.resumed")
def test_a_pushed_request_is_resumed_by_its_address(flow: Flow) -> None:
    location = opened(flow, pushed(flow)).headers["location"]
    assert location.startswith(f"{ORIGIN}/consent?ask=")
    back = flow.approved(query(location)["ask"])

    assert flow.redeem(query(back)["code"]).status_code == 200


@requirement("as.par.resumed")
def test_it_is_good_once_for_its_client_and_for_five_minutes(flow: Flow) -> None:
    request_uri, other = pushed(flow), flow.registered()

    assert error(opened(flow, request_uri, client_id=other)) == (400, "invalid_request_uri")
    assert opened(flow, request_uri).status_code == 302
    assert error(opened(flow, request_uri)) == (400, "invalid_request_uri")

    late = pushed(flow)
    flow.world.clock.moment += timedelta(seconds=300)
    assert error(opened(flow, late)) == (400, "invalid_request_uri")
    assert error(opened(flow, "https://evil.example/request")) == (400, "invalid_request_uri")


@requirement("as.par.resumed")
def test_what_is_wrong_is_said_when_it_is_pushed(flow: Flow) -> None:
    def push(**changed: Any) -> tuple[int, str]:
        return error(flow.http.post("/oauth/par", data=flow.parameters(**changed)))

    assert push(client_id="cli_nobody") == (400, "invalid_client")
    assert push(redirect_uri="https://evil.example/") == (400, "invalid_redirect_uri")
    assert push(code_challenge_method="plain") == (400, "invalid_request")
    assert push(authorization_details="[]") == (400, "invalid_authorization_details")
    assert push(request_uri="urn:x") == (400, "invalid_request")


@requirement("as.par.resumed")
def test_details_may_be_json_in_a_json_body(flow: Flow) -> None:
    asked = flow.parameters(authorization_details=None, redirect_uri=REDIRECT)
    response = flow.http.post("/oauth/par", json={**asked, "authorization_details": [{"type": "else"}]})

    assert error(response) == (400, "invalid_authorization_details")
    assert flow.http.post("/oauth/par", json=asked).status_code == 201

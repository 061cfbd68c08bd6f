"""Giving back: a token by its client (RFC 7009), a grant by its client or the owner."""

from typing import Any

import orjson

from tests.requirements import requirement
from tests.scenarios.authorization_server.flow import Flow, error, with_notes
from tests.worlds import chat


def revoked(flow: Flow, grant_id: str, token: str | None) -> tuple[int, Any]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    response = flow.http.post(f"/grants/{grant_id}/revoke", headers=headers)
    return response.status_code, response.json().get("revoked") or response.json()["error"]["code"]


@requirement("as.revocation.immediate")
def test_the_owner_or_the_bound_client_ends_a_grant_at_once_and_twice_without_harm(flow: Flow) -> None:
    for whose in ("client", "owner"):
        body = flow.tokens()
        token = body["access_token"] if whose == "client" else flow.world.owner_token
        assert flow.calls(body["access_token"]) == 200
        for _ in range(2):
            assert revoked(flow, body["grant_id"], token) == (200, True)
            assert flow.calls(body["access_token"]) == 403


@requirement("as.revocation.immediate")
def test_nobody_else_ends_it_or_learns_of_it(flow: Flow) -> None:
    mine, others = flow.tokens(), flow.tokens()

    assert revoked(flow, mine["grant_id"], others["access_token"]) == (404, "not_found")
    assert revoked(flow, "grt_nothing", flow.world.owner_token) == (404, "not_found")
    assert revoked(flow, mine["grant_id"], "nobody") == (401, "authentication_error")
    assert revoked(flow, mine["grant_id"], None) == (401, "authentication_error")
    assert flow.calls(mine["access_token"]) == 200


@requirement("as.packages.revocation")
def test_a_package_ends_with_all_children_and_a_child_alone(flow: Flow) -> None:
    notes = with_notes(flow.world)
    asked = orjson.dumps([chat.detail({"name": "messages"}), notes]).decode()
    both = flow.decision(chat.detail(flow.world.both("messages")), notes)
    body = flow.tokens(both, authorization_details=asked)
    child, _ = flow.world.owner.grant(body["grant_package_id"])

    assert revoked(flow, child.grant.grant_id, flow.world.owner_token) == (200, True)
    assert flow.calls(body["access_token"]) == 200
    assert len(flow.refresh(body["refresh_token"]).json()["authorization_details"]) == 1
    assert revoked(flow, body["grant_package_id"], body["access_token"]) == (200, True)
    assert flow.calls(body["access_token"]) == 403


@requirement("as.tokens.revoked-by-client")
def test_a_client_signs_out(flow: Flow) -> None:
    body = flow.tokens()
    again = flow.refresh(body["refresh_token"]).json()

    for token, left in ((body["access_token"], 200), (again["refresh_token"], 401)):
        response = flow.http.post("/oauth/revoke", data={"token": token, "client_id": flow.client_id})
        assert (response.status_code, response.content) == (200, b"")
        assert (flow.calls(body["access_token"]), flow.calls(again["access_token"])) == (401, left)
    assert error(flow.refresh(again["refresh_token"])) == (400, "invalid_grant")


@requirement("as.tokens.revoked-by-client")
def test_what_is_not_known_is_revoked_already_and_what_is_anothers_is_refused(flow: Flow) -> None:
    body, other = flow.tokens(), flow.registered()

    assert flow.http.post("/oauth/revoke", data={"token": "nothing"}).status_code == 200
    assert error(flow.http.post("/oauth/revoke")) == (400, "invalid_request")
    for token in (body["access_token"], body["refresh_token"]):
        refused = flow.http.post("/oauth/revoke", data={"token": token, "client_id": other})
        assert error(refused) == (400, "invalid_grant")
    assert flow.calls(body["access_token"]) == 200

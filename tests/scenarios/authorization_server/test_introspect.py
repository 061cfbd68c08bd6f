"""What a resource server elsewhere is told about a token (RFC 7662)."""

from datetime import timedelta
from typing import Any

import orjson
import pytest

from tests.requirements import requirement
from tests.scenarios.authorization_server.flow import MCP, ORIGIN, REST, Flow, error, with_notes
from tests.worlds import chat


def told(flow: Flow, token: str) -> Any:
    secret = flow.desk.name_resource_server("archive")
    response = flow.http.post("/introspect", data={"token": token}, auth=("archive", secret))
    assert (response.status_code, response.headers["cache-control"]) == (200, "no-store")
    return response.json()


@requirement("as.introspection.one-answer")
def test_one_answer_says_all_rights_once(flow: Flow) -> None:
    body = flow.tokens()
    said = told(flow, body["access_token"])

    assert (said["active"], said["pdpp_token_kind"], said["grant_id"]) == (True, "client", body["grant_id"])
    assert (said["iss"], said["aud"], said["exp"]) == (ORIGIN, MCP, 1794747600)
    assert said["authorization_details"] == body["authorization_details"]
    assert said["authorization_details"][0]["streams"][0]["instance_ids"] == [flow.world.work, flow.world.family]
    assert said["pdpp"]["source"] == {"kind": "connector", "id": chat.SOURCE_ID}
    assert "grant" not in said


@requirement("as.introspection.one-answer")
def test_tokens_of_the_terminal_and_of_the_owner(flow: Flow) -> None:
    anywhere, owner = told(flow, flow.world.token), told(flow, flow.world.owner_token)

    assert (anywhere["aud"], "exp" in anywhere) == ([REST, MCP], False)
    assert (owner["active"], owner["pdpp_token_kind"]) == (True, "owner")


@requirement("as.introspection.one-answer", "as.packages.revocation")
def test_a_package_counts_its_living_sources(flow: Flow) -> None:
    notes = with_notes(flow.world)
    asked = orjson.dumps([chat.detail({"name": "messages"}), notes]).decode()
    body = flow.tokens(flow.decision(chat.detail(flow.world.both("messages")), notes), authorization_details=asked)
    first, second = (row.grant.grant_id for row in flow.world.owner.grant(body["grant_package_id"]))

    assert told(flow, body["access_token"])["package"]["approved_source_count"] == 2
    flow.world.owner.revoke(first)
    assert told(flow, body["access_token"])["package"]["approved_source_count"] == 1
    flow.world.owner.revoke(second)
    assert told(flow, body["access_token"]) == {"active": False, "inactive_reason": "package_revoked"}


@requirement("as.introspection.one-answer")
def test_why_a_token_is_not_good(flow: Flow) -> None:
    bodies = [flow.tokens() for _ in range(3)]
    revoked, ended, plain = (body["access_token"] for body in bodies)
    brief = flow.tokens(flow.decision(expires_at="2026-11-15T12:30:00Z"))["access_token"]
    flow.world.owner.revoke(bodies[0]["grant_id"])
    flow.http.post("/oauth/revoke", data={"token": bodies[1]["refresh_token"]})
    flow.http.post("/oauth/revoke", data={"token": plain})
    expiring = flow.tokens()["access_token"]

    assert told(flow, "nothing") == {"active": False}
    assert told(flow, revoked)["inactive_reason"] == "grant_revoked"
    assert told(flow, ended)["inactive_reason"] == "refresh_family_revoked"
    assert told(flow, plain)["inactive_reason"] == "token_revoked"
    flow.world.clock.moment += timedelta(hours=1)
    assert told(flow, expiring)["inactive_reason"] == "token_expired"
    assert told(flow, brief)["inactive_reason"] == "token_expired"


@requirement("as.introspection.one-answer")
def test_a_token_that_outlives_its_grant_says_so(flow: Flow) -> None:
    token = flow.world.owner.create_grant(flow.decision().selections, "A", "2026-11-15T12:30:00.000Z").token
    with flow.world.services.database.writing() as writer:
        writer.run("update tokens set expires_at = null")
    flow.world.clock.moment += timedelta(hours=1)

    assert told(flow, token)["inactive_reason"] == "grant_expired"


@requirement("as.introspection.one-answer")
@pytest.mark.parametrize(
    "authorization",
    [None, "Basic", "Basic !", "Basic YXJjaGl2ZTp4", "Basic YXJjaGl2ZQ==", "Bearer x", "Basic w6k6/w=="],
)
def test_others_learn_nothing(flow: Flow, authorization: str | None) -> None:
    flow.desk.name_resource_server("archive")
    headers = {"Authorization": authorization} if authorization else {}
    response = flow.http.post("/introspect", data={"token": flow.world.token}, headers=headers)

    assert error(response) == (401, "context.authentication_failed")
    assert response.headers["www-authenticate"] == 'Basic realm="introspection"'


@requirement("as.introspection.one-answer")
def test_a_new_secret_ends_the_old_one(flow: Flow) -> None:
    old = flow.desk.name_resource_server("archive")
    new = flow.desk.name_resource_server("archive")

    assert flow.http.post("/introspect", data={"token": "x"}, auth=("archive", old)).status_code == 401
    assert error(flow.http.post("/introspect", auth=("archive", new))) == (400, "invalid_request")

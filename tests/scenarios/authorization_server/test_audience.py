"""Tokens at the resource that they were issued for, and at another."""

import pytest

from tests.requirements import requirement
from tests.scenarios.authorization_server.flow import MCP, ORIGIN, REST, Flow, query


@requirement("as.tokens.audience", "rs.tokens.audience")
@pytest.mark.parametrize(
    ("resource", "reads", "calls"),
    [(MCP, 401, 200), (f"{MCP}/", 401, 200), (REST, 200, 401), (f"{REST}/v1", 200, 401), (None, 200, 200)],
)
def test_a_token_is_heard_where_it_was_asked_for(flow: Flow, resource: str | None, reads: int, calls: int) -> None:
    token = flow.tokens(resource=resource)["access_token"]

    for _ in range(2):  # the second time it is known already
        assert (flow.reads(token), flow.calls(token)) == (reads, calls)


@requirement("as.tokens.audience")
def test_a_token_at_the_wrong_resource_is_told_where_to_go(flow: Flow) -> None:
    token = flow.tokens()["access_token"]
    response = flow.http.get("/v1/schema", headers={"Authorization": f"Bearer {token}"})

    assert response.json()["error"]["code"] == "authentication_error"
    assert 'error="invalid_token"' in response.headers["www-authenticate"]


@requirement("as.tokens.audience")
def test_a_token_of_the_terminal_is_heard_at_both(flow: Flow) -> None:
    assert (flow.reads(flow.world.token), flow.calls(flow.world.token)) == (200, 200)


@requirement("as.tokens.audience")
@pytest.mark.parametrize(
    "resource", ["https://elsewhere.example/mcp", f"{ORIGIN}.evil.example", f"{ORIGIN}/v2", "/mcp", "/", ORIGIN[:-1]]
)
def test_a_resource_elsewhere_is_refused(flow: Flow, resource: str) -> None:
    flow.sign_in()
    assert query(flow.authorize(resource=resource).headers["location"])["error"] == "invalid_target"

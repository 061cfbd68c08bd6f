"""What all doors for writing share: only the owner passes, and a door says what it takes."""

import pytest

from pdpp_server.resource_server.ingest import BODY_BYTES_MAX
from tests.requirements import requirement
from tests.scenarios.resource_server.writes import NDJSON, OwnersTools

WRITES = [
    ("POST", "/v1/ingest/messages?{work}"),
    ("POST", "/v1/connections"),
    ("PUT", "/v1/state/chats?connection_id={connection}"),
    ("GET", "/v1/state/chats?connection_id={connection}"),
    ("DELETE", "/v1/streams/messages/records/m1?{work}"),
    ("DELETE", "/v1/streams/messages/records?{work}"),
]
each_write = pytest.mark.parametrize(("method", "path"), WRITES)


def _path(tools: OwnersTools, path: str) -> str:
    return path.format(work=tools.work, connection=tools.chats.work)


@requirement("rs.tokens.owner-only-operations")
@each_write
def test_a_clients_token_is_of_the_wrong_kind(tools: OwnersTools, method: str, path: str) -> None:
    response = tools.send(method, _path(tools, path), token="tok_client")

    assert (response.status_code, response.json()["error"]["code"]) == (403, "permission_error")
    assert response.json()["error"]["message"] == "Owner token required."
    assert tools.has("m1")


@requirement("rs.tokens.owner-only-operations", "rs.tokens.kinds")
@each_write
def test_any_other_token_is_nobodys(tools: OwnersTools, method: str, path: str) -> None:
    tools.chats.keep_token("tok_package", kind="mcp_package", package_id="gpkg_1")
    tools.chats.keep_token("tok_over", kind="owner", hours=-1)

    for token in (None, "tok_never", "tok_package", "tok_over"):
        response = tools.send(method, _path(tools, path), token=token)
        assert (response.status_code, response.json()["error"]["code"]) == (401, "authentication_error")
        assert "WWW-Authenticate" in response.headers
    assert tools.has("m1")


@requirement("rs.tokens.owner-only-operations")
def test_of_a_client_not_even_the_body_is_taken_in(tools: OwnersTools) -> None:
    path, too_long = f"/v1/ingest/messages?{tools.work}", b" " * (BODY_BYTES_MAX + 1)

    assert tools.refusal("POST", path, too_long, token="tok_client", Content_Type=NDJSON)[:2] == (
        403,
        "permission_error",
    )


@requirement("rs.writes.methods")
@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/v1/state/chats", "GET, HEAD, PUT"),
        ("/v1/streams/messages/records", "DELETE, GET, HEAD"),
        ("/v1/streams/messages/records/m1", "DELETE, GET, HEAD"),
    ],
)
def test_a_wrong_method_is_told_all_that_an_address_takes(tools: OwnersTools, path: str, allowed: str) -> None:
    response = tools.send("PATCH", path)

    assert (response.status_code, response.headers["Allow"]) == (405, allowed)

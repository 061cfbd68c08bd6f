"""What every request meets: version, token, headers, and the envelope of a refusal."""

from datetime import timedelta
from typing import NoReturn

import pytest
from starlette.testclient import TestClient

from pdpp_server.http import kernel
from pdpp_server.resource_server import fetch
from tests.requirements import requirement
from tests.scenarios.resource_server.chats import Api, Chats

M1 = "/v1/streams/messages/records/m1"
LISTS = ["/v1/connectors", "/v1/streams", "/v1/streams/messages"]
READS = ["/v1/schema", *LISTS, "/v1/search?q=pizza", M1, f"{M1}/field-window?field=subject"]
each_read = pytest.mark.parametrize("path", READS)


@requirement("rs.transport.json-body", "rs.headers.version", "rs.headers.cache-control", "rs.headers.x-request-id")
@each_read
def test_every_answer_has_our_headers(api: Api, path: str) -> None:
    for response in (api.get(path), api.get(path, token=None), api.get(f"{path}#".replace("/v1/", "/v1/nothing/"))):
        assert response.headers["content-type"] == "application/json"
        assert response.headers["pdpp-version"] == "2026-04-06"
        assert response.headers["cache-control"] == "private, no-store"
        assert response.headers["request-id"] == response.headers["x-request-id"]


@requirement("rs.headers.request-id")
def test_the_callers_request_id_comes_back_and_stands_in_the_log(api: Api) -> None:
    assert api.get(M1, Request_Id="mine-1").headers["request-id"] == "mine-1"
    assert api.chats.log_lines()[-1]["request_id"] == "mine-1"
    refused = api.get("/v1/search", Request_Id="mine-2")
    assert refused.json()["error"]["request_id"] == refused.headers["request-id"] == "mine-2"


@requirement("rs.headers.request-id")
@pytest.mark.parametrize("given", ["", "x" * 129, "tab\there", "é"])
def test_a_request_id_that_cannot_be_logged_is_replaced(api: Api, given: str) -> None:
    response = api.client.get(
        M1, headers={b"Request-Id": given.encode("latin-1"), b"Authorization": b"Bearer tok_client"}
    )

    assert response.headers["request-id"].startswith("req_")


@requirement("rs.headers.version-refused")
@each_read
def test_another_version_is_refused_before_the_token_is_looked_at(api: Api, path: str) -> None:
    for token in (None, "tok_client"):
        response = api.get(path, token=token, PDPP_Version="2020-01-01")
        assert (response.status_code, response.json()["error"]["code"]) == (400, "unsupported_version")
    assert api.get(path, PDPP_Version="2026-04-06").status_code == 200


@requirement("rs.enforcement.order")
def test_of_several_faults_the_first_is_reported(api: Api) -> None:
    faulty = "/v1/streams/diary/records/m1?connection_id=cin_x&fields=secret"

    assert api.get(faulty, token="nobody", PDPP_Version="0").json()["error"]["code"] == "unsupported_version"
    assert api.refusal(faulty, token="nobody")[1] == "authentication_error"
    assert api.refusal(faulty)[1] == "grant_stream_not_allowed"
    assert api.refusal(faulty.replace("diary", "messages"))[1] == "connection_not_found"
    assert api.refusal(faulty.replace("diary", "messages").replace("cin_x", ""))[1] == "field_not_granted"


@requirement("rs.transport.head-mirrors-get")
@each_read
def test_head_has_the_headers_of_get_and_no_body(api: Api, path: str) -> None:
    for token in ("tok_client", None):
        got, head = (api.send(method, path, token=token, Request_Id="r") for method in ("GET", "HEAD"))
        assert (head.status_code, dict(head.headers), head.content) == (got.status_code, dict(got.headers), b"")


@requirement("rs.tokens.challenge", "rs.transport.bearer-header")
@each_read
def test_without_a_token_the_answer_says_where_to_get_one(api: Api, path: str) -> None:
    response = api.get(path, token=None)
    metadata = "http://127.0.0.1/.well-known/oauth-protected-resource"

    assert (response.status_code, response.json()["error"]["code"]) == (401, "authentication_error")
    assert response.headers["www-authenticate"] == f'Bearer resource_metadata="{metadata}", scope="pdpp:read"'
    assert response.json()["error"]["resource_metadata"] == metadata
    assert response.json()["error"]["next_step"]
    joined = "&" if "?" in path else "?"
    assert api.get(f"{path}{joined}access_token=tok_client", token=None).status_code == 401


@requirement("rs.tokens.challenge", "rs.tokens.kinds", "rs.tokens.opaque")
def test_an_unknown_token_and_one_of_another_kind_are_not_accepted(api: Api) -> None:
    api.chats.keep_token("tok_client_of_mcp", kind="mcp_package", package_id="pkg_1")
    api.chats.keep_token("owner_like", kind="client", grant_id="grt_1", client_id="cli_1")
    for token in ("nobody", "tok_client_of_mcp"):
        response = api.get(M1, token=token)
        assert response.json()["error"]["code"] in {"authentication_error"}
        assert 'error="invalid_token"' in response.headers["www-authenticate"]
    assert api.get(M1, token="tok_client_of_mcp").json()["error"]["next_step"] == (
        "A package's token is for /mcp: use it there."
    )
    assert "secret" not in api.body(M1, token="owner_like")["data"]


@requirement("rs.tokens.expired", "rs.tokens.inactive-reasons", "grants.lifecycle.revoked", "grants.lifecycle.expired")
def test_what_ended_is_told_apart(api: Api) -> None:
    chats = api.chats
    chats.keep_token("short", kind="client", grant_id="grt_1", client_id="cli_1", hours=1)
    chats.grant("grt_2", "tok_2")
    chats.revoke("grt_2")
    assert api.refusal(M1, token="tok_2")[:2] == (403, "grant_revoked")
    chats.now += timedelta(hours=2)
    response = api.get(M1, token="short")
    assert (response.status_code, response.json()["error"]["code"]) == (401, "authentication_error")
    assert 'error="invalid_token"' in response.headers["www-authenticate"]
    chats.now += timedelta(hours=48)
    assert api.refusal(M1)[:2] == (403, "grant_expired")


@requirement("rs.errors.unmapped", "rs.errors.envelope")
def test_a_bug_answers_with_its_request_id_and_nothing_of_its_cause(
    chats: Chats, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def break_down(*_: object) -> NoReturn:
        raise RuntimeError("the text of a record")

    monkeypatch.setattr(fetch.reads, "serve", break_down)
    with chats.serving() as api:
        response = api.get(M1, Request_Id="r-1")

    assert response.status_code == 500
    assert (response.json()["error"]["code"], response.json()["error"]["request_id"]) == ("api_error", "r-1")
    assert "text of a record" not in response.text + capfd.readouterr().err


@requirement("rs.headers.request-id")
def test_even_a_bug_in_a_refusal_has_its_request_id(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    def break_down(*_: object) -> NoReturn:
        raise RuntimeError("the text of a record")

    monkeypatch.setattr(kernel, "refusal_of", break_down)
    client = TestClient(api.client.app, str(api.client.base_url), raise_server_exceptions=False)
    response = client.get("/v1/nothing", headers={"Request-Id": "r-1"})

    assert (response.status_code, response.headers["request-id"]) == (500, "r-1")
    assert response.text == "Internal Server Error"


@requirement("rs.headers.request-id")
@each_read
def test_every_answer_has_its_line_in_the_disclosure_log(api: Api, path: str) -> None:
    response = api.get(path)
    line = api.chats.log_lines()[-1]

    assert (line["request_id"], line["grant_ids"]) == (response.headers["request-id"], ["grt_1"])

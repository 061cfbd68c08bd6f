"""What strangers try at the endpoints: too much, twice, in disguise, or with characters that nobody sees."""

import json

import pytest

from pdpp_server.owner.sign_in import SignIn
from pdpp_server.reads import services
from pdpp_server.wire.oauth_requests import BODY_BYTES
from tests.requirements import requirement
from tests.scenarios.authorization_server.flow import MCP, Flow, error, query
from tests.scenarios.console.visitor import PASSWORD, Visitor, cheap_passwords
from tests.worlds import chat

FORM, JSON = "application/x-www-form-urlencoded", "application/json"
FLOWS = ["/oauth/register", "/oauth/par", "/oauth/device_authorization", "/oauth/token", "/oauth/revoke"]
UNSEEN = "a\r\nX-Injected: 1\x00\x1b[31m\u202e\u200b<b>&\u2028"


@requirement("as.flows.bounded")
@pytest.mark.parametrize("path", [*FLOWS, "/introspect"])
def test_a_body_that_is_too_long_is_refused_whatever_it_says_of_its_length(flow: Flow, path: str) -> None:
    long = b"token=" + b"x" * BODY_BYTES

    for body in (long, iter([long])):
        response = flow.http.post(path, content=body, headers={"Content-Type": FORM})
        assert error(response) == (400, "invalid_request")
        assert "at most 65,536 bytes" in response.json()["error_description"]


@requirement("as.tokens.json-body")
@pytest.mark.parametrize(
    ("body", "media_type"),
    [
        (b"client_id=a&client_id=b", FORM),
        (b'{"client_id": "a", "client_id": "b"}', JSON),
        (b'{"a": [{"client_id": "a", "client_id": "b"}]}', JSON),
        (b"client_id=a", JSON),
        (b'["client_id"]', JSON),
        (b'{"client_id": "\\ud800"}', JSON),
        (b"client_id=%ff", FORM),
        (b"[" * 50_000, JSON),
    ],
)
def test_a_body_that_could_be_read_in_two_ways_is_refused(flow: Flow, body: bytes, media_type: str) -> None:
    for path in FLOWS:
        response = flow.http.post(path, content=body, headers={"Content-Type": media_type})
        assert error(response) == (400, "invalid_request")
        assert "no form, or names a parameter twice" in response.json()["error_description"]


@requirement("as.authorize.pkce", "store.engines.nul")
def test_a_state_comes_back_as_it_was_and_an_error_names_its_issuer_too(flow: Flow) -> None:
    flow.sign_in()
    back = flow.approved(flow.ask(state=UNSEEN))
    wrong = flow.authorize(state=UNSEEN, response_type="token").headers["location"]

    assert query(back)["state"] == query(wrong)["state"] == UNSEEN
    assert (back + wrong).isascii()
    assert (back + wrong).isprintable()
    assert query(wrong)["iss"] == query(back)["iss"] == MCP.removesuffix("/mcp")


@requirement("con.pages.escaped")
def test_unseen_characters_of_a_client_reach_neither_the_page_nor_the_log(
    flow: Flow, capfd: pytest.CaptureFixture[str]
) -> None:
    flow.client_id = flow.registered(client_name=UNSEEN)
    asked = {**chat.detail({"name": "messages"}), "purpose_description": UNSEEN}
    with cheap_passwords():
        owner = Visitor(flow.http, SignIn(flow.world.services))
        owner.door.set_password(PASSWORD)
        owner.sign_in()
        page = owner.page(f"/consent?ask={flow.ask(state=UNSEEN, authorization_details=json.dumps([asked]))}")

    assert "\\u202e" in page
    assert not {*"\x00\x1b\u202e\u200b\u2028"} & {*page}
    assert "<b>&" not in page
    lines = capfd.readouterr().err.splitlines()
    assert lines
    assert all(json.loads(line)["event"] for line in lines)
    assert "Injected" not in "".join(lines)


@requirement("as.selection.checked")
def test_a_stranger_is_not_told_which_connections_there_are(flow: Flow) -> None:
    flow.sign_in()
    asked = chat.detail({"name": "messages", "instance_ids": ["cin_somebody_elses"]})
    refused = query(flow.authorize(authorization_details=json.dumps([asked])).headers["location"])

    assert refused["error"] == "invalid_authorization_details"
    assert "does not hold it" in refused["error_description"]
    assert not {id for id in (flow.world.work, flow.world.family) if id in refused["error_description"]}


@requirement("as.tokens.rotation")
def test_a_client_that_renews_without_end_fills_no_memory(flow: Flow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "KNOWN_MAX", 3)
    given = flow.tokens()
    for _ in range(5):
        given = flow.refresh(given["refresh_token"]).json()
        assert flow.calls(given["access_token"]) == 200

    assert len(flow.world.services.known) <= 3

"""Clients that register (RFC 7591)."""

from datetime import timedelta
from typing import Any

import pytest

from pdpp_server.http.visitors import visitor
from pdpp_server.model.authorization import Client
from pdpp_server.store.consent import forget
from pdpp_server.store.consent.clients import keep_client
from tests.requirements import requirement
from tests.scenarios.authorization_server.flow import REDIRECT, Flow, error

CALLBACKS = [
    "https://claude.ai/api/mcp/auth_callback",
    "https://chatgpt.com/connector/oauth/abc",
    "http://127.0.0.1/callback",
    "http://[::1]:3000/callback",
    "cursor://anysphere.cursor-mcp/oauth/callback",
    "com.example.app:/callback",
]


def register(flow: Flow, **members: Any) -> Any:
    return flow.http.post("/oauth/register", json=members)


@requirement("as.clients.registration", "as.clients.no-filled-uris")
def test_a_client_gets_an_id_and_its_own_words_back(flow: Flow) -> None:
    asked = {
        "client_name": "X",
        "redirect_uris": CALLBACKS,
        "client_uri": "https://x.example/",
        "application_type": "web",
        "scope": "pdpp:read",
    }
    response = register(flow, **asked)
    said = response.json()

    assert response.status_code == 201
    assert said["client_id"].startswith("cli_")
    assert said | asked == said
    assert (said["token_endpoint_auth_method"], said["client_id_issued_at"]) == ("none", 1794744000)
    assert {"logo_uri", "policy_uri", "tos_uri", "client_secret"}.isdisjoint(said)


@requirement("as.clients.registration")
def test_what_a_widely_used_client_says_of_itself_is_no_fault(flow: Flow) -> None:
    asked = {
        "client_name": "MCP CLI Proxy",
        "client_uri": "https://x.example/cli",
        "redirect_uris": ["http://localhost:3334/oauth/callback"],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "software_id": "2e6dc280",
        "software_version": "0.1.38",
    }

    assert register(flow, **asked).status_code == 201


@requirement("as.clients.registration")
@pytest.mark.parametrize(
    "members",
    [
        {"client_secret": "s"},
        {"scope": ["pdpp:read"]},
        {"software_statement": "x"},
        {"token_endpoint_auth_method": "client_secret_basic"},
        {"grant_types": ["implicit"]},
        {"grant_types": ["refresh_token"]},
        {"response_types": ["token"]},
        {"client_name": 1},
        {"client_name": "x" * 201},
        {"client_name": " \t"},
        {"client_uri": "javascript:alert(1)"},
        {"application_type": "toaster"},
    ],
)
def test_only_the_listed_members_with_sound_values(flow: Flow, members: dict[str, Any]) -> None:
    response = register(flow, **{"redirect_uris": [REDIRECT], **members})

    assert error(response) == (400, "invalid_client_metadata")
    assert response.headers["cache-control"] == "no-store"


@requirement("as.clients.registration", "as.clients.redirect-match", "as.clients.redirect-schemes")
@pytest.mark.parametrize(
    "address",
    [
        "http://evil.example/",
        "http://localhost.evil.example/",
        "https://user@x.example/",
        "https://x.example/#fragment",
        "https:///path",
        "javascript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "JavaScript:alert(1)",
        "view-source:https://x.example/",
        "filesystem:https://x.example/",
        "intent:x",
        "urn:ietf:wg:oauth:2.0:oob",
        "http://0.0.0.0/",
        "http://127.0.0.1.evil.example/",
        "https://x.example/ space",
        "https://x.example\\@evil.example/",
        "http://evil.example[::1]/",
        "http://[::1]evil.example/",
        "https://[::1]evil.example/",
        "nothing",
        "search-ms:query=x",
        "ms-msdt:/id",
        "shell:startup",
        "feed:javascript:alert(1)",
        "ms-settings:x",
        "myapp:/callback",
        "mailto.:x",
        ".example:/x",
        "com..example:/x",
    ],
)
def test_nobody_registers_an_address_that_browsers_must_not_be_sent_to(flow: Flow, address: str) -> None:
    assert error(register(flow, redirect_uris=[address])) == (400, "invalid_redirect_uri")


@requirement("as.clients.registration")
def test_codes_need_an_address_to_go_to(flow: Flow) -> None:
    assert error(register(flow, grant_types=["authorization_code"])) == (400, "invalid_redirect_uri")
    assert register(flow, client_name="A terminal").status_code == 201


@requirement("as.clients.redirect-match")
@pytest.mark.parametrize(
    "asked",
    [
        "https://claude.ai/api/mcp/auth_callback/",
        "https://claude.ai:444/api/mcp/auth_callback",
        "http://127.0.0.1/other",
        "http://localhost/callback",
        "http://127.0.0.1/callback?x=1",
        "http://user@127.0.0.1/callback",
        "http://127.0.0.1:99999/callback",
        "https://127.0.0.1/callback",
    ],
)
def test_a_redirect_that_differs_in_more_than_a_loopback_port_is_refused(flow: Flow, asked: str) -> None:
    client_id = flow.registered(redirect_uris=CALLBACKS)

    assert flow.authorize(client_id=client_id, redirect_uri="http://127.0.0.1:8080/callback").status_code == 302
    assert error(flow.authorize(client_id=client_id, redirect_uri=asked)) == (400, "invalid_redirect_uri")


@requirement("as.clients.redirect-schemes")
def test_what_was_registered_before_is_held_against_the_same_list(flow: Flow) -> None:
    address = "search-ms:query=x"
    stored = Client("cli_old", "Old", (address,), ("authorization_code",), is_verified=False, uris={})
    with flow.world.services.database.writing() as writer:
        keep_client(writer, stored, "2026-01-01T00:00:00.000Z")

    response = flow.authorize(client_id="cli_old", redirect_uri=address)

    assert error(response) == (400, "invalid_redirect_uri")
    assert "location" not in response.headers


@requirement("as.clients.registration-rate")
def test_one_address_registers_so_many_and_then_waits(flow: Flow) -> None:
    answers = [register(flow, client_name="X") for _ in range(120)]
    flow.world.clock.moment += timedelta(seconds=400)

    assert {answer.status_code for answer in answers[:119]} == {201}  # the flow itself was the first
    refused = register(flow, client_name="X")
    assert (error(refused), refused.headers["retry-after"]) == ((429, "slow_down"), "200")
    flow.world.clock.moment += timedelta(seconds=200)
    assert register(flow, client_name="X").status_code == 201


@requirement("as.clients.registration-rate")
def test_all_addresses_that_one_network_of_ipv6_has_are_one_visitor() -> None:
    assert visitor("2001:db8:1:2:3::4") == visitor("2001:db8:1:2::") != visitor("2001:db8:1:3::")
    assert visitor("::ffff:192.0.2.1") == visitor("192.0.2.1") != visitor("192.0.2.2")
    assert visitor("testclient") == "testclient"


@requirement("as.flows.forgotten")
def test_of_clients_to_whom_nothing_was_given_only_the_newest_are_known(
    flow: Flow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forget, "STRANGERS_MAX", 2)
    flow.tokens()
    waiting = flow.registered(redirect_uris=[REDIRECT])
    assert flow.authorize(client_id=waiting).status_code == 302
    strangers: list[str] = []
    for _ in range(4):
        flow.world.clock.moment += timedelta(seconds=1)
        strangers.append(flow.registered(redirect_uris=[REDIRECT]))

    assert error(flow.authorize(client_id=strangers[0])) == (400, "invalid_client")
    for known in (flow.client_id, waiting, strangers[-1]):
        assert flow.authorize(client_id=known).status_code == 302


@requirement("as.authorize.pkce")
def test_a_client_uses_only_the_flows_that_it_registered_for(flow: Flow) -> None:
    flow.sign_in()
    terminal = flow.registered(redirect_uris=[REDIRECT], grant_types=["urn:ietf:params:oauth:grant-type:device_code"])
    web = flow.registered(grant_types=["authorization_code"])

    assert "error=unauthorized_client" in flow.authorize(client_id=terminal).headers["location"]
    refused = flow.http.post("/oauth/device_authorization", data={"client_id": web})
    assert error(refused) == (400, "unauthorized_client")

"""Clients come before anybody is known: what they ask belongs to whoever signs in."""

from typing import Any
from urllib.parse import urlencode

from pdpp_server.model.authorization import Decision
from pdpp_server.owner.consent import ConsentDesk
from pdpp_server.wire.grants import decode_selection
from tests.requirements import requirement
from tests.scenarios.authorization_server.flow import CHALLENGE, DEVICE, EVERY_FLOW, MCP, REDIRECT, VERIFIER
from tests.scenarios.owners.town import NAMES, Door, Resident, Town, query_of
from tests.worlds import chat


def registered(door: Door) -> str:
    asked = {"client_name": "Agent X", "redirect_uris": [REDIRECT], "grant_types": EVERY_FLOW}
    response = door.post("/oauth/register", json=asked)
    assert response.status_code == 201, response.text
    return response.json()["client_id"]


def asking(client_id: str) -> dict[str, str]:
    return {
        "client_id": client_id,
        "redirect_uri": REDIRECT,
        "response_type": "code",
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
        "resource": MCP,
    }


def approved(owner: Resident, ask_id: str) -> str:
    """Where the browser is sent; empty where a device waits."""
    desk = ConsentDesk(owner.services)
    detail = chat.detail({"name": "messages", "instance_ids": [owner.connection_id]})
    decision = Decision(decode_selection([detail]), None)
    return desk.approve(ask_id, decision, desk.review(ask_id, decision).revision) or ""


def redeemed(door: Door, client_id: str, **sent: str) -> Any:
    return door.post("/oauth/token", data={"client_id": client_id, **sent})


def text_read_over_mcp(door: Door, token: str) -> str:
    """What a tool call with that token reads."""
    arguments = {"id": f"{door.connection_id}/messages:m1"}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "fetch", "arguments": arguments}}
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
    text = door.post("/mcp", json=call, headers=headers).text
    return next(said for said in (f"The lease of {name}." for name in NAMES) if said in text)


def opened(door: Door, cookie: str, **asked: str) -> str:
    """The ask that the browser of somebody who is signed in is led to."""
    location = door.get(f"/oauth/authorize?{urlencode(asked)}", cookie=cookie).headers["location"]
    assert "/consent?ask=" in location, location
    return query_of(location)["ask"]


@requirement("store.owners.clients", "store.owners.apart")
def test_a_code_and_its_tokens_are_of_the_owner_who_said_yes(town: Town, door: Door) -> None:
    client_id = registered(door)
    stranger = door.get(f"/oauth/authorize?{urlencode(asking(client_id))}")
    assert stranger.status_code == 303
    assert stranger.headers["location"].startswith("/sign-in?next=%2Foauth%2Fauthorize")

    cookie = door.signed_in("ada", town["ada"].password)
    ask = opened(door, cookie, **asking(client_id))
    others = door.signed_in("bob", town["bob"].password)
    assert door.get(f"/consent?ask={ask}", cookie=others).status_code == 404
    assert door.get(f"/consent?ask={ask}", cookie=cookie).status_code == 200
    code = query_of(approved(town["ada"], ask))["code"]

    sent = {"grant_type": "authorization_code", "code": code, "code_verifier": VERIFIER, "redirect_uri": REDIRECT}
    issued = redeemed(door, client_id, **sent)
    assert issued.status_code == 200, issued.text
    assert text_read_over_mcp(door, issued.json()["access_token"]) == "The lease of ada."
    assert redeemed(door, client_id, **sent).json()["error"] == "invalid_grant"  # good once


@requirement("store.owners.clients")
def test_a_renewed_token_that_is_used_again_ends_its_family(town: Town, door: Door) -> None:
    client_id = registered(door)
    cookie = door.signed_in("bob", town["bob"].password)
    code = query_of(approved(town["bob"], opened(door, cookie, **asking(client_id))))["code"]
    sent = {"grant_type": "authorization_code", "code": code, "code_verifier": VERIFIER, "redirect_uri": REDIRECT}
    first = redeemed(door, client_id, **sent).json()
    second = redeemed(door, client_id, grant_type="refresh_token", refresh_token=first["refresh_token"]).json()
    assert second["refresh_token"] != first["refresh_token"]

    again = redeemed(door, client_id, grant_type="refresh_token", refresh_token=first["refresh_token"])

    assert again.json()["error"] == "invalid_grant"
    ended = redeemed(door, client_id, grant_type="refresh_token", refresh_token=second["refresh_token"])
    assert ended.json()["error"] == "invalid_grant"


@requirement("store.owners.clients", "store.owners.apart")
def test_a_device_waits_in_the_house_until_somebody_types_its_code(town: Town, door: Door) -> None:
    client_id = registered(door)
    begun = door.post("/oauth/device_authorization", data={"client_id": client_id, "resource": MCP}).json()
    polling = {"grant_type": DEVICE, "device_code": begun["device_code"]}
    assert redeemed(door, client_id, **polling).json()["error"] == "authorization_pending"

    cookie = door.signed_in("bob", town["bob"].password)
    shown = door.post_form("/device", cookie=cookie, user_code=begun["user_code"])
    assert shown.status_code == 303, shown.text
    approved(town["bob"], query_of(shown.headers["location"])["ask"])

    with town["bob"].services.database.writing() as writing:
        writing.run("update asks set polled_at = null")  # a while ago
    issued = redeemed(door, client_id, **polling)
    assert issued.status_code == 200, issued.text
    assert text_read_over_mcp(door, issued.json()["access_token"]) == "The lease of bob."
    others = door.signed_in("ada", town["ada"].password)
    assert door.post_form("/device", cookie=others, user_code=begun["user_code"]).status_code == 404


@requirement("store.owners.clients")
def test_a_pushed_request_is_opened_by_whoever_is_signed_in(town: Town, door: Door) -> None:
    client_id = registered(door)
    pushed = door.post("/oauth/par", data=asking(client_id))
    assert pushed.status_code == 201, pushed.text
    request_uri = pushed.json()["request_uri"]

    cookie = door.signed_in("ada", town["ada"].password)
    ask = opened(door, cookie, client_id=client_id, request_uri=request_uri)

    assert door.get(f"/consent?ask={ask}", cookie=cookie).status_code == 200
    others = door.signed_in("bob", town["bob"].password)
    assert door.get(f"/consent?ask={ask}", cookie=others).status_code == 404

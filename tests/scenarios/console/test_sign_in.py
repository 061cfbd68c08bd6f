"""Who may see the pages, and for how long."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from unittest.mock import patch

import pytest

from pdpp_server.errors import PermissionDenied, RateLimited, Unauthenticated
from pdpp_server.http.limiter import Limiter
from pdpp_server.owner.sign_in import GUESSES, GUESSES_OF_STRANGERS, IDLE, LONGEST, SignIn
from tests.requirements import requirement
from tests.scenarios.console.visitor import PASSWORD, Visitor, visiting
from tests.worlds.world import Clock, World

CLOSED = [
    "/",
    "/clients",
    "/clients/x",
    "/activity",
    "/sources",
    "/records/a/b:c",
    "/search",
    "/connect",
    "/consent",
    "/device",
]


@requirement("as.consent.owner-signed-in")
@pytest.mark.parametrize("path", CLOSED)
def test_nothing_is_shown_before_the_sign_in(visitor: Visitor, path: str) -> None:
    response = visitor.get(path)

    assert (response.status_code, response.text) == (303, "")
    assert response.headers["location"].startswith("/sign-in?next=%2F")


@requirement("as.consent.owner-signed-in")
def test_no_consent_is_given_before_the_sign_in(visitor: Visitor) -> None:
    visitor.page("/sign-in")  # a cookie, and a token for forms

    for path in ("/consent", "/device", "/clients/x"):
        response = visitor.post(path, [("action", "approve"), ("ask", "x")])
        assert (response.status_code, response.headers["location"][:8]) == (303, "/sign-in")


@requirement("con.sign-in.sessions")
def test_signing_in_replaces_whatever_the_cookie_held(visitor: Visitor) -> None:
    page = visitor.page("/sign-in")
    before = visitor.http.cookies["pdpp"]

    assert visitor.send(page, "/sign-in", password=PASSWORD).status_code == 303

    assert visitor.http.cookies["pdpp"] != before
    assert "Clients" in visitor.page("/clients")
    visitor.wear(before)
    assert visitor.get("/clients").status_code == 303


@requirement("con.sign-in.sessions")
def test_signing_out_ends_the_session_and_not_only_the_cookie(owner: Visitor) -> None:
    secret = owner.http.cookies["pdpp"]

    assert owner.send(owner.page("/"), "/sign-out").headers["location"] == "/sign-in"

    owner.wear(secret)
    assert owner.get("/clients").status_code == 303


@requirement("con.sign-in.sessions")
def test_a_session_ends_when_it_is_left_alone(owner: Visitor, clock: Clock) -> None:
    for _ in range(3):
        clock.moment += IDLE - timedelta(minutes=1)
        assert owner.get("/clients").status_code == 200

    clock.moment += IDLE

    assert owner.get("/clients").status_code == 303


@requirement("con.sign-in.sessions")
def test_a_session_ends_by_its_age_however_busy_it_is(owner: Visitor, clock: Clock) -> None:
    end = clock.moment + LONGEST
    while clock.moment + IDLE / 2 < end:
        clock.moment += IDLE / 2
        assert owner.get("/clients").status_code == 200

    clock.moment = end

    assert owner.get("/clients").status_code == 303


@requirement("con.sign-in.sessions")
def test_a_new_password_ends_every_session(owner: Visitor, world: World) -> None:
    SignIn(world.services).set_password("another quiet harbour")

    assert owner.get("/clients").status_code == 303
    assert owner.sign_in().status_code == 401
    assert owner.sign_in("another quiet harbour").status_code == 303


@requirement("con.sign-in.first-password")
def test_the_first_password_needs_the_code_of_the_terminal(world: World) -> None:
    with visiting(world, password=None) as visitor:
        code = visitor.door.setup_code
        assert visitor.get("/").headers["location"] == "/welcome?next=%2F"
        page = visitor.page("/welcome")
        chosen = {"password": PASSWORD, "again": PASSWORD}

        assert visitor.send(page, "/welcome", code="abcd-efgh", **chosen).status_code == 403
        assert visitor.send(page, "/welcome", code=code, password="short", again="short").status_code == 400
        assert visitor.send(page, "/welcome", code=code, **chosen).status_code == 303
        assert visitor.get("/clients").status_code == 200


@requirement("con.sign-in.first-password")
def test_the_code_is_good_for_the_first_password_only(world: World) -> None:
    with visiting(world, password=None) as visitor:
        page, code = visitor.page("/welcome"), visitor.door.setup_code
        SignIn(world.services).set_password("set in a terminal")

        refused = visitor.send(page, "/welcome", code=code, password=PASSWORD, again=PASSWORD)

        assert (refused.status_code, visitor.door.setup_code) == (403, None)
        assert visitor.get("/welcome").headers["location"] == "/sign-in"


@requirement("con.sign-in.first-once")
def test_however_many_try_at_once_one_first_password_is_set(world: World) -> None:
    doors = 4
    with visiting(world, password=None) as visitor:
        door, together = visitor.door, Barrier(doors)
        hashed = door._hashed

        def all_at_once(password: str) -> str:
            together.wait(30)  # everybody has been told by now that there is no password
            return hashed(password)

        def tries(number: int) -> str | None:
            try:
                return door.set_first_password(code, f"{PASSWORD} {number}", f"10.0.0.{number}")
            except PermissionDenied:
                return None

        code = str(door.setup_code)
        with patch.object(door, "_hashed", all_at_once), ThreadPoolExecutor(doors) as threads:
            sessions = list(threads.map(tries, range(doors)))
        (winner,) = [number for number, session in enumerate(sessions) if session]

        assert door.is_signed_in(sessions[winner])
        assert visitor.sign_in(f"{PASSWORD} {winner}").status_code == 303


@requirement("con.sign-in.throttled")
def test_wrong_passwords_are_heard_ever_more_slowly(visitor: Visitor, clock: Clock) -> None:
    assert {visitor.sign_in("wrong").status_code for _ in range(GUESSES.free)} == {401}

    refused = visitor.sign_in(PASSWORD)

    assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
    clock.moment += timedelta(seconds=1)
    assert visitor.sign_in("wrong").status_code == 401
    assert visitor.sign_in(PASSWORD).headers["retry-after"] == "2"
    clock.moment += timedelta(seconds=2)
    assert visitor.sign_in(PASSWORD).status_code == 303


@requirement("con.sign-in.throttled")
def test_many_addresses_together_are_slowed_too_and_never_for_long() -> None:
    guesses = Limiter(GUESSES, Clock(), strangers=GUESSES_OF_STRANGERS)
    for number in range(GUESSES_OF_STRANGERS.free * 10):
        guesses.spend(f"address {number}")

    with pytest.raises(RateLimited) as refused:
        guesses.require("another address")

    assert refused.value.retry_after_seconds == 30


@requirement("con.sign-in.lockout-ends")
def test_an_address_that_signed_in_before_waits_for_no_strangers(visitor: Visitor) -> None:
    door, home = visitor.door, "203.0.113.7"
    door.sign_in(PASSWORD, home)
    wrong = GUESSES_OF_STRANGERS.free
    for number in range(wrong):
        with pytest.raises(Unauthenticated):
            door.sign_in("wrong", f"198.51.100.{number}")
    with pytest.raises(RateLimited):
        door.sign_in(PASSWORD, "198.51.100.200")

    assert door.sign_in(PASSWORD, home)


@requirement("con.sign-in.lockout-ends")
def test_a_new_password_in_the_terminal_ends_the_wait(visitor: Visitor, world: World) -> None:
    for _ in range(GUESSES.free):
        visitor.sign_in("wrong")
    refused = visitor.sign_in(PASSWORD)
    assert refused.status_code == 429
    assert "pdpp owner password" in refused.text

    SignIn(world.services).set_password("set in a terminal")

    assert visitor.sign_in("set in a terminal").status_code == 303


@requirement("con.sign-in.own-paths")
@pytest.mark.parametrize(
    ("wanted", "led_to"),
    [
        ("/clients", "/clients"),
        ("/consent?ask=abc", "/consent?ask=abc"),
        ("//evil.example", "/"),
        ("/\\evil.example", "/"),
        ("https://evil.example/", "/"),
        ("/\t/evil.example", "/"),
        ("javascript:alert(1)", "/"),
        ("", "/"),
    ],
)
def test_nobody_is_led_elsewhere(visitor: Visitor, wanted: str, led_to: str) -> None:
    page = visitor.page("/sign-in")

    assert visitor.send(page, "/sign-in", password=PASSWORD, next=wanted).headers["location"] == led_to


@requirement("con.sign-in.cookie")
def test_the_cookie_is_for_this_host_alone_under_https(world: World) -> None:
    with visiting(world, public_url="https://data.example.org") as visitor:
        there = visitor.http.get("/sign-in", headers={"Host": "data.example.org"}).headers["set-cookie"]
        here = visitor.http.get("/sign-in", headers={"Host": "127.0.0.1"}).headers["set-cookie"]

    assert there.startswith("__Host-pdpp=")
    assert {"Secure", "HttpOnly", "SameSite=lax", "Path=/"} == set(there.split("; ")[1:])
    assert here.startswith("pdpp=")
    assert {"HttpOnly", "SameSite=lax", "Path=/"} == set(here.split("; ")[1:])

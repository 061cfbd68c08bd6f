"""Programs that people use, without a way out to the internet: in, a call, beyond an hour, out, and in again."""

import json
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from pdpp_server.app import create_app
from pdpp_server.errors import DisclosureLogUnavailable, RateLimited
from pdpp_server.http.rate import Rates
from pdpp_server.model.activity import Disclosure
from pdpp_server.settings import Settings
from tests.requirements import requirement
from tests.scenarios.authorization_server.flow import nobody, query
from tests.scenarios.clients.matrix import FILE, ran
from tests.scenarios.clients.programs import (
    PROGRAMS,
    ClaudeCode,
    NewPythonSdk,
    NotSignedIn,
    OldPythonSdk,
    Program,
    PythonSdk,
)
from tests.scenarios.console.visitor import Visitor, at_home, shown
from tests.worlds.world import World

SIX = {"schema", "query_records", "aggregate", "search", "fetch", "read_record_field"}


@pytest.fixture
def owner(world: World) -> Iterator[Visitor]:
    with at_home(world, create_app(Settings(home=world.home, client_documents=False), world.services, nobody)) as owner:
        yield owner


@pytest.fixture(params=PROGRAMS, ids=lambda kind: kind.name)
def program(request: pytest.FixtureRequest, owner: Visitor, tmp_path: Path) -> Iterator[Program]:
    home = tmp_path / "person"
    home.mkdir()
    used = request.param(home, f"{owner.origin}/mcp")
    yield used
    used.close()


def say_yes(owner: Visitor, world: World, address: str) -> str:
    consent = owner.get(address).headers["location"]
    return owner.allow(consent, pick=f"0:{world.work}").headers["location"]


@requirement("mcp.clients.programs", "as.clients.no-way-out")
def test_a_program_signs_in_stays_is_sent_away_and_signs_in_again(
    program: Program, owner: Visitor, world: World
) -> None:
    visits: list[str] = []

    def go(address: str) -> str:
        visits.append(address)
        return say_yes(owner, world, address)

    program.sign_in(go)
    assert program.tools() == SIX
    hits = program.hits()
    assert hits > 0

    world.clock.moment += timedelta(hours=2)
    program.age()
    assert (program.hits(), len(visits)) == (hits, 1), "it stays, and nobody is asked"

    owner.end(program.known_as)
    try:
        program.hits()
        revoked = "asks again at once"
    except NotSignedIn:
        revoked = "says so; signs in again"
        program.sign_in(go)
    assert (program.hits(), len(visits)) == (hits, 2)
    ran(program.name, version=program.version, revoked=revoked, shows=program.shows)


@requirement("mcp.hosted.trouble")
@pytest.mark.parametrize("program", [OldPythonSdk, NewPythonSdk], indirect=True, ids=["1.x", "2.x"])
def test_a_client_goes_on_in_the_session_in_which_it_was_told_of_trouble(
    program: PythonSdk, owner: Visitor, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    program.sign_in(partial(say_yes, owner, world))
    log = world.services.database.log
    append, tries = log.append, count()

    def full_at_first(disclosure: Disclosure) -> None:
        if next(tries) == 0:
            raise DisclosureLogUnavailable("The disk is full.")
        append(disclosure)

    monkeypatch.setattr(log, "append", full_at_first)

    refused, answered = program.hits_twice()

    assert "disclosure_log_unavailable: The disk is full." in str(refused)
    assert answered == program.hits()


@requirement("mcp.hosted.trouble")
@pytest.mark.parametrize("program", [OldPythonSdk, NewPythonSdk], indirect=True, ids=["1.x", "2.x"])
def test_a_client_that_asks_too_often_goes_on_in_its_session(
    program: PythonSdk, owner: Visitor, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    program.sign_in(partial(say_yes, owner, world))
    take, requests = Rates.take, count(1)

    def too_often_once(rates: Rates, whose: str) -> None:
        if next(requests) == (3 if program.is_old else 2):  # the first call of a tool, behind the greetings of its era
            raise RateLimited("Too many requests.")
        take(rates, whose)

    monkeypatch.setattr(Rates, "take", too_often_once)

    refused, answered = program.hits_twice()

    assert "rate_limit_exceeded: Too many requests." in str(refused)
    assert answered == program.hits()


@requirement("mcp.clients.programs")
def test_every_row_that_is_printed_is_of_a_program_that_is_run() -> None:
    assert {*json.loads(FILE.read_text("utf-8"))} == {each.name for each in PROGRAMS}


@requirement("as.clients.no-way-out", "con.pages.trouble")
def test_claude_code_gets_past_a_document_that_cannot_be_read_by_what_the_page_says(
    world: World, tmp_path: Path
) -> None:
    """It keeps the address of its document once it has shown it, so it has to forget us first."""
    with at_home(world, create_app(Settings(home=world.home), world.services, nobody)) as owner:
        program = ClaudeCode(tmp_path, f"{owner.origin}/mcp")
        seen: list[str] = []

        def look(address: str) -> str:
            seen.append(shown(owner.get(address).text))
            return f"{query(address)['redirect_uri']}?error=temporarily_unavailable&state={query(address)['state']}"

        with pytest.raises(AssertionError):
            program.sign_in(look)
        program.forget()
        program.sign_in(partial(say_yes, owner, world))

        assert "sign the app out of this server" in seen[0]
        assert "claude mcp logout" in seen[0]
        assert program.state().endswith("Connected")

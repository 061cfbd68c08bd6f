"""Tries are counted over all processes of a server, on either engine."""

import asyncio
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import Response

from pdpp_server.errors import DatabaseUnavailable, RateLimited, Unauthenticated
from pdpp_server.http.limiter import InWindow, Limiter
from pdpp_server.http.rate import Rates
from pdpp_server.owner.sign_in import SignIn
from pdpp_server.reads.services import Services, open_services
from pdpp_server.store.engine import Database
from pdpp_server.store.engines.sqlite.db import SqliteDatabase
from pdpp_server.store.tries import Ledger
from tests.requirements import requirement
from tests.worlds.postgres import Cluster
from tests.worlds.world import Clock

PASSWORD = "correct horse battery"


@pytest.fixture(params=["sqlite", "postgres"])
def two(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[tuple[Services, Services]]:
    """Two processes of one server, as far as a limit can tell."""

    def opened() -> Database:
        if request.param == "sqlite":
            return SqliteDatabase(tmp_path / "home" / "pdpp.sqlite")
        cluster: Cluster = request.getfixturevalue("postgres")
        return cluster.open(tmp_path / "home")

    here, there = (
        open_services(tmp_path / "home", now=clock, database=opened(), is_one_of_many=True) for _ in range(2)
    )
    yield here, there
    here.close()
    there.close()


@requirement("store.engines.limits")
def test_wrong_passwords_at_one_process_are_waited_for_at_the_other(two: tuple[Services, Services]) -> None:
    here, there = (SignIn(services) for services in two)
    here.set_password(PASSWORD)
    for door in (here, there, here, there, here):
        with pytest.raises(Unauthenticated):
            door.sign_in("wrong wrong wrong", "203.0.113.5")
    with pytest.raises(RateLimited):
        there.sign_in(PASSWORD, "203.0.113.5")
    assert here.sign_in(PASSWORD, "203.0.113.6")
    there.set_password("another horse battery")
    assert here.sign_in("another horse battery", "203.0.113.5")  # guesses at the old one say nothing about it


@requirement("store.engines.limits")
def test_what_many_take_at_once_is_what_one_could(two: tuple[Services, Services], clock: Clock) -> None:
    limiters = [Limiter(InWindow(7, 60), clock, ledger=services.ledger("asks")) for services in two]
    taken = 0
    for turn in range(20):
        try:
            limiters[turn % 2].take("an address")
        except RateLimited:
            continue
        taken += 1
    assert taken == 7


@requirement("store.engines.limits")
def test_a_token_has_one_rate_at_all_processes_within_a_second(two: tuple[Services, Services], clock: Clock) -> None:
    here, there = (Rates(1, 10, clock, services.ledger("rates")) for services in two)
    _take(here, 6)
    _take(there, 1)
    for rates in (here, there):
        rates.tell()
    _take(there, 3)
    with pytest.raises(RateLimited):
        _take(there, 1)
    clock.moment += timedelta(seconds=5)
    there.tell()
    here.tell()
    _take(there, 2)


@requirement("store.engines.limits", "store.owners.limits")
def test_all_of_one_owner_have_one_rate_at_all_processes_within_a_second(
    two: tuple[Services, Services], clock: Clock
) -> None:
    here, there = (Rates(0, 0, clock, services.ledger("rates"), together=1) for services in two)
    assert [_asked(rates) for rates in (here,) * 6 + (there,)] == [200] * 7
    for rates in (here, there):
        rates.tell()
    assert [_asked(there) for _ in range(4)] == [200] * 3 + [429]
    clock.moment += timedelta(seconds=5)
    there.tell()
    here.tell()
    assert [_asked(there) for _ in range(2)] == [200] * 2


@requirement("store.owners.limits")
def test_strangers_spend_nothing_of_what_all_of_an_owner_have(clock: Clock) -> None:
    rates = Rates(0, 0, clock, together=1)
    assert {_asked(rates, token) for token in ("", "made up") * 20} == {401}
    assert [_asked(rates) for _ in range(11)] == [200] * 10 + [429]
    assert _asked(rates, "") == 401  # and are told of nothing that was spent


@requirement("store.engines.limits")
def test_what_could_not_be_told_is_told_later_and_once(two: tuple[Services, Services], clock: Clock) -> None:
    there = Rates(1, 10, clock, two[1].ledger("rates"))
    tries, is_away = two[0].database.tries, [True]

    @contextmanager
    def opened() -> Generator[Ledger, None, None]:
        if is_away[0]:
            raise DatabaseUnavailable("Nobody knows when it comes back.")
        with tries.open("rates") as ledger:
            yield ledger

    here = Rates(1, 10, clock, opened)
    for times in (2, 3):
        _take(here, times)
        here.tell()
    is_away[0] = False
    here.tell()
    _take(here, 1)
    is_away[0] = True
    here.tell()
    is_away[0] = False
    here.tell()
    _take(there, 1)
    there.tell()
    _take(there, 3)
    with pytest.raises(RateLimited):
        _take(there, 1)


@requirement("store.engines.limits")
def test_the_first_password_has_one_code_wherever_it_is_asked_for(two: tuple[Services, Services]) -> None:
    here, there = (SignIn(services) for services in two)
    assert here.setup_code == there.setup_code
    assert there.set_first_password(str(here.setup_code), PASSWORD, "127.0.0.1")
    assert here.setup_code is None


def _asked(rates: Rates, token: str = "good") -> int:
    """The status of a request of an owner's; without a token, or with a made-up one, of a stranger's."""

    async def answer(_: object) -> Response:
        if token != "good":
            raise Unauthenticated("Nobody knows this token.")
        return Response()

    headers = [(b"authorization", f"Bearer {token}".encode())] if token else []
    asking: Any = Request({"type": "http", "headers": headers, "client": ("203.0.113.5", 1)})
    try:
        return asyncio.run(rates.metered(answer, asking)).status_code
    except (RateLimited, Unauthenticated) as refusal:
        return refusal.status


def _take(rates: Rates, times: int) -> None:
    for _ in range(times):
        rates.take("a token")

"""The connections of a process: whose they are, and how many."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from pdpp_server.errors import DatabaseUnavailable
from pdpp_server.store.engines.postgres import pool as made_by
from pdpp_server.store.engines.postgres.connection import PostgresConnection
from pdpp_server.store.engines.postgres.pool import ASIDE, Pool, Pools
from pdpp_server.store.engines.postgres.session import asking
from tests.worlds.postgres import Cluster

WORK = 3
END_IT = "select pg_terminate_backend({pid}, 10000)"  # and wait until it has ended

Take = Callable[[Pool], PostgresConnection]


@pytest.fixture
def pools(postgres: Cluster) -> Iterator[Pools]:
    opened = Pools(postgres.url, WORK)
    yield opened
    opened.close()


@pytest.fixture
def take() -> Iterator[Take]:
    with ExitStack() as taken:
        yield lambda pool: taken.enter_context(pool.taken())


def pid_of(connection: PostgresConnection) -> int:
    return connection.info.backend_pid


def test_what_one_pool_is_given_back_the_other_takes_next(pools: Pools, take: Take) -> None:
    used = [take(pools.work), take(pools.work)]
    pids = [pid_of(connection) for connection in used]
    for connection in used:
        pools.work.give_back(connection)

    assert [pid_of(take(pools.aside)), pid_of(take(pools.work))] == pids[::-1]


def test_reads_leave_room_for_lines_however_many_there_are(
    pools: Pools, take: Take, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(made_by, "WAIT_SECONDS", 0.01)
    used = [take(pools.work) for _ in range(WORK)] + [take(pools.aside) for _ in range(ASIDE)]

    for pool in (pools.work, pools.aside):
        with pytest.raises(DatabaseUnavailable, match="in use"):
            pool.taken()
    assert len({*map(pid_of, used)}) == WORK + ASIDE


def test_a_connection_that_ended_while_it_was_idle_is_made_anew(pools: Pools, take: Take) -> None:
    ended, other = take(pools.work), take(pools.work)
    pools.work.give_back(ended)
    other.ask(asking(END_IT.format(pid=pid_of(ended))))

    assert take(pools.aside).ask(asking("select 1")) == [[(1,)]]


def test_a_child_uses_none_of_its_parents(pools: Pools, take: Take) -> None:
    mine = take(pools.work)
    pools.work.give_back(mine)
    child = os.fork()
    if child == 0:
        os._exit(int(pid_of(mine) in [pid_of(pools.work.taken()), pid_of(pools.aside.taken())]))

    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert take(pools.work).ask(asking("select 1")) == [[(1,)]]

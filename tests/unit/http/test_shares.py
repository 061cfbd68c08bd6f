"""Threads shared fairly: nobody takes them all, lines take turns, and what fails or is given up disturbs nobody."""

import threading
from collections.abc import Callable
from concurrent.futures import Future

import pytest

from pdpp_server.http.shares import Shares
from tests.requirements import requirement

LONG_ENOUGH = 30  # seconds that nothing here takes, unless it would never end


@pytest.fixture
def gate():
    """Jobs wait before it; whatever a test does, it is open in the end."""
    opened = threading.Event()
    yield opened
    opened.set()


def shared(threads: int) -> Shares:
    return Shares(threads, "test")


@requirement("rs.limits.shares")
@pytest.mark.parametrize("threads", [2, 16])
def test_whoever_asks_for_everything_leaves_half_of_the_threads_to_others(gate: threading.Event, threads: int) -> None:
    shares = shared(threads)
    greedy = [shares.submit("greedy", gate.wait) for _ in range(4 * threads)]
    others = [shares.submit("other", lambda: "answered") for _ in range(5)]

    assert [other.result(LONG_ENOUGH) for other in others] == ["answered"] * 5
    assert not any(job.done() for job in greedy)
    assert sum(job.running() for job in greedy) <= threads // 2
    gate.set()
    assert all(job.result(LONG_ENOUGH) for job in greedy)
    shares.shutdown()


@requirement("rs.limits.shares")
def test_lines_take_turns(gate: threading.Event) -> None:
    shares, order = shared(1), list[str]()
    shares.submit("first", gate.wait)
    for name in ("a1", "a2", "a3", "b1", "b2", "c1"):
        shares.submit(name[0], noting(order, name))
    gate.set()
    shares.shutdown()

    assert order == ["a1", "b1", "c1", "a2", "b2", "a3"]


def noting(order: list[str], name: str) -> Callable[[], None]:
    return lambda: order.append(name)


def test_an_error_goes_to_whoever_asked_and_the_thread_works_on() -> None:
    shares = shared(1)

    def fail() -> None:
        raise KeyError("lost")

    failed, fine = shares.submit("a", fail), shares.submit("a", lambda: "fine")

    assert isinstance(failed.exception(LONG_ENOUGH), KeyError)
    assert fine.result(LONG_ENOUGH) == "fine"
    shares.shutdown()


def test_what_nobody_waits_for_any_longer_is_not_begun(gate: threading.Event) -> None:
    shares, order = shared(1), list[str]()
    shares.submit("a", gate.wait)
    given_up: Future[None] = shares.submit("a", noting(order, "given up"))
    shares.submit("a", noting(order, "kept"))
    assert given_up.cancel()
    gate.set()
    shares.shutdown()

    assert order == ["kept"]


def test_nothing_is_remembered_of_those_who_were_served() -> None:
    shares = shared(2)
    for number in range(100):
        shares.submit(number, lambda: None).result(LONG_ENOUGH)
    shares.shutdown()

    assert not shares.known()

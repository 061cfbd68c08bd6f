"""The watchdog: late reads are interrupted, ended ones never, and an idle one is no thread at all."""

import threading
from typing import Any, cast

import apsw

from pdpp_server.store.engines.sqlite.watchdog import Watchdog, WatchedStatement
from tests.requirements import requirement


class Line:
    """A connection that notes how it is treated."""

    def __init__(self) -> None:
        self.noted: list[str] = []
        self.interrupted = threading.Event()

    def interrupt(self) -> None:
        self.noted.append("interrupted")
        self.interrupted.set()


def watched(seconds: float, line: Any) -> WatchedStatement:
    return Watchdog(seconds).watch(cast(apsw.Connection, line))


def looked_after(line: Any) -> WatchedStatement:
    """Late as soon as it begins; the test itself takes the looks."""
    watchdog = Watchdog(-1.0)
    watchdog.wake = lambda: None
    return watchdog.watch(line)


@requirement("store.deadlines.query")
def test_a_late_read_is_interrupted_until_it_ends() -> None:
    line = Line()
    watch = watched(0.0, line)
    watch.begin()
    for _ in range(3):
        line.interrupted.wait()
        line.interrupted.clear()
    watch.end()

    noted = len(line.noted)
    assert watch.due() is None
    assert len(line.noted) == noted


@requirement("store.deadlines.query")
def test_a_read_cannot_end_while_it_is_interrupted_so_the_next_one_is_not_met() -> None:
    class Slow(Line):
        def interrupt(self) -> None:
            self.noted.append("interrupting")
            ending.start()
            ending.join(0.01)  # it waits for its turn
            self.noted.append("interrupted")

    def end() -> None:
        watch.end()
        line.noted.append("ended")

    line = Slow()
    watch = looked_after(line)
    ending = threading.Thread(target=end)
    watch.begin()
    watch.due()
    ending.join()

    assert line.noted == ["interrupting", "interrupted", "ended"]


def test_a_read_in_time_is_left_alone() -> None:
    line = Line()
    watch = watched(60.0, line)
    watch.begin()
    assert watch.due() is not None
    watch.end()

    assert watch.due() is None
    assert line.noted == []


def test_a_connection_that_was_closed_meanwhile_is_no_trouble() -> None:
    connection = apsw.Connection(":memory:")
    watch = looked_after(connection)
    watch.begin()
    connection.close()

    assert watch.due() is not None


def test_the_thread_ends_when_nothing_is_read_and_comes_back() -> None:
    def guards() -> list[threading.Thread]:
        return [thread for thread in threading.enumerate() if thread.name == "watchdog" and thread not in before]

    before = [thread for thread in threading.enumerate() if thread.name == "watchdog"]
    watch = watched(0.001, Line())
    for _ in range(3):
        watch.begin()
        (guard,) = guards()
        watch.end()
        guard.join()
        assert guards() == []

"""Threads shared fairly: whoever asks waits in a line of their own, and the lines take turns."""

import threading
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")


class Job(NamedTuple):
    whose: Hashable
    work: Callable[[], Any]
    done: Future[Any]

    def run(self) -> None:
        if not self.done.set_running_or_notify_cancel():  # nobody waits for it any longer
            return
        try:
            result = self.work()
        except BaseException as error:  # noqa: BLE001 - whoever waits gets it
            self.done.set_exception(error)
        else:
            self.done.set_result(result)


class Shares:
    """So many threads. One asker has at most half of them at a time, so that there is room for others at once; where
    more ask than there is room, each gets one job done before anybody gets another."""

    def __init__(self, threads: int, name: str) -> None:
        self._threads = ThreadPoolExecutor(threads, name)
        self._most, self._share = threads, max(1, threads // 2)
        self._lock = threading.Lock()
        self._lines: OrderedDict[Hashable, deque[Job]] = OrderedDict()  # the one whose turn is longest ago comes first
        self._running: Counter[Hashable] = Counter()
        self._busy = 0

    def submit(self, whose: Hashable, work: Callable[[], T]) -> Future[T]:
        done: Future[T] = Future()
        with self._lock:
            self._lines.setdefault(whose, deque()).append(Job(whose, work, done))
            if self._busy < self._most:
                self._busy += 1
                self._threads.submit(self._serve)
        return done

    def known(self) -> set[Hashable]:
        """Who waits, or is being served."""
        with self._lock:
            return {*self._lines, *self._running}

    def shutdown(self) -> None:
        """When everything that was submitted is done."""
        self._threads.shutdown()

    def _serve(self) -> None:
        """One job after the other, while there is one that may run."""
        last: Job | None = None
        while job := self._next(last):
            job.run()
            last = job

    def _next(self, last: Job | None) -> Job | None:
        """In one step with the end of the last, so that a line that may go on because of it is seen by this thread."""
        with self._lock:
            if last is not None:
                self._running[last.whose] -= 1
                if not self._running[last.whose]:
                    del self._running[last.whose]
            whose = next((one for one in self._lines if self._running[one] < self._share), None)
            if whose is None:
                self._busy -= 1
                return None
            return self._taken(whose)

    def _taken(self, whose: Hashable) -> Job:
        line = self._lines[whose]
        job = line.popleft()
        if line:
            self._lines.move_to_end(whose)
        else:
            del self._lines[whose]
        self._running[whose] += 1
        return job

"""The watchdog: one thread that interrupts reads at their deadline, wherever inside SQLite they are."""

import threading
from contextlib import suppress
from time import monotonic, sleep

import apsw

PAUSE_SECONDS = 0.005  # between two interrupts of a late read: one between two of its statements stops nothing


class WatchedStatement:
    """One reader's connection, and until when its read may take; an interrupt never meets the read after it."""

    def __init__(self, watchdog: "Watchdog", connection: apsw.Connection) -> None:
        self._watchdog, self._connection = watchdog, connection
        self._turn = threading.Lock()  # so that a read does not end between the look at it and its interrupt
        self._deadline: float | None = None
        self._is_late = False

    def begin(self) -> None:
        """Whoever looks meanwhile sees no deadline yet, or one that is far."""
        self._is_late = False
        self._deadline = monotonic() + self._watchdog.seconds
        self._watchdog.wake()

    def end(self) -> bool:
        """Whether the read was interrupted."""
        with self._turn:
            self._deadline = None
            return self._is_late

    def due(self) -> float | None:
        """When to look again, if a read is under way; one that is late is interrupted."""
        with self._turn:
            deadline, now = self._deadline, monotonic()
            if deadline is None or now < deadline:
                return deadline
            self._is_late = True
            with suppress(apsw.ConnectionClosedError):
                self._connection.interrupt()
            return now + PAUSE_SECONDS


class Watchdog:
    """Awake while there are reads. All have the same time, so one that begins is never due before those under way:
    the thread sleeps until the first of them is, and no read but the first has to wake it."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._watches: list[WatchedStatement] = []
        self._is_awake = False
        self._falling_asleep = threading.Lock()

    def watch(self, connection: apsw.Connection) -> WatchedStatement:
        watch = WatchedStatement(self, connection)
        self._watches.append(watch)
        return watch

    def forget(self, watch: WatchedStatement) -> None:
        self._watches.remove(watch)

    def wake(self) -> None:
        if self._is_awake:
            return
        with self._falling_asleep:
            if not self._is_awake:
                self._is_awake = True
                threading.Thread(target=self._guard, name="watchdog", daemon=True).start()

    def _guard(self) -> None:
        while (due := self._next_due()) is not None:
            sleep(max(0.0, due - monotonic()))

    def _next_due(self) -> float | None:
        """None where there is nothing to watch, and the thread ends."""
        due = self._first_due()
        if due is not None:
            return due
        with self._falling_asleep:
            self._is_awake = False  # from here on whoever begins starts another thread, unless we see them first
            due = self._first_due()
            self._is_awake = due is not None
        return due

    def _first_due(self) -> float | None:
        found = [due for watch in tuple(self._watches) if (due := watch.due()) is not None]
        return min(found, default=None)

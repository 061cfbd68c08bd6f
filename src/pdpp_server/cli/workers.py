"""Several processes on one listening socket: started, replaced where one dies, ended with their parent."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from threading import Event
from time import monotonic
from types import FrameType

import click

from pdpp_server.settings import Settings

LOOKED_EVERY_SECONDS = 0.2
END_SECONDS = 10.0  # for what is being answered
SETTLED_SECONDS = 5.0  # one that lived so long did start
FAILED_STARTS_MAX = 3
PAUSE_SECONDS = 1.0


class Workers:
    """Each takes connections from the one socket. Its end of a pipe tells it that this process has ended, however."""

    def __init__(self, settings: Settings, listening: socket.socket, *, logs: bool) -> None:
        self._count = settings.workers
        self._listening = listening
        self._until_we_end, self._held_open = os.pipe()
        numbers = [str(listening.fileno()), str(self._until_we_end)]
        said = "log" if logs else "quiet"
        self._command = [sys.executable, "-m", "pdpp_server.cli.worker", *numbers, said]
        self._environ = {
            **os.environ,
            "PDPP_HOST": settings.host,
            "PDPP_PORT": str(settings.port),
            "PDPP_WORKERS": str(settings.workers),
        }
        self._running: list[tuple[subprocess.Popen[bytes], float]] = []
        self._failed = 0
        self._did_start = False
        self._next_start = 0.0

    def run(self, stopping: Event) -> None:
        """Until asked to stop.

        Raises:
            click.ClickException: they end as soon as they are started.
        """
        try:
            while True:
                self._replace_ended()
                if stopping.wait(LOOKED_EVERY_SECONDS):
                    return
        finally:
            self._end()

    def _replace_ended(self) -> None:
        """One that was killed at once, one that could not start after a pause: its database may be away for a while.
        Only where none ever started is it given up."""
        for process, started in self._running:
            if process.poll() is None:
                self._did_start |= monotonic() - started > SETTLED_SECONDS
            elif process.returncode > 0:
                self._failed += 1
                self._next_start = monotonic() + PAUSE_SECONDS
        if self._failed >= FAILED_STARTS_MAX and not self._did_start:
            raise click.ClickException("The processes end as soon as they are started; what they said is above.")
        self._running = [one for one in self._running if one[0].returncode is None]
        while len(self._running) < self._count and monotonic() >= self._next_start:
            self._running.append((self._started(), monotonic()))

    def _started(self) -> subprocess.Popen[bytes]:
        """In a group of its own: Ctrl-C is for us, who then end it, and would meet it in the middle of its start."""
        inherited = (self._listening.fileno(), self._until_we_end)
        return subprocess.Popen(
            self._command, env=self._environ, pass_fds=inherited, stdin=subprocess.DEVNULL, process_group=0
        )

    def _end(self) -> None:
        self._listening.close()
        os.close(self._held_open)
        os.close(self._until_we_end)
        last = monotonic() + END_SECONDS
        for process, _ in self._running:
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, last - monotonic()))
            if process.returncode is None:
                process.kill()
                process.wait()


@contextmanager
def asked_to_stop() -> Generator[Event, None, None]:
    """By Ctrl-C, or by whoever started this process."""
    stopping = Event()

    def stop(_: int, __: FrameType | None) -> None:
        stopping.set()

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopping
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

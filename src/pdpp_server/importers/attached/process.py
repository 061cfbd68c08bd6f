"""The process that reads attached files: started when first needed, and anew after a file that ended it."""

import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from threading import Event, Timer

from pdpp_server.importers.attached.frames import Unreadable, ask, told
from pdpp_server.importers.attached.kinds import DOCUMENT_BYTES_MAX, AttachedDocument

READER = (sys.executable, "-I", "-m", "pdpp_server.importers.attached.reader")
SECONDS = 60.0  # by the clock, for one document; of the processor it has less
END_SECONDS = 5.0

_TOO_LONG = AttachedDocument("", "It takes too long to read.")
_ENDED = AttachedDocument("", "The program that reads it broke down over it.")
_SPENT: int | None = getattr(signal, "SIGXCPU", None)  # the processor's time is spent; Windows has no such thing


class DocumentProcess:
    """Whoever makes it closes it. A file that hangs, bursts or breaks the program costs its own text and no other."""

    def __init__(self, command: Sequence[str] = READER, seconds: float = SECONDS) -> None:
        self._command, self._seconds = command, seconds
        self._process: subprocess.Popen[bytes] | None = None

    def document(self, kind: str, data: bytes) -> AttachedDocument:
        if len(data) > DOCUMENT_BYTES_MAX:
            return AttachedDocument("", f"It is longer than {DOCUMENT_BYTES_MAX >> 20} MiB.")
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        is_over = Event()

        def stop() -> None:
            is_over.set()
            process.kill()

        clock = Timer(self._seconds, stop)
        clock.daemon = True
        clock.start()
        try:
            ask(process.stdin, kind, data)
            return told(process.stdout)
        except (OSError, Unreadable):
            process.wait()  # its pipes are closed, so it is ending
            self._end()
            return _TOO_LONG if is_over.is_set() or _is_spent(process.returncode) else _ENDED
        finally:
            clock.cancel()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self._end()
        return self._started()

    def _started(self) -> subprocess.Popen[bytes]:
        """Without our environment, in which there may be tokens, and without a way to say anything but texts."""
        pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
        self._process = subprocess.Popen(self._command, stdin=pipe, stdout=pipe, stderr=nothing, env={}, cwd="/")
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        with suppress(OSError):  # what could not be written any more
            process.communicate(timeout=END_SECONDS)

    def close(self) -> None:
        self._end()


def _is_spent(returncode: int) -> bool:
    return _SPENT is not None and returncode == -_SPENT

"""The server of a home that runs now: where it listens, believed while its process holds the mark."""

import os
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from pdpp_server.held import lock
from pdpp_server.settings import Settings
from pdpp_server.store.files import private_folder, written_whole
from pdpp_server.wire.serving import Served, decode_mark, encode_mark

MARK, LOCK = "serving.json", "serving.lock"
TRIES, TRY_SECONDS = 5, 0.02


@contextmanager
def marked(settings: Settings) -> Generator[None, None, None]:
    """While this process serves that home. Of two servers of one home the first is the known one."""
    descriptor = os.open(private_folder(settings.home) / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if _takes(descriptor):
            with _written(settings):
                yield
        else:
            yield
    finally:
        os.close(descriptor)


@contextmanager
def _written(settings: Settings) -> Generator[None, None, None]:
    mark = settings.home / MARK
    served = Served(settings.host, settings.port, settings.public_url)
    with written_whole(mark) as file:
        file.write(encode_mark(served, os.getpid()))
    try:
        yield
    finally:
        with suppress(OSError):  # the home may be gone by now
            mark.unlink()


def _takes(descriptor: int) -> bool:
    """Somebody who only asks holds it for a moment: it is tried again before another server is believed in."""
    for _ in range(TRIES):
        try:
            lock(descriptor, waits=False)
        except BlockingIOError:
            time.sleep(TRY_SECONDS)
        else:
            return True
    return False


def as_served(settings: Settings) -> Settings:
    """The settings with the address that the running server of this home has; as they are where none runs."""
    if not _is_held(settings.home / LOCK):
        return settings
    try:
        served = decode_mark((settings.home / MARK).read_bytes())
    except OSError:  # it has not written it yet
        return settings
    if served is None:
        return settings
    return replace(settings, host=served.host, port=served.port, public_url=settings.public_url or served.public_url)


def _is_held(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_RDWR)
    except OSError:
        return False
    try:
        lock(descriptor, waits=False)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False

"""What goes on beside the server: work in a thread of its own, which ends when the server does."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from threading import Event, Thread


@contextmanager
def going_on(name: str, work: Callable[[Event], None]) -> Generator[None, None, None]:
    """`work` looks at the event now and then, and ends soon after it is set."""
    stopping = Event()
    thread = Thread(target=work, args=(stopping,), name=name)
    thread.start()
    try:
        yield
    finally:
        stopping.set()
        thread.join()

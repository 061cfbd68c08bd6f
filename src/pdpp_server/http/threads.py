"""Where work leaves the event loop: readers, the one writer, and flows that may wait for somebody else."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import TypeVar

from starlette.requests import Request

from pdpp_server.http.headers import token_of
from pdpp_server.http.shares import Shares

READERS = 2
WAITING_READERS = 16  # where each read waits for others: for a database, or for an authorization server elsewhere
FLOWS = 4  # a client's document may take seconds, a password its time: reads do not wait for them

T = TypeVar("T")


class Threads:
    """The stages that work goes through in a thread are those of its request: it gets a copy of the context."""

    def __init__(self, *, reads_wait: bool = False) -> None:
        self.reads_wait = reads_wait
        self.readers = Shares(WAITING_READERS if reads_wait else READERS, "reader")
        self.writer = ThreadPoolExecutor(1, "writer")  # the store has one writer
        self.flows = ThreadPoolExecutor(FLOWS, "flow")

    async def read(self, request: Request, work: Callable[[], T]) -> T:
        """Each token has a share of the readers, at every door: what one asks for keeps no other waiting."""
        whose = token_of(request) or "whoever shows none"
        return await asyncio.wrap_future(self.readers.submit(whose, partial(copy_context().run, work)))

    async def point_read(self, request: Request, work: Callable[[], T]) -> T:
        """Where it waits for nobody, it is shorter than a change of thread."""
        return await self.read(request, work) if self.reads_wait else work()

    async def write(self, work: Callable[[], T]) -> T:
        return await _run(self.writer, work)

    async def flow(self, work: Callable[[], T]) -> T:
        return await _run(self.flows, work)

    def close(self) -> None:
        for threads in (self.readers, self.writer, self.flows):
            threads.shutdown()


async def _run(threads: ThreadPoolExecutor, work: Callable[[], T]) -> T:
    return await asyncio.get_running_loop().run_in_executor(threads, copy_context().run, work)

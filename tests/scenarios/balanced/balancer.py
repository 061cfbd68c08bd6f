"""A balancer without sticky sessions: every request goes to another server than the one before."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from itertools import count

from starlette.applications import Starlette
from starlette.types import Receive, Scope, Send


class Alternating:
    def __init__(self, servers: Sequence[Starlette]) -> None:
        self._servers, self._turn = servers, count()
        self.state = servers[0].state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        else:
            await self._servers[next(self._turn) % len(self._servers)](scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        async with AsyncExitStack() as running:
            await receive()
            for server in self._servers:
                await running.enter_async_context(server.router.lifespan_context(server))
            await send({"type": "lifespan.startup.complete"})
            await receive()
        await send({"type": "lifespan.shutdown.complete"})

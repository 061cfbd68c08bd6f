"""Connections: how long a peer may take to say what it wants, and how many may be open at once."""

import asyncio
from asyncio import TimerHandle
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEADER_BYTES = 64 * 1024
CONNECTIONS_MAX, CONNECTIONS_MIN = 1024, 16
FULL = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Patience:
    """In seconds, but for the last: how fast a body must come once its first seconds are over, in bytes a second."""

    headers: float = 10
    idle: float = 15  # after an answer, where uvicorn's own clock was stopped by a body that came too late
    body: float = 20
    answer: float = 60  # for a peer that does not take what it asked for
    least_rate: int = 1024
    look_every: float = 1


def room_for_connections(descriptors: int) -> int:
    """How many may be open at once in a process that may open so many descriptors: half, for files need some too."""
    return max(CONNECTIONS_MIN, min(CONNECTIONS_MAX, descriptors // 2))


class OpenConnections:
    """All connections of one server: those that keep us waiting, in the order in which they last said something.

    Where the house is full, whoever has kept us waiting longest makes room. So connections that say nothing can push
    out each other, and hardly ever one that has something to ask.
    """

    def __init__(self, most: int, patience: Patience) -> None:
        self.patience = patience
        self._most, self._open = most, 0
        self._waited_for: OrderedDict[Guarded, None] = OrderedDict()
        self._stalled: dict[Guarded, float] = {}  # since when an answer is not taken
        self._look: TimerHandle | None = None

    def enter(self, connection: "Guarded") -> bool:
        """Whether there is room, after one was sent away if need be."""
        if self._open >= self._most:
            if not self._waited_for:
                return False
            longest, _ = self._waited_for.popitem(last=False)
            longest.send_away()
            self.leave(longest)
        connection.is_inside = True
        self._open += 1
        self.wait_for(connection)
        if self._look is None:
            self._look = connection.loop.call_later(self.patience.look_every, self._look_around, connection.loop)
        return True

    def leave(self, connection: "Guarded") -> None:
        """Once for each that entered."""
        if connection.is_inside:
            connection.is_inside = False
            self._open -= 1
        self._waited_for.pop(connection, None)
        self._stalled.pop(connection, None)

    def wait_for(self, connection: "Guarded") -> None:
        """It is its turn to say something."""
        if connection.is_inside:
            self._waited_for[connection] = None
            self._waited_for.move_to_end(connection)

    def is_heard(self, connection: "Guarded") -> None:
        """It said all; now we make it wait."""
        self._waited_for.pop(connection, None)

    def stalls(self, connection: "Guarded", now: float) -> None:
        if connection.is_inside:
            self._stalled[connection] = now

    def takes(self, connection: "Guarded") -> None:
        self._stalled.pop(connection, None)

    def _look_around(self, loop: asyncio.AbstractEventLoop) -> None:
        """Every second, while anybody is inside, instead of a timer for each."""
        now = loop.time()
        for connection in self._waited_for:
            if connection.flow.read_paused:  # it is we who do not listen
                connection.waited_until = now + self.patience.body
        late = [each for each in self._waited_for if now > each.waited_until]
        late += [each for each, since in self._stalled.items() if now > since + self.patience.answer]
        for connection in late:
            connection.send_away()
            self.leave(connection)
        self._look = loop.call_later(self.patience.look_every, self._look_around, loop) if self._open else None


class Guarded(HttpToolsProtocol):
    """uvicorn's protocol, which by itself waits for ever: for the end of headers, of a body, and for its reader."""

    door: OpenConnections  # of a server: see `guarded`

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.is_inside = False
        self.waited_until = 0.0
        self._bytes = 0  # of the request that is being sent
        self._begun = 0.0  # when its body began
        self._is_whole = True

    # uvicorn's and the parser's events, in the order in which they come

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._is_whole, self._bytes = False, 0
        self.waited_until = self.loop.time() + self.door.patience.headers
        if not self.door.enter(self):
            transport.write(FULL)
            transport.close()

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        self._bytes += len(data)
        super().data_received(data)
        if self._is_whole:
            return
        self.door.wait_for(self)
        if self._begun:
            self.waited_until = self._begun + self.door.patience.body + self._bytes / self.door.patience.least_rate
        elif self._bytes > HEADER_BYTES:
            self.send_400_response("The headers are too long.")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._is_whole, self._bytes, self._begun = False, 0, 0.0
        self.waited_until = self.loop.time() + self.door.patience.headers

    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        self._begun = self.loop.time()
        self.waited_until = self._begun + self.door.patience.body

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._is_whole = True
        if self.cycle.response_complete:  # before its end
            self._rest()
        else:
            self.door.is_heard(self)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._is_whole and self.cycle.response_complete:
            self._rest()

    def _rest(self) -> None:
        self.waited_until = self.loop.time() + self.door.patience.idle
        self.door.wait_for(self)

    def pause_writing(self) -> None:
        super().pause_writing()
        self.door.stalls(self, self.loop.time())

    def resume_writing(self) -> None:
        super().resume_writing()
        self.door.takes(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.door.leave(self)
        super().connection_lost(exc)

    def send_away(self) -> None:
        """At once: whoever does not read would not read a farewell either."""
        self.transport.abort()

    def _unsupported_upgrade_warning(self) -> None:
        """A stranger's header is no line in the owner's log."""


def guarded(most: int, patience: Patience | None = None) -> type[asyncio.Protocol]:
    """A protocol for one server."""
    opened = OpenConnections(most, patience or Patience())
    return type("GuardedHere", (Guarded,), {"door": opened})

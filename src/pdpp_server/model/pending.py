"""A value that was read and may not leave yet: it does with its line in the log, or not at all."""

from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

from pdpp_server.model.activity import Shown

V_co = TypeVar("V_co", covariant=True)
W = TypeVar("W")
B_co = TypeVar("B_co", covariant=True)

Settle = Callable[[Shown, int], None]  # what is shown and its size in bytes; refuses where it cannot be written down


class Leaving(NamedTuple, Generic[B_co]):
    """An answer as it will be sent, what it shows of the data, and how many bytes that takes."""

    body: B_co
    shown: Shown
    size: int


class Pending(Generic[V_co]):
    """One read whose disclosure is not written yet. The value is shaped in here and comes out by `leave` alone.

    A read that is given up, for a smaller one or for a refusal, was never disclosed and has no line.
    """

    __slots__ = ("_settle", "_value", "request_id")

    def __init__(self, value: V_co, request_id: str, settle: Settle) -> None:
        self._value, self._settle = value, settle
        self.request_id = request_id

    def shaped(self, shape: "Callable[[V_co], W]") -> "Pending[W]":
        """The same read, as something else than the value that it gave."""
        return Pending(shape(self._value), self.request_id, self._settle)

    def followed(self, ask: "Callable[[V_co], Pending[W]]") -> "Pending[W]":
        """What was asked for after a look at the value, in place of it: only the last read has a line."""
        return ask(self._value)

    def leave(self, send: "Callable[[V_co], Leaving[W]]") -> W:
        """The answer, once its line is durable: `send` says what of the value it shows.

        Raises:
            DisclosureLogUnavailable: nothing may leave.
        """
        leaving = send(self._value)
        self._settle(leaving.shown, leaving.size)
        return leaving.body

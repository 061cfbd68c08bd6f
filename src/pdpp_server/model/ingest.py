"""Records on their way in, and what became of them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple


class Incoming(NamedTuple):
    """One record as it arrived. `data` is None for a deletion, `key` where the data must tell it."""

    place: str  # where it stood, for whoever has to mend it: "file.ndjson:12"
    stream: str
    key: str | tuple[str, ...] | None
    data: Mapping[str, Any] | None
    emitted_at: str | None
    stays: tuple[str, ...] = ()  # fields that stay as they are kept: this time the source left out what they tell


class Rejection(NamedTuple):
    place: str
    code: str
    reason: str


@dataclass(frozen=True, slots=True)
class Receipt:
    """What one delivery did. Unchanged records were there already, word for word."""

    accepted: int = 0
    unchanged: int = 0
    rejected: tuple[Rejection, ...] = ()

    def __add__(self, other: "Receipt") -> "Receipt":
        return Receipt(self.accepted + other.accepted, self.unchanged + other.unchanged, self.rejected + other.rejected)


class Finished(NamedTuple):
    """An export that was read to its end; `at` is told by whoever notes it."""

    file: str
    records: int
    rejected: int
    at: str = ""


class Target(NamedTuple):
    """The connection that a write is for; a connector with one connection needs no other name."""

    connector_key: str
    connection_id: str | None = None


class Line(NamedTuple):
    """A line that is not blank, and what it was read as."""

    raw: bytes
    read: Incoming | Rejection


class Delivery(NamedTuple):
    """Lines for one stream. The place of each is its number, from 0."""

    target: Target
    stream: str
    run_id: str | None
    lines: Iterable[Line]


class RefusedLine(NamedTuple):
    """A line that was not taken in; the same line sent again has the same receipt."""

    number: int
    code: str
    reason: str
    receipt_id: str


class Delivered(NamedTuple):
    stream: str
    accepted: int
    refused: tuple[RefusedLine, ...]
    unchanged: int = 0  # of those accepted: they were there already

"""Disclosures: what left the server, to whom, when."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal, NamedTuple

KEPT_DAYS_MIN, KEPT_DAYS_MAX = 100, 36_500  # of the log; pages tell of clients that have not read for 90


class Shown(NamedTuple):
    """What an answer gives away: whose, of which streams, which fields of which records; each named once."""

    connections: tuple[str, ...] = ()
    streams: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    records: tuple[str, ...] = ()  # handles, as they are printed

    def without_fields(self) -> "Shown":
        """The same where no value of them was told."""
        return Shown(self.connections, self.streams, records=self.records)


NOTHING = Shown()


def together(*shown: Shown) -> Shown:
    """All that several parts of one answer give away."""
    return Shown._make(tuple(dict.fromkeys(chain.from_iterable(names))) for names in zip(*shown, strict=True))


class Disclosure(NamedTuple):
    """One line of the log. `query` holds no content: whoever builds it has hashed search words and the like."""

    at: str
    request_id: str
    operation: str
    token_kind: str
    client_id: str | None
    grant_ids: tuple[str, ...]
    query: Mapping[str, Any]
    connections: tuple[str, ...]
    streams: tuple[str, ...]
    fields: tuple[str, ...]
    records: tuple[str, ...]  # handles, as they are printed
    bytes: int


class Asked(NamedTuple):
    """What a client asked in its own words; `reach` are the connections that could have answered it."""

    words: str | None
    conditions: tuple[tuple[str, str, str], ...]  # field, comparison, value
    reach: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Segment:
    """How far somebody saw a segment: the number of a line, and the hash of that line."""

    id: str
    n: int
    digest: str


State = Literal["intact", "torn", "edited", "lines_missing", "truncated", "missing", "let_go"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What verification found in one segment. `line` is the first line that is not as it was written."""

    segment: str
    state: State
    lines: int  # sound lines before the fault, or in all
    line: int | None = None

    @property
    def is_sound(self) -> bool:
        """A torn last line is sound: its process died while writing it, so its answer never left."""
        return self.state in {"intact", "torn", "let_go"}


class ClientQuarter(NamedTuple):
    """What one client read in a quarter of an hour: in no zone does a day begin inside of one."""

    at: str  # the first of it
    client_id: str
    disclosures: int
    records: int


class ClientDay(NamedTuple):
    """What one client read on one day."""

    day: str
    client_id: str
    disclosures: int
    records: int


class Day(NamedTuple):
    day: str
    disclosures: int
    records: int

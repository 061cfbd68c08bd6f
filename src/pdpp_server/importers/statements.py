"""Bank statements that hold all of a span: shown by their balances and all bookings, or said by the days they name."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple

from pdpp_server.importers.source import Opened, Outcome
from pdpp_server.model.ingest import Incoming, Rejection
from pdpp_server.model.runs import AsOf, Coverage, Covered
from pdpp_server.model.times import instant, iso

HELD_MAX = 20_000  # records of one statement that wait for its end; a longer one counts as a part
_NEVER = "~"  # behind every moment


class Balance(NamedTuple):
    day: str
    value: Decimal


class _Span(NamedTuple):
    """The days of which a statement holds everything, between its balances where it has them."""

    first: str
    last: str
    opening: Decimal | None = None
    closing: Decimal | None = None

    def is_before(self, other: "_Span") -> bool:
        """Whether the other one goes on where this one ends; without balances, only if it begins before that."""
        if self.closing is None or other.opening is None:
            return other.first <= self.last
        return self.closing == other.opening and self.last <= other.first


class _Held(NamedTuple):
    outcome: Incoming | Rejection
    day: str | None  # of its booking; empty where the bank gave none, None for what is no booking


@dataclass(slots=True)
class _Statement:
    """The one that is being read."""

    account: str
    opening: Balance | None = None
    closing: Balance | None = None
    booked: Decimal = Decimal()
    has_bookings: bool = False
    is_long: bool = False
    claimed: tuple[str, str] | None = None  # the days that it says to be of
    days: set[str] = field(default_factory=set[str])  # on which something was booked
    held: list[_Held] = field(default_factory=list[_Held])

    def span(self) -> _Span | None:
        """One without bookings proves nothing: a bank that left all of them out would write the same."""
        if self.claimed and not self.is_long:
            return _between_bookings(self.claimed, self.days)
        if self.opening is None or self.closing is None or self.is_long or not self.has_bookings:
            return None
        (first, before), (last, after) = self.opening, self.closing
        return _Span(first, last, before, after) if before + self.booked == after and first <= last else None


def _between_bookings(claimed: tuple[str, str], days: Iterable[str]) -> _Span | None:
    """Banks write the days that were asked for, and may have bookings of fewer: what lies between those is there."""
    inside = sorted(day for day in days if claimed[0] <= day <= claimed[1])
    return _Span(inside[0], inside[-1]) if inside else None


@dataclass(slots=True)
class _AccountRead:
    """Where the files told all of one account."""

    spans: set[_Span] = field(default_factory=set[_Span])
    made: list[str] = field(default_factory=list[str])  # when each file was


class Statements:
    """Gives the records of statements on: as part of their account where a statement holds all of a span.

    A booking that is dated outside its statement, or that has no day of its own, is no part of that collection: another
    whole statement of the same day need not have it, and must not remove it.
    """

    def __init__(self, bank: str, now: datetime | None, *, derived: Iterable[str] = ()) -> None:
        self._bank, self._derived = bank, tuple(derived)
        self._latest = iso(now + timedelta(days=1)) if now else _NEVER
        self._accounts: dict[str, _AccountRead] = {}
        self._in_file: set[str] = set()
        self._made = ""
        self._collection = bank  # what an account is called whose importer opens no collection
        self._now: _Statement | None = None

    def begin(self, account: str) -> Iterator[Outcome]:
        """A statement of that account; the one before it is over."""
        yield from self._end()
        self._now = _Statement(account)

    def made_at(self, moment: str) -> None:
        """The file, or a statement in it, was written then, or later."""
        self._made = max(self._made, moment)

    def opens(self, balance: Balance) -> None:
        if self._now and self._now.opening is None:
            self._now.opening = balance

    def closes(self, balance: Balance) -> None:
        if self._now:
            self._now.closing = balance

    def books_on(self, day: str) -> None:
        """A booking of that day, whether its record is given on or was so before."""
        if self._now:
            self._now.days.add(day)

    def claims(self, first: str, last: str) -> None:
        """It says itself of which days it holds all bookings; there is no sum that proves it."""
        if self._now:
            self._now.claimed = (first, last)

    def books(self, value: Decimal) -> None:
        """Money that the balance after counts, whether its record is given on or was so before."""
        if self._now:
            self._now.booked += value
            self._now.has_bookings = True

    def take(self, outcome: Incoming | Rejection, day: str | None = None) -> Iterator[Outcome]:
        """What the statement holds, with the day on which it was booked: empty where the bank gave none."""
        now = self._now
        if now is None:
            yield outcome
            return
        now.held.append(_Held(outcome, day))
        if len(now.held) >= HELD_MAX:
            now.is_long = True
            yield from self._opened(self._bank)
            yield from (one.outcome for one in now.held)
            now.held.clear()

    def end_file(self) -> Iterator[Outcome]:
        yield from self._end()
        for account in self._in_file:
            self._accounts[account].made.append(self._made)
        self._in_file, self._made = set(), ""

    def covered(self) -> Iterator[Outcome]:
        """Behind the last file: what was shown to be whole, account by account."""
        for account, read in self._accounts.items():
            yield Opened(_name(account))
            yield self._covered(read)

    def _end(self) -> Iterator[Outcome]:
        now, self._now = self._now, None
        if now is None:
            return
        span = now.span()
        if span:
            self._accounts.setdefault(now.account, _AccountRead()).spans.add(span)
            self._in_file.add(now.account)
        for outcome, day in now.held:
            is_inside = span is not None and day is not None and span.first <= day <= span.last
            if day is not None:
                yield from self._opened(_name(now.account) if is_inside else self._bank)
            yield outcome

    def _opened(self, collection: str) -> Iterator[Outcome]:
        if collection != self._collection:
            self._collection = collection
            yield Opened(collection)

    def _covered(self, read: _AccountRead) -> Covered:
        """The days between the first and the last, without these two, where no statement between is missing.

        Together the files are as new as the oldest of them.
        """
        oldest = min(read.made)
        as_of = AsOf(oldest) if "" < oldest <= self._latest else None
        spans = sorted(read.spans, key=lambda one: (one.first, one.last))
        if not all(one.is_before(other) for one, other in pairwise(spans)):
            return Covered({}, as_of)
        between = Coverage(instant(spans[0].first), instant(spans[-1].last))
        derived = {name: between._replace(follows="transactions") for name in self._derived}
        return Covered({"transactions": between, **derived}, as_of)


def _name(account: str) -> str:
    return f"account {account}"

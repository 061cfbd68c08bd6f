"""Aggregations: numbers about records, without the records."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Context, Decimal
from math import isinf
from typing import Literal, NamedTuple

from pdpp_server.model.queries import AggregateQuery
from pdpp_server.model.records import Warned

Scalar = bool | int | float | str
Kept = Literal["largest", "smallest", "latest"]
_EXACT = Context(prec=800)  # more digits than lie between the largest number and the smallest
_JSON_INTEGERS = range(-(1 << 63), 1 << 64)
_WHOLE_FLOATS = 1 << 53


def exact_sum(tallies: Iterable[tuple[int | float, int]]) -> int | float:
    """The sum of numbers, each so many times, as they are written: three times 0.1 is 0.3. Rounded once at the most.

    Raises:
        OverflowError: it is larger than a number can be.
    """
    whole, fractions, has_fractions = 0, Decimal(0), False
    for value, times in tallies:
        if isinstance(value, int):
            whole += value * times
        else:
            has_fractions = True
            fractions = _EXACT.add(fractions, _EXACT.multiply(Decimal(repr(value)), Decimal(times)))
    if not has_fractions and whole in _JSON_INTEGERS:
        return whole
    total = float(_EXACT.add(fractions, Decimal(whole)))
    if isinf(total):
        raise OverflowError
    return plain(total)


def plain(value: int | float) -> int | float:
    """The one way to write a number: 2 and 2.0 are the same, whichever came first."""
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < _WHOLE_FLOATS else value


class Currency(NamedTuple):
    """What amounts are counted in, by the field that says so; `name` is None where they are not all in one."""

    field: str
    name: str | None


@dataclass(frozen=True, slots=True)
class Group:
    """`key` is None for the records without a value; `start` is when a time bucket begins, with its offset."""

    key: Scalar | None
    count: int
    start: str | None = None
    value: Scalar | None = None  # of every metric but count
    currency: str | None = None  # of a sum, where the other groups are in others


@dataclass(frozen=True, slots=True)
class Aggregation:
    """The answer to `query`: a value, or groups with how many records are in the groups that were left out."""

    query: AggregateQuery
    records: int  # that were looked at: visible, and passing every condition
    value: Scalar | None = None
    groups: tuple[Group, ...] | None = None
    other_count: int = 0
    kept: Kept | None = None  # which groups these are where there are others; None where a server did not say
    warnings: tuple[Warned, ...] = ()
    other_value: int | float | None = None  # of a sum, what the groups that were left out add up to
    currency: Currency | None = None  # of a sum of amounts, where the field that says so may be read

"""What came in and went out in a month: asked of all its records, however few of them its page shows."""

from collections import Counter
from typing import NamedTuple, cast

from pdpp_server.evidence.budgets import CURRENCY_CHARS
from pdpp_server.evidence.text import clip_shown
from pdpp_server.model.aggregates import Aggregation, Group, exact_sum
from pdpp_server.model.pending import Pending
from pdpp_server.model.queries import GROUPS_LIMIT_MAX, AggregateQuery, Comparison, Condition, RecordsQuery
from pdpp_server.model.streams import AMOUNT_ROLE, Stream
from pdpp_server.owner.own_reader import OwnReader

Number = int | float


class Sums(NamedTuple):
    """What was booked in one currency; nothing is added across currencies."""

    currency: str
    came: Number
    went: Number
    together: Number


def adds_up(stream: Stream) -> bool:
    return _amount(stream) is not None


def _amount(stream: Stream) -> str | None:
    """The field to add up. A balance is money too, and its declaration names no sum."""
    currency = stream.currency_field
    has_one_unit = currency is None or currency in stream.aggregations.group_by
    amounts = [name for name, role in stream.roles.items() if role == AMOUNT_ROLE and name in stream.aggregations.sum]
    both_ways = [name for name in amounts if {"gt", "lt"} <= {*stream.range_filters.get(name, ())}]
    return both_ways[0] if both_ways and has_one_unit else None


def sums_of(reader: OwnReader, query: RecordsQuery, stream: Stream) -> Pending[list[Sums]]:
    """Of all that the query asks for, the currency with most bookings first."""
    came, went = (_asked(query, stream, way) for way in ("gt", "lt"))
    return reader.aggregate(came).followed(
        lambda came: reader.aggregate(went).shaped(lambda went: _together(_by_currency(came), _by_currency(went)))
    )


def _asked(query: RecordsQuery, stream: Stream, way: Comparison) -> AggregateQuery:
    amount = _amount(stream)
    assert amount is not None
    return AggregateQuery(
        query.stream,
        "sum",
        amount,
        stream.currency_field,
        limit=GROUPS_LIMIT_MAX,
        conditions=(*query.conditions, Condition(amount, way, "0")),
        connection_id=query.connection_id,
    )


def _by_currency(numbers: Aggregation) -> dict[str, Group]:
    groups = numbers.groups
    if groups is None:
        groups = [Group(None, numbers.records, value=numbers.value)]
    return {clip_shown(str(group.key or ""), CURRENCY_CHARS): group for group in groups if group.count}


def _together(came: dict[str, Group], went: dict[str, Group]) -> list[Sums]:
    bookings = Counter[str]()
    for currency, group in [*came.items(), *went.items()]:
        bookings[currency] += group.count
    ordered = sorted(bookings, key=lambda currency: (-bookings[currency], currency))
    return [Sums(currency, *_both_ways(came.get(currency), went.get(currency))) for currency in ordered]


def _both_ways(came: Group | None, went: Group | None) -> tuple[Number, Number, Number]:
    plus, minus = (cast("Number", group.value) if group else 0 for group in (came, went))
    return plus, minus, exact_sum([(plus, 1), (minus, 1)])

"""Which streams have amounts that add up."""

from dataclasses import replace

import pytest

from pdpp_server.console.sums import adds_up
from pdpp_server.model.streams import Aggregations, Field, Stream

AMOUNT = Field("amount", "number", {}, role="amount")
CURRENCY = Field("currency", "string", {})
BOOKINGS = Stream(
    "bookings",
    None,
    {"amount": AMOUNT, "currency": CURRENCY},
    ("id",),
    {},
    range_filters={"amount": ("gt", "lt")},
    aggregations=Aggregations(sum=("amount",), group_by=("currency",)),
)


def test_amounts_that_can_be_summed_in_both_directions_add_up() -> None:
    assert adds_up(BOOKINGS)


def test_amounts_without_a_currency_are_of_one_unit() -> None:
    assert adds_up(replace(BOOKINGS, fields={"amount": AMOUNT}, aggregations=Aggregations(sum=("amount",))))


@pytest.mark.parametrize(
    "stream",
    [
        replace(BOOKINGS, aggregations=Aggregations(sum=("amount",))),  # currencies would be mixed
        replace(BOOKINGS, aggregations=Aggregations(group_by=("currency",))),  # as a balance, of which none is declared
        replace(BOOKINGS, range_filters={"amount": ("gte", "lte")}),
        replace(BOOKINGS, range_filters={"amount": ("gt",)}),
        replace(BOOKINGS, fields={"amount": Field("amount", "number", {}), "currency": CURRENCY}),
    ],
)
def test_other_amounts_do_not(stream: Stream) -> None:
    assert not adds_up(stream)

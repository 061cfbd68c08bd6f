"""Aggregations of random ledgers under random grants, held against loops over the same records."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pdpp_server.errors import InvalidRequest
from pdpp_server.model.aggregates import Aggregation, Group
from pdpp_server.model.buckets import Buckets
from pdpp_server.model.queries import AggregateQuery, Condition, Granularity
from pdpp_server.model.times import instant, iso_exact
from tests.worlds.beneath import connection_of
from tests.worlds.ledger import CURRENT, LONG_NAME, SAVINGS, Ledger, booking

TIMES = [
    None, "no time", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z", "2026-09-30T22:00:00Z", "1800-01-01",
    "2026-09-30T23:59:59.999999Z", "2026-10-01T00:00:00Z", "2026-10-01T02:00:00+02:00", "1799-12-31T23:59:59Z",
    "1500-01-01T00:00:00Z", "2158-11-11T12:00:00Z", "2158-11-10T12:00:00Z", "9999-12-31T23:59:59Z",
    "2011-12-30T09:59:59Z", "2011-12-30T10:00:00Z",
]  # fmt: skip
RANGES: list[dict[str, Any]] = [
    {},
    {"time_range": {"since": "2026-09-30T23:00:00Z"}},
    {"time_range": {"until": "2026-10-25T01:00:00Z"}},
    {"time_range": {"since": "2026-10-25T00:00:00Z", "until": "2026-10-25T01:00:00Z"}},
    {"time_range": {"since": "1600-01-01T00:00:00Z", "until": "2158-11-11T12:00:01Z"}},
    {"resources": ["0", "1", "3", "none"]},
]
CONDITIONS: list[tuple[Condition, ...]] = [
    (),
    (Condition("currency", "eq", "CHF"),),
    (Condition("amount", "gte", "0"), Condition("booked_at", "lt", "2026-10-25T01:00:00Z")),
]

datas = st.fixed_dictionaries(
    {},
    optional={
        "booked_at": st.sampled_from(TIMES),
        "value_day": st.sampled_from(["2026-10-31", "2026-11-01", "2024-02-29"]),
        "amount": st.sampled_from([0.1, 0.2, 0.3, 1, 1.0, -2, 1e16, -1e16, 0, 7.25]),
        "cents": st.none() | st.integers(-(1 << 62), 1 << 62) | st.integers(0, 3),
        "currency": st.sampled_from([None, "", "CHF", "EUR", "é"]),
        "shop": st.sampled_from(["Kiosk", LONG_NAME, LONG_NAME + "a", LONG_NAME + "b", LONG_NAME[:128]]),
        "card": st.booleans(),
    },
)
ledgers = st.lists(datas, max_size=12)


@dataclass(frozen=True)
class Oracle:
    """The same questions, asked of a plain list of the visible records."""

    records: list[dict[str, Any]]

    def values(self, field: str) -> list[Any]:
        timed = field in {"booked_at", "value_day"}
        told = [instant(data.get(field)) if timed else data.get(field) for data in self.records]
        return [value for value in told if value is not None]

    def groups(self, field: str) -> list[tuple[Any, int]]:
        counted = Counter(self.values(field))
        ordered = sorted(counted.items(), key=lambda group: (-group[1], group[0]))
        missing = len(self.records) - counted.total()
        place = sum(1 for _, number in ordered if number >= missing)
        return [*ordered[:place], *([(None, missing)] if missing else []), *ordered[place:]]

    def periods(self, field: str, granularity: Granularity, zone: str) -> list[tuple[str | None, str | None, int]]:
        buckets = Buckets(granularity, ZoneInfo("UTC" if field == "value_day" else zone))
        told = Buckets(granularity, ZoneInfo(zone))
        moments = sorted(self.values(field))
        counted = Counter(buckets.of(moment) for moment in moments)
        return [
            (told.key(bucket), told.start(bucket._replace(offset=None) if field == "value_day" else bucket), number)
            for bucket, number in sorted(counted.items(), key=lambda item: (item[0].wall, -(item[0].offset or 0)))
        ]


def visible(data: dict[str, Any], narrowing: dict[str, Any]) -> bool:
    if "resources" in narrowing:
        return data["id"] in narrowing["resources"]
    at = instant(data.get("booked_at"))
    span = {end: instant(text) or 0 for end, text in narrowing.get("time_range", {}).items()}
    return not span or (at is not None and span.get("since", at) <= at < span.get("until", at + 1))


def passing(data: dict[str, Any], conditions: tuple[Condition, ...]) -> bool:
    compare: dict[str, Callable[[Any, Any], bool]] = {
        "eq": lambda a, b: a == b,
        "gte": lambda a, b: a >= b,
        "lt": lambda a, b: a < b,
    }
    for condition in conditions:
        value, asked = data.get(condition.field), condition.value
        told = (
            (instant(value), instant(asked))
            if condition.field == "booked_at"
            else (value, float(asked) if condition.field == "amount" else asked)
        )
        if told[0] is None or not compare[condition.comparison](*told):
            return False
    return True


def filled(home: str, accounts: dict[str, list[dict[str, Any]]]) -> Ledger:
    records = {
        name: [booking(str(number), **data) for number, data in enumerate(datas)] for name, datas in accounts.items()
    }
    return Ledger(Path(home) / "home", records)


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(ledgers, ledgers)
def test_every_answer_is_that_of_a_loop_over_the_visible_records(current: list[Any], savings: list[Any]) -> None:
    with TemporaryDirectory() as home:
        ledger = filled(home, {CURRENT: current, SAVINGS: savings})
        everything = [{"id": str(n), **data} for datas in (current, savings) for n, data in enumerate(datas)]
        for narrowing in RANGES:
            token = ledger.grant(**narrowing)
            shown = [data for data in everything if visible(data, narrowing)]
            for conditions in CONDITIONS:
                oracle = Oracle([data for data in shown if passing(data, conditions)])
                check(oracle, lambda query, token=token: ledger.reader(token).aggregate(query).value, conditions)
        ledger.close()


def check(oracle: Oracle, ask: Callable[[AggregateQuery], Aggregation], conditions: tuple[Condition, ...]) -> None:
    def answer(*asked: Any, **more: Any) -> Aggregation:
        found = ask(AggregateQuery("bookings", *asked, conditions=conditions, **more))
        assert found.records == len(oracle.records)
        return found

    assert answer("count").value == len(oracle.records)
    assert answer("sum", "cents").value == pytest.approx(sum(oracle.values("cents")), rel=1e-15)
    assert answer("sum", "amount").value == total(oracle.values("amount"))
    for field in ("amount", "cents"):
        assert answer("min", field).value == min(oracle.values(field), default=None)
        assert answer("max", field).value == max(oracle.values(field), default=None)
    latest = max(oracle.values("booked_at"), default=None)
    assert answer("max", "booked_at").value == (None if latest is None else iso_exact(latest))
    for field in ("currency", "shop", "card", "booked_at", "cents"):
        assert answer("count_distinct", field).value == len(set(oracle.values(field)))
    for field in ("currency", "shop", "card", "amount"):
        check_groups(answer("count", group_by=field, limit=3), oracle.groups(field), 3)
    for metric, field in (("sum", "amount"), ("min", "cents"), ("max", "booked_at"), ("count_distinct", "shop")):
        for by in ("currency", "card"):
            check_numbers(answer(metric, field, group_by=by, limit=2), oracle, 2)
        check_numbers(answer(metric, field, group_by_time="value_day", granularity="month", limit=1), oracle, 1)
    for field, zone in (("booked_at", "Europe/Zurich"), ("booked_at", "Pacific/Apia"), ("value_day", "America/Lima")):
        for granularity in get_args(Granularity):
            asked = {"group_by_time": field, "granularity": granularity, "time_zone": zone, "limit": 4}
            check_periods(answer("count", **asked), oracle.periods(field, granularity, zone), 4)


def check_groups(found: Aggregation, expected: list[tuple[Any, int]], limit: int) -> None:
    assert [(group.key, group.count) for group in found.groups or ()] == expected[:limit]
    assert found.other_count == sum(number for _, number in expected[limit:])


def total(values: Iterable[Any]) -> float:
    """Of numbers as they are written."""
    return float(sum(Fraction(repr(value)) for value in values))


def check_numbers(found: Aggregation, oracle: Oracle, limit: int) -> None:
    """A number for each group, by a loop over each of them."""
    query, groups = found.query, dict[Any, list[dict[str, Any]]]()
    for data in oracle.records:
        key = data.get(query.group_by or "value_day")
        groups.setdefault(key[:7] + "-01" if query.group_by_time and key else key, []).append(data)
    numbers = {key: number(found, Oracle(records)) for key, records in groups.items()}
    keys = sorted((key for key in groups if key is not None), key=lambda key: key) + [None] * (None in groups)
    if query.group_by_time:
        dated = [key for key in keys if key is not None][-limit:]
        wanted = [*dated, *[None] * (None in groups and len(dated) < limit)]
    else:
        known = sorted((key for key in keys if numbers[key] is not None), key=numbers.__getitem__)
        if query.metric != "min":  # from the largest on, and equal ones in the order of their keys
            known.sort(key=lambda key: keys.index(key))
            known.sort(key=lambda key: abs(numbers[key]) if query.metric == "sum" else numbers[key], reverse=True)
        wanted = [*known, *(key for key in keys if numbers[key] is None)][:limit]
    assert [group.key for group in found.groups or ()] == wanted
    assert [group.count for group in found.groups or ()] == [len(groups[key]) for key in wanted]
    told = [numbers[key] for key in wanted]
    shown = [value and iso_exact(value) for value in told] if query.field == "booked_at" else told
    assert [group.value for group in found.groups or ()] == shown
    left_out = [data for key, records in groups.items() if key not in wanted for data in records]
    assert found.other_count == len(left_out)
    assert found.other_value == (total(Oracle(left_out).values("amount")) if query.metric == "sum" else None)


def number(found: Aggregation, group: Oracle) -> Any:
    values = group.values(str(found.query.field))
    match found.query.metric:
        case "sum":
            return total(values)
        case "min":
            return min(values, default=None)
        case "max":
            return max(values, default=None)
        case _:
            return len(set(values))


def check_periods(found: Aggregation, expected: Iterable[tuple[Any, Any, int]], limit: int) -> None:
    recent = list(expected)[-limit:]
    told = [Group(key, number, start) for key, start, number in recent]
    missing = found.records - sum(number for _, _, number in expected)
    if missing and len(told) < limit:
        told.append(Group(None, missing))
    assert list(found.groups or ()) == told
    assert found.other_count == found.records - sum(group.count for group in told)


@pytest.fixture
def empty(tmp_path: Path) -> Iterable[Ledger]:
    ledger = Ledger(tmp_path / "home", {CURRENT: [], SAVINGS: []})
    yield ledger
    ledger.close()


def test_a_sum_beyond_64_bits_is_a_float_and_beyond_floats_a_refusal(empty: Ledger) -> None:
    most = (1 << 63) - 1
    empty.deliver(CURRENT, [booking(str(n), cents=most) for n in range(3)])
    empty.deliver(SAVINGS, [booking(str(n), amount=1.7e308) for n in range(2)])

    assert empty.reader().aggregate(AggregateQuery("bookings", "sum", "cents")).value.value == float(3 * most)
    with pytest.raises(InvalidRequest, match="larger than a number can be"):
        empty.reader().aggregate(AggregateQuery("bookings", "sum", "amount"))


def test_deleted_and_changed_records_count_as_they_are_now(empty: Ledger) -> None:
    empty.deliver(CURRENT, [booking("a", "2026-09-30T12:00:00Z", amount=1), booking("b", "2026-10-01T12:00:00Z")])
    empty.deliver(CURRENT, [booking("a", "2026-10-02T12:00:00Z", amount=2)])
    empty.deliver(CURRENT, [booking("b", "2026-10-01T12:00:00Z")._replace(key="b", data=None)])
    by_month = AggregateQuery("bookings", group_by_time="booked_at", granularity="month")

    assert empty.reader().aggregate(AggregateQuery("bookings", "sum", "amount")).value.value == 2
    assert [(g.key, g.count) for g in empty.reader().aggregate(by_month).value.groups or ()] == [("2026-10-01", 1)]


@pytest.mark.sqlite("counts the steps of SQLite")
@pytest.mark.parametrize("narrowing", [{}, {"time_range": {"since": "2026-01-01T00:00:00Z"}}], ids=["whole", "bounded"])
def test_counting_months_is_no_more_work_where_days_have_more_records(empty: Ledger, narrowing: dict[str, Any]) -> None:
    days = [f"2026-{month:02}-{day}T12:00:00Z" for month in range(2, 12) for day in (10, 15, 20)]
    by_month = AggregateQuery(
        "bookings", group_by_time="booked_at", granularity="month", time_zone="Europe/Zurich", limit=100
    )
    token = empty.grant(**narrowing)

    def steps_for(copies: int) -> int:
        empty.deliver(CURRENT, [booking(f"{day}-{n}", day) for day in days for n in range(copies)])
        steps = 0

        def step() -> bool:
            nonlocal steps
            steps += 1
            return False

        connection = connection_of(empty.services.database.reading())
        connection.set_progress_handler(step, 1, id="steps")
        counted = empty.reader(token).aggregate(by_month).value
        connection.set_progress_handler(None, id="steps")
        assert counted.records == copies * len(days)
        return steps

    assert steps_for(1) >= steps_for(40)

"""The aggregate tool: the number or a small table, what it leaves out, and the records behind it."""

import re
from typing import Any

import jsonschema_rs
import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pdpp_server.errors import InvalidRequest
from pdpp_server.evidence.text import byte_len
from pdpp_server.mcp.tool import ToolResult
from pdpp_server.mcp.tools.aggregate import AGGREGATE
from pdpp_server.model.aggregates import Aggregation, Group, Scalar
from pdpp_server.model.queries import AggregateQuery, Condition
from pdpp_server.model.records import Warned
from tests.requirements import requirement
from tests.unit.mcp.fakes import FakeReader, called
from tests.unit.mcp.hostile import LONG, TEXTS, is_visible

ANY = AggregateQuery("bookings")
KEYS = st.one_of(st.none(), st.booleans(), st.integers(-(1 << 63), (1 << 63) - 1), TEXTS, LONG)
COUNTS = st.integers(0, 10**12)
GROUPS = st.lists(st.builds(Group, KEYS, COUNTS), max_size=100)
SLOW = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def ask(
    groups: list[Group] | None = None, *, value: Scalar | None = None, records: int = 7, other: int = 0, **asked: Any
) -> ToolResult:
    kept = "latest" if "group_by_time" in asked else "largest"
    found = Aggregation(ANY, records, value, None if groups is None else tuple(groups), other, kept)
    return called(AGGREGATE, FakeReader(aggregation=found), {"stream": "bookings", "metric": "count", **asked})


@requirement("mcp.aggregate.number")
@pytest.mark.parametrize(
    ("asked", "value", "said"),
    [
        ({}, 1204, "count of bookings = 1204"),
        ({"filter": {"card": True}}, 3, "count of bookings that pass the filter = 3"),
        ({"metric": "sum", "field": "amount"}, -2.5, "sum of amount in bookings = -2.5, over 7 records"),
        ({"metric": "max", "field": "day"}, "2026-11-01", 'max of day in bookings = "2026-11-01", over 7 records'),
        ({"metric": "min", "field": "day"}, None, "min of day in bookings = no value, over 7 records"),
    ],
)
def test_a_number_is_one_line(asked: dict[str, Any], value: Scalar | None, said: str) -> None:
    result = ask(value=value, **asked)

    assert result.text.split("\n")[0] == said
    assert result.structured["data"]["value"] == value
    assert result.structured["request_id"] == "req_aggregate"


@requirement("mcp.aggregate.groups", "mcp.aggregate.other-count")
def test_groups_read_like_this() -> None:
    result = ask(
        [Group("EUR", 3), Group('C"H', 2), Group(True, 1), Group(None, 1)], other=5, group_by="currency", limit=4
    )

    assert result.text.split("\n") == [
        "count of bookings by currency: the largest 4 groups, largest first, 7 records; "
        "other_count=5 records in groups not listed",
        '"EUR" 3 · "C\\"H" 2 · true 1 · (no value) 1',
        'more: aggregate {"stream":"bookings","metric":"count","group_by":"currency","limit":100}',
        'next: query_records {"stream":"bookings","filter":{"currency":"EUR"}}',
    ]
    assert [call["tool"] for call in result.structured["next"]] == ["query_records", "aggregate"]
    assert result.structured["data"]["other_count"] == 5


@pytest.mark.parametrize(
    ("sums", "said"),
    [
        ([5, 3, 0], "largest first"),
        ([-7, 5, -3], "largest first, whatever their sign"),
        ([-7, -5], "largest first, whatever their sign"),
        ([5, -3, -7], "largest first"),
        ([-7, 3, 5], "smallest first"),
    ],
)
def test_sums_say_in_which_order_they_are(sums: list[int], said: str) -> None:
    groups = tuple(Group(f"shop {value}", 1, None, value) for value in sums)
    query = AggregateQuery("bookings", "sum", "amount", "shop")
    found = Aggregation(query, 7, None, groups, 0, "largest")

    asked = {"stream": "bookings", "metric": "sum", "field": "amount", "group_by": "shop"}
    result = called(AGGREGATE, FakeReader(aggregation=found), asked)

    assert f", {said}, 7 records" in result.text.split("\n")[0]


def test_periods_come_latest_first_in_a_named_zone_and_the_largest_can_be_listed() -> None:
    months = [
        Group("2026-09-01", 1, "2026-09-01T00:00:00+02:00"),
        Group("2026-10-01", 3, "2026-10-01T00:00:00+02:00"),
        Group(None, 2),
    ]

    text = ask(months, group_by_time="at", granularity="month", time_zone="Europe/Zurich", filter={"card": True}).text

    assert text.split("\n") == [
        "count of bookings that pass the filter by month of at (Europe/Zurich): all 3 groups, latest first, 7 records",
        "2026-10-01 3 · 2026-09-01 1 · (no value) 2",
        'next: query_records {"stream":"bookings","filter":{"card":true,"at":{"gte":"2026-10-01T00:00:00+02:00",'
        '"lt":"2026-11-01T00:00:00+01:00"}}}',
    ]


@pytest.mark.parametrize(
    ("granularity", "key", "start", "until"),
    [
        ("minute", "2026-10-25T02:59", "2026-10-25T02:59:00+02:00", "2026-10-25T03:00:00+02:00"),
        ("hour", "2026-10-25T02:00", "2026-10-25T02:00:00+02:00", "2026-10-25T03:00:00+02:00"),
        ("day", "2026-10-25", "2026-10-25T00:00:00+02:00", "2026-10-26T00:00:00+01:00"),
        ("week", "2026-10-19", "2026-10-19T00:00:00+02:00", "2026-10-26T00:00:00+01:00"),
        ("quarter", "2026-10-01", "2026-10-01T00:00:00+02:00", "2027-01-01T00:00:00+01:00"),
        ("year", "2026-01-01", "2026-01-01T00:00:00+01:00", "2027-01-01T00:00:00+01:00"),
    ],
)
def test_a_period_ends_where_the_next_begins(granularity: str, key: str, start: str, until: str) -> None:
    result = ask([Group(key, 1, start)], group_by_time="at", granularity=granularity, time_zone="Europe/Zurich")

    assert result.structured["next"][0]["arguments"]["filter"] == {"at": {"gte": start, "lt": until}}


def test_of_sums_by_month_the_largest_is_opened_by_plain_days() -> None:
    months = [
        Group("2026-09-01", 1, "2026-09-01T00:00:00+00:00", value=-90.5),
        Group("2026-10-01", 3, "2026-10-01T00:00:00+00:00", value=12),
        Group(None, 2, value=-400),
    ]

    result = ask(months, metric="sum", field="amount", group_by_time="at", granularity="month")

    assert result.structured["next"][0]["arguments"]["filter"] == {"at": {"gte": "2026-09-01", "lt": "2026-10-01"}}


@pytest.mark.parametrize(
    "group", [Group("9999-12-01", 1, "9999-12-01T00:00:00+00:00"), Group("2026-10-01", 1), Group(None, 1)]
)
def test_a_group_that_no_filter_describes_leads_to_the_schema(group: Group) -> None:
    result = ask([group], group_by_time="at", granularity="month")

    assert result.structured["next"] == [{"tool": "schema", "arguments": {"stream": "bookings"}}]


def test_west_of_greenwich_no_filter_is_printed_that_would_shift_plain_dates() -> None:
    month = Group("2026-10-01", 3, "2026-10-01T00:00:00-04:00")

    result = ask([month], group_by_time="at", granularity="month", time_zone="America/New_York")

    assert result.structured["next"][0]["tool"] == "schema"


@requirement("mcp.budget.text", "mcp.budget.structured", "mcp.budget.one-whole-item", "mcp.tools.output-schemas")
@SLOW
@given(GROUPS, COUNTS, st.sampled_from(["group_by", "group_by_time"]), st.sampled_from(["x", "x" * 2500]))
def test_both_channels_keep_their_budget_over_hostile_keys(
    groups: list[Group], other: int, kind: str, word: str
) -> None:
    period = {"granularity": "day"} if kind == "group_by_time" else {}
    asked: dict[str, Any] = {"filter": {"shop": word}, kind: "shop", **period}
    total = sum(group.count for group in groups) + other
    result = ask(groups, records=total, other=other, **asked)

    assert byte_len(result.text) <= 2400
    assert is_visible(result.text)
    assert len(orjson.dumps(result.structured)) <= 10_000
    assert jsonschema_rs.is_valid(dict(AGGREGATE.output_schema), result.structured)
    data = result.structured["data"]
    assert sum(group["count"] for group in data["groups"]) + data["other_count"] == total
    assert bool(data["groups"]) == bool(groups)
    unquoted = re.sub(r'"(?:[^"\\]|\\.)*"', "", result.text)
    assert "evil" not in unquoted
    for line in result.text.split("\n")[2:]:
        assert line.startswith(("more: ", "rest: ", "next: "))


@SLOW
@given(st.one_of(TEXTS, LONG))
def test_a_long_value_is_clipped_and_says_how_long_it_is(value: str) -> None:
    result = ask(value=value, metric="max", field="shop")

    data = result.structured["data"]
    assert byte_len(result.text) <= 2400
    assert len(orjson.dumps(result.structured)) <= 10_000
    assert data["value"] == value if "total_chars" not in data else data["total_chars"] == len(value)
    assert ("(" in re.sub(r'"(?:[^"\\]|\\.)*"', "", result.text.split("\n")[0])) == (len(value) > 200)


@requirement("mcp.aggregate.groups", "ev.clip.marked")
def test_keys_are_clipped_before_a_group_is_left_out() -> None:
    clipped = ask([Group(f"{n:03} " * 99, 1) for n in range(100)], group_by="shop", limit=100)
    silent = [Group("\x00" * 900, 1) for _ in range(100)]
    left_out = ask(silent, other=5, group_by="shop", limit=99, filter={"shop": "x" * 2500})

    groups = clipped.structured["data"]["groups"]
    assert [group["total_chars"] for group in groups] == [396] * 100
    assert all(group["key"].endswith("…") for group in groups)
    assert "the first" in clipped.text.split("\n")[0]
    assert "(396 characters) 1" in clipped.text
    assert [warned["code"] for warned in left_out.structured["data"]["meta"]["warnings"]] == ["groups_shortened"]
    kept = len(left_out.structured["data"]["groups"])
    assert (kept, left_out.structured["data"]["other_count"]) == (kept, 105 - kept)


def test_periods_for_which_the_text_has_no_room_are_reached_by_a_filter() -> None:
    minutes = [
        Group(f"2026-10-25T{n // 60:02}:{n % 60:02}", 10**9, f"2026-10-25T{n // 60:02}:{n % 60:02}:00Z")
        for n in range(100)
    ]

    text = ask(minutes, group_by_time="at", granularity="minute", limit=100).text

    head, items, rest, _ = text.split("\n")
    shown = items.split(" · ")
    assert f"all 100 groups, the first {len(shown)} of them here, latest first" in head
    oldest = shown[-1].split(" ")[0]
    assert rest == f'rest: narrow with filter, as {{"at":{{"lt":"{oldest}:00Z"}}}} where schema shows range'


@pytest.mark.parametrize("groups", [None, []])
def test_nothing_is_said_plainly_with_a_next_step(groups: list[Group] | None) -> None:
    grouped: dict[str, Any] = {} if groups is None else {"group_by": "shop"}

    result = ask(groups, value=0 if groups is None else None, records=0, filter={"shop": "x"}, **grouped)

    said = "count of bookings that pass the filter" + (" = 0" if groups is None else " by shop: no groups, 0 records.")
    assert result.text.split("\n")[0] == said
    search = 'search {"query":"x","streams":["bookings"]} finds words inside values'
    assert result.text.split("\n")[-1].startswith(f"next: {search}; a filter compares whole values, as they are stored")
    assert result.structured["next"] == [{"tool": "search", "arguments": {"query": "x", "streams": ["bookings"]}}]


def test_a_warning_of_the_server_is_shown() -> None:
    found = Aggregation(ANY, 7, 7, warnings=(Warned("stale", "Old numbers."),))

    result = called(AGGREGATE, FakeReader(aggregation=found), {"stream": "bookings", "metric": "count"})

    assert 'warning stale: "Old numbers."' in result.text


@requirement("mcp.filters.encoded")
def test_every_argument_reaches_the_read() -> None:
    reader = FakeReader(aggregation=Aggregation(ANY, 0, None, ()))
    asked = {"group_by_time": "at", "granularity": "week", "time_zone": "Asia/Kathmandu", "limit": 3}

    called(
        AGGREGATE,
        reader,
        {"stream": "b", "metric": "count", **asked, "filter": {"a": {"gt": 1.5}}, "connection_id": "c"},
    )
    called(AGGREGATE, reader, {"stream": "b", "metric": "sum", "field": "amount"})

    conditions = (Condition("a", "gt", "1.5"),)
    first = AggregateQuery("b", "count", None, None, "at", "week", "Asia/Kathmandu", 3, conditions, "c")
    assert reader.asked == [first, AggregateQuery("b", "sum", "amount")]


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"metric": "sum"}, "needs a field"),
        ({"metric": "count", "field": "a"}, "takes no field"),
        ({"metric": "count", "group_by_time": "a"}, "granularity"),
        ({"metric": "count", "limit": 3}, "group_by"),
        ({"metric": "count", "group_by_time": "a", "granularity": "day", "time_zone": "Mars"}, "zone"),
    ],
)
def test_arguments_that_exclude_each_other_are_refused_before_any_read(asked: dict[str, Any], why: str) -> None:
    reader = FakeReader()

    with pytest.raises(InvalidRequest, match=why):
        called(AGGREGATE, reader, {"stream": "b", **asked})
    assert reader.asked == []

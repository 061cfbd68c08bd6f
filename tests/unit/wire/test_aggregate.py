"""Aggregations over the wire."""

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp_server.errors import InvalidFilter, InvalidRequest, SourceUnavailable
from pdpp_server.model.aggregates import Aggregation, Group
from pdpp_server.model.queries import AggregateQuery, Condition, Granularity
from pdpp_server.model.records import Warned
from pdpp_server.wire.aggregate import decode, decode_query, encode, encode_query
from pdpp_server.wire.params import Params

BY_MONTH = AggregateQuery("bookings", group_by_time="at", granularity="month", time_zone="Europe/Zurich", limit=2)


def query_of(raw: str) -> AggregateQuery:
    return decode_query(Params.parse(raw.encode("ascii")), stream="bookings")


words = st.text(st.characters(exclude_categories=["Cs"]), max_size=9)
names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="[]"), min_size=1, max_size=9)
conditions = st.lists(
    st.builds(Condition, names, st.sampled_from(["eq", "gte", "gt", "lte", "lt"]), words),
    max_size=3,
    unique_by=lambda condition: (condition.field, condition.comparison),
).map(tuple)
common: dict[str, Any] = {
    "conditions": conditions,
    "connection_id": st.none() | st.just("cin_a"),
    "connector_key": st.none() | st.just("ledger"),
}
stream, limits = st.just("bookings"), st.integers(1, 100)
plain = st.builds(AggregateQuery, stream, st.sampled_from(["sum", "min", "max", "count_distinct"]), names, **common)
numbered = st.builds(
    AggregateQuery,
    stream,
    st.sampled_from(["sum", "min", "max", "count_distinct"]),
    names,
    group_by=names,
    limit=limits,
    **common,
)
grouped = st.builds(AggregateQuery, stream, group_by=st.none() | names, limit=st.just(10), **common) | st.builds(
    AggregateQuery, stream, group_by=names, limit=limits, **common
)
timed = st.builds(
    AggregateQuery,
    stream,
    group_by_time=names,
    granularity=st.sampled_from(get_args(Granularity)),
    time_zone=st.sampled_from(["UTC", "Europe/Zurich", "Etc/GMT+5"]),
    limit=limits,
    **common,
)
scalars = st.none() | st.booleans() | st.integers(-(1 << 63), 1 << 63) | st.floats(allow_nan=False) | words
groups = st.lists(st.builds(Group, scalars, st.integers(0), st.none() | words), max_size=4).map(tuple)
warnings = st.just(()) | st.just((Warned("deprecated_alias_used", "Old.", param="connector_instance_id"),))
kept = st.sampled_from(["largest", "latest", "smallest", None])
valued = st.lists(st.builds(Group, scalars, st.integers(0), st.none() | words, scalars), max_size=4).map(tuple)


def adding_up(query: AggregateQuery, groups: tuple[Group, ...], others: int, **said: Any) -> Aggregation:
    """Each record is in one group."""
    return Aggregation(query, others + sum(group.count for group in groups), None, groups, others, **said)


aggregations = (
    st.builds(adding_up, timed, groups, st.integers(0), kept=kept, warnings=warnings)
    | st.builds(adding_up, numbered, valued, st.integers(0), kept=kept, other_value=st.none() | st.integers())
    | st.builds(Aggregation, plain, st.integers(0), scalars, warnings=warnings)
)


@given(plain | grouped | timed | numbered)
def test_a_query_survives_the_wire(query: AggregateQuery) -> None:
    assert query_of(encode_query(query).partition("?")[2]) == query


@given(aggregations)
def test_an_aggregation_survives_the_wire(aggregation: Aggregation) -> None:
    assert decode(encode(aggregation, "/v1/x"), aggregation.query) == aggregation


def test_groups_are_told_with_their_limit_and_what_was_left_out() -> None:
    counted = (Group("2026-09-01", 800, "2026-09-01T00:00:00+02:00"), Group(None, 4))

    assert encode(Aggregation(BY_MONTH, 900, groups=counted, other_count=96), "/v1/self") == {
        "object": "aggregation",
        "stream": "bookings",
        "metric": "count",
        "field": None,
        "group_by": None,
        "group_by_time": "at",
        "granularity": "month",
        "time_zone": "Europe/Zurich",
        "filtered_record_count": 900,
        "approximate": False,
        "groups": [
            {"key": "2026-09-01", "count": 800, "start": "2026-09-01T00:00:00+02:00"},
            {"key": None, "count": 4},
        ],
        "limit": 2,
        "other_count": 96,
        "links": {"self": "/v1/self"},
        "meta": {"count": {"kind": "none"}, "warnings": []},
    }


def test_a_value_stands_instead_of_groups() -> None:
    body = encode(Aggregation(AggregateQuery("bookings", "max", "amount"), 5, None), "/v1/self")

    assert body["value"] is None
    assert {"groups", "limit", "other_count"}.isdisjoint(body)
    assert (body["time_zone"], body["granularity"]) == (None, None)


@pytest.mark.parametrize(
    ("raw", "param"),
    [
        ("", "metric"),
        ("metric=", "metric"),
        ("metric=avg", "metric"),
        ("metric=count&metric=count", "metric"),
        ("metric[]=count", "metric"),
        ("metric=count&field=a", "field"),
        ("metric=sum", "field"),
        ("metric=sum&field=", "field"),
        ("metric=count&group_by=a&group_by_time=b&granularity=day", "group_by_time"),
        ("metric=count&group_by=", "group_by"),
        ("metric=count&group_by=a&group_by=b", "group_by"),
        ("metric=count&group_by_time=a", "granularity"),
        ("metric=count&group_by_time=a&granularity=decade", "granularity"),
        ("metric=count&granularity=day", "granularity"),
        ("metric=count&group_by=a&granularity=day", "granularity"),
        ("metric=count&time_zone=UTC", "time_zone"),
        ("metric=count&group_by=a&time_zone=UTC", "time_zone"),
        *(
            (f"metric=count&group_by_time=a&granularity=day&time_zone={zone}", "time_zone")
            for zone in ("", "Mars", "../UTC", "localtime", "Europe", "%2B01:00", "UTC%00")
        ),
        ("metric=count&limit=5", "limit"),
        ("metric=sum&field=a&limit=5", "limit"),
        *((f"metric=count&group_by=a&limit={limit}", "limit") for limit in ("0", "101", "-1", "x", "1.5", "")),
        ("metric=count&order=desc", "order"),
        ("metric=count&cursor=x", "cursor"),
        ("metric=count&filter=x", "filter"),
    ],
)
def test_a_bad_parameter_is_refused_by_name(raw: str, param: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        query_of(raw)

    assert (refused.value.code, refused.value.param) == ("invalid_request", param)


def test_a_filter_of_another_shape_is_refused() -> None:
    with pytest.raises(InvalidFilter):
        query_of("metric=count&filter[a][like]=b")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"filtered_record_count": "5"},
        {"filtered_record_count": 5, "groups": [{"key": "a"}]},
        {"filtered_record_count": 5, "groups": [{"key": {}, "count": 1}]},
    ],
)
def test_an_answer_of_another_shape_is_the_servers_fault(body: dict[str, Any]) -> None:
    with pytest.raises(SourceUnavailable):
        decode(body, BY_MONTH)

"""Windows over the wire."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp_server.errors import InvalidFieldPath, InvalidRequest, InvalidWindow, SourceUnavailable
from pdpp_server.model.queries import WindowQuery
from pdpp_server.model.records import RecordId
from pdpp_server.model.text import FieldWindow
from pdpp_server.wire.params import Params
from pdpp_server.wire.read_record_field import decode, decode_query, encode, encode_query


def query_of(raw: str) -> WindowQuery:
    return decode_query(Params.parse(raw.encode("ascii")), stream="messages", key="m1")


@st.composite
def windows(draw: st.DrawFn) -> FieldWindow:
    text = draw(st.text(st.characters(exclude_categories=["Cs"]), max_size=20))
    start, rest = draw(st.integers(0, 50)), draw(st.integers(0, 50))
    match = (start, start + 1) if text and draw(st.booleans()) else None
    clamped_from = draw(st.none() | st.integers(16_385, 99_999))
    total = start + len(text) + rest
    return FieldWindow(
        RecordId("cin_a", "messages", "a/b"), "text", "string", text, start, total, 40, match, clamped_from
    )


queries = st.builds(
    WindowQuery,
    st.just("messages"),
    st.just("m1"),
    st.just("text"),
    st.none() | st.just("cin_a"),
    offset=st.integers(0, 10**9),
    limit=st.integers(1, 16_384),
) | st.builds(
    WindowQuery,
    st.just("messages"),
    st.just("m1"),
    st.just("text"),
    limit=st.integers(1, 16_384),
    q=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=9),
    before=st.integers(0, 8192),
)


@given(windows())
def test_a_window_survives_the_wire(window: FieldWindow) -> None:
    assert decode(encode(window, "/v1/x")) == window


@given(queries)
def test_a_query_survives_the_wire(query: WindowQuery) -> None:
    assert query_of(encode_query(query).partition("?")[2]) == query


def test_a_window_in_the_middle_says_where_it_stands() -> None:
    window = FieldWindow(RecordId("cin_a", "messages", "a/b"), "text", "string", "x" * 10, 20, 100, 10, (21, 23))

    assert encode(window, "/v1/self") == {
        "object": "field_window",
        "stream": "messages",
        "record_id": "a/b",
        "connection_id": "cin_a",
        "url": "/v1/streams/messages/records/a%2Fb/field-window",
        "field": {"path": "text", "type": "string", "text_like": True},
        "window": {
            "text": "x" * 10,
            "total_chars": 100,
            "start_chars": 20,
            "end_chars": 30,
            "limit_chars": 10,
            "complete": False,
            "has_more": True,
            "match_start_chars": 21,
            "match_end_chars": 23,
            "next_offset_chars": 30,
            "previous_offset_chars": 10,
        },
        "links": {"self": "/v1/self"},
        "meta": {"count": {"kind": "none"}, "warnings": []},
    }


def test_a_lowered_limit_is_warned_of_with_both_numbers() -> None:
    window = FieldWindow(RecordId("cin_a", "messages", "m1"), "text", "string", "x", 0, 1, 16_384, None, 20_000)
    (warned,) = encode(window, "/v1/self")["meta"]["warnings"]

    assert (warned["code"], warned["param"]) == ("limit_clamped", "limit_chars")
    assert warned["detail"] == {"requested_limit": 20_000, "max_limit": 16_384}


@pytest.mark.parametrize(
    ("raw", "offset", "limit", "before", "clamped_from"),
    [
        ("", 0, 4096, 0, None),
        ("&offset_chars=7&limit_chars=9", 7, 9, 0, None),
        ("&limit_chars=16384", 0, 16_384, 0, None),
        ("&limit_chars=16385", 0, 16_384, 0, 16_385),
        ("&q=fee", 0, 4096, 0, None),
        ("&q=fee&before_chars=100", 0, 103, 100, None),
        ("&q=fee&before_chars=100&after_chars=50", 0, 153, 100, None),
        ("&q=fee&before_chars=100&limit_chars=500", 0, 500, 100, None),
        ("&q=fee&before_chars=100&after_chars=50&limit_chars=500", 0, 153, 100, None),
        ("&q=fee&after_chars=50&limit_chars=20", 0, 20, 0, None),
        ("&q=fee&before_chars=8192&after_chars=8192", 0, 16_384, 8192, 16_387),
    ],
)
def test_numbers_place_a_window(raw: str, offset: int, limit: int, before: int, clamped_from: int | None) -> None:
    query = query_of(f"field=text{raw}")

    assert (query.offset, query.limit, query.before, query.clamped_from) == (offset, limit, before, clamped_from)


@pytest.mark.parametrize(
    ("raw", "param"),
    [
        ("offset_chars=-1", "offset_chars"),
        ("offset_chars=x", "offset_chars"),
        ("limit_chars=0", "limit_chars"),
        ("limit_chars=-5", "limit_chars"),
        ("limit_chars=1.5", "limit_chars"),
        ("q=", "q"),
        ("q=fee&offset_chars=0", "offset_chars"),
        ("before_chars=1", "before_chars"),
        ("after_chars=1", "after_chars"),
        ("q=fee&before_chars=8193", "before_chars"),
        ("q=fee&after_chars=8193", "after_chars"),
        ("q=fee&after_chars=-1", "after_chars"),
    ],
)
def test_bad_numbers_and_mixed_selectors_are_refused_by_name(raw: str, param: str) -> None:
    with pytest.raises(InvalidWindow) as refused:
        query_of(f"field=text&{raw}")

    assert refused.value.param == param


@pytest.mark.parametrize("raw", ["", "field=", "field=a%00b"])
def test_a_window_needs_a_field(raw: str) -> None:
    with pytest.raises(InvalidFieldPath) as refused:
        query_of(raw)

    assert refused.value.param == "field"


def test_another_parameter_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="No parameter is called 'fields'"):
        query_of("field=text&fields=text")


def test_a_window_without_a_place_is_the_servers_fault() -> None:
    with pytest.raises(SourceUnavailable):
        decode({"stream": "messages", "record_id": "m1", "field": {"path": "text"}, "window": {"text": "x"}})

"""The next step as a tool call that can be copied."""

import pytest

from pdpp_server.evidence.calls import (
    changes_from,
    fetch_of,
    filter_of,
    read_at,
    read_from,
    records_around,
    records_from,
    records_where,
    schema_of,
    search_from,
    words_of,
)
from pdpp_server.model.queries import Condition, SearchQuery


def test_a_call_is_its_tool_and_its_arguments_on_one_line() -> None:
    assert fetch_of("cin_1/messages:1").text == 'fetch {"id":"cin_1/messages:1"}'
    assert fetch_of("cin_1/messages:1", ("a", "b")).text == 'fetch {"id":"cin_1/messages:1","fields":["a","b"]}'
    assert schema_of().text == "schema {}"
    assert schema_of("messages", detail="full").arguments == {"stream": "messages", "detail": "full"}


@pytest.mark.parametrize(("start", "offset"), [(0, 0), (200, 0), (201, 1), (1000, 800)])
def test_a_window_begins_a_little_before_the_match_and_never_before_the_text(start: int, offset: int) -> None:
    assert read_at("h", "body", start).arguments["offset_chars"] == offset


def test_a_window_goes_on_by_its_plain_offset() -> None:
    assert read_from("h", "body", 500).arguments == {"id": "h", "field_path": "body", "cursor": "500"}


def test_the_same_search_is_asked_with_everything_that_was_asked() -> None:
    query = SearchQuery("ferry", ("messages",), conditions=(Condition("from", "eq", "Ann"),))
    arguments = dict(search_from(query, "c2").arguments)
    assert (arguments["query"], arguments["streams"], arguments["filter"]) == ("ferry", ["messages"], {"from": "Ann"})
    assert arguments["cursor"] == "c2"


def test_two_bounds_of_one_field_are_one_range() -> None:
    conditions = (Condition("at", "gte", "1"), Condition("at", "lt", "2"), Condition("who", "eq", "Ann"))
    assert filter_of(conditions) == {"at": {"gte": "1", "lt": "2"}, "who": "Ann"}
    assert filter_of(()) == {}


@pytest.mark.parametrize(
    ("conditions", "query"),
    [
        ((Condition("who", "eq", "Ann"),), "Ann"),
        ((Condition("at", "gte", "yesterday"), Condition("who", "eq", "Ann")), "Ann"),
        ((Condition("number", "eq", "12"),), None),  # no word to look for
        ((Condition("who", "eq", "x" * 101),), None),
        ((), None),
    ],
)
def test_words_that_a_filter_compared_are_what_a_search_looks_for(
    conditions: tuple[Condition, ...], query: str | None
) -> None:
    call = words_of("messages", None, conditions)
    assert (call.arguments if call else None) == ({"query": query, "streams": ["messages"]} if query else None)


def test_a_page_goes_on_with_its_cursor_instead_of_what_began_it() -> None:
    asked = {"stream": "messages", "cursor": "c1", "changes_since": "b1", "limit": 3}
    assert records_from(asked, "c2").arguments == {"stream": "messages", "limit": 3, "cursor": "c2"}
    assert changes_from(asked, "b2").arguments == {"stream": "messages", "changes_since": "b2", "limit": 3}
    assert records_around({"stream": "messages"}, "h", "c2").arguments == {
        "stream": "messages",
        "around": "h",
        "cursor": "c2",
    }


def test_the_records_of_a_group_pass_its_condition_and_those_of_the_question() -> None:
    asked = {"stream": "payments", "metric": "sum", "filter": {"shop": "A"}}
    assert records_where(asked, {"month": "May"}).arguments == {
        "stream": "payments",
        "filter": {"shop": "A", "month": "May"},
    }
    assert records_where({"stream": "payments", "metric": "count"}, {}).arguments == {"stream": "payments"}

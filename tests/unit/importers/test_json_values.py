"""What strangers' JSON holds, taken as what it should be."""

import pytest

from pdpp_server.importers.formats import json_values
from pdpp_server.importers.formats.json_values import (
    clipped,
    joined,
    line_of,
    list_in,
    list_of,
    number_in,
    object_in,
    object_of,
    text_in,
    text_of,
    time_in,
    time_of,
    whole_number,
    without_gaps,
    written_out,
)
from tests.requirements import requirement


def test_what_is_of_another_kind_is_nothing() -> None:
    assert (text_of(7), list_of({}), object_of([])) == ("", [], {})
    assert (text_of("a\0"), list_of([1]), object_of({"a": 1})) == ("a\ufffd", [1], {"a": 1})


def test_a_member_is_taken_as_what_it_should_be() -> None:
    source = {"text": "a\0", "number": 7, "list": [1], "object": {"a": 1}, "time": 1}

    assert (text_in(source, "text"), text_in(source, "number"), text_in(source, "none")) == ("a\ufffd", "", "")
    assert (number_in(source, "number"), number_in(source, "text"), number_in(source, "none")) == (7, None, None)
    assert (list_in(source, "list"), list_in(source, "object"), list_in(source, "none")) == ([1], [], [])
    assert (object_in(source, "object"), object_in(source, "list"), object_in(source, "none")) == ({"a": 1}, {}, {})
    assert (time_in(source, "time"), time_in(source, "list")) == (time_of(1), None)


def test_what_says_nothing_is_not_joined() -> None:
    assert joined(", ", ("a", "", "b")) == "a, b"


@pytest.mark.parametrize(
    ("value", "number"),
    [(0, 0), ((1 << 53) - 1, (1 << 53) - 1), (1 << 53, None), (-1, None), (True, None), (1.0, None), ("1", None)],
)
def test_a_number_is_whole_and_one_that_json_can_carry(value: object, number: int | None) -> None:
    assert whole_number(value) == number


@requirement("imp.files.garbage")
@pytest.mark.parametrize(
    ("value", "time"),
    [
        ("2026-03-01T10:00:00+01:00", "2026-03-01T09:00:00.000Z"),
        ("yesterday", None),
        (1767614400.5, "2026-01-05T12:00:00.500Z"),
        (1767614400500, "2026-01-05T12:00:00.500Z"),
        (253402300799, "1978-01-11T21:31:40.799Z"),  # so many can only be milliseconds
        (0, None),
        (-1, None),
        (1e300, None),
        (float("nan"), None),
        (True, None),
        (None, None),
    ],
)
def test_a_time_is_told_in_seconds_or_milliseconds_or_as_text(value: object, time: str | None) -> None:
    assert time_of(value) == time


def test_a_title_is_one_line_and_a_cut_is_marked() -> None:
    assert line_of("  two\n\tlines ") == "two lines"
    assert line_of("x" * 120) == "x" * 120
    assert line_of("x" * 121) == "x" * 119 + "…"
    assert line_of("word " * 100) == ("word " * 24).rstrip()[:119] + "…"


def test_a_text_that_is_too_long_says_how_much_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_values, "TEXT_CHARS", 5)
    assert clipped(" 12345 ") == "12345"
    assert clipped("1234567") == "12345\n[2 more characters were left out]"


def test_a_value_is_written_out_as_text_or_as_json() -> None:
    deep: list[object] = []
    for _ in range(1000):
        deep = [deep]
    assert [written_out(one) for one in ("a", 0, False, {"a": [1]}, None, {}, [], deep)] == [
        "a",
        "0",
        "false",
        '{"a":[1]}',
        "",
        "",
        "",
        "",
    ]


def test_fields_of_which_nothing_is_known_are_left_out_and_zero_is_known() -> None:
    assert without_gaps({"a": None, "b": "", "c": [], "d": 0, "e": False, "f": {}}) == {"d": 0, "e": False, "f": {}}

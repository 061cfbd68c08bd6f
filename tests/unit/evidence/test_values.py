"""One value of a record, on one line or as much of it as there is room for."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pdpp_server.evidence.values import are_shown_whole, by_importance, clipped_value, readable_text, shown_value

SINGLE = st.one_of(st.none(), st.booleans(), st.integers(-(2**63), 2**63), st.floats(), st.text())


@pytest.mark.parametrize(
    ("value", "chars", "text"),
    [
        ("Hello", 5, '"Hello"'),
        ("Hello there", 5, '"Hello…" (clipped, 11 characters)'),
        ({"a": [1, 2]}, 20, '{"a":[1,2]}'),
        ({"a": [1, 2]}, 4, r'json "{\"a\"…" (clipped, 11 characters)'),
        (None, 20, "null"),
        ("a\nb", 20, r'"a\nb"'),
    ],
)
def test_a_cut_value_is_a_quoted_piece_with_its_length(value: object, chars: int, text: str) -> None:
    assert shown_value(value).text(chars) == text


def test_a_rest_that_is_no_longer_than_its_mark_is_not_cut() -> None:
    value = shown_value("x" * 14)
    assert value.short_text(10) == '"' + "x" * 14 + '"'
    assert value.short_text(9) == '"' + "x" * 9 + '…"+5'


def test_a_cut_splits_no_character_that_a_reader_sees_as_one() -> None:
    assert shown_value("e\u0301" * 20).short_text(5) == '"' + "e\u0301" * 2 + '…"+36'


def test_bytes_are_described_and_never_cut() -> None:
    value = shown_value("data:image/png;base64," + "iVBORw0KGgo" * 20)
    assert value.kind == "binary"
    assert value.text(3) == f"[{value.whole}]"


def test_a_value_is_clipped_as_a_window_of_it_counts() -> None:
    assert clipped_value("x" * 10, 10) == ("x" * 10, None)
    assert clipped_value("x" * 11, 10) == ("x" * 9 + "…", 11)
    assert clipped_value({"b": 1, "a": 2}, 5) == ('{"a"…', 13)
    assert clipped_value(12345678901, 3) == (12345678901, None)


def test_only_texts_and_what_is_nested_can_be_read_in_windows() -> None:
    assert readable_text({"b": 1, "a": [True]}) == '{"a":[true],"b":1}'
    assert [readable_text(value) for value in (None, 7, False)] == [None, None, None]


def test_fields_come_by_their_roles_and_the_key_last() -> None:
    data = {"id": "1", "blob": {}, "other": "x", "body": "b", "title": "t", "odd": "1"}
    roles = {"body": "primary-body", "title": "primary-title", "blob": "blob-reference"}
    assert by_importance(data, roles, "1") == ["title", "body", "other", "blob", "id", "odd"]
    assert by_importance({"b": 1, "a": 2}, None, "9") == ["b", "a"]


@given(st.lists(st.one_of(SINGLE, st.text("ab: ", min_size=100), st.lists(SINGLE), st.dictionaries(st.text(), SINGLE))))
@example(["da", "ta:", "x"])
@example(["data:text/plain,x"])
@example(["x" * 511])
@example(["x" * 256, "y" * 256])
@example(["\x7f", "plain"])
@example(["a\u200bb"])
@example(['"', "plain"])
@example(["back\\slash"])
@example([[1], "plain"])
@example([1, None, True, 2.5, "plain"])
def test_values_that_are_shown_whole_together_are_so_by_themselves(values: list[object]) -> None:
    each = [shown_value(value).text(2000) for value in values]
    if are_shown_whole(values):
        assert not any(shown_value(value).kind == "binary" for value in values)
        assert [text for text, value in zip(each, values, strict=True) if isinstance(value, str)] == [
            f'"{value}"' for value in values if isinstance(value, str)
        ]


def test_values_that_one_look_tells_of_are_shown_whole() -> None:
    assert are_shown_whole(["plain", "and plain", 7, None, True, 2.5])
    for odd in ("data:x", "x" * 512, '"', "\n", "\u200b", ["list"], {"a": 1}):
        assert not are_shown_whole(["plain", odd])

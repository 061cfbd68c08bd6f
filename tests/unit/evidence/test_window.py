"""A bounded window of one value."""

import re

import pytest

from pdpp_server.errors import FieldNotFound, FieldNotText, QueryNotFound
from pdpp_server.evidence.window import window_of
from pdpp_server.model.queries import WindowQuery
from pdpp_server.model.records import RecordId
from pdpp_server.model.streams import BLOB_ROLE
from pdpp_server.model.text import FieldWindow

ID = RecordId("post", "letters", "l1")
TEXT = "The lease, and the Lease again."


def window(value: object = TEXT, role: str | None = None, *, offset: int = 0, limit: int = 10) -> FieldWindow:
    return window_of(ID, value, role, None, WindowQuery("letters", "l1", "text", offset=offset, limit=limit))


def test_a_window_says_where_it_stands() -> None:
    assert (window(offset=4, limit=5).text, window(offset=4, limit=5).start) == ("lease", 4)
    assert (window(offset=999).text, window(offset=999).start, window().total) == ("", len(TEXT), len(TEXT))


def test_a_window_around_a_match_begins_before_it_whatever_its_case() -> None:
    query = WindowQuery("letters", "l1", "text", limit=9, q="LEASE", before=4)

    found = window_of(ID, TEXT, None, None, query)

    assert (found.text, found.match, found.start) == ("The lease", (4, 9), 0)
    with pytest.raises(QueryNotFound):
        window_of(ID, TEXT, None, None, WindowQuery("letters", "l1", "text", q=".ease"))


@pytest.mark.parametrize(
    ("text", "q"),
    [
        ("\u0130\u0130 the \u0130stanbul papers", "istanbul"),
        ("the \u0130stanbul papers", "\u0130STANBUL"),
        ("\u0131s it?", "IS"),
        ("a gla\u017fs", "GLASS"),
        ("5 \u212aelvin", "kelvin"),
        ("\u1f48\u03b4\u03c5\u03c3\u03c3\u03b5\u03cd\u03c2 \u03a3", "\u03a3\u03a3\u0395\u038e\u03a3"),
        ("7 \xb5m", "\u039cM"),
        ("Stra\xdfe", "STRA\u1e9eE"),
    ],
)
def test_a_match_stands_at_its_place_in_any_script(text: str, q: str) -> None:
    found = window_of(ID, text, None, None, WindowQuery("letters", "l1", "text", q=q))

    assert found.match == re.search(re.escape(q), text, re.IGNORECASE).span()  # type: ignore[union-attr]


def test_words_that_nearly_stand_everywhere_are_looked_for_once() -> None:
    nearly = WindowQuery("letters", "l1", "text", q="a" * 500_000 + "b")  # tried anew from each place, minutes

    with pytest.raises(QueryNotFound):
        window_of(ID, "a" * 1_000_000, None, None, nearly)


def test_an_object_is_read_as_canonical_json() -> None:
    found = window({"b": 1, "a": 2})

    assert (found.text, found.type) == ('{"a":2,"b"', "json")


@pytest.mark.parametrize(("value", "role"), [(5, None), (True, None), ("x", BLOB_ROLE)])
def test_a_single_value_and_a_blob_are_no_text(value: object, role: str | None) -> None:
    with pytest.raises(FieldNotText):
        window(value, role)


def test_nothing_is_not_found() -> None:
    with pytest.raises(FieldNotFound):
        window(None)

"""The words of a hit: what matched is marked, and nothing in a record can pretend to be a mark."""

import pytest

from pdpp_server.evidence.hits import is_whole, marked
from pdpp_server.model.records import Excerpt


def excerpt(text: str, *marks: tuple[int, int], start: int = 0, total: int | None = None) -> Excerpt:
    return Excerpt("body", text, start, marks, len(text) if total is None else total)


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        (excerpt("a walrus sang", (2, 8)), "a <mark>walrus</mark> sang"),
        (excerpt("a walrus sang", (2, 8), (9, 13)), "a <mark>walrus sang</mark>"),  # side by side they are one
        (excerpt("a walrus, he sang", (2, 8), (13, 17)), "a <mark>walrus</mark>, he <mark>sang</mark>"),
        (excerpt("walrus", (100, 106), start=100, total=200), "<mark>walrus</mark>"),
        (excerpt("nothing"), "nothing"),
    ],
)
def test_what_matched_is_marked(shown: Excerpt, text: str) -> None:
    assert marked(shown) == text


def test_a_record_cannot_forge_a_mark() -> None:
    forged = excerpt("<mark>x</mark> & walrus", (17, 23))
    assert marked(forged) == "&lt;mark&gt;x&lt;/mark&gt; &amp; <mark>walrus</mark>"


@pytest.mark.parametrize(
    ("shown", "whole"),
    [
        (excerpt("all"), True),
        (excerpt("all", total=9), False),
        (excerpt("all", start=1, total=4), False),
        (excerpt("all")._replace(is_placed=False), False),
    ],
)
def test_a_field_is_shown_whole_from_its_beginning_to_its_end(shown: Excerpt, whole: bool) -> None:
    assert is_whole(shown) is whole

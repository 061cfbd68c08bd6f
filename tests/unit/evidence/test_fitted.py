"""A page of records within the room of the structured form."""

import pytest

from pdpp_server.evidence.budgets import FITTED_CHARS_MIN
from pdpp_server.evidence.fitted import even_chars, fitted, is_short
from pdpp_server.model.records import Expanded, Record, RecordId, RecordPage, Tombstone
from tests.unit.evidence.entries import NOW, ORIGIN, record


def test_long_values_are_clipped_and_told_with_their_length() -> None:
    page = RecordPage((record("1", {"id": "1", "body": "x" * 100, "n": 7, "tags": ["a"]}),))
    made = fitted(page, 10)
    assert isinstance(made.page.records[0], Record)
    assert made.page.records[0].data == {"id": "1", "body": "x" * 9 + "…", "n": 7, "tags": ["a"]}
    assert (made.clipped, made.omitted) == ({"cin_1/messages:1": {"body": 100}}, {})


def test_of_many_fields_the_most_important_stay_in_their_order() -> None:
    data = {"id": "1", "other": "o", "body": "b", "title": "t"}
    page = RecordPage((record("1", data, {"body": "primary-body", "title": "primary-title"}),))
    made = fitted(page, 100, fields=2)
    assert isinstance(made.page.records[0], Record)
    assert dict(made.page.records[0].data) == {"body": "b", "title": "t"}
    assert made.omitted == {"cin_1/messages:1": 2}


def test_related_records_are_left_out_with_a_warning_and_tombstones_stay() -> None:
    gone = Tombstone(RecordId("cin_1", "messages", "9"), ORIGIN, NOW, NOW)
    whole = record("1", {}, expanded={"files": Expanded((record("a", {"t": "y" * 50}), record("b")))})
    made = fitted(RecordPage((whole, gone)), 10, related=1)
    entry = made.page.records[0]
    assert isinstance(entry, Record)
    assert ([one.id.key for one in entry.expanded["files"].records], entry.expanded["files"].has_more) == (["a"], True)
    assert made.clipped == {"cin_1/messages:a": {"t": 50}}
    assert [warned.code for warned in made.page.warnings] == ["expansion_shortened"]
    assert made.page.records[1] == gone
    without = fitted(RecordPage((whole,)), 10, related=0).page.records[0]
    assert isinstance(without, Record) and without.expanded == {}


@pytest.mark.parametrize(
    ("lengths", "room", "chars"),
    [
        ([100, 200, 5000], 2300, 2000),  # what the short ones do not need is the long one's
        ([5000, 5000], 2000, 1000),
        ([10, 20], 600, FITTED_CHARS_MIN),
        ([100, 700], 900, 700),  # all of it fits
        ([5000, 5000], 10, FITTED_CHARS_MIN),
        ([], 600, FITTED_CHARS_MIN),
    ],
)
def test_room_is_shared_evenly_among_the_long_values(lengths: list[int], room: int, chars: int) -> None:
    page = RecordPage(tuple(record(str(n), {"t": "x" * length, "n": 1}) for n, length in enumerate(lengths)))
    assert even_chars(page, room) == chars
    assert is_short(page, room) == (sum(lengths) <= room)

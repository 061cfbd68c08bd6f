"""A record on one line."""

import pytest

from pdpp_server.evidence.budget import first_that_fits
from pdpp_server.evidence.record_lines import entry_line, least_line_bytes, said_line, whole_lines
from pdpp_server.evidence.text import byte_len
from pdpp_server.evidence.values import ShownValue
from pdpp_server.model.records import Expanded, RecordId, Tombstone
from tests.unit.evidence.entries import NOW, ORIGIN, record

HANDLE = "cin_1/messages:1"
GONE = Tombstone(RecordId("cin_1", "messages", "1"), ORIGIN, NOW, NOW)
LETTER = record(
    "1",
    {"id": "1", "note": "n" * 300, "body": "b" * 300, "title": "t"},
    {"title": "primary-title", "body": "primary-body"},
)


def test_a_short_record_is_told_whole_and_its_key_last() -> None:
    line = entry_line(record("1", {"id": "1", "body": "Hello"}), HANDLE, 500)
    assert line.text == 'cin_1/messages:1 {"body":"Hello","id":"1"}'
    assert (line.opening, line.fields) == (None, ("body", "id"))


def test_what_is_deleted_says_when() -> None:
    assert entry_line(GONE, HANDLE, 500).text == "cin_1/messages:1 deleted 2026-03-02T09:12Z"


@pytest.mark.parametrize("room", [60, 100, 200, 400, 640])
def test_a_line_fits_its_room_and_says_what_to_call_for_the_rest(room: int) -> None:
    line = entry_line(LETTER, HANDLE, room)
    assert byte_len(line.text) <= room
    assert line.text.startswith(f'{HANDLE} {{"title":"t"')
    assert line.opening is not None


@pytest.mark.parametrize("body", ["b" * 700, "line\r\n" * 120, 'say "so" ' * 80, "Grüße, " * 100])
def test_of_the_widths_at_which_a_long_value_is_cut_the_first_that_fits_is_taken(body: str) -> None:
    letter = record("1", {"title": "t", "body": body}, {"title": "primary-title", "body": "primary-body"})
    for room in range(90, 640):
        left = room - len(HANDLE) - 1
        widths = (left, *[step for step in (800, 400, 240, 160, 120, 80, 60, 40, 32, 24) if step < left])
        ways = (f'{{"title":"t","body":{ShownValue(body, "text").short_text(width)}}}' for width in widths)
        assert entry_line(letter, HANDLE, room).text == f"{HANDLE} {first_that_fits(ways, left)}"


def test_a_clipped_value_is_read_whole_and_a_missing_field_is_fetched() -> None:
    clipped = entry_line(LETTER, HANDLE, 300)
    assert clipped.opening and clipped.opening.text == 'read_record_field {"id":"cin_1/messages:1","field_path":"body"}'
    fetched = entry_line(record("1", {f"f{n}": n for n in range(50)}), HANDLE, 60)
    assert fetched.opening and fetched.opening.text == 'fetch {"id":"cin_1/messages:1"}'
    assert fetched.text.endswith(f"+{50 - len(fetched.fields)} fields")


def test_related_records_stand_behind_the_fields_with_their_handles() -> None:
    related = record("a")
    line = entry_line(record("1", {"n": 1}, expanded={"files": Expanded((related,))}), HANDLE, 500)
    assert line.text == 'cin_1/messages:1 {"n":1} expanded: files 1 cin_1/messages:a'
    assert line.related == (related,)


def test_what_was_said_is_told_as_it_was_said() -> None:
    roles = {"who": "actor", "text": "primary-body"}
    said = said_line(record("1", {"who": "Ann", "text": 'Say "hi"', "n": 1}, roles), HANDLE, 500)
    assert said.text == 'cin_1/messages:1 by "Ann": "Say \\"hi\\"" {"n":1}'
    assert said.fields == ("who", "text", "n")
    silent = record("1", {"who": "Ann"}, roles)
    assert said_line(silent, HANDLE, 500) == entry_line(silent, HANDLE, 500)


def test_all_lines_are_whole_or_none_is() -> None:
    one, two = record("1", {"n": 1}), record("2", {"n": 2})
    named = [(one, HANDLE), (two, "cin_1/messages:2")]
    size = 2 * len('cin_1/messages:1 {"n":1}\n')
    lines = whole_lines(named, size)
    assert lines and [line.text for line in lines] == ['cin_1/messages:1 {"n":1}', 'cin_1/messages:2 {"n":2}']
    assert whole_lines(named, size - 1) is None
    assert whole_lines([(GONE, HANDLE)], 500) is None


def test_the_least_that_a_line_takes_is_enough_for_it() -> None:
    for entry in (record("1", {"n": 1}), LETTER, GONE):
        least = least_line_bytes(entry, HANDLE, 80)
        assert byte_len(entry_line(entry, HANDLE, least).text) <= least


def test_what_a_record_is_about_is_whole_before_anything_else_is_told() -> None:
    roles = {"subject": "primary-title", "text": "primary-body"}
    mail = record("1", {"label": "in", "subject": "Lease", "text": "t" * 100, "raw": "r" * 100, "size": 7}, roles)
    whole = '{"subject":"Lease","text":"' + "t" * 100 + '"'
    wide = entry_line(mail, HANDLE, 200)
    assert wide.text == f'{HANDLE} {whole},"label":"in","size":7}} +1 field'
    assert wide.fields == ("subject", "text", "label", "size")
    assert wide.opening and wide.opening.tool == "fetch"
    narrow = entry_line(mail, HANDLE, 120)
    assert narrow.text == f'{HANDLE} {{"subject":"Lease","text":"{"t" * 40}…"+60}} +3 fields'


def test_all_fields_that_were_asked_for_are_told_beside_a_long_one() -> None:
    roles = {"text": "primary-body"}
    mail = record("1", {"label": "in", "text": "t" * 300}, roles)
    assert entry_line(mail, HANDLE, 120).text.endswith(" +1 field")
    assert '"label":"in"' in entry_line(mail, HANDLE, 120, ("label", "text")).text

"""Content lines, the form that calendars and contacts share: unfolded, taken apart, put into components."""

import io

import pytest

from pdpp_server.importers.formats import content_lines
from pdpp_server.importers.formats.content_lines import (
    BrokenLine,
    Component,
    ContentLine,
    components,
    lines,
    parts,
    unescaped,
)
from tests.requirements import requirement


def one(raw: bytes) -> ContentLine:
    (found,) = lines(io.BytesIO(raw))
    assert isinstance(found, ContentLine)
    return found


def test_a_line_is_taken_apart() -> None:
    found = one(b'item1.tel;type=HOME,voice;X-Label="a;b:c,d";pref:+49 1:2\r\n')
    assert (found.group, found.name, found.value) == ("ITEM1", "TEL", "+49 1:2")
    assert found.params == {"TYPE": ("HOME", "voice", "PREF"), "X-LABEL": ("a;b:c,d",)}
    assert (found.param("TYPE"), found.param("CHARSET")) == ("HOME", None)


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b"\xef\xbb\xbfNOTE:one\r\n  two\r\n\tthree\r\n", "one twothree"),  # a fold takes one blank away
        (b"NOTE:Gr\xc3\r\n \xbc\xc3\x9fe", "Grüße"),  # and may lie inside a character
        (b"NOTE;ENCODING=QUOTED-PRINTABLE:caf=C3=A9=\r\n au=0D=0Alait", "café au\nlait"),
        (b"NOTE;QUOTED-PRINTABLE;CHARSET=ISO-8859-1:caf=E9", "café"),
        (b"NOTE;CHARSET=ISO-8859-1:caf\xe9", "café"),
        (b"NOTE:", ""),
    ],
)
def test_a_value_is_read_as_it_was_written(raw: bytes, value: str) -> None:
    assert one(raw).value == value


def test_signs_that_a_parameter_cannot_hold_are_written_with_a_caret() -> None:
    assert one(b"ATTENDEE;CN=O^'Neill ^^^n:x").params["CN"] == ('O"Neill ^\n',)


@requirement("imp.files.damaged")
def test_a_line_that_is_none_is_told_with_its_number() -> None:
    found = list(lines(io.BytesIO(b"A:1\n\nno colon\nB;X=1\nC:2\n")))
    assert [one.number for one in found] == [1, 3, 4, 5]
    assert [one.reason for one in found if isinstance(one, BrokenLine)] == [
        "the line has no name before a colon",
        "the line has no colon",
    ]


@requirement("imp.files.big")
def test_a_line_without_end_is_not_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content_lines, "LINE_BYTES_MAX", 50)
    found = list(lines(io.BytesIO(b"A:" + b"x" * 30 + b"\n" + b" yyyyyyyyyyyyyyyyyyyyyyyyy\n" * 50 + b"B:2\n")))
    assert isinstance(found[0], BrokenLine)
    assert isinstance(found[-1], ContentLine) and found[-1].value == "2"


def found_in(*text: str) -> list[Component | ContentLine]:
    return list(components(io.BytesIO("\r\n".join(text).encode()), frozenset({"VEVENT", "VCARD"})))


def test_components_are_given_whole_with_those_inside_and_lines_outside_of_them() -> None:
    name, event, _end = found_in(
        "BEGIN:VCALENDAR", "X-NAME:Home", "BEGIN:VEVENT", "UID:1", "BEGIN:VALARM", "TRIGGER:-PT5M", "END:VALARM",
        "UID:2", "END:VEVENT", "END:VCALENDAR",
    )  # fmt: skip
    assert isinstance(name, ContentLine) and isinstance(event, Component)
    assert (name.name, name.value) == ("X-NAME", "Home")
    assert (event.number, event.name, event.is_whole) == (3, "VEVENT", True)
    assert [line.value for line in event.all("UID")] == ["1", "2"]
    assert [(inner.name, len(inner.lines)) for inner in event.inner] == [("VALARM", 1)]
    assert event.first("SUMMARY") is None


@requirement("imp.files.damaged")
def test_an_end_that_is_missing_costs_that_component_alone() -> None:
    first, second = (
        one
        for one in found_in("BEGIN:VEVENT", "UID:1", "BEGIN:VEVENT", "UID:2", "END:VEVNT")
        if isinstance(one, Component)
    )
    assert (first.is_whole, [line.value for line in first.lines]) == (False, ["1"])
    assert (second.is_whole, [line.value for line in second.lines]) == (True, ["2"])  # an end that is only misspelt
    (cut,) = found_in("BEGIN:VCARD", "FN:Ann", "END:SOMETHING")
    assert isinstance(cut, Component) and not cut.is_whole


def test_a_card_may_hold_the_card_of_an_agent() -> None:
    (card,) = found_in("BEGIN:VCARD", "FN:Ann", "AGENT:", "BEGIN:VCARD", "FN:Bo", "END:VCARD", "END:VCARD")
    assert isinstance(card, Component)
    assert [inner.lines[0].value for inner in card.inner] == ["Bo"]


@requirement("imp.files.garbage")
def test_components_within_components_and_lines_upon_lines_end_somewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content_lines, "LINES_MAX", 5)
    (event,) = found_in("BEGIN:VEVENT", *(f"A:{n}" for n in range(9)), *["BEGIN:X"] * 500)
    assert isinstance(event, Component)
    assert (len(event.lines), event.broken[0].reason) == (5, "there are more than 5 lines; the others are left out")


@pytest.mark.parametrize(
    ("value", "text"), [(r"a\, b\; c\\d\ne\Nf", "a, b; c\\d\ne\nf"), ("plain", "plain"), ("end\\", "end\\")]
)
def test_what_stands_behind_a_backslash_is_meant_as_it_is(value: str, text: str) -> None:
    assert unescaped(value) == text


@pytest.mark.parametrize(
    ("value", "several"),
    [
        ("Quay;Ada;;", ["Quay", "Ada", "", ""]),
        (r"Quay\; Co;Ada", ["Quay; Co", "Ada"]),
        (r"a\\;b", ["a\\", "b"]),
        ("a\\", ["a"]),
        ("", [""]),
    ],
)
def test_a_separator_behind_a_backslash_separates_nothing(value: str, several: list[str]) -> None:
    assert parts(value, ";") == several

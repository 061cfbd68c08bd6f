"""Parts of a long XML file: bounded, and without anything that the file declares."""

import io

import pytest

from pdpp_server.importers.formats import xml_items
from tests.requirements import requirement


@requirement("imp.files.safe-xml")
def test_a_tag_that_does_not_end_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xml_items, "TAG_BYTES_MAX", 100_000)
    endless = io.BytesIO(b"<r><a/><b x='" + b"y" * 10_000_000)
    with pytest.raises(xml_items.UnreadableXml, match="one tag of it is longer"):
        list(xml_items.xml_items(endless, {"a": "r"}))
    assert endless.tell() < 1_000_000


@requirement("imp.files.safe-xml")
def test_many_elements_with_a_letter_between_them_are_read_once_and_are_one_part_too_long() -> None:
    """Their letters are one text; joined anew with each of them, this would take an hour."""
    letters = io.BytesIO(b"<r><a>" + b"x<b/>" * 2_000_000 + b"</a></r>")
    with pytest.raises(xml_items.UnreadableXml, match="one part of it is longer"):
        list(xml_items.xml_items(letters, {"a": "r"}))
    assert letters.tell() < 5_000_000


def test_the_text_of_an_element_is_its_own_wherever_others_part_it() -> None:
    assert items(b"<a><b>one<c>no</c> and <c/>two</b><b/></a>") == [
        ("b", 1, "one and two", ["c", "c"]),
        ("b", 1, "", []),
    ]


def items(data: bytes) -> list[tuple[str, int, str, list[str]]]:
    found = xml_items.xml_items(io.BytesIO(data), {"b": ("a",)})
    return [(one.name, one.line, one.element.text or "", [inner.tag for inner in one.element]) for one in found]


def test_an_element_is_given_where_its_parent_is_the_right_one() -> None:
    text = b"<r><a>\n<b x='1'>one<c/></b><d><b>no</b></d>\n<b>two<b>inner</b></b></a><b>no</b></r>"
    assert items(text) == [("b", 2, "one", ["c"]), ("b", 3, "two", ["b"])]


def test_names_are_told_without_their_namespaces() -> None:
    text = b'<n:a xmlns:n="urn:v1"><n:b n:x="1" y="2"/></n:a>'
    (one,) = xml_items.xml_items(io.BytesIO(text), {"b": ("a",)})
    assert (one.name, one.element.attrib) == ("b", {"x": "1", "y": "2"})


def test_a_part_is_whole_wherever_a_chunk_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "<a>" + "".join(f"<b>Gr\u00fc\u00dfe {number}</b>\n" for number in range(20)) + "</a>"
    whole = items(text.encode())
    monkeypatch.setattr(xml_items, "CHUNK_BYTES", 7)
    assert items(text.encode()) == whole
    assert [line for _, line, _, _ in whole] == [*range(1, 21)]


@requirement("imp.files.safe-xml")
@pytest.mark.parametrize(
    ("data", "line", "reason"),
    [
        (b"", 1, "not XML from here on"),
        (b"<a>\n<b></a>", 2, "not XML from here on"),
        (b"\n<!DOCTYPE a><a/>", 2, "it declares a document type"),
        (b"<a>" * 65, 1, "nested deeper than 64 levels"),
        (b'<?xml version="1.0" encoding="klingon"?><a/>', 1, "the encoding that it names cannot be read"),
        (b'<?xml version="1.0" encoding="utf-7"?><a/>', 1, "the encoding that it names cannot be read"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_line(data: bytes, line: int, reason: str) -> None:
    if data.startswith(b"\n<!"):
        data = b"<?xml version='1.0'?>" + data
    with pytest.raises(xml_items.UnreadableXml) as told:
        items(data)
    assert told.value.line == line
    assert told.value.reason.startswith(reason)

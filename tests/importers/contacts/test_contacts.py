"""Contacts: three versions of one format, and the ways in which real cards bend it."""

import base64

import pytest

from pdpp_server.importers.sources.contacts import CONTACTS
from pdpp_server.importers.source import Attachment
from tests.importers.reading import read, records, rejections
from tests.requirements import requirement

PICTURE = base64.b64encode(b"picture" * 20).decode()


def card(*lines: str, version: str = "3.0") -> bytes:
    return "\r\n".join(["BEGIN:VCARD", f"VERSION:{version}", *lines, "END:VCARD", ""]).encode()


def one(*lines: str, version: str = "3.0") -> dict[str, object]:
    (data,) = records(CONTACTS, "contacts", card(*lines, version=version))
    return data


@requirement("imp.contacts.versions")
def test_three_versions_of_a_card_say_the_same() -> None:
    old = card(
        "N;CHARSET=ISO-8859-1;ENCODING=QUOTED-PRINTABLE:M=FCller;J=FCrgen", "TEL;CELL;PREF:1", "TEL;HOME;VOICE:2",
        "NOTE;ENCODING=QUOTED-PRINTABLE;CHARSET=UTF-8:a=0D=0A=", "b", "BDAY:19840512", "UID:u", version="2.1",
    )  # fmt: skip
    usual = card(
        "N:Müller;Jürgen;;;",
        "TEL;TYPE=HOME,VOICE:2",
        "TEL;TYPE=CELL;TYPE=pref:1",
        "NOTE:a\\nb",
        "BDAY:1984-05-12",
        "UID:u",
    )
    new = card(
        "N:Müller;Jürgen;;;", 'TEL;TYPE="home,voice";VALUE=uri:tel:2', "TEL;PREF=1;TYPE=cell:1", "NOTE:a\\nb",
        "BDAY:1984-05-12", "UID:urn:uuid:u", version="4.0",
    )  # fmt: skip
    (first,) = records(CONTACTS, "contacts", old)
    assert first["name"] == "Jürgen Müller"
    assert first["phones"] == [{"value": "1", "label": "cell"}, {"value": "2", "label": "home"}]
    assert records(CONTACTS, "contacts", usual) == records(CONTACTS, "contacts", new) == [first]


@requirement("imp.contacts.versions")
@pytest.mark.parametrize(
    "photo",
    [f"PHOTO;ENCODING=b;TYPE=PNG:{PICTURE}", f"PHOTO;PNG;BASE64:{PICTURE}", f"PHOTO:data:image/png;base64,{PICTURE}"],
)
def test_a_photo_is_a_blob_however_it_is_written(photo: str) -> None:
    folded = "\r\n ".join(photo[at : at + 60] for at in range(0, len(photo), 60))
    attachments = [outcome for outcome in read(CONTACTS, card("FN:A", folded)) if isinstance(outcome, Attachment)]
    assert [(one.data, one.mime_type) for one in attachments] == [(b"picture" * 20, "image/png")]


@requirement("imp.contacts.versions")
@pytest.mark.parametrize(
    ("written", "birthday"),
    [("19840512", "1984-05-12"), ("1984-05-12T00:00:00Z", "1984-05-12"), ("--0512", "--05-12"),
     ("1604-05-12", "--05-12"), ("in May", "in May")],
)  # fmt: skip
def test_a_birthday_may_have_no_year(written: str, birthday: str) -> None:
    assert one("FN:A", f"BDAY:{written}")["birthday"] == birthday


@requirement("imp.contacts.versions")
def test_a_backslash_keeps_a_separator_from_separating() -> None:
    data = one("FN:A\\, B", "ORG:Sea\\; Sail;Ropes", "ADR;TYPE=HOME:;;Deich 3\\\\4\\, back;Hamburg;;;")
    assert (data["name"], data["organization"], data["department"]) == ("A, B", "Sea; Sail", "Ropes")
    assert data["address"] == "Deich 3\\4, back, Hamburg"


@requirement("imp.contacts.versions")
def test_a_label_in_the_words_of_the_owner_stands_beside() -> None:
    data = one("FN:A", "item1.TEL:1", "item1.X-ABLabel:Boat", "item2.TEL:2", "item2.X-ABLabel:_$!<Work>!$_")
    assert data["phones"] == [{"value": "1", "label": "boat"}, {"value": "2", "label": "work"}]


@requirement("imp.files.keys")
def test_a_card_without_uid_keeps_its_key_when_other_things_change() -> None:
    before, after = one("FN:Jo", "EMAIL:jo@x.example"), one("FN:Jo", "EMAIL:jo@x.example", "NOTE:New", "TEL:1")
    assert before["id"] == after["id"]


@requirement("imp.files.keys")
def test_two_people_of_one_key_are_two_records() -> None:
    cards = card("FN:Jo", "NOTE:one") + card("FN:Jo", "NOTE:two") + card("FN:Jo", "NOTE:one")
    first, second = (str(data["id"]) for data in records(CONTACTS, "contacts", cards))
    assert second.startswith(f"{first}~")


@requirement("imp.files.rejected", "imp.files.damaged")
def test_what_cannot_be_read_is_told_and_the_rest_is_kept() -> None:
    cards = card("FN:A", "no line", "PHOTO;ENCODING=b:A") + card("N:;;;;") + b"BEGIN:VCARD\r\nFN:B"
    assert [data["name"] for data in records(CONTACTS, "contacts", cards)] == ["A"]
    assert rejections(CONTACTS, cards) == [
        ("export 1:4", "the line has no name before a colon"),
        ("export 1:5", "the photo cannot be read; the contact is kept"),
        ("export 1:7", "the card names nobody and nothing"),
        ("export 1:11", "the card has no END:VCARD: the file was cut, or a line is missing"),
    ]


@requirement("imp.files.damaged")
def test_a_card_without_end_costs_no_other_card() -> None:
    agent = card("FN:B", "AGENT:", "BEGIN:VCARD", "FN:Agent of B", "END:VCARD")
    cards = b"BEGIN:VCARD\r\nFN:A\r\n" + agent + card("FN:C")
    assert [data["name"] for data in records(CONTACTS, "contacts", cards)] == ["B", "C"]
    assert [place for place, _ in rejections(CONTACTS, cards)] == ["export 1:1"]

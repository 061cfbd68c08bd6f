"""What the headers of a message say: people, ids, labels, times."""

from zoneinfo import ZoneInfo

import pytest

from pdpp_server.importers.formats.mail_headers import MailAddress, addresses, angled, gmail_thread, header_fields
from tests.requirements import requirement


@requirement("imp.mail.headers")
def test_addresses_are_told_apart_before_names_are_decoded() -> None:
    header = (
        '"Quay, Ada" <Ada@x.example>, =?utf-8?Q?Berg=2C_T?= <t@x.example>, bo@x.example (Bo), group: c@x.example;, x'
    )
    found = [(one.name, one.address) for one in addresses(header)]
    assert found[:3] == [("Quay, Ada", "ada@x.example"), ("Berg, T", "t@x.example"), ("Bo", "bo@x.example")]


@requirement("imp.mail.headers")
@pytest.mark.parametrize("header", ["", "Ann", "<no address>", "undisclosed-recipients:;", ",;,"])
def test_what_is_no_address_is_nobody(header: str) -> None:
    assert addresses(header) == []


@requirement("imp.mail.headers")
def test_a_name_with_a_comma_is_quoted_so_that_a_list_can_be_read_again() -> None:
    told = [MailAddress("Quay, Ada", "a@x.example"), MailAddress("", "b@x.example"), MailAddress("Cy", "c@x.example")]
    assert [str(one) for one in told] == ['"Quay, Ada" <a@x.example>', "b@x.example", "Cy <c@x.example>"]
    assert addresses(", ".join(map(str, told))) == told


BERLIN = ZoneInfo("Europe/Berlin")
SEPARATOR = b"From ann@example.org Mon Mar  2 09:12:00 2026\n"


@requirement("imp.mail.headers")
def test_everybody_who_got_it_is_a_recipient_once() -> None:
    headers = {
        "sender": "Bo <bo@x.example>",
        "to": "A@x.example, c@x.example",
        "cc": "a@x.example",
        "bcc": "Di <d@x.example>",
    }
    data = header_fields(headers, b"", BERLIN)
    assert (data["from_name"], data["from_address"]) == ("Bo", "bo@x.example")  # no From: whoever sent it
    assert (data["cc"], data["recipients"]) == ("a@x.example", ["a@x.example", "c@x.example", "d@x.example"])
    assert "sent_at" not in data


@requirement("imp.mail.headers", "imp.files.keys")
def test_an_id_that_can_be_no_key_is_kept_beside_its_digest() -> None:
    plain = header_fields({"message-id": "<1@x.example>", "in-reply-to": "see <0@x.example>"}, b"", BERLIN)
    assert (plain["id"], plain["in_reply_to"], "original_id" in plain) == ("1@x.example", "0@x.example", False)
    odd = header_fields({"message-id": "<a b/c>"}, b"", BERLIN)
    assert (odd["original_id"], len(odd["id"])) == ("a b/c", 32)


@requirement("imp.mail.headers")
@pytest.mark.parametrize(
    ("date", "separator", "received", "sent_at"),
    [
        ("Mon, 2 Mar 2026 10:12:00 +0100", SEPARATOR, "", "2026-03-02T09:12:00.000Z"),
        ("no date", SEPARATOR.replace(b"09:12:00 2026", b"09:12:00 +0200 2026"), "", "2026-03-02T07:12:00.000Z"),
        ("", b"", "by x.example; Tue, 3 Mar 2026 08:00:00 +0000", "2026-03-03T08:00:00.000Z"),
        ("", b"From - \n", "by x.example", None),
        ("Mon, 2 Mar 99999 10:12:00", b"", "", None),
    ],
)
def test_a_message_was_sent_by_its_own_word_else_when_it_arrived(
    date: str, separator: bytes, received: str, sent_at: str | None
) -> None:
    assert header_fields({"date": date, "received": received}, separator, BERLIN).get("sent_at") == sent_at


def test_only_a_number_of_gmail_is_a_thread_of_it() -> None:
    assert gmail_thread({"x-gm-thrid": "1780000000000000001"}) == "1780000000000000001"
    assert gmail_thread({"x-gm-thrid": "12 or so"}) is None
    assert gmail_thread({}) is None


def test_ids_stand_in_angles() -> None:
    assert angled({"references": "<1@x> junk <2@x>\t<>"}, "references") == ["1@x", "2@x"]

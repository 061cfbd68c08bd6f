"""OFX: tags without ends, charsets, ids that repeat, days and instants."""

import pytest

from pdpp_server.importers.formats import ofx_tags
from pdpp_server.importers.sources.ofx import OFX
from pdpp_server.importers.formats.ofx_tags import charset_of
from tests.importers.reading import read, records, rejections
from tests.requirements import requirement

BEGIN = (
    b"OFXHEADER:100\r\nENCODING:USASCII\r\nCHARSET:1252\r\n\r\n"
    b"<OFX><STMTRS><CURDEF>EUR<BANKACCTFROM><BANKID>1<ACCTID>22</BANKACCTFROM>"
)
END = b"</STMTRS></OFX>"


def statement(*bookings: bytes) -> bytes:
    return BEGIN + b"".join(bookings) + END


def booking(amount: bytes = b"-1.00", day: bytes = b"20260301", fitid: bytes = b"F1", more: bytes = b"") -> bytes:
    return b"<STMTTRN><DTPOSTED>" + day + b"<TRNAMT>" + amount + b"<FITID>" + fitid + more + b"</STMTTRN>"


def one(**told: bytes) -> dict[str, object]:
    (data,) = records(OFX, "transactions", statement(booking(**told)))
    return data


@requirement("imp.bank.days")
@pytest.mark.parametrize(
    ("written", "day", "moment"),
    [
        (b"20260301", "2026-03-01", None),
        (b"20260301120000", "2026-03-01", "2026-03-01T12:00:00.000Z"),
        (b"20260301230000[-5:EST]", "2026-03-01", "2026-03-02T04:00:00.000Z"),
        (b"20260301003000.123[+5.50:IST]", "2026-03-01", "2026-02-28T19:00:00.000Z"),
        (b"20260301003000[-3.50]", "2026-03-01", "2026-03-01T04:00:00.000Z"),
        (b"202603010030", "2026-03-01", "2026-03-01T00:30:00.000Z"),
    ],
)
def test_a_booking_has_the_day_of_the_bank_and_the_right_instant(written: bytes, day: str, moment: str | None) -> None:
    data = one(day=written)
    assert (data["booked_on"], data.get("posted_at")) == (day, moment)


@requirement("imp.bank.days", "imp.files.rejected")
@pytest.mark.parametrize("day", [b"", b"20261301", b"yesterday", b"20260301250000", b"00000000"])
def test_a_booking_without_a_day_is_rejected_with_its_line(day: bytes) -> None:
    text = statement(b"\n", booking(day=day), b"\n", booking())
    assert rejections(OFX, text) == [("export 1:6", "the transaction has no date (DTPOSTED) that can be read")]
    assert len(records(OFX, "transactions", text)) == 1


@requirement("imp.bank.once")
def test_an_id_that_repeats_with_other_content_is_another_booking() -> None:
    text = statement(booking(), booking(amount=b"-2.00"), booking(), booking(amount=b"-2.00"))
    keys = [data["id"] for data in records(OFX, "transactions", text)]
    assert len(keys) == len(set(keys)) == 2


@requirement("imp.bank.once")
def test_two_downloads_that_overlap_give_each_booking_once() -> None:
    first, second = (
        statement(booking(fitid=b"A"), booking(fitid=b"B")),
        statement(booking(fitid=b"B"), booking(fitid=b"C")),
    )
    assert [str(data["id"])[-2:] for data in records(OFX, "transactions", first, second)] == [":A", ":B", ":C"]


@requirement("imp.bank.once")
def test_the_same_id_in_two_accounts_is_two_bookings() -> None:
    other = BEGIN.replace(b"<ACCTID>22", b"<ACCTID>33") + booking() + END
    assert len({data["id"] for data in records(OFX, "transactions", statement(booking()), other)}) == 2


@requirement("imp.files.damaged")
def test_a_group_without_its_end_ends_where_the_next_begins() -> None:
    text = BEGIN + b"<STMTTRN><DTPOSTED>20260301<TRNAMT>-1<FITID>A<STMTTRN><DTPOSTED>20260302<TRNAMT>-2<FITID>B" + END
    assert [data["amount"] for data in records(OFX, "transactions", text)] == [-1, -2]


@requirement("imp.files.damaged")
def test_a_file_that_ends_inside_a_booking_keeps_those_before() -> None:
    text = BEGIN + booking(fitid=b"A") + b"\n<STMTTRN><DTPOSTED>20260302<TRNAMT>-20"
    assert rejections(OFX, text) == [("export 1:6", "the file ends inside it")]
    assert len(records(OFX, "transactions", text)) == 1


@requirement("imp.files.damaged")
@pytest.mark.parametrize("size", [1, 7, 64])
def test_a_tag_is_whole_wherever_a_chunk_ends(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    text = statement(*(booking(fitid=b"F%d" % n, more=b"<NAME>Caf\xe9 &amp; Bar\n") for n in range(20)))
    whole = read(OFX, text)
    monkeypatch.setattr(ofx_tags, "CHUNK_BYTES", size)
    monkeypatch.setattr(ofx_tags, "HEAD_BYTES", 120)
    assert read(OFX, text) == whole


@requirement("imp.files.damaged")
@pytest.mark.parametrize(
    ("head", "charset"),
    [
        (b"OFXHEADER:100\nENCODING:USASCII\nCHARSET:1252\n", "cp1252"),
        (b"OFXHEADER:100\nENCODING:UTF-8\nCHARSET:1252\n", "utf-8"),
        (b"OFXHEADER:100\nENCODING:UNICODE\nCHARSET:NONE\n", "utf-8"),
        (b"OFXHEADER:100\nCHARSET:ISO-8859-1\n", "ISO-8859-1"),
        (b"OFXHEADER:100\nCHARSET:NONE\n", None),
        (b'<?xml version="1.0" encoding="utf-8"?><?OFX OFXHEADER="200"?>', "utf-8"),
    ],
)
def test_the_header_tells_the_charset(head: bytes, charset: str | None) -> None:
    assert charset_of(head) == charset


@requirement("imp.files.rejected")
def test_a_booking_of_no_account_is_rejected() -> None:
    text = b"OFXHEADER:100\n\n<OFX><STMTRS><CURDEF>EUR" + booking() + END
    assert rejections(OFX, text) == [("export 1:3", "it belongs to no account")]

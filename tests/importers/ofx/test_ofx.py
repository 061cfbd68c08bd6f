"""OFX: tags without ends, charsets, ids that repeat, days and instants."""

import pytest

from pdpp_server.importers.formats import ofx_tags
from pdpp_server.importers.sources.ofx import OFX
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


TRADES = (
    b"OFXHEADER:100\r\n\r\n<OFX><INVSTMTRS><CURDEF>USD<INVACCTFROM><BROKERID>b.example<ACCTID>77</INVACCTFROM><INVTRANLIST>"
    b"<BUYSTOCK><INVBUY><INVTRAN><FITID>T1<DTTRADE>20260302<DTSETTLE>20260304<MEMO>YOU BOUGHT</INVTRAN><SECID>"
    b"<UNIQUEID>111<UNIQUEIDTYPE>CUSIP</SECID><UNITS>+0000000000100.00000<UNITPRICE>000000025.635000000"
    b"<COMMISSION>+00000000000007.9500<TOTAL>-00000000002571.4500<CURRENCY><CURSYM>CAD</CURRENCY></INVBUY></BUYSTOCK>"
    b"<INCOME><INVTRAN><FITID>T2<DTTRADE>20260303</INVTRAN><SECID><UNIQUEID>111</SECID><INCOMETYPE>DIV"
    b"<TOTAL>+00000000000115.8331</INCOME>"
    b"<TRANSFER><INVTRAN><FITID>T3<DTTRADE>20260304</INVTRAN><SECID><UNIQUEID>222</SECID><UNITS>many"
    b"<INVACCTFROM><BROKERID>other<ACCTID>99</INVACCTFROM></TRANSFER>"
    b"<INVBANKTRAN><STMTTRN><DTPOSTED>20260305<TRNAMT>+0000000000000300.00<FITID>C1</STMTTRN></INVBANKTRAN></INVTRANLIST>"
    b"</INVSTMTRS><SECLIST><STOCKINFO><SECINFO><SECID><UNIQUEID>111</SECID><SECNAME>Harbour Works<TICKER>HBW</SECINFO>"
    b"</STOCKINFO></SECLIST></OFX>"
)


@requirement("imp.bank.trades", "imp.bank.amounts")
def test_trades_are_read_with_the_names_of_their_securities() -> None:
    bought, income, moved = records(OFX, "trades", TRADES)
    assert (bought["kind"], bought["units"], bought["unit_price"]) == ("buy", 100, 25.635)
    assert (bought["amount"], bought["amount_text"], bought["commission"]) == (-2571.45, "-2571.4500", 7.95)
    assert (bought["currency"], bought["traded_on"], bought["settled_on"]) == ("CAD", "2026-03-02", "2026-03-04")
    assert bought["description"] == "YOU BOUGHT: Harbour Works"
    assert (income["kind"], income["income_kind"], income["amount"], income["ticker"]) == ("income", "DIV", 115.8331, "HBW")
    assert (moved["kind"], "units" in moved, "security_name" in moved) == ("transfer", False, False)


@requirement("imp.bank.trades", "imp.files.rejected")
def test_an_account_that_a_transfer_names_is_not_the_one_that_the_statement_is_of() -> None:
    assert [data["number"] for data in records(OFX, "accounts", TRADES)] == ["77"]
    assert len({data["account_id"] for stream in ("trades", "transactions") for data in records(OFX, stream, TRADES)}) == 1
    assert rejections(OFX, TRADES) == [("export 1:3", "the trade is kept without its units, which is no number")]


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


@requirement("imp.files.rejected")
def test_a_booking_of_no_account_is_rejected() -> None:
    text = b"OFXHEADER:100\n\n<OFX><STMTRS><CURDEF>EUR" + booking() + END
    assert rejections(OFX, text) == [("export 1:3", "it belongs to no account")]

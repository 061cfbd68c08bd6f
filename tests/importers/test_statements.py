"""Bank statements that are whole between two days: a newer one of the same days removes what it has no longer."""

from io import BytesIO
from pathlib import Path
from typing import NamedTuple
from zipfile import ZipFile

import pytest

from pdpp_server.importers import statements
from tests.importers.homes import Home
from tests.requirements import requirement
from tests.worlds.world import World

Days = tuple[int, int]  # of the balances


@pytest.fixture
def home(world: World, tmp_path: Path) -> Home:
    return Home(world, tmp_path / "exports")


class Booking(NamedTuple):
    day: int  # of March
    amount: str
    text: str
    status: str = "BOOK"


def camt(
    *bookings: Booking, opening: str = "100.00", closing: str = "70.00", made: str = "2026-04-01", days: Days = (1, 31)
) -> str:
    def balance(code: str, value: str, day: int) -> str:
        marked = f'<Amt Ccy="EUR">{value}</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>2026-03-{day:02}</Dt></Dt>'
        return f"<Bal><Tp><CdOrPrtry><Cd>{code}</Cd></CdOrPrtry></Tp>{marked}</Bal>"

    entries = "".join(
        f'<Ntry><Amt Ccy="EUR">{one.amount}</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts>{one.status}</Sts>'
        f"<BookgDt><Dt>2026-03-{one.day:02}</Dt></BookgDt><AddtlNtryInf>{one.text}</AddtlNtryInf></Ntry>"
        for one in bookings
    )
    bank = "<Svcr><FinInstnId><BICFI>HARBDEFFXXX</BICFI></FinInstnId></Svcr>"
    account = f"<Acct><Id><IBAN>DE89370400440532013000</IBAN></Id>{bank}</Acct>"
    balances = balance("OPBD", opening, days[0]) + balance("CLBD", closing, days[1])
    statement = f"<Stmt><CreDtTm>{made}T06:00:00Z</CreDtTm>{account}{balances}{entries}</Stmt>"
    form = "urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"
    return f'<Document xmlns="{form}"><BkToCstmrStmt>{statement}</BkToCstmrStmt></Document>'


def mt940(*bookings: Booking, opening: str = "100,00", closing: str = "70,00", days: Days = (1, 31)) -> str:
    told = "".join(
        f":61:2603{one.day:02}03{one.day:02}D{one.amount.replace('.', ',')}NTRFNONREF\r\n:86:{one.text}\r\n"
        for one in bookings
    )
    first, last = (f"C2603{day:02}EUR" for day in days)
    return f":20:X\r\n:25:37040044/0532013000\r\n:28C:1\r\n:60F:{first}{opening}\r\n{told}:62F:{last}{closing}\r\n-\r\n"


def ofx(*bookings: Booking, made: str = "20260401", days: Days = (1, 31), number: str = "0532013000") -> str:
    told = "".join(
        f"<STMTTRN><TRNTYPE>DEBIT<DTPOSTED>202603{one.day:02}<TRNAMT>-{one.amount}<FITID>{one.text}<MEMO>{one.text}</STMTTRN>"
        for one in bookings
    )
    first, last = (f"202603{day:02}" for day in days)
    signed = f"<SONRS><DTSERVER>{made}<FI><ORG>Harbour Bank</FI></SONRS>"
    account = f"<CURDEF>EUR<BANKACCTFROM><BANKID>37040044<ACCTID>{number}</BANKACCTFROM>"
    listed = f"<BANKTRANLIST><DTSTART>{first}<DTEND>{last}{told}</BANKTRANLIST>"
    return f"OFXHEADER:100\r\nDATA:OFXSGML\r\n\r\n<OFX>{signed}<STMTRS>{account}{listed}</STMTRS></OFX>"


RENT, TEA, FEE = Booking(5, "20.00", "Rent"), Booking(12, "4.00", "Tea"), Booking(20, "6.00", "Fee")
REWORDED = TEA._replace(text="Tea house, harbour")


def texts(home: Home) -> list[str]:
    return sorted(one["description"] for one in home.data("transactions"))


@requirement("imp.newer.statements")
def test_a_newer_statement_of_the_same_days_replaces_what_the_bank_words_anew(home: Home) -> None:
    home.bring(home.found("march.xml", camt(RENT, TEA, FEE)))
    tally = home.bring(home.found("march again.xml", camt(RENT, REWORDED, FEE, made="2026-04-09")))

    assert texts(home) == ["Fee", "Rent", "Tea house, harbour"]
    assert (tally.removal.removed, tally.removal.why_kept) == (1, ())
    assert home.world.owner.undo_import(tally.removal.run).restored.restored == 1


@requirement("imp.newer.statements")
def test_days_that_follow_on_each_other_are_one_span(home: Home) -> None:
    first = mt940(RENT, TEA, closing="76,00", days=(1, 15)) + mt940(FEE, opening="76,00", days=(15, 31))
    home.bring(home.found("umsatz.sta", first))
    april = mt940(Booking(31, "1.00", "Ink"), opening="70,00", closing="69,00", days=(31, 31)).replace(
        "62F:C260331", "62F:C260401"
    )
    again = mt940(RENT, REWORDED, closing="76,00", days=(1, 15)) + mt940(FEE, opening="76,00", days=(15, 31)) + april
    tally = home.bring(home.found("umsatz.sta", again))

    assert tally.removal.removed == 1
    assert "Tea" not in texts(home)


@requirement("imp.newer.statements", "imp.newer.guards")
@pytest.mark.parametrize(
    ("newer", "why"),
    [
        (camt(RENT, FEE, made="2026-04-09"), ""),  # its bookings do not make its balance
        (camt(RENT, FEE, closing="74.00", made="2026-03-30"), "older"),
        (camt(RENT, FEE, closing="74.00"), "nothing in it is newer"),
        (camt(RENT, FEE, closing="74.00", made="2999-01-01"), "do not say when"),
        (camt(RENT, FEE, Booking(25, "x", "?"), closing="74.00", made="2026-04-09"), "rejected"),
        (camt(RENT, FEE, closing="74.00", made="2026-04-09")[:-40], ""),  # cut
        (camt(RENT, TEA._replace(day=12, status="PDNG", text="Later"), FEE, made="2026-04-09"), ""),
        (camt(opening="70.00", made="2026-04-09", days=(11, 14)), ""),  # no bookings at all
        (camt(FEE, opening="76.00", made="2026-04-09", days=(12, 31)), ""),  # from the day of the tea on
        (camt(RENT, opening="90.00", made="2026-04-09", days=(1, 12)), ""),  # until that day
        (camt(RENT, FEE, closing="74.00", made="2026-04-09").replace("CLBD", "ITBD"), ""),  # a report of the day
    ],
)  # fmt: skip
def test_a_statement_that_proves_nothing_or_is_not_newer_removes_nothing(home: Home, newer: str, why: str) -> None:
    home.bring(home.found("march.xml", camt(RENT, TEA, FEE)))
    tally = home.bring(home.found("march.xml", newer))

    assert tally.removal.removed == 0
    assert "Tea" in texts(home)
    assert why in "".join(tally.removal.why_kept)


@requirement("imp.newer.statements")
def test_a_booking_that_is_dated_outside_its_statement_is_safe_from_that_of_its_day(home: Home) -> None:
    ahead = Booking(20, "4.00", "Dated ahead")
    home.bring(home.found("first half.xml", camt(RENT, FEE._replace(day=6), ahead, days=(1, 10), made="2026-03-11")))
    later = camt(TEA._replace(day=19), opening="70.00", closing="66.00", days=(10, 31))
    assert home.bring(home.found("second half.xml", later)).removal.removed == 0
    assert texts(home) == ["Dated ahead", "Fee", "Rent", "Tea"]


@requirement("imp.newer.statements")
def test_a_booking_without_a_day_of_its_own_is_safe_too(home: Home) -> None:
    undated = mt940(RENT, TEA, FEE).replace(":61:2603120312", ":61:260312")
    home.bring(home.found("umsatz.sta", undated))
    later = mt940(RENT, FEE, closing="74,00").replace("62F:C260331", "62F:C260402")
    assert home.bring(home.found("umsatz.sta", later)).removal.removed == 0
    assert texts(home) == ["Fee", "Rent", "Tea"]


def packed(*statements: str) -> bytes:
    whole = BytesIO()
    with ZipFile(whole, "w") as archive:
        for number, text in enumerate(statements):
            archive.writestr(f"{number}.xml", text)
    return whole.getvalue()


HALF = camt(RENT, opening="100.00", closing="80.00", days=(1, 10), made="2026-04-09")


@requirement("imp.newer.statements")
@pytest.mark.parametrize(
    "second",
    [
        camt(FEE, opening="80.00", closing="74.00", days=(10, 31), made="2026-03-30"),  # older than what is known
        camt(FEE, opening="76.00", closing="70.00", days=(15, 31), made="2026-04-09"),  # not where the first one ended
        camt(FEE, opening="80.00", closing="70.00", days=(10, 31), made="2026-04-09"),  # something is missing in it
    ],
)
def test_several_files_are_one_span_only_where_nothing_is_between_and_all_are_newer(home: Home, second: str) -> None:
    home.bring(home.found("march.xml", camt(RENT, TEA, FEE)))
    assert home.bring(home.found("both.zip", packed(HALF, second))).removal.removed == 0
    assert "Tea" in texts(home)

    fitting = camt(FEE, opening="80.00", closing="74.00", days=(10, 31), made="2026-04-10")
    home.bring(home.found("both.zip", packed(HALF, fitting)), agree=lambda _: True)
    assert texts(home) == ["Fee", "Rent"]


@requirement("imp.newer.statements", "imp.newer.others")
def test_what_another_bank_or_a_part_told_too_stays(home: Home) -> None:
    home.bring(home.found("notice.xml", camt(TEA).replace("CLBD", "ITBD")))
    home.bring(home.found("march.xml", camt(RENT, TEA, FEE)))
    tally = home.bring(home.found("march.xml", camt(RENT, REWORDED, FEE, made="2026-04-09")))

    assert (tally.removal.removed, "Tea" in texts(home)) == (0, True)


@requirement("imp.newer.statements", "imp.newer.half")
def test_a_statement_that_would_remove_most_of_an_account_asks(home: Home) -> None:
    home.bring(home.found("march.xml", camt(RENT, TEA, FEE)))
    newer = home.found("march.xml", camt(Booking(7, "30.00", "All in one"), made="2026-04-09"))

    assert home.bring(newer).removal.awaits_owner
    assert len(texts(home)) == 4
    home.bring(newer, agree=lambda doubt: not doubt.why)
    assert texts(home) == ["All in one"]


@requirement("imp.newer.statements")
def test_a_statement_too_long_to_be_held_is_a_part(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.bring(home.found("march.xml", camt(RENT, TEA, FEE)))
    monkeypatch.setattr(statements, "HELD_MAX", 3)
    tally = home.bring(home.found("march.xml", camt(RENT, REWORDED, FEE, made="2026-04-09")))
    assert (tally.removal.removed, len(texts(home))) == (0, 4)


LAMP = Booking(9, "3.00", "Lamp")


@requirement("imp.newer.ofx")
def test_a_newer_download_of_the_same_days_replaces_what_the_bank_numbers_anew(home: Home) -> None:
    home.bring(home.found("march.ofx", ofx(RENT, LAMP, TEA, FEE)))
    tally = home.bring(home.found("march (1).ofx", ofx(RENT, LAMP, REWORDED, FEE, made="20260409")))

    assert texts(home) == ["Fee", "Lamp", "Rent", "Tea house, harbour"]
    assert (tally.removal.removed, tally.removal.why_kept) == (1, ())
    assert home.world.owner.undo_import(tally.removal.run).restored.restored == 1


WHOLE = ofx(RENT, LAMP, FEE, made="20260409")


@requirement("imp.newer.ofx", "imp.newer.guards")
@pytest.mark.parametrize(
    ("newer", "why"),
    [
        (ofx(RENT, LAMP, FEE, made="20260330"), "older"),
        (ofx(RENT, LAMP, FEE), "nothing in it is newer"),
        (ofx(RENT, LAMP, FEE, made="29990101"), "do not say when"),
        (ofx(RENT, LAMP, FEE, made=""), "do not say when"),
        (ofx(RENT, LAMP, FEE, Booking(25, "x", "?"), made="20260409"), "rejected"),
        (WHOLE[: WHOLE.index("</BANKTRANLIST>")], ""),  # cut between two bookings
        (WHOLE.replace("<DTEND>20260331", ""), ""),  # of days that are not told
        (WHOLE.replace("<DTSTART>20260301", "<DTSTART>soon"), ""),
        (ofx(RENT, LAMP, made="20260409"), ""),  # its last booking is before the tea
        (ofx(RENT, LAMP, FEE, made="20260409", days=(1, 10)), ""),  # a booking behind the days that it tells
        (ofx(FEE, Booking(25, "1.00", "Ink"), made="20260409"), ""),  # its first booking is behind the tea
        (ofx(made="20260409"), ""),  # no bookings at all
        (ofx(RENT, LAMP, FEE, made="20260409", number="77"), ""),  # of another account
    ],
)  # fmt: skip
def test_a_download_that_says_nothing_of_a_day_or_is_not_newer_removes_nothing(home: Home, newer: str, why: str) -> None:
    home.bring(home.found("march.ofx", ofx(RENT, LAMP, TEA, FEE)))
    tally = home.bring(home.found("march.ofx", newer))

    assert tally.removal.removed == 0
    assert "Tea" in texts(home)
    assert why in "".join(tally.removal.why_kept)


@requirement("imp.newer.ofx", "imp.newer.others")
def test_what_a_download_without_days_told_too_stays(home: Home) -> None:
    home.bring(home.found("notice.ofx", ofx(TEA).replace("<DTSTART>20260301", "")))
    home.bring(home.found("march.ofx", ofx(RENT, LAMP, TEA, FEE)))
    home.bring(home.found("march.ofx", WHOLE))
    assert "Tea" in texts(home)


@requirement("imp.newer.ofx", "imp.newer.half")
def test_a_download_that_would_remove_most_of_an_account_asks(home: Home) -> None:
    days = [Booking(day, "1.00", f"Day {day}") for day in range(2, 12)]
    home.bring(home.found("march.ofx", ofx(*days)))
    filtered = home.found("march.ofx", ofx(days[0], days[-1], made="20260409"))

    assert home.bring(filtered).removal.awaits_owner
    assert len(texts(home)) == 10
    home.bring(filtered, agree=lambda doubt: not doubt.why)
    assert texts(home) == ["Day 11", "Day 2"]


@requirement("imp.newer.ofx")
@pytest.mark.parametrize(("second", "gone"), [((Booking(9, "3.00", "Lamp"), FEE), True), ((FEE,), False)])
def test_several_downloads_are_one_span_only_where_their_bookings_overlap(
    home: Home, second: tuple[Booking, ...], gone: bool
) -> None:
    home.bring(home.found("march.ofx", ofx(RENT, LAMP, TEA, FEE)))
    both = packed(ofx(RENT, LAMP, made="20260409"), ofx(*second, made="20260410"))
    home.bring(home.found("both.zip", both))
    assert ("Tea" not in texts(home)) is gone

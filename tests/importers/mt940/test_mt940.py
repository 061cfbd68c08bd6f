"""MT940: days without a year, credits that are taken back, purposes as several banks write them."""

import pytest

from pdpp_server.importers.sources.mt940 import MT940
from tests.importers.reading import files_of, records, rejections
from tests.requirements import requirement

BEGIN = b":20:X\r\n:25:HARBDEFFXXX/22\r\n:28C:1\r\n:60F:C260101EUR10,00\r\n"


def one(line: bytes, purpose: bytes = b"") -> dict[str, object]:
    (data,) = records(MT940, "transactions", BEGIN + b":61:" + line + b"\r\n" + purpose + b"-\r\n")
    return data


@requirement("imp.bank.days")
@pytest.mark.parametrize(
    ("line", "valued", "booked"),
    [
        (b"260302D1,00NTRFNONREF", "2026-03-02", "2026-03-02"),
        (b"2603020303D1,00NTRFNONREF", "2026-03-02", "2026-03-03"),
        (b"2512310102D1,00NTRFNONREF", "2025-12-31", "2026-01-02"),
        (b"2601011231D1,00NTRFNONREF", "2026-01-01", "2025-12-31"),
        (b"9903020230D1,00NTRFNONREF", "1999-03-02", "1999-03-02"),  # 30 February: none
    ],
)
def test_the_day_of_a_booking_is_in_the_year_that_is_nearest(line: bytes, valued: str, booked: str) -> None:
    data = one(line)
    assert (data["value_on"], data["booked_on"]) == (valued, booked)


@requirement("imp.bank.amounts")
@pytest.mark.parametrize(("mark", "amount"), [(b"C", 7.5), (b"D", -7.5), (b"RC", -7.5), (b"RD", 7.5), (b"CR", 7.5)])
def test_what_is_taken_back_goes_the_other_way(mark: bytes, amount: float) -> None:
    assert one(b"260302" + mark + b"7,50NTRFNONREF")["amount"] == amount


@requirement("imp.bank.amounts")
def test_a_whole_amount_may_lack_its_comma_and_letters_behind_it_are_its_kind() -> None:
    data = one(b"2603020302C500NTRF29-07-2014 10:05//B4G29")
    assert (data["amount_text"], data["kind"]) == ("500", "NTRF")


@requirement("imp.bank.once")
def test_equal_bookings_of_one_statement_are_two_and_of_two_statements_one() -> None:
    twice = BEGIN + b":61:260302D1,00NTRFNONREF\r\n:86:Tea\r\n" * 2
    assert len({data["id"] for data in records(MT940, "transactions", twice)}) == 2
    assert len({data["id"] for data in records(MT940, "transactions", twice, twice)}) == 2


@requirement("imp.files.rejected")
def test_what_cannot_be_read_is_told_with_its_line() -> None:
    text = BEGIN + b":61:nonsense\r\n:61:260302D1,00NTRFNONREF\r\n:62F:nothing\r\n"
    assert [place for place, _ in rejections(MT940, text)] == ["export 1:5", "export 1:7"]
    assert len(records(MT940, "transactions", text)) == 1


@requirement("imp.files.wrong-kind")
@pytest.mark.parametrize("other", [b":20: one\n:21: two\n", b"", b"notes\n\n:20:X\nnothing more\n"])
def test_other_texts_are_left_alone(other: bytes) -> None:
    assert list(MT940.recognise(files_of(other))) == []


@requirement("imp.files.recognised")
@pytest.mark.parametrize("before", [b"ABNANL2A\n940\nABNANL2A\n", b"0000 01INGBNL2AXXXX00001\n940 00\n", b"\r\n", b"{1:F01X}{4:\n"])
def test_what_banks_write_above_a_statement_is_passed_over(before: bytes) -> None:
    assert len(records(MT940, "transactions", before + BEGIN + b":61:260302D1,00NOV NONREF\r\n")) == 1


@requirement("imp.bank.once")
def test_a_kind_of_three_letters_is_none_of_the_reference() -> None:
    data = one(b"260302D1,00NOV NONREF")
    assert (data["kind"], "reference" in data) == ("NOV", False)


@requirement("imp.bank.once")
def test_what_a_booking_is_for_may_stand_in_a_field_of_the_bank() -> None:
    data = one(b"2603020302DF2402,00S   X", b":NS:01526715\r\n15Harbour Insurance\r\n17G2000001\r\n")
    assert (data["description"], data["reference"]) == ("01526715 15Harbour Insurance 17G2000001", "X")

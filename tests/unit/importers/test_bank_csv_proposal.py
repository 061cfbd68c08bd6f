"""A mapping proposed from a bank's table, and the doubts that it leaves."""

import pytest

from pdpp_server.importers.formats.bank_csv_mapping import mapping_lines, parse_mapping
from pdpp_server.importers.formats.bank_csv_proposal import proposed
from tests.requirements import requirement


@requirement("imp.bank.mapping")
def test_a_day_after_the_twelfth_tells_the_form_of_a_date() -> None:
    (american,) = proposed(["Date,Amount,Description", "01/02/2026,-1.00,A", "01/13/2026,1.00,B"], "utf-8")
    (european,) = proposed(["Date,Amount,Description", "01/02/2026,-1.00,A", "13/01/2026,1.00,B"], "utf-8")
    assert (american.mapping.date_format, european.mapping.date_format) == ("%m/%d/%Y", "%d/%m/%Y")
    assert parse_mapping("\n".join(mapping_lines(european.mapping)).encode()) == european.mapping


@requirement("imp.bank.doubts")
def test_a_date_that_can_be_meant_twice_and_amounts_without_a_sign_are_doubts() -> None:
    readings = proposed(["Date,Amount,Description", "01/02/2026,29.99,A", "03/04/2026,1.00,B"], "utf-8")
    assert [one.says for one in readings] == [
        "01/02/2026 is 1 February 2026; amounts without a sign are spent",
        "01/02/2026 is 2 January 2026; amounts without a sign are spent",
        "01/02/2026 is 1 February 2026; amounts without a sign are received",
        "01/02/2026 is 2 January 2026; amounts without a sign are received",
    ]
    assert [one.mapping.flip_sign for one in readings] == [True, True, False, False]
    for one in readings:
        assert parse_mapping("\n".join(mapping_lines(one.mapping)).encode()) == one.mapping


@requirement("imp.bank.doubts")
def test_days_that_are_the_same_either_way_are_no_doubt() -> None:
    (only,) = proposed(["Date,Amount", "02/02/2026,-1.00", "03/03/2026,2.00"], "utf-8")
    assert only.says == ""


@requirement("imp.bank.doubts")
def test_an_amount_that_is_a_thousand_or_one_is_a_doubt() -> None:
    readings = proposed(["Date;Amount", "2026-03-13;-3.500", "2026-03-14;2"], "utf-8")
    assert [(one.mapping.decimal, one.says) for one in readings] == [(",", "-3.500 is -3500"), (".", "-3.500 is -3.5")]


@requirement("imp.bank.doubts")
@pytest.mark.parametrize(
    ("told", "decimal"),
    [
        ("-1.000.000", ","),  # a mark that stands there twice parts thousands
        ("-1,23,456", "."),
        ("-1.000;-2,5", ","),
        ("-1,000;-2.5", "."),
        ("-1.234,560", ","),
        ("-0.125", "."),
        ("-1234,567", ","),
        ("-12;-3", "."),
        ("-3,50;0;0;12;7", ","),  # most are whole
    ],
)
def test_an_amount_that_can_be_meant_once_tells_the_mark_of_all(told: str, decimal: str) -> None:
    (only,) = proposed(["Date\tAmount", *(f"2026-03-13\t{one}" for one in told.split(";"))], "utf-8")
    assert (only.mapping.decimal, only.says) == (decimal, "")


@requirement("imp.bank.doubts")
def test_a_balance_tells_the_mark_too() -> None:
    (only,) = proposed(["Date;Betrag;Saldo;Waehrung", "2026-03-13;-1.000;2.345,60;EUR"], "utf-8")
    assert (only.mapping.decimal, only.mapping.columns["currency"]) == (",", "Waehrung")

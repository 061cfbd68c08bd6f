"""Amounts: read exactly, or not at all."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp_server.importers.formats.money import amount, money
from tests.requirements import requirement


@requirement("imp.bank.amounts")
@pytest.mark.parametrize(
    ("text", "decimal", "value"),
    [
        ("-12.50", None, "-12.50"),
        ("+2100.00", None, "2100.00"),
        ("-1.234,56 €", ",", "-1234.56"),
        ("1\u202f234,56", ",", "1234.56"),
        ("1'234.56 CHF", ".", "1234.56"),
        ("1,23,456.78", ".", "123456.78"),
        ("$ 1,234", ".", "1234"),
        ("(12.00)", ".", "-12.00"),
        ("12,00-", ",", "-12.00"),
        ("\u22127", ".", "-7"),
        (".5", ".", "0.5"),
        ("1.234", ",", "1234"),
        ("1.000.000", ".", "1000000"),
        ("Rp 12.345.678", None, "12345678"),
        ("-1,23,456", None, "-123456"),
        ("+00000000000115.8331", None, "115.8331"),
        ("000000000000000000000", ".", "0"),
    ],
)
def test_an_amount_is_read_as_it_was_meant(text: str, decimal: str | None, value: str) -> None:
    assert amount(text, decimal) == Decimal(value)


@requirement("imp.bank.amounts")
@pytest.mark.parametrize(
    ("text", "decimal"),
    [
        ("", "."),
        ("-", "."),
        ("4,80", "."),
        ("12.5", ","),
        ("1e5", "."),
        ("12a34", "."),
        ("1,2,3", "."),
        ("1,234.567.890", "."),
        ("1,234.567,890", ","),
        ("9" * 16, "."),
        ("0" * 41, "."),
        ("NaN", "."),
    ],
)
def test_what_is_no_amount_is_none(text: str, decimal: str) -> None:
    assert amount(text, decimal) is None


@requirement("imp.bank.amounts")
@given(st.decimals(min_value=-(10**11), max_value=10**11, places=2))
def test_every_amount_comes_back_whole(value: Decimal) -> None:
    fields = money(value)
    assert amount(fields["amount_text"], ".") == value == round(Decimal(fields["amount"]), 2)
    assert amount(f"{value:,.2f}".translate(str.maketrans(",.", ".,")), ",") == value

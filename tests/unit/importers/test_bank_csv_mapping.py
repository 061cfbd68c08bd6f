"""The mapping file, in which the owner says what the columns of a bank's table mean."""

import pytest

from pdpp_server.importers.formats.bank_csv_mapping import BankMapping, UnusableMapping, mapping_lines, parse_mapping
from tests.requirements import requirement


@requirement("imp.bank.mapping")
@pytest.mark.parametrize(
    ("mapping", "said"),
    [
        (b"= 1", "not TOML"),
        (b"\xff", "not TOML"),
        (b'date_format="%d"\n[columns]\ndate="D"\n', "no column with money"),
        (b'date_format="%d"\nskip=1\n[columns]\ndate="D"\namount="A"\n', "valid are account, columns"),
        (b'date_format="%d"\nencoding="klingon"\n[columns]\ndate="D"\namount="A"\n', "unknown"),
    ],
)
def test_a_mapping_that_cannot_be_followed_is_refused_with_the_reason(mapping: bytes, said: str) -> None:
    with pytest.raises(UnusableMapping, match=said):
        parse_mapping(mapping)


@requirement("imp.bank.mapping")
def test_what_a_mapping_leaves_out_is_the_usual() -> None:
    read = parse_mapping(b'\xef\xbb\xbfdate_format="%d"\n[columns]\ndate="D"\ncredit="C"\ndescription="W"\n')
    assert read == BankMapping({"date": "D", "credit": "C"}, ("W",), "%d")
    assert (read.delimiter, read.decimal, read.encoding) == (";", ".", "utf-8")


@requirement("imp.bank.mapping")
def test_a_mapping_that_is_written_down_is_read_as_the_same() -> None:
    whole = BankMapping(
        {"date": 'The "day"', "amount": "a\\b"},
        ("one", "two\tthree"),
        "%d.%m.%Y",
        delimiter="\t",
        encoding="cp1252",
        skip_lines=3,
        decimal=",",
        currency="EUR",
        flip_sign=True,
        sign_column="S",
        negative=frozenset({"s", "d"}),
    )
    assert parse_mapping("\n".join(mapping_lines(whole)).encode()) == whole


@requirement("imp.bank.mapping")
def test_every_column_that_is_named_is_needed_once() -> None:
    mapping = BankMapping({"date": "D", "amount": "A"}, ("W", "A"), "%d", sign_column="S")
    assert mapping.needed() == ["D", "A", "W", "S"]

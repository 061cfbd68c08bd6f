"""A bank's CSV: what a mapping may say, what a proposal finds, and which rows are the same."""

import pytest

from pdpp_server.importers.sources.bank_csv import BANK_CSV
from pdpp_server.importers.formats.bank_csv_mapping import mapping_lines
from pdpp_server.importers.formats.bank_csv_proposal import proposed
from pdpp_server.importers.source import Outcome
from tests.importers.exports import export_of, read_export, reasons_of, records_of
from tests.requirements import requirement

PLAIN = b"""delimiter = ","
date_format = "%Y-%m-%d"
currency = "EUR"
[columns]
date = "Date"
amount = "Amount"
description = "What"
balance = "Balance"
"""
HEADER = "Date,Amount,What,Balance\n"


def outcomes(*files: str, mapping: bytes = PLAIN) -> list[Outcome]:
    contents = {f"{number}.csv": text.encode() for number, text in enumerate(files, 1)}
    return [one for files in [export_of(contents, mapping=mapping)] for one in read_export(BANK_CSV, files)]


def keys(*files: str) -> list[str]:
    return [data["id"] for data in records_of(outcomes(*files), "transactions")]


@requirement("imp.bank.once")
def test_equal_rows_of_one_file_are_two_and_of_two_files_one() -> None:
    coffee, rent = "2026-03-01,-3.20,Coffee,10\n", "2026-03-02,-500,Rent,9\n"
    first, second = keys(HEADER + coffee + coffee + rent), keys(HEADER + coffee + coffee + rent + coffee)
    assert len(set(first)) == 3
    assert second[:3] == first
    assert second[3] not in first


@requirement("imp.bank.once")
def test_the_balance_is_no_part_of_what_a_row_is() -> None:
    assert keys(HEADER + "2026-03-01,-3.20,Coffee,10\n") == keys(HEADER + "2026-03-01,-3.20,Coffee,99\n")


@requirement("imp.bank.once")
def test_an_id_of_the_bank_is_the_key_unless_another_row_has_it() -> None:
    mapping = PLAIN + b'id = "Id"\n'
    text = "Date,Amount,What,Balance,Id\n2026-03-01,1,A,,x7\n2026-03-01,1,A,,x7\n2026-03-01,2,B,,x7\n"
    found = [data["id"] for data in records_of(outcomes(text, mapping=mapping), "transactions")]
    assert found[0] == "x7"
    assert [one.partition("~")[0] for one in found] == ["x7", "x7"]


@requirement("imp.bank.mapping", "imp.files.rejected")
def test_a_bad_row_is_rejected_with_the_line_in_which_it_begins() -> None:
    good = '2026-03-01,1,"two\nlines",\n'
    read = outcomes(HEADER + good + "01.03.2026,1,Date,\n2026-03-01,,None,\n2026-03-01\n2026-03-01,2,Good,\n")
    assert reasons_of(read) == [
        ("1.csv:4", "the date is not of the form %Y-%m-%d"),
        ("1.csv:5", "it has no amount that can be read"),
        ("1.csv:6", "the row has 1 columns of 4"),
    ]
    assert [data["description"] for data in records_of(read, "transactions")] == ["two lines", "Good"]


@requirement("imp.bank.mapping")
def test_two_columns_a_sign_column_and_a_turned_sign_are_followed() -> None:
    begin = b'delimiter=","\ndate_format="%d.%m.%y %H:%M"\ndecimal=","\n'
    two = begin + b'[columns]\ndate="D"\ndebit="Out"\ncredit="In"\n'
    read = outcomes('D,Out,In\n01.03.26 23:30,"1.000,5",\n01.03.26 23:30,,7\n', mapping=two)
    out, into = records_of(read, "transactions")
    assert (out["amount"], into["amount"], out["posted_at"]) == (-1000.5, 7, "2026-03-01T22:30:00.000Z")
    sign = begin + b'[columns]\ndate="D"\namount="A"\n[sign]\ncolumn="S"\nnegative=["S"]\n'
    told = records_of(outcomes("D,A,S\n01.03.26 10:00,5,s\n01.03.26 10:00,5,H\n", mapping=sign), "transactions")
    assert [data["amount"] for data in told] == [-5, 5]
    turned = b"flip_sign = true\n" + begin + b'[columns]\ndate="D"\namount="A"\n'
    assert records_of(outcomes("D,A,x\n01.03.26 10:00,5,\n", mapping=turned), "transactions")[0]["amount"] == -5


@requirement("imp.bank.mapping")
def test_a_mapping_that_does_not_fit_is_told_with_the_columns_that_are_missing() -> None:
    mapping = b'date_format="%d"\nskip_lines=1\n[columns]\ndate="D"\namount="A"\n'
    (account,) = BANK_CSV.recognise(export_of({"1.csv": HEADER.encode()}, mapping=mapping))
    assert account.lacks == "The mapping does not fit: line 2 of 1.csv has no column 'D', 'A'."


@requirement("imp.bank.mapping")
def test_without_a_mapping_nothing_is_read_and_the_proposal_can_be_used_as_it_is() -> None:
    text = "Konto 77\nBuchungstag;Betrag (EUR);Verwendungszweck\n13.03.2026;-1.012,50;Fähre\n02.03.2026;7,00;Kaffee\n"
    contents = {"a.csv": text.encode("cp1252")}
    (account,) = BANK_CSV.recognise(export_of(contents))
    assert account.lacks
    assert records_of(list(BANK_CSV.read(account)), "transactions") == []

    assert account.proposal
    (choice,) = account.proposal.choices
    assert choice.mapping.decode().splitlines() == list(account.notes[1 : account.notes.index("The first rows would be read as:")])
    first, *_ = records_of(read_export(BANK_CSV, export_of(contents, mapping=choice.mapping)), "transactions")

    told = [first[name] for name in ("booked_on", "amount_text", "currency", "description")]
    assert told == ["2026-03-13", "-1012.50", "EUR", "Fähre"]


@requirement("imp.bank.doubts")
def test_a_column_that_says_what_was_spent_is_the_sign() -> None:
    lines = ["Date,Type,Amount,Memo", "2026-03-01,debit,29.99,A", "2026-03-02,Credit,5.00,B"]
    (only,) = proposed(lines, "utf-8")
    assert (only.mapping.sign_column, only.mapping.negative) == ("Type", frozenset({"debit"}))
    text = "\n".join(lines).encode()
    mapping = "\n".join(mapping_lines(only.mapping)).encode()
    found = records_of(read_export(BANK_CSV, export_of({"a.csv": text}, mapping=mapping)), "transactions")
    assert [one["amount"] for one in found] == [-29.99, 5]


BANKS = {
    "monzo": (
        "Transaction ID,Date,Time,Type,Name,Emoji,Category,Amount,Currency,Local amount,Local currency,Notes and #tags\n"
        "tx_1,13/03/2026,08:15:00,Card payment,Ferry Line,,Transport,-12.50,GBP,-12.50,GBP,to the island\n",
        ("2026-03-13", -12.5, "GBP", "Ferry Line"),
    ),
    "monzo of old": (
        "id,created,amount,currency,local_amount,local_currency,category,name,notes\n"
        "tx_1,2026-03-13T08:15:00Z,-12.50,GBP,-12.50,GBP,transport,Ferry Line,\n",
        ("2026-03-13", -12.5, "GBP", "Ferry Line"),
    ),
    "raiffeisen": (
        "IBAN;Booked At;Text;Credit/Debit Amount;Balance;Valuta Date\n"
        "CH9300762011623852957;2026-03-13 00:00:00.0;Ferry Line;-12.5;100;2026-03-14 00:00:00.0\n",
        ("2026-03-13", -12.5, None, None),
    ),
    "kbc card": (
        "kredietkaart;kaarthouder;uitgavenstaat;datum verrichting;Datum verrekening;bedrag;credit;debet;munt;koers;"
        "bedrag in EUR;Kosten op verrichting;Handelaar;locatie;land;toelichting\n"
        "1111;ANN;1;13/03/2026;14/03/2026;-12,50;;-12,50;EUR;;-12,50;;Ferry Line;Gent;BE;overzet\n",
        ("2026-03-13", -12.5, "EUR", "Ferry Line"),
    ),
    "paypal": (
        '"Date","Time","TimeZone","Name","Type","Status","Currency","Gross","Fee","Net","From Email Address",'
        '"To Email Address","Transaction ID"\n'
        '"13/03/2026","08:15:00","CET","Ferry Line","Payment","Completed","EUR","-12.50","0.00","-12.50","a@x","b@y","T1"\n',
        ("2026-03-13", -12.5, "EUR", "Ferry Line"),
    ),
    "venmo": (
        "Account Statement - (@ann),,,,,,,,,\nAccount Activity,,,,,,,,,\n"
        ",ID,Datetime,Type,Status,Note,From,To,Amount (total),Amount (tip)\n"
        ",1,2026-03-13T08:15:00,Payment,Complete,ferry,Ann,Bo,- $12.50,\n"
        ",2,2026-03-14T08:15:00,Payment,Complete,tea,Cy,Ann,+ $3.00,0\n",
        ("2026-03-13", -12.5, None, None),
    ),
}


@requirement("imp.bank.doubts")
@pytest.mark.parametrize("bank", BANKS)
def test_tables_of_many_banks_are_proposed_without_a_doubt(bank: str) -> None:
    text, expected = BANKS[bank]
    contents = {"a.csv": text.encode()}
    (account,) = BANK_CSV.recognise(export_of(contents))
    assert account.proposal
    (choice,) = account.proposal.choices
    first, *_ = records_of(read_export(BANK_CSV, export_of(contents, mapping=choice.mapping)), "transactions")
    assert tuple(first.get(name) for name in ("booked_on", "amount", "currency", "counterparty")) == expected


@requirement("imp.bank.doubts")
def test_the_number_of_the_account_itself_is_nobody_else_s() -> None:
    header, row = "Date;IBAN;Amount", "2026-03-{:02};CH{};-1.00"
    (own,) = proposed([header, row.format(13, 93), row.format(14, 93)], "utf-8")
    (other,) = proposed([header, row.format(13, 93), row.format(14, 94)], "utf-8")
    (unnamed,) = proposed([";Date;Amount", "x;2026-03-13;-1.00", "x;2026-03-14;-1.00"], "utf-8")
    assert "counterparty_account" not in {*own.mapping.columns, *unnamed.mapping.columns}
    assert other.mapping.columns["counterparty_account"] == "IBAN"


@requirement("imp.bank.mapping")
@pytest.mark.parametrize("text", ["name,age,town\na,1,b\n", "Date,Amount\nsoon,much\n", "", "no table at all"])
def test_a_table_that_is_no_bank_s_is_left_alone(text: str) -> None:
    assert list(BANK_CSV.recognise(export_of({"a.csv": text.encode()}))) == []


@requirement("imp.files.damaged")
def test_a_wrong_encoding_is_told_and_costs_characters_only() -> None:
    files = export_of({"a.csv": (HEADER + "2026-03-01,1,Fähre,\n").encode("cp1252")}, mapping=PLAIN)
    (account,) = BANK_CSV.recognise(files)
    assert "is not all utf-8" in account.notes[0]
    assert records_of(list(BANK_CSV.read(account)), "transactions")[0]["description"] == "F\ufffdhre"

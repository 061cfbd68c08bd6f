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


@requirement("imp.bank.mapping")
@pytest.mark.parametrize(
    ("header", "row", "expected"),
    [
        ("Buchungstag;Wertstellung;Buchungstext;Auftraggeber / Begünstigter;Verwendungszweck;Betrag (EUR)",
         "03.11.2026;03.11.2026;Lastschrift;Stadtwerke;Strom;-45,20",
         {"date": "Buchungstag", "counterparty": "Auftraggeber / Begünstigter", "amount": "Betrag (EUR)"}),
        ("Buchung;Wertstellungsdatum;Auftraggeber/Empfänger;Buchungstext;Verwendungszweck;Saldo;Währung;Betrag;Währung",
         "13.11.2026;13.11.2026;REWE;Lastschrift;Einkauf;100,00;EUR;-45,20;EUR",
         {"date": "Buchung", "value_date": "Wertstellungsdatum", "amount": "Betrag", "currency": "Währung"}),
        ("Buchungstag;Wertstellung (Valuta);Vorgang;Buchungstext;Umsatz in EUR",
         "13.11.2026;13.11.2026;Lastschrift;Strom;-45,20",
         {"date": "Buchungstag", "value_date": "Wertstellung (Valuta)", "amount": "Umsatz in EUR"}),
        ("Buchungstag;Wert;Umsatzart;Begünstigter / Auftraggeber;Verwendungszweck;Betrag;Währung",
         "13.11.2026;13.11.2026;SEPA;REWE;Einkauf;-45,20;EUR",
         {"value_date": "Wert", "counterparty": "Begünstigter / Auftraggeber"}),
        ("Datum;Avisierungstext;Gutschrift in CHF;Lastschrift in CHF;Valuta;Saldo in CHF",
         "13.11.2026;Kauf;;-12.50;13.11.2026;100.00",
         {"credit": "Gutschrift in CHF", "debit": "Lastschrift in CHF", "value_date": "Valuta"}),
        ("Transaction Date,Transaction Type,Sort Code,Transaction Description,Debit Amount,Credit Amount,Balance",
         "13/11/2026,DEB,11-22-33,SHOP,12.50,,100.00",
         {"debit": "Debit Amount", "credit": "Credit Amount"}),
        ("Date,Counter Party,Reference,Type,Amount (GBP),Balance (GBP),Spending Category,Notes",
         "13/11/2026,Shop,Lunch,CARD,-12.50,100.00,EATING_OUT,",
         {"counterparty": "Counter Party", "amount": "Amount (GBP)", "balance": "Balance (GBP)"}),
        ("Date,Type,Description,Value,Balance,Account Name,Account Number",
         "13 Nov 2026,POS,SHOP,-12.50,100.00,ME,1-2".replace("13 Nov 2026", "13/11/2026"),
         {"amount": "Value", "balance": "Balance"}),
        ("Datum,Naam / Omschrijving,Rekening,Tegenrekening,Code,Af Bij,Bedrag (EUR),Mutatiesoort,Mededelingen",
         '20261113,Winkel,NL1,NL2,BA,Af,"12,50",Betaalautomaat,Brood',
         {"counterparty": "Naam / Omschrijving", "counterparty_account": "Tegenrekening", "amount": "Bedrag (EUR)"}),
        ("dateOp;dateVal;label;category;supplierFound;amount;comment;accountNum;accountLabel;accountbalance",
         "2026-11-13;2026-11-13;CARTE SHOP;Alimentation;shop;-12,50;;1;Moi;100",
         {"date": "dateOp", "value_date": "dateVal", "balance": "accountbalance"}),
        ("Date;Libellé;Débit euros;Crédit euros", "13/11/2026;CARTE;12,50;",
         {"debit": "Débit euros", "credit": "Crédit euros"}),
        ("Bokföringsdag;Belopp;Avsändare;Mottagare;Namn;Rubrik;Saldo;Valuta",
         "2026-11-13;-12,50;1;2;Affär;Kortköp;100,00;SEK",
         {"date": "Bokföringsdag", "amount": "Belopp", "counterparty": "Namn", "currency": "Valuta"}),
        ("Dato;Tekst;Beløb;Saldo", "13.11.2026;Netto;-12,50;100,00", {"amount": "Beløb"}),
        ("Fecha Operación;Fecha Valor;Concepto;Importe;Saldo", "13/11/2026;13/11/2026;Compra;-12,50;100,00",
         {"date": "Fecha Operación", "value_date": "Fecha Valor", "amount": "Importe"}),
        ("#Data operacji;#Opis operacji;#Rachunek;#Kategoria;#Kwota;", "2026-11-13;SKLEP;Konto;Inne;-12,50 PLN;",
         {"date": "#Data operacji", "amount": "#Kwota"}),
        ("Booking Date,Value Date,Partner Name,Partner Iban,Type,Payment Reference,Account Name,Amount (EUR)",
         "2026-11-13,2026-11-13,Shop,DE1,Presentment,Lunch,Main,-12.50",
         {"counterparty": "Partner Name", "counterparty_account": "Partner Iban"}),
    ],
)  # fmt: skip
def test_the_columns_of_many_banks_are_known(header: str, row: str, expected: dict[str, str]) -> None:
    (only,) = proposed([header, row], "utf-8")
    assert expected.items() <= only.mapping.columns.items()
    assert only.mapping.descriptions


@requirement("imp.bank.mapping")
@pytest.mark.parametrize("header", ["date,value", "date,weight,unit", "Date,Total,Items"])
def test_what_may_be_any_measure_is_no_bank(header: str) -> None:
    assert proposed([header, "2026-11-13,72.5,kg"], "utf-8") == ()

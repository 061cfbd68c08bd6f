"""A mapping proposed from a bank's CSV itself: from the names of its columns, and from what stands in them."""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from pdpp_server.importers.formats.bank_csv_mapping import BankMapping
from pdpp_server.importers.formats.money import amount

HEADER_LINES = 40  # before which the names of the columns must stand

_MONEY = frozenset({"amount", "debit", "credit"})
# What each column may be called, in small letters, by the words that tell it best.
_WORDS: Mapping[str, tuple[str, ...]] = {
    "date": ("booking date", "transaction date", "buchungstag", "buchungsdatum", "posting date", "post date", "date",
             "datum", "fecha", "data", "boekdatum", "dato", "päivämäärä", "completed date"),
    "value_date": ("value date", "valuta", "valutadatum", "wertstellung", "date de valeur", "fecha valor",
                   "data valuta"),
    "amount": ("amount", "betrag", "umsatz", "montant", "importe", "importo", "bedrag", "valor", "belopp", "kwota"),
    "debit": ("debit", "soll", "débit", "cargo", "paid out", "withdrawal", "withdrawals", "money out", "dare"),
    "credit": ("credit", "haben", "crédit", "abono", "paid in", "deposit", "deposits", "money in", "avere"),
    "currency": ("currency", "währung", "devise", "divisa", "moneda", "valuta code", "currency code", "waluta"),
    "description": ("description", "verwendungszweck", "buchungstext", "details", "memo", "libellé", "concepto",
                    "descripción", "descrizione", "omschrijving", "narrative", "reference", "beskrivning"),
    "counterparty": ("counterparty", "payee", "beguenstigter/zahlungspflichtiger", "begünstigter/auftraggeber",
                     "name zahlungsbeteiligter", "zahlungsempfänger*in", "auftraggeber/empfänger", "partner name",
                     "merchant", "name", "naam tegenpartij", "naam / omschrijving", "bénéficiaire"),
    "counterparty_account": ("iban", "kontonummer/iban", "partner iban", "tegenrekening", "account number",
                             "iban zahlungsbeteiligter"),
    "balance": ("balance", "saldo", "solde", "saldo nach buchung", "running balance", "saldo na mutatie"),
    "id": ("transaction id", "transactionid", "transaction reference", "reference number", "id"),
}  # fmt: skip
_ENCODINGS = ("utf-8", "cp1252")
_DELIMITERS = ";\t|,"
_DATE_FORMATS = ("%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%d.%m.%y", "%d/%m/%y", "%m/%d/%y",
                 "%Y/%m/%d", "%Y%m%d", "%Y-%m-%d %H:%M:%S", "%d.%m.%Y %H:%M", "%d/%m/%Y %H:%M:%S")  # fmt: skip
_SPACES = re.compile(r"\s+")
_UNIT = re.compile(r"(?<!\s)\s*+\([^()]*+\)\Z")
_CURRENCY = re.compile(r"\b(?:EUR|USD|GBP|CHF|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|JPY|INR|BRL)\b")


def proposed(lines: Sequence[str], encoding: str) -> BankMapping | None:
    """From the first lines of a file; None where no line names both a date and an amount."""
    for delimiter in _DELIMITERS:
        for number, line in enumerate(lines[:HEADER_LINES]):
            header = [name.strip() for name in next(split([line], delimiter), list[str]())]
            columns, descriptions = _columns(header)
            if "date" in columns and columns.keys() & _MONEY:
                rows = [dict(zip(header, row, strict=False)) for row in split(lines[number + 1 :], delimiter)]
                date_format = _date_format([text for row in rows if (text := row.get(columns["date"], "").strip())])
                if date_format:
                    money = [row.get(columns[name], "") for name in _MONEY & columns.keys() for row in rows]
                    return BankMapping(
                        columns,
                        descriptions,
                        date_format,
                        delimiter=delimiter,
                        encoding=encoding,
                        skip_lines=number,
                        decimal=_decimal_mark(money),
                        currency=_currency(header),
                    )
    return None


def split(lines: Iterable[str], delimiter: str) -> Iterator[list[str]]:
    """Rows as far as they can be read."""
    try:
        yield from csv.reader(lines, delimiter=delimiter)
    except csv.Error:
        return


def _columns(header: Iterable[str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Each name of a column for what it says best; several may describe."""
    called = {_SPACES.sub(" ", _UNIT.sub("", name.lower())): name for name in header if name}
    columns: dict[str, str] = {}
    for meaning, words in _WORDS.items():
        if meaning != "description":
            found = next((called[word] for word in words if word in called), None)
            if found is not None and found not in columns.values():
                columns[meaning] = found
    if "amount" in columns:
        columns = {meaning: name for meaning, name in columns.items() if meaning not in ("debit", "credit")}
    described = [called[word] for word in _WORDS["description"] if word in called]
    return columns, tuple(name for name in described if name not in columns.values())


def _currency(header: Iterable[str]) -> str:
    """Where a column is called `Amount (USD)`."""
    return next((found[0] for name in header if (found := _CURRENCY.search(name))), "")


def _date_format(dates: Sequence[str]) -> str | None:
    """The one that fits most of them: a day after the twelfth tells days from months."""
    fitting = {form: sum(_fits(text, form) for text in dates) for form in _DATE_FORMATS}
    best = max(fitting, key=lambda form: fitting[form])
    return best if 2 * fitting[best] > len(dates) else None


def _fits(text: str, form: str) -> bool:
    try:
        datetime.strptime(text, form)  # noqa: DTZ007  only whether it can be read
    except ValueError:
        return False
    return True


def _decimal_mark(money: Sequence[str]) -> str:
    """The mark that stands two digits before the end."""
    found = [text for text in money if amount(text) is not None]
    commas = sum(bool(re.search(r",[0-9]{1,2}\D*\Z", text)) for text in found)
    return "," if 2 * commas > len(found) else "."


def encoding_of(head: bytes) -> str:
    """UTF-8 where it can be read so, also where the head ends inside a character."""
    if head.startswith(b"\xef\xbb\xbf"):
        return "utf-8-sig"
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    try:
        head[: len(head) - 4].decode(_ENCODINGS[0])
    except UnicodeDecodeError:
        return _ENCODINGS[1]
    return _ENCODINGS[0]

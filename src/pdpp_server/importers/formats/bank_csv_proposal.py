"""A mapping proposed from a bank's CSV itself: from the names of its columns, and from what stands in them."""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple
from unicodedata import combining, normalize

from pdpp_server.importers.formats.bank_csv_mapping import BankMapping
from pdpp_server.importers.formats.charsets import is_wide
from pdpp_server.importers.formats.money import amount

NAME_CHARS = 100  # of a column; what is longer is a text
HEADER_LINES = 40  # before which the names of the columns must stand

_MONEY = frozenset({"amount", "debit", "credit"})
# What each column may be called, as `_spellings` gives it, by the words that tell it best.
_WORDS: Mapping[str, tuple[str, ...]] = {
    "date": ("booking date", "transaction date", "buchungstag", "buchungsdatum", "posting date", "post date", "date",
             "datum", "fecha", "data", "boekdatum", "dato", "paivamaara", "completed date", "booked at", "created",
             "datetime", "datum verrichting", "date of transaction", "datum transactie", "boekingsdatum", "buchung",
             "dateop", "date operation", "date de l'operation", "date d'operation", "date de comptabilisation",
             "fecha operacion", "fecha contable", "f.contable", "data contabile", "data operazione", "data operacji",
             "data ksiegowania", "bokforingsdag", "bokforingsdatum", "bokfort dato", "kirjauspaiva", "posted date"),
    "value_date": ("value date", "valuta", "valutadatum", "wertstellung", "wertstellungsdatum", "wert",
                   "date de valeur", "dateval", "date valeur", "fecha valor", "f.valor", "data valuta", "valuta date",
                   "rentedatum", "datum verrekening", "valutadag", "rentedato"),
    "amount": ("amount", "betrag", "umsatz", "montant", "importe", "importo", "bedrag", "valor", "belopp", "kwota",
               "belob", "belop", "maara", "movimiento", "bedrag in eur", "credit/debit amount", "net", "netto",
               "gross", "brutto"),
    "debit": ("debit", "debit amount", "soll", "cargo", "paid out", "withdrawal", "withdrawals", "withdrawal amount",
              "money out", "dare", "addebiti", "lastschrift", "belastung", "uitgaven", "ut fra konto", "uttag",
              "adeudo"),
    "credit": ("credit", "credit amount", "haben", "abono", "paid in", "deposit", "deposits", "deposit amount",
               "money in", "avere", "accrediti", "gutschrift", "inkomsten", "inn pa konto", "insattning", "ingreso"),
    "currency": ("currency", "waehrung", "devise", "divisa", "moneda", "valuta code", "currency code",
                 "waluta", "munt", "whrg"),
    "description": ("description", "transaction description", "verwendungszweck", "buchungstext", "details", "memo",
                    "libelle", "label", "concepto", "descripcion", "descrizione", "causale", "omschrijving",
                    "omschrijving-1", "omschrijving-2", "omschrijving-3", "mededelingen", "narrative", "narration",
                    "particulars", "reference", "payment reference", "beskrivning", "rubrik", "tekst", "forklaring",
                    "selite", "viesti", "avisierungstext", "opis operacji", "tytul", "comment", "note",
                    "notes and #tags", "notes", "text", "toelichting", "vrije mededeling", "from", "to", "vorgang",
                    "zahlungspflichtige*r", "type", "transaction type"),
    "counterparty": ("counterparty", "counter party", "payee", "beguenstigter/zahlungspflichtiger",
                     "beguenstigter/auftraggeber", "auftraggeber/beguenstigter", "name zahlungsbeteiligter",
                     "zahlungsempfaenger*in", "auftraggeber/empfaenger", "empfaenger", "partner name", "merchant",
                     "merchant name", "payee name", "name", "naam tegenpartij", "naam/omschrijving", "beneficiaire",
                     "beneficiario", "handelaar", "supplierfound", "namn", "mottagare", "saaja", "modtager",
                     "odbiorca"),
    "counterparty_account": ("iban", "kontonummer/iban", "partner iban", "tegenrekening", "tegenrekening iban/bban",
                             "account number", "payee account number", "iban zahlungsbeteiligter",
                             "iban auftraggeberkonto"),
    "balance": ("balance", "saldo", "solde", "saldo nach buchung", "running balance", "running bal.",
                "closing balance", "saldo na mutatie", "saldo na trn", "accountbalance", "disponible"),
    "id": ("transaction id", "transactionid", "transferwise id", "transaction reference", "reference number", "id"),
}  # fmt: skip
_SPENT = frozenset(
    {"debit", "debet", "dr", "d", "soll", "s", "af", "out", "-", "dbit", "withdrawal", "lastschrift", "débit"}
)
_RECEIVED = frozenset({"credit", "cr", "c", "haben", "h", "bij", "in", "+", "crdt", "deposit", "gutschrift", "crédit"})
_ENCODINGS = ("utf-8", "cp1252")
_DELIMITERS = ";\t|,"
_DATE_FORMATS = ("%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%d.%m.%y", "%d/%m/%y", "%m/%d/%y",
                 "%Y/%m/%d", "%Y%m%d", "%Y-%m-%d %H:%M:%S", "%d.%m.%Y %H:%M", "%d/%m/%Y %H:%M:%S",
                 "%Y-%m-%d %H:%M:%S.%f", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S.%fZ",
                 "%m/%d/%Y %H:%M:%S")  # fmt: skip
_SPACES = re.compile(r"\s+")
_UNIT = re.compile(r"(?<!\s)(?:\s*+\([^()]*+\)|\s++(?:in )?(?:eur|euros?|chf|gbp|usd|sek|nok|dkk|pln))\Z")
_SLASH = re.compile(r" ?/ ?")
_IN_TWO_LETTERS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})
_IN_ONE = str.maketrans({"ø": "o", "ł": "l"})  # which are letters, not letters with an accent
_MARKS = re.compile(r"[,.](?=[0-9])")  # not the one of `Fr. 5`
_EITHER = re.compile(r"[^0-9,.]*[1-9][0-9]{0,2}[,.][0-9]{3}[^0-9,.]*")
_CODE = re.compile(r"[A-Z]{3}")
_CURRENCY = re.compile(r"\b(?:EUR|USD|GBP|CHF|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|JPY|INR|BRL)\b")


class TableReading(NamedTuple):
    """One way to read a table, and what it takes for granted where the table leaves it open."""

    mapping: BankMapping
    says: str = ""


def proposed(lines: Sequence[str], encoding: str) -> tuple[TableReading, ...]:
    """From the first lines of a file: several where they leave a doubt, none where no line names a date and money."""
    for delimiter in _DELIMITERS:
        for number in range(min(HEADER_LINES, len(lines))):
            found = _read_from(lines[number:], delimiter, encoding, number)
            if found:
                return found
    return ()


def _read_from(lines: Sequence[str], delimiter: str, encoding: str, skipped: int) -> tuple[TableReading, ...]:
    """As a table whose columns are named in the first of these lines."""
    header = [name.strip() for name in next(split(lines[:1], delimiter), list[str]())]
    columns, descriptions = _columns(header)
    if "date" not in columns or not columns.keys() & _MONEY:
        return ()
    rows = [dict(zip(header, row, strict=False)) for row in split(lines[1:], delimiter)]
    account = columns.get("counterparty_account")
    if account and _is_own_account([row.get(account, "") for row in rows]):
        del columns["counterparty_account"]
    _settle_valuta(columns, rows)
    told = [row.get(columns["date"], "").strip() for row in rows]
    dates = [text for text in told if text]
    forms = _date_formats(dates)
    if not forms:
        return ()
    amounts = [name for meaning, name in columns.items() if meaning in _MONEY or meaning == "balance"]
    money = [row.get(name, "") for name in amounts for row in rows]
    base = BankMapping(
        columns,
        descriptions,
        forms[0],
        delimiter=delimiter,
        encoding=encoding,
        skip_lines=skipped,
        currency=_currency(header),
    )
    found: list[TableReading] = []
    for marked in _marked(base, money):
        for signed in _signed(marked.mapping, header, rows):
            reading = _also(signed, marked.says)
            found += [_with_form(reading, form, dates, forms) for form in forms]
    return tuple(found)


def _also(reading: TableReading, says: str) -> TableReading:
    return reading._replace(says="; ".join(filter(None, (says, reading.says))))


def _marked(base: BankMapping, money: Sequence[str]) -> list[TableReading]:
    """By the mark before the fraction; with both where every amount that has one could be meant either way."""
    found = [text.strip() for text in money if amount(text) is not None]
    told = Counter([mark for mark in map(_decimal_mark, found) if mark])
    doubtful = next(filter(_is_doubtful, found), "")
    if told or not doubtful:
        commonest = max(".,", key=lambda mark: told[mark])
        return [TableReading(replace(base, decimal=commonest))]
    return [TableReading(replace(base, decimal=mark), f"{doubtful} is {_plain(doubtful, mark)}") for mark in ",."]


def _plain(text: str, mark: str) -> str:
    value = amount(text, mark)
    return "" if value is None else f"{value.normalize():f}"


def _with_form(reading: TableReading, form: str, dates: Sequence[str], forms: Sequence[str]) -> TableReading:
    mapping = replace(reading.mapping, date_format=form)
    if len(forms) == 1:
        return TableReading(mapping, reading.says)
    told = next(text for text in dates if _fits(text, form))
    day = datetime.strptime(told, form)  # noqa: DTZ007  to be shown
    return _also(TableReading(mapping, reading.says), f"{told} is {day.day} {day:%B %Y}")


def _signed(base: BankMapping, header: Sequence[str], rows: Sequence[Mapping[str, str]]) -> list[TableReading]:
    """Where every amount is positive, a column may say which are spent; where none does, only the owner knows."""
    if "amount" not in base.columns:
        return [TableReading(base)]
    values = [amount(row.get(base.columns["amount"], ""), base.decimal) for row in rows]
    if any(value is not None and value < 0 for value in values):
        return [TableReading(base)]
    for name in header:
        told = {row.get(name, "").strip().lower() for row in rows} - {""}
        if told and told <= _SPENT | _RECEIVED and name not in base.columns.values():
            negative = frozenset(told & _SPENT) or frozenset({"debit"})
            return [TableReading(replace(base, sign_column=name, negative=negative))]
    return [
        TableReading(replace(base, flip_sign=True), "amounts without a sign are spent"),
        TableReading(base, "amounts without a sign are received"),
    ]


def split(lines: Iterable[str], delimiter: str) -> Iterator[list[str]]:
    """Rows as far as they can be read."""
    try:
        yield from csv.reader(lines, delimiter=delimiter)
    except csv.Error:
        return


def _columns(header: Iterable[str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Each name of a column for what it says best; several may describe."""
    called: dict[str, str] = {}
    for name in header:
        if 0 < len(name) <= NAME_CHARS:  # of `Amount (total)` and `Amount (tip)` the first
            for spelling in _spellings(name):
                called.setdefault(_UNIT.sub("", spelling), name)
                called.setdefault(spelling, name)
    columns: dict[str, str] = {}
    described: list[str] = []
    for meaning, words in _WORDS.items():
        found = [called[word] for word in words if word in called]
        if meaning == "description":
            described = found
        elif found and found[0] not in columns.values():
            columns[meaning] = found[0]
    if not columns.keys() & _MONEY and "balance" in columns and "value" in called:
        columns["amount"] = called["value"]  # without a balance it may be the value of anything
    if "amount" in columns:
        columns.pop("debit", None)
        columns.pop("credit", None)
    return columns, tuple(name for name in dict.fromkeys(described) if name not in columns.values())


def _spellings(name: str) -> Iterator[str]:
    """In small letters without accents; an umlaut as the Germans write it without one, and as the others do."""
    plain = _SLASH.sub("/", _SPACES.sub(" ", name.lower().replace("_", " ").strip("#: ")))
    for letters in (plain.translate(_IN_TWO_LETTERS), plain):
        yield "".join(one for one in normalize("NFKD", letters.translate(_IN_ONE)) if not combining(one))


def _settle_valuta(columns: dict[str, str], rows: Sequence[Mapping[str, str]]) -> None:
    """`Valuta` is a day in some languages, and the currency in others."""
    told = {row.get(columns.get("value_date", ""), "").strip() for row in rows} - {""}
    if told and all(_CODE.fullmatch(value) for value in told):
        name = columns.pop("value_date")
        columns.setdefault("currency", name)


def _is_own_account(numbers: Sequence[str]) -> bool:
    """Whether a column of account numbers is that of the account itself: every row has the same."""
    return len(numbers) > 1 and numbers[0] != "" and len(set(numbers)) == 1


def _currency(header: Iterable[str]) -> str:
    """Where a column is called `Amount (USD)`."""
    return next((found[0] for name in header if (found := _CURRENCY.search(name))), "")


def _date_formats(dates: Sequence[str]) -> list[str]:
    """Those that fit most of them: a day after the twelfth tells days from months, and without one there are two."""
    fitting = {form: sum(_fits(text, form) for text in dates) for form in _DATE_FORMATS}
    best = max(fitting.values())
    if not dates or 2 * best <= len(dates):
        return []
    found: dict[tuple[datetime | None, ...], str] = {}
    for form, fits in fitting.items():
        if fits == best:
            found.setdefault(tuple(_read(text, form) for text in dates), form)
    return list(found.values())


def _read(text: str, form: str) -> datetime | None:
    try:
        return datetime.strptime(text, form)  # noqa: DTZ007  only to be compared
    except ValueError:
        return None


def _fits(text: str, form: str) -> bool:
    return _read(text, form) is not None


def _decimal_mark(text: str) -> str:
    """As one amount shows it; empty where it shows none: `1.000` may be a thousand, or one."""
    marks = _MARKS.findall(text)
    if len(set(marks)) == 2:
        return marks[-1]
    if len(marks) > 1:  # a mark that stands there twice parts thousands
        return "," if marks[0] == "." else "."
    return marks[0] if marks and not _is_doubtful(text) else ""


def _is_doubtful(text: str) -> bool:
    return bool(_EITHER.fullmatch(text))


def encoding_of(head: bytes) -> str:
    """UTF-8 where it can be read so, also where the head ends inside a character."""
    if head.startswith(b"\xef\xbb\xbf"):
        return "utf-8-sig"
    if is_wide(head):
        return "utf-16"
    try:
        head[: len(head) - 4].decode(_ENCODINGS[0])
    except UnicodeDecodeError:
        return _ENCODINGS[1]
    return _ENCODINGS[0]

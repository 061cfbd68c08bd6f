"""A bank's CSV, read as a mapping says; without one a mapping is proposed, and the owner agrees before it is read."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, tzinfo
from decimal import Decimal
from functools import partial
from typing import BinaryIO, NamedTuple

from pdpp_server.importers.formats.bank_csv_mapping import BankMapping, mapping_lines, parse_mapping
from pdpp_server.importers.formats.bank_csv_proposal import TableReading, encoding_of, proposed, split
from pdpp_server.importers.formats.charsets import is_wide
from pdpp_server.importers.formats.json_values import clipped, line_of, without_gaps
from pdpp_server.importers.formats.money import amount, direction, money
from pdpp_server.importers.formats.zones import moment
from pdpp_server.importers.identity import SeenRecords, account_name, digest, record_key
from pdpp_server.importers.repeats import Repeats
from pdpp_server.importers.source import (
    Account,
    Choice,
    DamagedFile,
    File,
    Files,
    Head,
    Importer,
    Known,
    Outcome,
    Proposal,
)
from pdpp_server.model.ingest import Incoming, Rejection
from pdpp_server.model.times import iso
from pdpp_server.wire.envelope import Json

HEAD_BYTES = 32 * 1024
PREVIEW_ROWS = 3
LINE_CHARS_MAX = 1_000_000

_NO_MAPPING = "Nothing is imported before you say that the columns are meant so."
_TABLE = re.compile(r"\.(?:csv|tsv|txt)\Z", re.IGNORECASE)
_CLOCK = ("%H", "%I", "%X", "%c")


# Recognise --------------------------------------------------------------------------------------------------------


class _Fit(NamedTuple):
    """How a mapping fits a file."""

    missing: tuple[str, ...]  # columns that the file does not have
    note: str


def knows(head: Head) -> _Fit | tuple[TableReading, ...] | None:
    """With a mapping, how it fits; without one, how a table may be read. Raises: UnusableMapping."""
    if head.mapping is None:
        return (_readings(head) or None) if _TABLE.search(head.file.name) else None
    mapping = parse_mapping(head.mapping)
    missing = tuple(_missing(head, mapping))
    return None if missing and not _TABLE.search(head.file.name) else _Fit(missing, _wrong_encoding(head, mapping))


def accounts(files: Files, known: Known) -> Iterable[Account]:
    """With a mapping, the files that have its columns. Raises: UnusableMapping."""
    if files.mapping is None:
        yield from (_preview(file, readings, files.zone) for file, readings in known.items())
        return
    mapping = parse_mapping(files.mapping)
    named: dict[str, list[File]] = {}
    for file, fit in known.items():
        if not fit.missing:
            named.setdefault(mapping.account or account_name(file.name), []).append(file)
    if not named:
        yield from (_unfitting(file, fit, mapping, files.zone) for file, fit in known.items())
    for name, found in named.items():
        notes = tuple(known[file].note for file in found if known[file].note)
        yield Account(name, tuple(found), files.zone, notes, mapping)


def _missing(head: Head, mapping: BankMapping) -> list[str]:
    """The columns of the mapping that the file does not have."""
    lines = _text(head.first(HEAD_BYTES), mapping.encoding).splitlines()[mapping.skip_lines :]
    header = {name.strip().strip('"') for name in next(split(lines[:1], mapping.delimiter), list[str]())}
    return [name for name in mapping.needed() if name not in header]


def _unfitting(file: File, fit: _Fit, mapping: BankMapping, zone: tzinfo) -> Account:
    """Somebody who names a mapping has a file for it, and wants to know why it does not fit."""
    missing = ", ".join(map(repr, fit.missing))
    lacks = f"The mapping does not fit: line {mapping.skip_lines + 1} of {file.name} has no column {missing}."
    return Account(account_name(file.name), (file,), zone, lacks=lacks)


def _wrong_encoding(head: Head, mapping: BankMapping) -> str:
    """Found in the head, which may end inside a character."""
    name, encoding = head.file.name, mapping.encoding
    start = head.first(HEAD_BYTES)
    if len(start) == HEAD_BYTES:
        start = start[:-4]
    if "\ufffd" not in _text(start, encoding):
        return ""
    return f"{name} is not all {encoding}: what cannot be read is shown as \ufffd. Another `encoding` may help."


def _readings(head: Head) -> tuple[TableReading, ...]:
    """What the columns of a table seem to mean, where it looks like a bank's."""
    start = head.first(HEAD_BYTES)
    if b"\0" in start and not is_wide(start):
        return ()
    encoding = encoding_of(start)
    lines = _text(start, encoding).splitlines()
    if len(start) == HEAD_BYTES:
        lines = lines[:-1]
    return proposed(lines, encoding)


def _preview(file: File, readings: Sequence[TableReading], zone: tzinfo) -> Account:
    """The mapping that is proposed, and the first rows as they would be read with it; in doubt, with each."""
    likeliest = readings[0].mapping
    told = ["It would be read with this mapping:", *mapping_lines(likeliest)]
    choices: list[Choice] = []
    for number, reading in enumerate(readings, 1):
        is_doubtful = len(readings) > 1
        told.append(
            f"{number}: if {reading.says}, the first rows are:" if is_doubtful else "The first rows would be read as:"
        )
        rows = _Rows(file, reading.mapping, zone, PREVIEW_ROWS)
        told += [_preview_row(row) for row in rows if isinstance(row, Incoming)]
        choices.append(Choice(reading.says, "\n".join(mapping_lines(reading.mapping)).encode()))
    proposal = Proposal(_form(likeliest), tuple(choices))
    return Account(account_name(file.name), (file,), zone, tuple(told), lacks=_NO_MAPPING, proposal=proposal)


def _form(mapping: BankMapping) -> str:
    """What files of the same bank have in common: where the columns stand and what they are called."""
    return digest(mapping.delimiter, mapping.encoding, str(mapping.skip_lines), *mapping.needed())


def _preview_row(row: Incoming) -> str:
    data = row.data or {}
    told = (data.get(name) for name in ("booked_on", "amount_text", "currency", "counterparty", "description"))
    return line_of("  ".join(str(one) for one in told if one))


def _text(head: bytes, encoding: str) -> str:
    try:
        return head.decode(encoding, "replace").removeprefix("\ufeff")
    except (UnicodeError, LookupError):
        return ""


# Read -------------------------------------------------------------------------------------------------------------


def read(account: Account) -> Iterator[Outcome]:
    """The rows in the order of the files."""
    mapping = account.found
    if not isinstance(mapping, BankMapping):
        yield from (Rejection(file.name, "invalid_record", account.lacks) for file in account.files)
        return
    for file in account.files:
        try:
            yield from _Rows(file, mapping, account.zone)
        except DamagedFile as damaged:
            yield Rejection(file.name, "invalid_record", damaged.message)


class _Rows:
    """The rows of one file, each a transaction or a rejection with its line."""

    def __init__(self, file: File, mapping: BankMapping, zone: tzinfo, limit: int | None = None) -> None:
        self._file, self._mapping, self._zone, self._limit = file, mapping, zone, limit
        self._repeats, self._seen = Repeats(), SeenRecords()

    def __iter__(self) -> Iterator[Incoming | Rejection]:
        header: list[str] | None = None
        taken = 0
        with self._file.open() as stream:
            for line, row in self._numbered(stream):
                place = f"{self._file.name}:{line}"
                if isinstance(row, str):
                    yield Rejection(place, "invalid_record", row)
                elif header is None:
                    header = [name.strip().removeprefix("\ufeff").strip('"') for name in row]
                elif any(cell.strip() for cell in row):
                    outcome = self._outcome(row, header, place)
                    taken += 1
                    if outcome is not None:
                        yield outcome
                if taken == self._limit:
                    return

    def _numbered(self, stream: BinaryIO) -> Iterator[tuple[int, list[str] | str]]:
        """Every row with the line in which it begins, or why it cannot be read."""
        mapping = self._mapping
        lines = io.TextIOWrapper(stream, mapping.encoding, "replace", newline="")
        try:
            for _ in range(mapping.skip_lines):
                lines.readline(LINE_CHARS_MAX)
            rows = csv.reader(iter(partial(lines.readline, LINE_CHARS_MAX), ""), delimiter=mapping.delimiter)
            while True:
                line = mapping.skip_lines + rows.line_num + 1
                try:
                    yield line, next(rows)
                except csv.Error as error:
                    yield line, f"the row cannot be read ({error})"
        except StopIteration:
            return
        except UnicodeError as error:
            yield 1, f"the file is not {mapping.encoding} ({error})"

    def _outcome(self, row: list[str], header: Sequence[str], place: str) -> Incoming | Rejection | None:
        """None for a row that was there before under the same id."""
        if len(row) < len(header) - 1:
            return Rejection(place, "invalid_record", f"the row has {len(row)} columns of {len(header)}")
        cells = dict(zip(header, map(_cell, row), strict=False))
        read = _row(cells, self._mapping, self._zone)
        if isinstance(read, str):
            return Rejection(place, "invalid_record", read)
        own = read.data.pop("id", "")  # the bank's
        telling = [name for name in self._mapping.needed() if name != read.balance]
        content = digest(*(f"{name}={cells.get(name, '')}" for name in telling))
        key = self._seen.key(record_key(own), content) if own else self._repeats.key(content)
        if key is None:
            return None
        return Incoming(place, "transactions", key, {"id": key, **read.data}, None)


def _cell(text: str) -> str:
    return " ".join(text.replace("\0", " ").split())


class _Row(NamedTuple):
    data: Json
    balance: str  # the column that says how much was left: it is no part of what the row is


def _row(cells: Json, mapping: BankMapping, zone: tzinfo) -> _Row | str:
    """What a row says, or why it cannot be read."""
    told = {meaning: cells.get(column, "") for meaning, column in mapping.columns.items()}
    booked = _day(told["date"], mapping.date_format)
    if booked is None:
        return f"the date is not of the form {mapping.date_format}"
    value = _value(told, cells, mapping)
    if value is None:
        return "it has no amount that can be read"
    left = amount(told.get("balance", ""), mapping.decimal)
    valued = _day(told.get("value_date", ""), mapping.date_format)
    described = [cells[column] for column in mapping.descriptions if cells.get(column)]
    data = {
        **money(value),
        "currency": (told.get("currency") or mapping.currency).upper()[:8],
        "direction": direction(value),
        "booked_on": booked.date().isoformat(),
        "posted_at": _moment(booked, mapping.date_format, zone),
        "value_on": valued.date().isoformat() if valued else None,
        "counterparty": told.get("counterparty"),
        "counterparty_account": told.get("counterparty_account"),
        "description": clipped("\n".join(dict.fromkeys(described))) or told.get("counterparty"),
        **(money(left, "balance") if left is not None else {}),
        "id": told.get("id"),
    }
    return _Row(without_gaps(data), mapping.columns.get("balance", ""))


def _value(told: Json, cells: Json, mapping: BankMapping) -> Decimal | None:
    """Of one column, or of two that mean out and in; a column may say which it is."""
    value = amount(told.get("amount", ""), mapping.decimal)
    if value is None:
        out, came = (amount(told.get(name, ""), mapping.decimal) for name in ("debit", "credit"))
        if out is None and came is None:
            return None
        value = abs(came or Decimal()) - abs(out or Decimal())
    if mapping.sign_column:
        is_negative = cells.get(mapping.sign_column, "").lower() in mapping.negative
        value = -abs(value) if is_negative else abs(value)
    return -value if mapping.flip_sign else value


def _day(text: str, form: str) -> datetime | None:
    try:
        return datetime.strptime(text, form)  # noqa: DTZ007  a day of the bank's calendar
    except ValueError:
        return None


def _moment(booked: datetime, form: str, zone: tzinfo) -> str | None:
    try:
        return iso(moment(booked, zone)) if any(part in form for part in _CLOCK) else None
    except OverflowError:
        return None


BANK_CSV = Importer(
    key="bank-csv",
    knows=knows,
    accounts=accounts,
    read=read,
    takes="a bank's transactions (.csv; what the columns mean is proposed, and asked where it is in doubt)",
    obtain="On the pages of your bank: transactions, export as CSV",
)

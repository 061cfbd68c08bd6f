"""Bank statements of SWIFT (MT940): accounts, bookings, balances, as banks in Europe gave them before camt."""

import re
from collections.abc import Iterable, Iterator
from datetime import date
from typing import BinaryIO, NamedTuple

from pdpp_server.importers.formats.charsets import decoded
from pdpp_server.importers.formats.json_values import clipped, without_gaps
from pdpp_server.importers.formats.money import amount, balance_record, direction, money
from pdpp_server.importers.identity import SeenRecords, digest, record_key
from pdpp_server.importers.repeats import Repeats
from pdpp_server.importers.source import Account, DamagedFile, File, Files, Head, Importer, Known, Outcome
from pdpp_server.importers.statements import Balance, Statements
from pdpp_server.model.ingest import Incoming, Rejection
from pdpp_server.wire.envelope import Json

HEAD_BYTES = 4096
LINE_BYTES_MAX = 64 * 1024
FIELD_LINES_MAX = 100  # the standard has six

_BEGINS = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s++|\{[^\n]*+|[A-Z0-9][A-Z0-9 ]{0,39}+\r?\n)*+:20:[^\n]*+\n(?:[^\n]*+\n){0,4}?:25:[^\n]*\S"
)
_FIELD = re.compile(r":([0-9]{2}[A-Z]?|NS):(.*)", re.DOTALL)
_PURPOSES = ("86", "NS")  # the second one is of banks in Austria and Hungary
_BANK = re.compile(r"([A-Z]{6}[A-Z0-9]{2}(?:[A-Z0-9]{3})?|[0-9]{8})/(.+)")
_BOOKING = re.compile(
    r"(?P<day>[0-9]{6})(?P<entry>[0-9]{4})?(?P<mark>R?[CD])[A-Z]?(?P<amount>[0-9]{1,15}(?:[,.][0-9]{0,6})?)"
    r"(?P<kind>[A-Z][A-Z0-9 ]{3})?(?P<rest>.*)",
    re.DOTALL,
)
_BALANCE = re.compile(
    r"(?P<mark>[CD])(?P<day>[0-9]{6})(?P<currency>[A-Z]{3})(?P<amount>[0-9]{1,15}(?:[,.][0-9]{0,6})?)\s*"
)
_BALANCES = {"60F": "opening", "62F": "closing", "64": "available"}
_NO_REFERENCE = frozenset({"", "NONREF", "NOREF", "NONE", "NOTPROVIDED"})
_MARKED = re.compile(r"[?~]([0-9]{2})([^?~]*)")  # German banks: ?20 and on is the purpose, ?32 the name
_SLASHED = re.compile(
    r"/(NAME|IBAN|REMI|EREF|CNTP|TRTP|BIC|MARF|CSID)/((?:(?!/[A-Z]{3,4}/).)*)", re.DOTALL
)  # Dutch ones
_SEPA = re.compile(
    r"(EREF|KREF|MREF|CRED|DEBT|SVWZ|ABWA|ABWE|IBAN|BIC)\+((?:(?!(?:EREF|KREF|MREF|CRED|DEBT|SVWZ|ABWA|ABWE|IBAN|BIC)\+).)*)"
)


# Recognise --------------------------------------------------------------------------------------------------------


def knows(head: Head) -> str | None:
    """The name of the bank by its number, where the account has one."""
    start = head.first(HEAD_BYTES)
    if b":20:" not in start or not _BEGINS.match(start):
        return None
    number = start.partition(b":25:")[2].partition(b"\n")[0].decode("ascii", "replace").strip()
    bank = _BANK.fullmatch(number)
    return bank[1] if bank else "MT940"


def accounts(files: Files, known: Known) -> Iterable[Account]:
    """One connection for each bank."""
    banks: dict[str, list[File]] = {}
    for file, bank in known.items():
        banks.setdefault(bank, []).append(file)
    for name, found in banks.items():
        yield Account(name, tuple(found), files.zone, found=files.now)


# Read -------------------------------------------------------------------------------------------------------------


class _Field(NamedTuple):
    line: int
    tag: str
    text: str


def read(account: Account) -> Iterator[Outcome]:
    """As the statements have it: the account, its balances, its bookings."""
    ledger = _Ledger(account)
    for file in account.files:
        try:
            with file.open() as stream:
                for field in _fields(stream):
                    yield from ledger.outcomes(field, file.name)
        except DamagedFile as damaged:
            yield Rejection(file.name, "invalid_record", damaged.message)
        yield from ledger.booked()
        yield from ledger.statements.end_file()
    yield from ledger.statements.covered()


def _fields(stream: BinaryIO) -> Iterator[_Field]:
    """A field goes on until the next one begins, or its message ends."""
    tag, begun, lines, number = "", 0, list[str](), 0
    while raw := stream.readline(LINE_BYTES_MAX):
        number += 1
        text = decoded(raw.rstrip(b"\r\n")).replace("\0", "\ufffd").removeprefix("\ufeff")
        found = _FIELD.match(text)
        if found or text.startswith(("-", "{", "}")):
            if tag:
                yield _Field(begun, tag, "\n".join(lines))
            tag, begun, lines = (found[1], number, [found[2]]) if found else ("", 0, [])
        elif tag and len(lines) < FIELD_LINES_MAX:
            lines.append(text)
    if tag:
        yield _Field(begun, tag, "\n".join(lines))


class _Waiting(NamedTuple):
    """A booking whose purpose may follow."""

    place: str
    is_dated: bool  # by the day on which it was booked, not only by the one from which the money counts
    data: Json


class _Ledger:
    """The statement that is being read, and the booking that is waiting for its purpose."""

    def __init__(self, account: Account) -> None:
        self._bank = account.name
        self.statements = Statements(account.name, account.found)
        self._seen, self._repeats = SeenRecords(), Repeats()
        self._told: set[str] = set()
        self._account = self._currency = self._number = ""
        self._waiting: _Waiting | None = None

    def outcomes(self, field: _Field, file: str) -> Iterator[Outcome]:
        place = f"{file}:{field.line}"
        if field.tag in _PURPOSES:
            yield from self.booked(field.text)
            return
        yield from self.booked()
        if field.tag == "25":
            yield from self._begin(field.text, place)
            return
        told: Iterable[Incoming | Rejection] = ()
        if field.tag[:2] in ("60", "62", "64"):
            told = self._balance(field, place)
        elif field.tag == "61":
            told = self._booking(field.text, place)
        for outcome in told:
            yield from self.statements.take(outcome)

    def _begin(self, text: str, place: str) -> Iterator[Outcome]:
        """A new statement: what has no reference is counted anew."""
        self._repeats, self._currency = Repeats(), ""
        number = " ".join(text.split())
        self._account = f"a-{digest(number)[:16]}" if number else ""
        self._number = number
        yield from self.statements.begin(self._account)
        if not number:
            yield Rejection(place, "invalid_record", "the account has no number (:25:)")

    def _tell_account(self, place: str) -> Iterator[Incoming]:
        """When its currency is known, which the first balance tells."""
        if not self._account or self._account in self._told:
            return
        self._told.add(self._account)
        bank = _BANK.fullmatch(self._number)
        data = {
            "id": self._account,
            "name": f"{self._bank} …{self._number[-4:]}",
            "bank": self._bank,
            "bank_code": bank[1] if bank else "",
            "number": bank[2] if bank else self._number,
            "currency": self._currency,
        }
        yield Incoming(place, "accounts", self._account, without_gaps(data), None)

    def _balance(self, field: _Field, place: str) -> Iterator[Incoming | Rejection]:
        found = _BALANCE.fullmatch(field.text.partition("\n")[0].strip())
        day = _day(found["day"]) if found else None
        value = amount(found["amount"].replace(".", ","), ",") if found else None
        if not found or day is None or value is None or not self._account:
            yield Rejection(place, "invalid_record", "the balance has no amount, no date or no account")
            return
        self._currency = found["currency"]
        signed = -value if found["mark"] == "D" else value
        balance = Balance(day.isoformat(), signed)
        self._note(field.tag, balance)
        yield from self._tell_account(place)
        kind = _BALANCES.get(field.tag)
        if kind is not None:  # else of a page inside a statement
            yield balance_record(place, self._account, kind, balance, self._currency)

    def _note(self, tag: str, balance: Balance) -> None:
        """A statement does not say when it was made: after the day of its last balance."""
        if tag.startswith("60"):
            self.statements.opens(balance)
        elif tag.startswith("62"):
            self.statements.closes(balance)
            self.statements.made_at(balance.day)

    def _booking(self, text: str, place: str) -> Iterator[Incoming | Rejection]:
        found = _BOOKING.match(text.strip())
        valued = _day(found["day"]) if found else None
        value = amount(found["amount"].replace(".", ","), ",") if found else None
        if not found or valued is None or value is None or not self._account:
            reason = "the booking has no date, no amount or no account that can be read"
            yield Rejection(place, "invalid_record", reason)
            return
        yield from self._tell_account(place)
        is_out = found["mark"] in ("D", "RC")  # a credit that is taken back goes out
        signed = -value if is_out else value
        self.statements.books(signed)
        reference, _, rest = found["rest"].partition("//")
        bank_reference, _, further = rest.partition("\n")
        self._waiting = _Waiting(
            place,
            is_dated=found["entry"] is not None,
            data={
                "account_id": self._account,
                **money(signed),
                "currency": self._currency,
                "direction": direction(signed),
                "booked_on": _booked(valued, found["entry"] or "").isoformat(),
                "value_on": valued.isoformat(),
                "kind": (found["kind"] or "").strip(),
                "is_reversal": found["mark"].startswith("R") or None,
                "reference": "" if reference.strip() in _NO_REFERENCE else " ".join(reference.split()),
                "bank_reference": "" if bank_reference.strip() in _NO_REFERENCE else bank_reference.strip(),
                "description": " ".join(further.split()),
            },
        )

    def booked(self, purpose: str = "") -> Iterator[Outcome]:
        """The booking that waits, with what is said about it."""
        if self._waiting is None:
            return
        (place, is_dated, data), self._waiting = self._waiting, None
        data |= {name: value for name, value in _purpose(purpose).items() if value}
        key = self._key(data)
        if key is None:
            return  # the same booking again
        record = Incoming(place, "transactions", key, {"id": key, **without_gaps(data)}, None)
        yield from self.statements.take(record, data["booked_on"] if is_dated else "")

    def _key(self, data: Json) -> str | None:
        """The bank's reference; where it gives none, what the booking says and how often it said so."""
        names = ("amount_text", "booked_on", "value_on", "reference", "counterparty", "description")
        content = digest(*[str(data.get(name) or "") for name in names])
        own = data["bank_reference"]
        if own:
            return self._seen.key(f"{self._account}:{record_key(own)}", content)
        return f"{self._account}:{self._repeats.key(content)}"


def _day(text: str) -> date | None:
    """`260302`; two digits of a year are of this century from 2000 to 2079."""
    year = int(text[:2])
    try:
        return date(1900 + year if year >= 80 else 2000 + year, int(text[2:4]), int(text[4:]))
    except ValueError:
        return None


def _booked(valued: date, entry: str) -> date:
    """The day of the booking has no year: it is the one nearest to the day from which the money counts."""
    if not entry:
        return valued
    days: list[date] = []
    for year in (valued.year - 1, valued.year, valued.year + 1):
        try:
            days.append(date(year, int(entry[:2]), int(entry[2:])))
        except ValueError:
            continue
    return min(days, key=lambda day: abs((day - valued).days), default=valued)


def _purpose(text: str) -> Json:
    """What a booking is for and with whom, in the ways that banks write it; else as it is written."""
    joined = text.replace("\n", "")
    marked = _MARKED.findall(joined)
    if marked:
        return _of_german(marked)
    slashed = {name: " ".join(value.split()) for name, value in _SLASHED.findall(joined)}
    if slashed:
        return {
            "counterparty": slashed.get("NAME"),
            "counterparty_account": slashed.get("IBAN"),
            "end_to_end_id": _given(slashed.get("EREF", "")),
            "description": clipped(slashed.get("REMI") or slashed.get("TRTP") or ""),
        }
    return {"description": clipped(" ".join(text.split()))}


def _given(reference: str) -> str:
    return "" if reference.upper() in _NO_REFERENCE else reference


def _of_german(marked: list[tuple[str, str]]) -> Json:
    parts: dict[str, str] = {}
    for code, value in marked:
        parts[code] = parts.get(code, "") + value
    purpose = [value for code, value in sorted(parts.items()) if "20" <= code <= "29" or "60" <= code <= "63"]
    whole = "".join(purpose)
    sepa = {name: value.strip() for name, value in _SEPA.findall(whole)}
    said = sepa.get("SVWZ") if sepa else whole
    name = parts.get("32", "") + parts.get("33", "")
    return {
        "counterparty": " ".join(name.split()),
        "counterparty_account": parts.get("31", "").strip() or sepa.get("IBAN"),
        "description": clipped(said or parts.get("00", "")),
        "end_to_end_id": _given(sepa.get("EREF", "")),
        "mandate_id": sepa.get("MREF"),
    }


MT940 = Importer(
    key="mt940",
    knows=knows,
    accounts=accounts,
    read=read,
    version=2,
    takes="bank statements of SWIFT (MT940, .sta, .mt940)",
    obtain="On the pages of your bank: statements, download as MT940, SWIFT or STA",
)

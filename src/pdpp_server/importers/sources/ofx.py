"""Bank statements of OFX and QFX files (Money, Quicken): accounts, transactions, balances."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, datetime, time, timedelta, timezone
from functools import cache, partial
from typing import NamedTuple

from pdpp_server.importers.formats.charsets import decoded
from pdpp_server.importers.formats.json_values import without_gaps
from pdpp_server.importers.formats.money import amount, balance_record, direction, money
from pdpp_server.importers.formats.ofx_tags import FIRST_BYTES, HEAD_BYTES, charset_of, is_ofx, tags
from pdpp_server.importers.identity import SeenRecords, account_name, digest, record_key
from pdpp_server.importers.source import Account, DamagedFile, File, Files, Head, Importer, Known, Outcome
from pdpp_server.importers.statements import Balance, Statements
from pdpp_server.model.ingest import Incoming, Rejection
from pdpp_server.model.times import iso
from pdpp_server.wire.envelope import Json

_STATEMENTS = {"STMTRS": "bank", "CCSTMTRS": "credit_card", "INVSTMTRS": "investment"}
_ACCOUNTS = frozenset({"BANKACCTFROM", "CCACCTFROM", "INVACCTFROM"})
_BALANCES = {"LEDGERBAL": "booked", "AVAILBAL": "available"}
# Inside these, other tags are values; a value whose end tag is missing cannot be taken for one of them.
_SECURITIES = {"STOCK": "stock", "MF": "fund", "DEBT": "bond", "OPT": "option", "OTHER": "other"}
_TRADES = {
    **{f"BUY{name}": "buy" for name in _SECURITIES},
    **{f"SELL{name}": "sell" for name in _SECURITIES},
    "CLOSUREOPT": "option_closure", "INCOME": "income", "INVEXPENSE": "expense", "JRNLFUND": "journal",
    "JRNLSEC": "journal", "MARGININTEREST": "margin_interest", "REINVEST": "reinvest",
    "RETOFCAP": "return_of_capital", "SPLIT": "split", "TRANSFER": "transfer",
}  # fmt: skip
_LIST, _LIST_END = "BANKTRANLIST", "/BANKTRANLIST"
_GROUPS = (
    _ACCOUNTS | _STATEMENTS.keys() | _BALANCES.keys() | _TRADES.keys() | {"STMTTRN", "INVTRAN", "FI", "SECINFO", _LIST}
)
_ALONE = frozenset({"CURDEF", "DTSERVER"})  # values that stand in no group that is read
_PARTS = frozenset({"PAYEE", "BANKACCTTO", "CCACCTTO", "CURRENCY", "ORIGCURRENCY"})
_IN_TRADES = frozenset({"INVTRAN", "INVACCTFROM"})  # that stand alone too
_NUMBERS = {  # of a trade
    "units": "UNITS",
    "unit_price": "UNITPRICE",
    "amount": "TOTAL",
    "commission": "COMMISSION",
    "fees": "FEES",
}
_TIME = re.compile(
    r"([0-9]{4})([0-9]{2})([0-9]{2})(?:([0-9]{2})([0-9]{2})([0-9]{2})?(?:\.[0-9]*)?)?\s*"
    r"(?:\[\s*([+-]?[0-9]{1,2})(?:\.([0-9]{1,2}))?\s*(?::[^\]]*)?\])?.*"
)
_NAMED = re.compile(rb"<(ORG|FID|BANKID|BROKERID)>\s*([^<\r\n]+)", re.IGNORECASE)


# Recognise --------------------------------------------------------------------------------------------------------


def knows(head: Head) -> str | None:
    """The name of the bank, else that of the file."""
    if not is_ofx(head.first(FIRST_BYTES)):
        return None
    return _bank(head.first(HEAD_BYTES)) or account_name(head.file.name)


def accounts(files: Files, known: Known) -> Iterable[Account]:
    """One connection for each bank: a download often holds several accounts, and several downloads the same ones."""
    banks: dict[str, list[File]] = {}
    for file, bank in known.items():
        banks.setdefault(bank, []).append(file)
    for name, found in banks.items():
        yield Account(name, tuple(found), files.zone, found=files.now)


def _bank(head: bytes) -> str:
    """By its name; by its number where the file has no name."""
    told = {name.upper(): value for name, value in reversed(_NAMED.findall(head))}
    named = (
        decoded(told.get(name, b"").strip(), charset_of(head)) for name in (b"ORG", b"FID", b"BANKID", b"BROKERID")
    )
    return next((name for name in named if name), "")


# Read -------------------------------------------------------------------------------------------------------------


def read(account: Account) -> Iterator[Outcome]:
    """Each account where its first statement begins, then its transactions and balances."""
    ledger = _Ledger(account)
    for file in account.files:
        try:
            securities = cache(partial(_securities, file))
            for group in _groups(file):
                yield from ledger.outcomes(group, securities)
        except DamagedFile as damaged:
            yield from ledger.statements.take(Rejection(file.name, "invalid_record", damaged.message))
        yield from ledger.statements.end_file()
    yield from ledger.statements.covered()


class _Group(NamedTuple):
    """The values of one group of tags; those of its parts as `PAYEE.NAME`."""

    place: str
    name: str
    values: Json
    is_whole: bool = True


def _groups(file: File) -> Iterator[_Group]:
    """A group ends at its end tag, or where the next one begins: writers of SGML forget end tags."""
    line, name, part = 0, "", ""
    values: Json = {}
    with file.open() as stream:
        for tag in tags(stream):
            begins = not tag.is_end
            if tag.name in _IN_TRADES and name in _TRADES:
                part = f"{tag.name}." if begins and tag.name != "INVTRAN" else ""
            elif tag.name in _GROUPS or tag.name == "OFX":
                if name:
                    yield _Group(f"{file.name}:{line}", name, values)
                line, part, values = tag.line, "", {}
                name = tag.name if begins and tag.name != "OFX" else ""
                if name in _STATEMENTS:
                    yield _Group(f"{file.name}:{line}", name, {})
                    name = ""
                elif tag.is_end and tag.name == _LIST:
                    yield _Group(f"{file.name}:{line}", _LIST_END, {})
            elif tag.name in _PARTS:
                part = f"{tag.name}." if begins else ""
            elif tag.name in _ALONE and begins:
                yield _Group(f"{file.name}:{tag.line}", tag.name, {tag.name: tag.value})
            elif name and tag.value and begins:
                values.setdefault(part + tag.name, tag.value)
    if name:
        yield _Group(f"{file.name}:{line}", name, values, is_whole=False)


def _securities(file: File) -> Mapping[str, Json]:
    """By number: their names stand at the end of a file, behind the trades."""
    return {group.values.get("UNIQUEID", ""): group.values for group in _groups(file) if group.name == "SECINFO"}


class _Ledger:
    """The statement that is being read, and what was read before."""

    def __init__(self, account: Account) -> None:
        self._bank = account.name
        self.statements = Statements(account.name, account.found)
        self._seen = SeenRecords()
        self._told: set[str] = set()
        self._kind = self._currency = self._account = ""
        self._days: tuple[str | None, str | None] = (None, None)  # of which the list of bookings says to be

    def outcomes(self, group: _Group, securities: Callable[[], Mapping[str, Json]]) -> Iterator[Outcome]:
        name, values = group.name, group.values
        if name in _STATEMENTS:
            self._kind = _STATEMENTS[name]
            self._currency = self._account = ""
            self._days = None, None
        elif name == "CURDEF":
            self._currency = values["CURDEF"].upper()[:8]
        elif name == "DTSERVER":
            self.statements.made_at(_moment(values["DTSERVER"]))
        elif name == _LIST:
            self._days = _day(values.get("DTSTART", "")), _day(values.get("DTEND", ""))
        elif name == _LIST_END:
            self._claim()
        elif name in _ACCOUNTS and group.is_whole:
            yield from self._begin(group.place, values)
        else:
            for outcome in self._records(group, securities):
                yield from self.statements.take(outcome, _booked_on(outcome))

    def _claim(self) -> None:
        """Only a list that was read to its end holds what it says."""
        first, last = self._days
        if first and last:
            self.statements.claims(first, last)

    def _records(self, group: _Group, securities: Callable[[], Mapping[str, Json]]) -> Iterator[Incoming | Rejection]:
        place, name, values, is_whole = group
        if not is_whole:
            yield Rejection(place, "invalid_record", "the file ends inside it")
        elif name == "INVTRAN":
            yield Rejection(place, "invalid_record", "it belongs to no trade that is known")
        elif name in _TRADES:
            security = securities().get(values.get("UNIQUEID", ""), {})
            yield from self._trade(place, name, values, security)
        elif name == "STMTTRN":
            yield from self._transaction(place, values)
        elif name in _BALANCES and values:
            yield self._balance(place, _BALANCES[name], values)

    def _begin(self, place: str, values: Json) -> Iterator[Outcome]:
        number = values.get("ACCTID", "")
        if not number:
            yield Rejection(place, "invalid_record", "the account has no number (ACCTID)")
            return
        bank = values.get("BANKID") or values.get("BROKERID") or ""
        self._account = "a-" + digest(bank, values.get("BRANCHID", ""), number)[:16]
        yield from self.statements.begin(self._account)
        if self._account in self._told:
            return
        self._told.add(self._account)
        kind = values.get("ACCTTYPE", self._kind).lower()
        data = {
            "id": self._account,
            "name": f"{self._bank} …{number[-4:]}",
            "bank": self._bank,
            "bank_code": bank,
            "number": number,
            "kind": kind,
            "currency": self._currency,
        }
        yield from self.statements.take(Incoming(place, "accounts", self._account, without_gaps(data), None))

    def _transaction(self, place: str, values: Json) -> Iterator[Incoming | Rejection]:
        value = amount(values.get("TRNAMT", ""))
        booked = _when(values.get("DTPOSTED", ""))
        if value is None:
            yield Rejection(place, "invalid_record", "the transaction has no amount (TRNAMT) that can be read")
            return
        if booked is None:
            yield Rejection(place, "invalid_record", "the transaction has no date (DTPOSTED) that can be read")
            return
        if not self._account:
            yield Rejection(place, "invalid_record", "it belongs to no account")
            return
        self.statements.books_on(booked.day)
        payee = values.get("PAYEE.NAME") or values.get("NAME") or ""
        data = {
            "account_id": self._account,
            **money(value),
            "currency": self._currency_of(values),
            "direction": direction(value),
            "booked_on": booked.day,
            "posted_at": booked.moment,
            "value_on": _day(values.get("DTAVAIL", "")),
            "initiated_on": _day(values.get("DTUSER", "")),
            "counterparty": payee,
            "counterparty_account": values.get("BANKACCTTO.ACCTID") or values.get("CCACCTTO.ACCTID"),
            "description": values.get("MEMO") or payee,
            "kind": values.get("TRNTYPE", "").lower(),
            "check_number": values.get("CHECKNUM"),
            "reference": values.get("REFNUM"),
            "original_currency": values.get("ORIGCURRENCY.CURSYM"),
        }
        key = self._key(values, data)
        if key is not None:
            yield Incoming(place, "transactions", key, {"id": key, **without_gaps(data)}, None)

    def _currency_of(self, values: Json) -> str:
        return (values.get("CURRENCY.CURSYM") or self._currency).upper()[:8]

    def _key(self, values: Json, data: Json) -> str | None:
        """The bank's id, which is unique in an account; another that has it too gets its digest beside it."""
        told = [str(data[name] or "") for name in ("amount_text", "booked_on", "counterparty", "description")]
        content = digest(*told, values.get("CHECKNUM", ""))
        own = record_key(values["FITID"]) if "FITID" in values else content
        return self._seen.key(f"{self._account}:{own}", content)

    def _trade(self, place: str, name: str, values: Json, security: Json) -> Iterator[Incoming | Rejection]:
        traded = _when(values.get("DTTRADE", ""))
        if traded is None:
            yield Rejection(place, "invalid_record", "the trade has no date (DTTRADE) that can be read")
            return
        if not self._account:
            yield Rejection(place, "invalid_record", "it belongs to no account")
            return
        numbers = {field: values.get(tag) or "" for field, tag in _NUMBERS.items()}
        memo = values.get("MEMO") or _TRADES[name].replace("_", " ")
        data: Json = {
            "account_id": self._account,
            "kind": _TRADES[name],
            "security_name": security.get("SECNAME"),
            "ticker": security.get("TICKER"),
            "security_id": values.get("UNIQUEID"),
            "security_id_type": values.get("UNIQUEIDTYPE"),
            "security_kind": _SECURITIES.get(name.removeprefix("BUY").removeprefix("SELL")),
            "currency": self._currency_of(values),
            "traded_on": traded.day,
            "traded_at": traded.moment,
            "settled_on": _day(values.get("DTSETTLE", "")),
            "income_kind": values.get("INCOMETYPE"),
            "description": _said_of(memo, security.get("SECNAME", "")),
        }
        unread: list[str] = []
        for field, text in numbers.items():
            value = amount(text)
            if value is not None:
                data |= money(value, field)
            elif text:
                unread.append(field)
        content = digest(name, traded.day, values.get("UNIQUEID", ""), *numbers.values())
        own = record_key(values.get("FITID") or content)
        key = self._seen.key(f"{self._account}:{own}", content)
        if key is None:
            return
        yield Incoming(place, "trades", key, {"id": key, **without_gaps(data)}, None)
        for field in unread:
            yield Rejection(place, "invalid_record", f"the trade is kept without its {field}, which is no number")

    def _balance(self, place: str, kind: str, values: Json) -> Incoming | Rejection:
        value = amount(values.get("BALAMT", ""))
        day = _day(values.get("DTASOF", ""))
        if value is None or day is None or not self._account:
            return Rejection(place, "invalid_record", "the balance has no amount or no date that can be read")
        return balance_record(place, self._account, kind, Balance(day, value), self._currency)


def _booked_on(outcome: Incoming | Rejection) -> str | None:
    if isinstance(outcome, Rejection) or outcome.stream != "transactions" or outcome.data is None:
        return None
    return str(outcome.data["booked_on"])


def _said_of(memo: str, security: str) -> str:
    """A memo often says no more than "you bought"."""
    return memo if security.lower() in memo.lower() else f"{memo}: {security}"


# Times ------------------------------------------------------------------------------------------------------------


class _Booked(NamedTuple):
    day: str  # in the calendar of the bank
    moment: str | None  # where it gives a time of day


def _when(text: str) -> _Booked | None:
    """`20260301120000.000[-5:EST]`; a time without an offset is GMT (OFX section 3.2.8.2)."""
    found = _TIME.fullmatch(text.strip())
    if not found:
        return None
    year, month, day, hour, minute, second, hours, hundredths = found.groups()
    try:
        written = date(int(year), int(month), int(day))
        if hour is None:
            return _Booked(written.isoformat(), None)
        clock = time(int(hour), int(minute), int(second or 0), tzinfo=_offset(hours, hundredths))
        return _Booked(written.isoformat(), iso(datetime.combine(written, clock)))
    except (ValueError, OverflowError):
        return None


def _offset(hours: str | None, hundredths: str | None) -> timezone:
    """Raises: ValueError."""
    minutes = round(float(f"0.{hundredths or 0}") * 60)
    if hours and hours.startswith("-"):
        minutes = -minutes
    return timezone(timedelta(hours=int(hours or 0), minutes=minutes))


def _moment(text: str) -> str:
    """Empty where it cannot be read."""
    found = _when(text)
    return (found.moment or f"{found.day}T00:00:00.000Z") if found else ""


def _day(text: str) -> str | None:
    booked = _when(text)
    return booked.day if booked else None


OFX = Importer(
    key="ofx",
    knows=knows,
    accounts=accounts,
    read=read,
    version=3,
    takes="bank statements (.ofx, .qfx), of investment accounts too",
    obtain="On the pages of your bank: transactions, download or export, as OFX, QFX, Quicken or Money",
)

"""Bank statements of ISO 20022 (camt.052, .053, .054): accounts, bookings, the payments inside a batch, balances."""

import re
from collections.abc import Iterable, Iterator
from datetime import date, datetime, tzinfo
from decimal import Decimal
from xml.etree.ElementTree import Element

from pdpp_server.importers.formats.json_values import clipped, joined, without_gaps
from pdpp_server.importers.formats.money import amount, balance_record, direction, money
from pdpp_server.importers.formats.xml_items import UnreadableXml, XmlItem, xml_items
from pdpp_server.importers.formats.zones import moment
from pdpp_server.importers.identity import SeenRecords, account_name, digest, record_key
from pdpp_server.importers.repeats import Repeats
from pdpp_server.importers.source import Account, DamagedFile, File, Files, Head, Importer, Known, Outcome
from pdpp_server.importers.statements import Balance, Statements
from pdpp_server.model.ingest import Incoming, Rejection
from pdpp_server.model.times import iso
from pdpp_server.wire.envelope import Json

FIRST_BYTES, HEAD_BYTES = 4096, 16 * 1024  # to know whether it may be XML, and whose

_STATEMENT = re.compile(
    rb"<(?:\w+:)?BkToCstmr(?:Stmt|AcctRpt|DbtCdtNtfctn)[\s>]|<(?:\w+:)?Document\s[^>]*xsd:camt\.05[234]\.001\.[0-9]{2}"
)
_BANK = re.compile(rb"<(?:\w+:)?(?:BICFI|BIC)>\s*([A-Z0-9]{8,11})\s*<")
# The number of the bank, which most countries write into that of an account with five digits or four letters.
_NUMBERED = re.compile(rb"<(?:\w+:)?IBAN>\s*([A-Z]{2})[0-9]{2}([A-Z]{4}|[A-Z]?[0-9]{5})")
_WITHIN = frozenset({"Stmt", "Rpt", "Ntfctn"})  # a statement, a report of the day, a notice
_ITEMS = {"Acct": _WITHIN, "Bal": _WITHIN, "Ntry": _WITHIN, "CreDtTm": _WITHIN | {"GrpHdr"}}
_NO_REFERENCE = frozenset({"", "NONREF", "NOREF", "NOTPROVIDED", "NOT PROVIDED", "NONE", "0"})
_BALANCES = {
    "OPBD": "opening",
    "CLBD": "closing",
    "PRCD": "previous_closing",
    "ITBD": "interim",
    "OPAV": "opening_available",
    "CLAV": "available",
    "ITAV": "interim_available",
    "FWAV": "forward_available",
    "XPCD": "expected",
}
_BEFORE, _AFTER = frozenset({"opening", "previous_closing"}), "closing"


# Recognise --------------------------------------------------------------------------------------------------------


def knows(head: Head) -> str | None:
    """The name of the bank: its BIC, else its number, else that of the file."""
    if not head.first(FIRST_BYTES).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        return None
    start = head.first(HEAD_BYTES)
    if not _STATEMENT.search(start):
        return None
    bank = _BANK.search(start) or _NUMBERED.search(start)
    return b"".join(bank.groups()).decode() if bank else account_name(head.file.name)


def accounts(files: Files, known: Known) -> Iterable[Account]:
    """One connection for each bank: statements come as a file a day and an account."""
    banks: dict[str, list[File]] = {}
    for file, bank in known.items():
        banks.setdefault(bank, []).append(file)
    for name, found in banks.items():
        yield Account(name, tuple(found), files.zone, found=files.now)


# Read -------------------------------------------------------------------------------------------------------------


def read(account: Account) -> Iterator[Outcome]:
    """As the statements have it: the account, its balances, its bookings."""
    ledger = _Ledger(account)
    for file in account.files:
        try:
            with file.open() as stream:
                for item in xml_items(stream, _ITEMS):
                    yield from ledger.outcomes(item, f"{file.name}:{item.line}")
        except UnreadableXml as broken:
            cut = Rejection(f"{file.name}:{broken.line}", "invalid_record", broken.reason)
            yield from ledger.statements.take(cut)
        except DamagedFile as damaged:
            yield from ledger.statements.take(Rejection(file.name, "invalid_record", damaged.message))
        yield from ledger.statements.end_file()
    yield from ledger.statements.covered()


class _Ledger:
    """The statement that is being read, and what was read before."""

    def __init__(self, account: Account) -> None:
        self._bank, self._zone = account.name, account.zone
        self._seen, self._repeats = SeenRecords(), Repeats()
        self._account = self._currency = ""
        self.statements = Statements(account.name, account.found, derived=["batch_payments"])

    def outcomes(self, item: XmlItem, place: str) -> Iterator[Outcome]:
        match item.name:
            case "CreDtTm":
                made = _instant(_own_text(item.element), self._zone)
                self.statements.made_at(made or "")
            case "Acct":
                begun = self._begin(item.element, place)
                yield from self.statements.begin(self._account)
                yield from self.statements.take(begun)
            case "Bal":
                yield from self.statements.take(self._balance(item.element, place))
            case _:
                day = self._day(item.element, "BookgDt") or ""
                for outcome in self._booking(item.element, place):
                    yield from self.statements.take(outcome, day)

    def _begin(self, acct: Element, place: str) -> Incoming | Rejection:
        """A new statement: what has no reference is counted anew."""
        self._repeats = Repeats()
        number = _text(acct, "Id/IBAN") or _text(acct, "Id/Othr/Id") or _text(acct, "Id/PrtryAcct/Id")
        self._account = f"a-{digest(number)[:16]}" if number else ""
        self._currency = _text(acct, "Ccy")[:8]
        if not number:
            return Rejection(place, "invalid_record", "the account has no number (IBAN or other)")
        bank = _text(acct, "Svcr/FinInstnId/Nm") or self._bank
        data = {
            "id": self._account,
            "name": _text(acct, "Nm") or f"{bank} …{number[-4:]}",
            "bank": bank,
            "bank_code": _text(acct, "Svcr/FinInstnId/BICFI") or _text(acct, "Svcr/FinInstnId/BIC"),
            "number": number,
            "owner": _text(acct, "Ownr/Nm") or _text(acct, "Ownr/Pty/Nm"),
            "kind": _text(acct, "Tp/Cd").lower() or _text(acct, "Tp/Prtry"),
            "currency": self._currency,
        }
        return Incoming(place, "accounts", self._account, without_gaps(data), None)

    def _balance(self, bal: Element, place: str) -> Incoming | Rejection:
        value, day = _signed(bal), self._day(bal, "Dt")
        if value is None or day is None or not self._account:
            return Rejection(place, "invalid_record", "the balance has no amount, no date or no account")
        code = _text(bal, "Tp/CdOrPrtry/Cd") or _text(bal, "Tp/CdOrPrtry/Prtry")
        kind = _BALANCES.get(code, code.lower() or "other")
        balance = Balance(day, value)
        if kind in _BEFORE:
            self.statements.opens(balance)
        elif kind == _AFTER:
            self.statements.closes(balance)
        return balance_record(place, self._account, kind, balance, self._currency_of(bal))

    def _booking(self, entry: Element, place: str) -> Iterator[Incoming | Rejection]:
        value = _signed(entry)
        value_on = self._day(entry, "ValDt")
        booked = self._day(entry, "BookgDt") or value_on
        if value is None:
            yield Rejection(place, "invalid_record", "the entry has no amount that can be read")
            return
        if booked is None or not self._account:
            missing = "account" if booked else "date"
            yield Rejection(place, "invalid_record", f"the entry has no {missing} that can be read")
            return
        status = (_text(entry, "Sts/Cd") or _text(entry, "Sts")).lower()
        if status in ("", "book"):
            self.statements.books(value)
        details = entry.findall("NtryDtls/TxDtls")
        only = details[0] if len(details) == 1 else None
        data: Json = {
            "account_id": self._account,
            **money(value),
            "currency": self._currency_of(entry),
            "direction": direction(value),
            "booked_on": booked,
            "posted_at": self._moment(entry, "BookgDt"),
            "value_on": value_on,
            **(_payment(only, value) if only is not None else {}),
            "status": status,
            "is_reversal": _text(entry, "RvslInd") in ("true", "1") or None,
            "kind": _kind(entry),
            "bank_reference": _text(entry, "AcctSvcrRef"),
            "detail_count": len(details) if len(details) > 1 else None,
        }
        if not data.get("description"):
            told = [_text(entry, "AddtlNtryInf"), *(_text(one, "AddtlTxInf") for one in details[:1])]
            data["description"] = clipped(joined("\n", dict.fromkeys(told)))
        key = self._key(data)
        if key is None:
            return  # the same booking, as in the statements of a day and of a month
        yield Incoming(place, "transactions", key, {"id": key, **without_gaps(data)}, None)
        if only is None:
            for number, detail in enumerate(details, 1):
                yield self._detail(detail, key, number, data, f"{place}, payment {number}")

    def _key(self, data: Json) -> str | None:
        """The bank's reference; where it gives none, what the booking says and how often it said so."""
        names = ("amount_text", "booked_on", "value_on", "counterparty", "description", "end_to_end_id")
        told = [str(data.get(name) or "") for name in names]
        content = digest(*told, str(data["detail_count"]))
        reference = data["bank_reference"]
        if reference.upper() in _NO_REFERENCE:
            return f"{self._account}:{self._repeats.key(content)}"
        return self._seen.key(f"{self._account}:{record_key(reference)}", content)

    def _detail(self, detail: Element, key: str, number: int, booking: Json, place: str) -> Incoming:
        """One payment of a batch; its amount has the direction of the batch unless it says otherwise."""
        value = _detail_amount(detail, is_out=booking["direction"] == "out")
        own: Json = {}
        if value is None:
            value = Decimal(booking["amount_text"])
        else:
            own = {**money(value), "direction": direction(value)}
        data = {
            "id": f"{key}~{number}",
            "transaction_id": key,
            "account_id": self._account,
            "booked_on": booking["booked_on"],
            **own,
            "currency": _detail_currency(detail) or booking["currency"],
            **_payment(detail, value),
        }
        return Incoming(place, "batch_payments", data["id"], without_gaps(data), None)

    def _currency_of(self, element: Element) -> str:
        amt = element.find("Amt")
        if amt is None:
            return self._currency
        return amt.get("Ccy", "")[:8] or self._currency

    def _day(self, element: Element, name: str) -> str | None:
        text = _text(element, f"{name}/Dt") or _text(element, f"{name}/DtTm")
        try:
            return date.fromisoformat(text[:10]).isoformat()
        except ValueError:
            return None

    def _moment(self, element: Element, name: str) -> str | None:
        return _instant(_text(element, f"{name}/DtTm"), self._zone)


# Parts of an entry ------------------------------------------------------------------------------------------------


def _own_text(element: Element) -> str:
    return " ".join((element.text or "").split())


def _text(element: Element, path: str) -> str:
    found = element.find(path)
    return "" if found is None else _own_text(found)


def _texts(element: Element, path: str) -> list[str]:
    return [_own_text(found) for found in element.findall(path)]


def _signed(element: Element) -> Decimal | None:
    value = amount(_text(element, "Amt"), ".")
    if value is None or _text(element, "CdtDbtInd") != "DBIT":
        return value
    return -value


def _instant(text: str, zone: tzinfo) -> str | None:
    """A time without an offset is one of the owner's zone."""
    try:
        when = datetime.fromisoformat(text)
        return iso(when if when.tzinfo else moment(when, zone))
    except (ValueError, OverflowError):
        return None


def _kind(entry: Element) -> str:
    """The code of the business, as `PMNT-RCDT-ESCT`; else the one of the bank itself."""
    domain = [_text(entry, f"BkTxCd/Domn/{path}") for path in ("Cd", "Fmly/Cd", "Fmly/SubFmlyCd")]
    return joined("-", domain) or _text(entry, "BkTxCd/Prtry/Cd")


_AMOUNTS = ("Amt", "AmtDtls/TxAmt/Amt", "AmtDtls/InstdAmt/Amt")  # of one payment of a batch


def _detail_amount(detail: Element, *, is_out: bool) -> Decimal | None:
    told = [_text(detail, path) for path in _AMOUNTS]
    value = amount(next(filter(None, told), ""), ".")
    if value is None:
        return None
    marked = _text(detail, "CdtDbtInd")
    if marked:
        is_out = marked == "DBIT"
    return -value if is_out else value


def _detail_currency(detail: Element) -> str:
    for path in _AMOUNTS:
        found = detail.find(path)
        if found is not None:
            return found.get("Ccy", "")[:8]
    return ""


def _payment(detail: Element, value: Decimal) -> Json:
    """Who paid or was paid, and what for. The other side of money that came in is the debtor."""
    side = "Cdtr" if value < 0 else "Dbtr"
    party, account = f"RltdPties/{side}", f"RltdPties/{side}Acct/Id"
    ultimate = f"RltdPties/Ultmt{side}"
    purpose = [*_texts(detail, "RmtInf/Ustrd"), *_texts(detail, "RmtInf/Strd/AddtlRmtInf")]
    return {
        "counterparty": _text(detail, f"{party}/Nm") or _text(detail, f"{party}/Pty/Nm"),
        "counterparty_account": _text(detail, f"{account}/IBAN") or _text(detail, f"{account}/Othr/Id"),
        "ultimate_counterparty": _text(detail, f"{ultimate}/Nm") or _text(detail, f"{ultimate}/Pty/Nm"),
        "description": clipped(joined("\n", purpose)),
        "creditor_reference": _text(detail, "RmtInf/Strd/CdtrRefInf/Ref"),
        "end_to_end_id": _reference(detail, "EndToEndId"),
        "mandate_id": _reference(detail, "MndtId"),
        "return_reason": _text(detail, "RtrInf/Rsn/Cd") or _text(detail, "RtrInf/AddtlInf"),
    }


def _reference(detail: Element, name: str) -> str:
    text = _text(detail, f"Refs/{name}")
    return "" if text.upper() in _NO_REFERENCE else text


CAMT = Importer(
    key="camt053",
    knows=knows,
    accounts=accounts,
    read=read,
    version=2,
    takes="bank statements of ISO 20022 (camt.052, .053, .054, .xml)",
    obtain="On the pages of your bank: statements, download as camt.053 or ISO 20022 XML",
)

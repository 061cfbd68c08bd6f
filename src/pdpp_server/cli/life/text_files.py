"""Mail, calendar, bank statements and notes as files: mbox, iCalendar, OFX, Markdown."""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from email.header import Header
from email.utils import format_datetime

from pdpp_server.cli.life.entries import LifeEvent, LifeNote, Mail, Payment, Person, digest
from pdpp_server.cli.life.everyday import HOME

NOTED = "20260430T200000Z"  # when the calendar was downloaded
_FROM_LINE = re.compile(r"^(>*From )", re.MULTILINE)

# Mail, as Gmail Takeout writes it -----------------------------------------------------------------------------------


def mbox(mails: Iterable[Mail]) -> bytes:
    roots: dict[str, str] = {}
    stored: list[str] = []
    for mail in mails:
        roots[mail.key] = roots.get(mail.answers, mail.key)
        stored.append(_stored(mail, roots[mail.key]))
    return "".join(stored).encode()


def _stored(mail: Mail, root: str) -> str:
    headers: dict[str, str] = {}
    if mail.account == "private":
        thread = 1_790_000_000_000_000_000 + int(digest(root)[:12], 16)
        headers = {"X-GM-THRID": str(thread), "X-Gmail-Labels": mail.label}
    mine = mail.sender if mail.label == "Sent" else mail.to
    answers = f"<{mail.answers}@{_host(mail.to)}>" if mail.answers else ""
    headers |= {
        "Delivered-To": mine.address,
        "From": _addressed(mail.sender),
        "To": _addressed(mail.to),
        "Subject": _encoded(mail.subject),
        "Date": format_datetime(mail.at),
        "Message-ID": f"<{mail.key}@{_host(mail.sender)}>",
        "In-Reply-To": answers,
        "References": answers,
        "MIME-Version": "1.0",
        "Content-Type": "text/plain; charset=utf-8",
        "Content-Transfer-Encoding": "8bit",
    }
    head = "\n".join(f"{name}: {value}" for name, value in headers.items() if value)
    arrived = mail.at.astimezone(UTC).ctime()
    text = _FROM_LINE.sub(r">\1", mail.text)
    return f"From {mail.sender.address} {arrived}\n{head}\n\n{text}\n\n"


def _addressed(person: Person) -> str:
    named = f'"{person.name}"' if person.name.isascii() else _encoded(person.name)
    return f"{named} <{person.address}>"


def _encoded(text: str) -> str:
    return text if text.isascii() else Header(text, "utf-8", maxlinelen=10_000).encode()


def _host(person: Person) -> str:
    return person.address.partition("@")[2]


# Calendar -----------------------------------------------------------------------------------------------------------


def calendar(events: Iterable[LifeEvent]) -> bytes:
    lines = [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//A sample life//EN",
        "X-WR-CALNAME:Nora",
        f"X-WR-TIMEZONE:{HOME}",
    ]
    for event in events:
        lines += ["BEGIN:VEVENT", *_event(event), "END:VEVENT"]
    return "\r\n".join([*lines, "END:VCALENDAR", ""]).encode()


def _event(event: LifeEvent) -> Iterator[str]:
    yield f"UID:{digest(event.title, str(event.start))[:24]}@mail.example"
    yield f"DTSTAMP:{NOTED}"
    yield f"DTSTART{_when(event.start, event.zone)}"
    yield f"DTEND{_when(event.end, event.zone)}"
    said = {"SUMMARY": event.title, "LOCATION": event.place, "DESCRIPTION": event.text}
    for name, text in said.items():
        if text:
            yield f"{name}:{_escaped(text)}"
    if event.rule:
        yield f"RRULE:{event.rule}"


def _when(moment: datetime | date, zone: str) -> str:
    return f";TZID={zone}:{moment:%Y%m%dT%H%M%S}" if isinstance(moment, datetime) else f";VALUE=DATE:{moment:%Y%m%d}"


def _escaped(text: str) -> str:
    return re.sub(r"([\\;,])", r"\\\1", text).replace("\n", "\\n")


# Bank ---------------------------------------------------------------------------------------------------------------

_OFX = """\
<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<?OFX OFXHEADER="200" VERSION="211" SECURITY="NONE" OLDFILEUID="NONE" NEWFILEUID="NONE"?>
<OFX>
<SIGNONMSGSRSV1><SONRS><LANGUAGE>ENG</LANGUAGE><FI><ORG>Maasbank</ORG><FID>118</FID></FI></SONRS></SIGNONMSGSRSV1>
<BANKMSGSRSV1><STMTTRNRS><STMTRS><CURDEF>EUR</CURDEF>
<BANKACCTFROM><BANKID>MAASNL2R</BANKID><ACCTID>NL00MAAS0118118118</ACCTID><ACCTTYPE>CHECKING</ACCTTYPE></BANKACCTFROM>
<BANKTRANLIST>
{transactions}
</BANKTRANLIST>
<LEDGERBAL><BALAMT>{balance}</BALAMT><DTASOF>{last}</DTASOF></LEDGERBAL>
</STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>
"""
# A line that the bank itself has broken, as happens: it has an amount in words.
_BROKEN = "<STMTTRN><TRNTYPE>FEE</TRNTYPE><DTPOSTED>20231231</DTPOSTED><TRNAMT>see letter</TRNAMT></STMTTRN>"


def ofx(payments: Sequence[Payment]) -> bytes:
    rows = [_transaction(number, payment) for number, payment in enumerate(payments, 1)]
    if payments[0].day.year == 2023:
        rows.append(_BROKEN)
    balance = sum(payment.cents for payment in payments) + 1_200_000
    last = f"{payments[-1].day:%Y%m%d}"
    return _OFX.format(transactions="\n".join(rows), balance=_euros(balance), last=last).encode()


def _transaction(number: int, payment: Payment) -> str:
    kind = "CREDIT" if payment.cents > 0 else "DEBIT"
    values = {
        "TRNTYPE": kind,
        "DTPOSTED": f"{payment.day:%Y%m%d}",
        "TRNAMT": _euros(payment.cents),
        "FITID": f"{payment.day:%Y}-{number:05}",
        "NAME": payment.payee,
        "MEMO": payment.memo,
    }
    tags = [f"<{name}>{value.replace('&', '&amp;')}</{name}>" for name, value in values.items()]
    return f"<STMTTRN>{''.join(tags)}</STMTTRN>"


def _euros(cents: int) -> str:
    sign = "-" if cents < 0 else ""
    euros, rest = divmod(abs(cents), 100)
    return f"{sign}{euros}.{rest:02}"


# Notes --------------------------------------------------------------------------------------------------------------


def markdown(note: LifeNote) -> bytes:
    tags = f"tags: [{', '.join(note.tags)}]\n" if note.tags else ""
    return f"---\ncreated: {note.created.isoformat()}\n{tags}---\n{note.text}\n".encode()

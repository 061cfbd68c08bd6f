"""Contacts (.vcf): vCard 2.1, 3.0 and 4.0."""

import re
from binascii import Error as NotBase64
from binascii import a2b_base64
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, tzinfo
from urllib.parse import unquote_to_bytes

from pdpp_server.importers.formats.content_lines import Component, ContentLine, components, parts, unescaped
from pdpp_server.importers.identity import SeenRecords, account_name, digest, record_key
from pdpp_server.importers.source import Account, Attachment, DamagedFile, Files, Head, Importer, Known, Opened, Outcome
from pdpp_server.model.ingest import Incoming, Rejection
from pdpp_server.model.runs import AsOf, Coverage, Covered, Sieve
from pdpp_server.model.times import iso
from pdpp_server.wire.envelope import Json

HEAD_BYTES = 4096

_BEGINS = re.compile(rb"(?:\xef\xbb\xbf)?\s*BEGIN:VCARD\s*\n", re.IGNORECASE)
_DATE = re.compile(r"([0-9]{4})-?([0-9]{2})-?([0-9]{2})(?:T.*)?|--([0-9]{2})-?([0-9]{2})(?:T.*)?")
_APPLE_LABEL = re.compile(r"_\$!<(.*)>!\$_")
_DATA_URI = re.compile(r"data:([\w.+-]+/[\w.+-]+)?((?:;[\w=.-]+)*),(.*)", re.DOTALL)
_NAME_PARTS = ("family_name", "given_name", "additional_name", "name_prefix", "name_suffix")
_NO_LABELS = frozenset({"pref", "internet", "voice", "x400"})  # said of nearly every address and number
_APPLE_YEARLESS = "1604"  # the year that stands for none
_PICTURES = {"jpg": "jpeg", "svg": "svg+xml"}


# Recognise --------------------------------------------------------------------------------------------------------


def knows(head: Head) -> bool:
    return _BEGINS.match(head.first(HEAD_BYTES)) is not None


def accounts(files: Files, known: Known) -> Iterable[Account]:
    """All cards are one address book: exports often hold the same people in several files."""
    if known:
        name = account_name(files.name) if files.name in files.entries else "Contacts"
        yield Account(name, tuple(known), files.zone)


# Read -------------------------------------------------------------------------------------------------------------


def read(account: Account) -> Iterator[Outcome]:
    """The cards of all files. Each is an address book of its own: the next export may hold some of them only."""
    seen = SeenRecords()
    for file in account.files:
        revised = set[str]()
        shared: frozenset[str] | None = None
        yield Opened(account_name(file.name))
        try:
            with file.open() as stream:
                for card in components(stream, frozenset({"VCARD"})):
                    if isinstance(card, Component):
                        yield from _outcomes(card, file.name, account.zone, seen)
                        _note_revision(card, account.zone, revised)
                        shared = _labels(card) if shared is None else shared & _labels(card)
        except DamagedFile as damaged:
            yield Rejection(file.name, "invalid_record", str(damaged))
        as_of = AsOf(max(revised), is_varied=len(revised) > 1) if revised else None
        sieve = Sieve(field="categories", shared=shared) if shared else None  # a list may be of one label only
        yield Covered({"contacts": Coverage(sieve=sieve)}, as_of)


def _note_revision(card: Component, zone: tzinfo, revised: set[str]) -> None:
    """When the card was changed, where it says so; the first and the last are enough."""
    at = _revised(_value(card, "REV"), zone)
    if at:
        revised.add(at)
        ends = min(revised), max(revised)
        revised.intersection_update(ends)


def _labels(card: Component) -> frozenset[str]:
    return frozenset(name for name in _structured(card, "CATEGORIES", ",") if name)


def _outcomes(card: Component, file: str, zone: tzinfo, seen: SeenRecords) -> Iterator[Outcome]:
    place = f"{file}:{card.number}"
    for line in card.broken:
        yield Rejection(f"{file}:{line.number}", "invalid_record", line.reason)
    if not card.is_whole:
        yield Rejection(place, "invalid_record", "the card has no END:VCARD: the file was cut, or a line is missing")
        return
    data = _contact(card, zone)
    if not data:
        yield Rejection(place, "invalid_record", "the card names nobody and nothing")
        return
    key = _key(card, data, seen)
    if key is None:
        return  # the same card again, as in the lists of two groups
    photo = _photo(card, key, file)
    pictured = {"photo": photo.reference} if isinstance(photo, Attachment) else {}
    yield Incoming(place, "contacts", key, {"id": key, **data, **pictured}, None)
    if photo:
        yield photo


def _key(card: Component, data: Json, seen: SeenRecords) -> str | None:
    """The UID, else what a person is found by; another card of the same key has its digest beside it."""
    uid = _value(card, "UID").removeprefix("urn:uuid:")
    said = [f"{line.name}:{line.value}" for line in card.lines if line.name not in ("REV", "PRODID")]
    content = digest(*said)
    found_by = data.get("email") or data.get("phone") or data.get("organization") or ""
    if uid:
        return seen.key(record_key(uid), content)
    return seen.key("c-" + digest(data["name"].lower(), found_by.lower()), content)


# One card ---------------------------------------------------------------------------------------------------------


def _contact(card: Component, zone: tzinfo) -> Json:
    emails = _labelled(card, "EMAIL", _plain)
    phones = _labelled(card, "TEL", _number)
    addresses = _labelled(card, "ADR", _place)
    organization, *departments = _structured(card, "ORG") or [""]
    name = _name(card) or organization or _first(emails) or _first(phones)
    if not name:
        return {}
    links = [link for kind in ("URL", "IMPP", "X-SOCIALPROFILE") for link in _labelled(card, kind, _plain)]
    notes = [unescaped(line.value).strip() for line in card.all("NOTE")]
    data: Json = {
        "name": name,
        **dict(zip(_NAME_PARTS, _structured(card, "N"), strict=False)),
        "nickname": ", ".join(filter(None, _structured(card, "NICKNAME", ","))),
        "organization": organization,
        "department": ", ".join(filter(None, departments)),
        "job_title": _text(card, "TITLE") or _text(card, "ROLE"),
        "email": _first(emails),
        "emails": emails,
        "phone": _first(phones),
        "phones": phones,
        "address": _first(addresses),
        "addresses": addresses,
        "reached_by": "; ".join(one["value"] for one in emails + phones + addresses),
        "birthday": _date(_value(card, "BDAY")),
        "anniversary": _date(_value(card, "ANNIVERSARY") or _value(card, "X-ANNIVERSARY")),
        "links": [link["value"] for link in links],
        "categories": list(filter(None, _structured(card, "CATEGORIES", ","))),
        "related": _labelled(card, "X-ABRELATEDNAMES", _plain) + _labelled(card, "RELATED", _plain),
        "note": "\n\n".join(filter(None, notes)),
        "photo_link": _photo_link(card),
        "updated_at": _revised(_value(card, "REV"), zone),
    }
    return {member: value for member, value in data.items() if value}


def _name(card: Component) -> str:
    """As it is shown, else put together from its parts."""
    family, given, additional, prefix, suffix = (_structured(card, "N") + [""] * 5)[:5]
    together = " ".join(part for part in (prefix, given, additional, family, suffix) if part)
    return _text(card, "FN") or together or _text(card, "NICKNAME")


def _labelled(card: Component, name: str, shown: Callable[[str], str]) -> list[Json]:
    """Every value with what it is called, the preferred one first."""
    preferred: list[Json] = []
    others: list[Json] = []
    for line in card.all(name):
        if value := shown(line.value):
            one = {"value": value}
            if label := _label(card, line):
                one["label"] = label
            (preferred if _is_preferred(line) else others).append(one)
    return preferred + others


def _label(card: Component, line: ContentLine) -> str:
    """In the owner's own word where there is one: Apple puts it on a line beside, in the same group."""
    if line.group:
        for beside in card.all("X-ABLABEL"):
            if beside.group == line.group:
                told = _APPLE_LABEL.fullmatch(beside.value.strip())
                label = told[1] if told else unescaped(beside.value)
                return label.strip().lower()
    return ", ".join(dict.fromkeys(name for name in _types(line) if name not in _NO_LABELS))


def _types(line: ContentLine) -> list[str]:
    return [name for value in line.params.get("TYPE", ()) for name in value.lower().split(",")]


def _is_preferred(line: ContentLine) -> bool:
    return "PREF" in line.params or "pref" in _types(line)


def _plain(value: str) -> str:
    return unescaped(value).strip()


def _number(value: str) -> str:
    return unescaped(value).strip().removeprefix("tel:")


def _place(value: str) -> str:
    """Street, town and country in the order of the card; lines inside a part are joined too."""
    return ", ".join(" ".join(part.split()) for part in parts(value, ";") if part.strip())


def _structured(card: Component, name: str, separator: str = ";") -> list[str]:
    line = card.first(name)
    return parts(line.value, separator) if line else []


def _first(several: list[Json]) -> str:
    return several[0]["value"] if several else ""


def _value(card: Component, name: str) -> str:
    line = card.first(name)
    return line.value.strip() if line else ""


def _text(card: Component, name: str) -> str:
    return unescaped(_value(card, name)).strip()


# Dates and photos -------------------------------------------------------------------------------------------------


def _date(text: str) -> str:
    """2026-03-01, or --03-01 where the year is not known; as it is written where it is neither."""
    found = _DATE.fullmatch(text)
    if not found:
        return unescaped(text)
    if not found[1]:
        return f"--{found[4]}-{found[5]}"
    if found[1] == _APPLE_YEARLESS:
        return f"--{found[2]}-{found[3]}"
    return f"{found[1]}-{found[2]}-{found[3]}"


def _revised(text: str, zone: tzinfo) -> str | None:
    try:
        when = datetime.fromisoformat(text)
        return iso(when if when.tzinfo else when.replace(tzinfo=zone))
    except (ValueError, OverflowError):
        return None


def _photo(card: Component, key: str, file: str) -> Attachment | Rejection | None:
    """The first that the card holds itself. A card is worth having without one that cannot be read."""
    for line in card.all("PHOTO"):
        uri = _DATA_URI.fullmatch(line.value.strip())
        try:
            if uri:
                data = a2b_base64(uri[3].encode()) if "base64" in uri[2] else unquote_to_bytes(uri[3])
                return Attachment("contacts", key, data, uri[1] or "image/jpeg")
            if (line.param("ENCODING") or "").upper() in ("B", "BASE64"):
                data = a2b_base64(line.value.encode())
                return Attachment("contacts", key, data, _picture(line.param("TYPE") or ""))
        except NotBase64:
            return Rejection(f"{file}:{line.number}", "invalid_record", "the photo cannot be read; the contact is kept")
    return None


def _photo_link(card: Component) -> str:
    values = (line.value.strip() for line in card.all("PHOTO"))
    return next((value for value in values if value.startswith(("https://", "http://"))), "")


def _picture(kind: str) -> str:
    name = kind.lower().removeprefix("image/")
    return f"image/{_PICTURES.get(name, name)}" if name.isalnum() else "image/jpeg"


CONTACTS = Importer(
    key="contacts",
    knows=knows,
    accounts=accounts,
    read=read,
    takes="contacts (.vcf)",
    obtain="Google: contacts.google.com, Export, vCard; Apple Contacts: File, Export vCard; phones: share all contacts",
)

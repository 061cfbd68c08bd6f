"""What the headers of a message say: who wrote to whom, when, about what."""

import re
from datetime import tzinfo
from email.utils import parsedate_to_datetime
from typing import NamedTuple

from pdpp_server.importers.formats.mime import Headers, words
from pdpp_server.importers.identity import record_key
from pdpp_server.model.times import iso
from pdpp_server.wire.envelope import Json

HEADER_CHARS = 100_000

# None of these looks at the same stretch again and again: an escaped quote ends nothing, also where none is open.
_PIECES = re.compile(r"""(?:"(?:[^"\\]|\\.)*+"|<[^<>]*+>|\([^()]*+\)|\\.|[^,;"<(]|["<(])++""")
_ADDRESS = re.compile(r"(.*?)<([^<>]*+)>", re.DOTALL)
_COMMENT = re.compile(r"\(([^()]*)\)")
_ANGLED = re.compile(r"<([^<>]{1,998})>")
_ARRIVED = re.compile(
    r"([A-Z][a-z]{2}) +([0-9]{1,2}) +([0-9]{2}:[0-9]{2}(?::[0-9]{2})?) +(?:([+-][0-9]{4}) +|[A-Z]{2,5} +)?([0-9]{4})"
)
_GMAIL_THREAD = re.compile(r"[0-9]{1,20}")
_SPACES = re.compile(r"\s+")


class MailAddress(NamedTuple):
    name: str
    address: str

    def __str__(self) -> str:
        name = f'"{self.name}"' if "," in self.name else self.name
        return f"{name} <{self.address}>" if name else self.address


def header_fields(headers: Headers, separator: bytes, zone: tzinfo) -> Json:
    """The fields of a message that its headers tell; `separator` is the line before it in an archive."""
    data: Json = {}
    if ids := angled(headers, "message-id"):
        data["id"] = record_key(ids[0])
        if data["id"] != ids[0]:
            data["original_id"] = ids[0]
    if answered := angled(headers, "in-reply-to"):
        data["in_reply_to"] = record_key(answered[0])
    if list_id := angled(headers, "list-id"):
        data["list_id"] = list_id[-1]
    if subject := _line(headers.get("subject", "")):
        data["subject"] = subject
    if labels := _labels(headers.get("x-gmail-labels", "")):
        data["labels"] = labels
    return {**data, **_people(headers), **_times(headers, separator, zone)}


def angled(headers: Headers, name: str) -> list[str]:
    """What stands in angle brackets, as ids do."""
    return _ANGLED.findall(headers.get(name, "")[:HEADER_CHARS])


def gmail_thread(headers: Headers) -> str | None:
    number = headers.get("x-gm-thrid", "")
    return number if _GMAIL_THREAD.fullmatch(number) else None


def _people(headers: Headers) -> Json:
    data: Json = {}
    senders = addresses(headers.get("from", "")) or addresses(headers.get("sender", ""))
    if senders:
        name, address = senders[0]
        data["from_name"] = name or address
        data["from_address"] = address
    recipients: dict[str, None] = {}
    for name in ("to", "cc", "bcc"):
        if found := addresses(headers.get(name, "")):
            data[name] = ", ".join(map(str, found))
            recipients |= dict.fromkeys(one.address for one in found)
    if recipients:
        data["recipients"] = list(recipients)
    if replies := addresses(headers.get("reply-to", "")):
        data["reply_to"] = ", ".join(map(str, replies))
    return data


def addresses(header: str) -> list[MailAddress]:
    """Names are decoded after the addresses are apart: a decoded name may hold a comma."""
    found = (_address(piece) for piece in _PIECES.findall(header[:HEADER_CHARS]))
    return [one for one in found if one.address]


def _address(piece: str) -> MailAddress:
    angled = _ADDRESS.match(piece)
    if angled is None:
        return _bare_address(piece)
    name, address = angled[1].strip(), angled[2].strip()
    if name.startswith('"') and name.endswith('"') and len(name) > 1:
        name = re.sub(r"\\(.)", r"\1", name[1:-1])
    return MailAddress(_line(name), address.lower() if "@" in address else "")


def _bare_address(piece: str) -> MailAddress:
    """A group stands before its first member, and a name in a comment beside the address."""
    address = _COMMENT.sub("", piece).rpartition(":")[2].strip()
    named = _COMMENT.search(piece)
    name = _line(named[1]) if named else ""
    is_address = "@" in address and " " not in address
    return MailAddress(name, address.lower() if is_address else "")


def _labels(header: str) -> list[str]:
    names = (piece.strip().strip('"') for piece in _PIECES.findall(words(header)[:HEADER_CHARS]))
    return list(dict.fromkeys(name for name in names if name))


def _line(header: str) -> str:
    return _SPACES.sub(" ", words(header)).strip()


# Times ------------------------------------------------------------------------------------------------------------


def _times(headers: Headers, separator: bytes, zone: tzinfo) -> Json:
    """When it was sent, by its own word, else when it arrived."""
    told = (headers.get("date", ""), _arrival(separator), headers.get("received", "").rpartition(";")[2])
    for text in told:
        if found := _sent(text.strip(), zone):
            return {"sent_at": found[0], "sent_at_original": found[1]}
    return {}


def _sent(text: str, zone: tzinfo) -> tuple[str, str] | None:
    """In UTC, and as it was written: without an offset where it had none and the owner's zone was taken."""
    try:
        time = parsedate_to_datetime(text.replace("-0000", "+0000"))
        return iso(time if time.tzinfo else time.replace(tzinfo=zone)), time.isoformat()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _arrival(separator: bytes) -> str:
    """The time in the line before a message; it is in UTC unless it says otherwise."""
    found = _ARRIVED.search(separator.decode("ascii", "replace"))
    if not found:
        return ""
    month, day, clock, offset, year = found.groups()
    return f"{day} {month} {year} {clock} {offset or '+0000'}"

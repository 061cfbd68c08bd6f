"""Mail: archives (.mbox, as of Gmail Takeout or Thunderbird), Maildir folders, single messages (.eml, .emlx)."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import tzinfo
from enum import Enum, auto
from typing import Any, NamedTuple

from pdpp_server.importers.formats.html_text import html_text
from pdpp_server.importers.formats.mail_headers import angled, gmail_thread, header_fields
from pdpp_server.importers.formats.mail_text import written
from pdpp_server.importers.formats.mail_threads import MailThreads
from pdpp_server.importers.formats.mbox import MARK, MESSAGE_BYTES_MAX, StoredMail, is_mbox, stored_messages
from pdpp_server.importers.formats.mime import Headers, MimePart, PartGroup, leaves, message
from pdpp_server.importers.identity import SeenRecords, account_name, digest, record_key
from pdpp_server.importers.source import Account, Attachment, DamagedFile, File, Files, Head, Importer, Known, Outcome
from pdpp_server.model.ingest import Incoming, Rejection
from pdpp_server.model.runs import AsOf
from pdpp_server.model.times import instant, iso
from pdpp_server.wire.envelope import Json

TEXT_CHARS = 1_000_000
HEAD_BYTES = 8192  # enough to know a message
SAMPLE_BYTES, SAMPLED_FILES = 2 * 1024 * 1024, 50  # enough to know whose mail it is

_HEADER_NAME = re.compile(rb"^([A-Za-z][!-9;-~]*):", re.MULTILINE)
_COUNTED = re.compile(rb"[0-9]{1,10}[ \t]*\r?\n")  # the line before a message of Apple Mail: how many bytes it has
_SENT_BY = frozenset({b"from", b"received", b"return-path"})
_SURE = frozenset({b"message-id", b"date", b"mime-version"})
_USUAL = _SURE | _SENT_BY | {b"to", b"cc", b"subject", b"reply-to", b"delivered-to", b"content-type"}
_MESSAGE_NAME = re.compile(r".*\.emlx?|(?:.*/)?(?:cur|new)/[^/]+", re.IGNORECASE | re.DOTALL)
_IN_MAILDIR = re.compile(r"(?:.*/)?(?:cur|new)/[^/]+", re.DOTALL)
_MAILBOX = re.compile(r"(.*\.mbox)/.*", re.DOTALL)
_FIRST_HEADER = re.compile(rb"[A-Za-z][!-9;-~]*[ \t]*:")
_OWN_ADDRESS = re.compile(
    rb"^(Delivered-To|X-Original-To|From|To):[^\n]*?([\w.+-]+@[\w.-]+\w)", re.MULTILINE | re.IGNORECASE
)


# Recognise --------------------------------------------------------------------------------------------------------


class MailKind(Enum):
    ARCHIVE = auto()
    MESSAGE = auto()
    COUNTED = auto()  # of Apple Mail: a message between its length and what the program keeps about it


def knows(head: Head) -> MailKind | None:
    start = head.first(HEAD_BYTES)
    if is_mbox(start):
        return MailKind.ARCHIVE
    if _is_message(start, head.file.name):
        return MailKind.MESSAGE
    counted = _COUNTED.match(start)
    return MailKind.COUNTED if counted and _is_message(start[counted.end() :], head.file.name) else None


def accounts(files: Files, known: Known) -> Iterable[Account]:
    """One account for each folder that holds mail; a Maildir's `cur` and `new` are one folder."""
    folders: dict[str, list[File]] = {}
    for file in known:
        folders.setdefault(_folder(file.name), []).append(file)
    named: dict[str, list[File]] = {}
    for folder, found in folders.items():
        named.setdefault(_owner(found) or account_name(folder or files.name), []).extend(found)
    for name, found in named.items():
        is_living = bool(files.folder) and not files.unread and all(_IN_MAILDIR.fullmatch(one.name) for one in found)
        yield Account(
            name,
            tuple(found),
            files.zone,
            found={file.name: known[file] for file in found},
            collection=f"{name} {digest(files.folder)}" if is_living else name,
            complete=("messages", "attachments", "threads") if is_living else (),
            derived={"attachments": "messages", "threads": "messages"},
            as_of=AsOf(iso(files.now)) if is_living and files.now else None,
        )


def _is_message(start: bytes, name: str) -> bool:
    """By headers that only mail has; fewer are enough in a file that is called as a message is."""
    start = start.removeprefix(MARK)
    if b"\0" in start or not _FIRST_HEADER.match(start):
        return False
    top = re.split(rb"\r?\n\r?\n", start, maxsplit=1)[0]
    names = {header.lower() for header in _HEADER_NAME.findall(top)}
    if names.isdisjoint(_SENT_BY):
        return False
    enough = 2 if _MESSAGE_NAME.fullmatch(name) else 3
    return not names.isdisjoint(_SURE) or len(names & _USUAL) >= enough


def _folder(name: str) -> str:
    mailbox = _MAILBOX.fullmatch(name)
    if mailbox:
        return mailbox[1]  # of Apple Mail, whatever lies between it and its messages
    folder, _, _ = name.rpartition("/")
    return re.sub(r"(?:^|/)(?:cur|new)\Z", "", folder)


def _owner(found: list[File]) -> str | None:
    """The address that most of the mail was delivered to; without such headers, the one in most of it."""
    delivered: Counter[str] = Counter()
    named: Counter[str] = Counter()
    for file in found[:SAMPLED_FILES]:
        for header, address in _OWN_ADDRESS.findall(_sample(file)):
            told = named if header.lower() in (b"from", b"to") else delivered
            told[address.decode("ascii", "replace").lower()] += 1
    for counted in (delivered, named):
        if counted:
            address, times = min(counted.items(), key=lambda item: (-item[1], item[0]))
            if counted is delivered or times > 1:
                return address
    return None


def _sample(file: File) -> bytes:
    head = Head(file)
    try:
        return head.first(SAMPLE_BYTES)
    finally:
        head.close()


# Read -------------------------------------------------------------------------------------------------------------


def read(account: Account) -> Iterator[Outcome]:
    """The messages in the order of the files, then the threads that they make."""
    mailbox = _Mailbox(account.zone)
    for file in account.files:
        try:
            yield from _read_file(file, mailbox, account.found[file.name])
        except DamagedFile as damaged:
            yield Rejection(file.name, "invalid_record", str(damaged))
    for data in mailbox.threads.records():
        yield Incoming(account.files[0].name, "threads", data["id"], data, None)


def _read_file(file: File, mailbox: "_Mailbox", kind: MailKind) -> Iterator[Outcome]:
    folder = account_name(file.name)
    with file.open() as stream:
        if kind is MailKind.ARCHIVE:
            for stored in stored_messages(stream):
                yield from mailbox.outcomes(stored, f"{file.name}:message {stored.number}", folder)
        else:
            size = int(stream.readline()) if kind is MailKind.COUNTED else MESSAGE_BYTES_MAX + 1
            raw = stream.read(min(size, MESSAGE_BYTES_MAX + 1))
            stored = StoredMail(1, b"", raw if len(raw) <= MESSAGE_BYTES_MAX else None)
            yield from mailbox.outcomes(stored, file.name, _folder(file.name).rpartition("/")[2].removesuffix(".mbox"))


class Parsed(NamedTuple):
    """A message that was taken apart, before it has a key."""

    data: Json
    headers: Headers
    body: MimePart | PartGroup
    content: str  # a digest of what it says
    size: int  # in bytes

    @property
    def wanted_key(self) -> str:
        return self.data.get("id") or f"m-{self.content}"

    @property
    def answers(self) -> list[str]:
        """The messages that it names as those before it, the first of them first."""
        return [record_key(one) for one in angled(self.headers, "references")]


def parsed(stored: StoredMail, place: str, zone: tzinfo) -> Parsed | Rejection:
    if stored.raw is None:
        return Rejection(place, "resource_limit", f"the message is longer than {MESSAGE_BYTES_MAX >> 20} MiB")
    headers, body = message(stored.raw)
    if not headers:
        return Rejection(place, "invalid_record", "the message has no headers")
    data = header_fields(headers, stored.separator, zone) | _texts(body)
    return Parsed(data, headers, body, content_of(data), len(stored.raw))


def content_of(data: Mapping[str, Any]) -> str:
    """The same for the same message, whichever way it came."""
    return digest(*(data.get(name) or "" for name in ("sent_at", "from_address", "subject", "full_text", "body")))


class _Mailbox:
    """What has been seen of one account."""

    def __init__(self, zone: tzinfo) -> None:
        self._zone = zone
        self._seen = SeenRecords()
        self.threads = MailThreads()

    def outcomes(self, stored: StoredMail, place: str, folder: str) -> Iterator[Outcome]:
        one = parsed(stored, place, self._zone)
        if isinstance(one, Rejection):
            yield one
            return
        key = self._seen.key(one.wanted_key, one.content)
        if key is not None:  # else the same message again, as in the archives of two labels
            yield from message_outcomes(one, key, place, folder, self.threads)


def message_outcomes(one: Parsed, key: str, place: str, folder: str, threads: MailThreads) -> Iterator[Outcome]:
    """The message, and what is attached to it."""
    data = one.data | {"id": key, "size_bytes": one.size}
    if folder:
        data["folder"] = folder
    _place_in_thread(data, one, threads)
    attached = [part for part in leaves(one.body) if part.is_attachment]
    whole = [part for part in attached if not part.is_cut]
    if whole:
        data["attachment_count"] = len(whole)
        data["attachment_names"] = ", ".join(part.filename or part.media_type for part in whole)
    yield Incoming(place, "messages", key, data, None)
    for number, part in enumerate(attached, 1):
        if part.is_cut:
            reason = f"the message ends inside its attachment {number}, which was left out"
            yield Rejection(place, "invalid_record", reason)
        else:
            yield from _attachment(data, part, number, place)


def _place_in_thread(data: Json, one: Parsed, threads: MailThreads) -> None:
    subject = data.get("subject", "")
    thread = gmail_thread(one.headers)
    data["thread_id"] = thread or threads.of(data["id"], one.answers, data.get("in_reply_to"), subject)
    threads.add(data["thread_id"], subject, instant(data.get("sent_at")), people_of(data))


def people_of(data: Mapping[str, Any]) -> list[str]:
    people = [data["from_address"]] if "from_address" in data else []
    return people + list(data.get("recipients", []))


# Text -------------------------------------------------------------------------------------------------------------


def _texts(body: MimePart | PartGroup) -> Json:
    """What was written, and the whole text where it is more."""
    whole = _clipped(_text(body).strip())
    own = written(whole)
    data = {"body": own} if own else {}
    return data if own == whole else {**data, "full_text": whole}


def _text(body: MimePart | PartGroup) -> str:
    if isinstance(body, MimePart):
        if body.is_attachment:
            return ""
        return html_text(body.text) if body.media_type == "text/html" else body.text
    if body.kind == "multipart/alternative":
        choices = (_text(part) for part in sorted(body.parts, key=_is_html))
        return next((text for text in choices if text.strip()), "")
    return "\n\n".join(text for part in body.parts if (text := _text(part)).strip())


def _is_html(body: MimePart | PartGroup) -> bool:
    return any(part.media_type == "text/html" for part in leaves(body))


def _clipped(text: str) -> str:
    if len(text) <= TEXT_CHARS:
        return text
    return f"{text[:TEXT_CHARS]}\n[{len(text) - TEXT_CHARS} more characters were left out]"


def _attachment(message_data: Json, part: MimePart, number: int, place: str) -> Iterator[Outcome]:
    content = part.content
    key = f"{message_data['id']}~{number}"
    attachment = Attachment(
        "attachments", key, content, part.media_type, part.filename or "", "text", part.charset or ""
    )
    data: Json = {
        "id": key,
        "message_id": message_data["id"],
        "filename": part.filename,
        "media_type": part.media_type,
        "size_bytes": len(content),
        "is_inline": part.headers.get("content-disposition", "").strip().lower().startswith("inline"),
        "sent_at": message_data.get("sent_at"),
        "from_address": message_data.get("from_address"),
        "blob_ref": attachment.reference if content else None,
    }
    yield Incoming(place, "attachments", key, {name: value for name, value in data.items() if value is not None}, None)
    if content:
        yield attachment


MAIL = Importer(
    key="mail",
    knows=knows,
    accounts=accounts,
    read=read,
    usual_folders=("~/Maildir", "~/Mail", "~/.thunderbird", "~/Library/Thunderbird/Profiles"),
    takes="mail archives (.mbox, Maildir folders, .eml, .emlx)",
    version=4,
    obtain="Gmail: takeout.google.com, Mail, all messages; Thunderbird and Apple Mail: export the mailbox as mbox",
)

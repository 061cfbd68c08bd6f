"""WhatsApp chats that were exported from a phone: the .txt, or the .zip with pictures and recordings."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import tzinfo
from io import BytesIO
from typing import NamedTuple

from pdpp_server.importers.formats.charsets import decoded
from pdpp_server.importers.formats.json_values import clipped, without_gaps
from pdpp_server.importers.formats.media import attached
from pdpp_server.importers.formats.whatsapp_lines import (
    LINE_BYTES_MAX,
    Dates,
    Order,
    Stamp,
    WhatsappMessage,
    order_of,
    said,
    stamped,
    unmarked,
    wall_time,
)
from pdpp_server.importers.formats.whatsapp_words import Content, attached_names, content_of
from pdpp_server.importers.formats.zones import moment
from pdpp_server.importers.identity import account_name, digest
from pdpp_server.importers.repeats import Repeats
from pdpp_server.importers.source import (
    Account,
    Attachment,
    DamagedFile,
    File,
    Files,
    Head,
    Importer,
    Known,
    Opened,
    Outcome,
)
from pdpp_server.model.ingest import Incoming, Rejection
from pdpp_server.model.runs import AsOf, Coverage, Covered
from pdpp_server.model.times import instant, iso
from pdpp_server.wire.envelope import Json

NAME = "WhatsApp"  # the files do not say whose phone it was
HEAD_BYTES = 8192
PARTICIPANTS_MAX = 200

_MEDIA = ("media_kind", "media_name", "media")
_SIGNAL = re.compile(r"\[[0-9]{4}-[0-9]{2}-[0-9]{2},? [0-9]{2}:[0-9]{2}\] ")
_TITLES = (
    re.compile(
        r"(?i).*whatsapp(?:[ -]chat)?(?:\s+(?:with|mit|con|com|avec|met|med|z|dengan|với|s(?: uživatelem)?|"
        r"с(?: контактом)?|з|із|กับ)\s+|\s+-\s+)(.+)"  # noqa: RUF001  as phones there write
    ),
    re.compile(r".*واتساب مع\s+(.+)"),
    re.compile(r"(?i)(.+?)(?:\s+के साथ\s+|との)whatsapp.*"),  # these name the other side first
)


class _Found(NamedTuple):
    file: File
    chat: str
    order: Order
    media: tuple[str, ...]  # files that its messages name, some of which may be there


# Recognise --------------------------------------------------------------------------------------------------------


def knows(head: Head) -> bool:
    """A text whose first line begins with a time as WhatsApp writes it, and that somebody says something in."""
    if not head.file.name.lower().endswith(".txt"):
        return False
    lines = [line for line in decoded(head.first(HEAD_BYTES)).splitlines() if line.strip()]
    begun = [found for line in lines if (found := stamped(line))]
    if not lines or stamped(lines[0]) is None or all(_is_of_signal(line) for line in lines if stamped(line)):
        return False
    return len(begun) > 1 or any(": " in rest for _, rest in begun)


def _is_of_signal(line: str) -> bool:
    """Texts made from Signal begin with `[2026-02-28 21:05]`; a phone that writes brackets writes seconds."""
    return _SIGNAL.match(line) is not None


def accounts(files: Files, known: Known) -> Iterable[Account]:
    """All chats are one connection, and each a chat in it."""
    found = [_look(file, files) for file in known]
    if found:
        texts = tuple(one.file for one in found)
        media = {name: files.entries[name] for one in found for name in one.media if name in files.entries}
        yield Account(NAME, (*texts, *media.values()), files.zone, tuple(map(_note, found)), tuple(found))


def _look(file: File, files: Files) -> _Found:
    """The whole file once, without reading its messages: its dates tell how to read them, and which files belong to it.

    Where it turns out to be damaged, what came before does; reading it says so.
    """
    beside = file.name.rpartition("/")[0]
    has_others = any(name != file.name and name.rpartition("/")[0] == beside for name in files.entries)
    dates, media = Dates(), dict[str, None]()
    first = b""
    with suppress(DamagedFile), file.open() as stream:
        while raw := stream.readline(LINE_BYTES_MAX):
            first = first or raw.strip()
            dates.look(raw)
            if has_others and (b">" in raw or b")" in raw):
                media.update((_beside(file.name, name), None) for name in _named_in(raw))
    chat = _title(file.name) or (_title(files.name) if files.name != file.name else "") or _first_sender(first)
    return _Found(file, chat or account_name(file.name).strip("_ "), order_of(dates.stamps), tuple(media))


def _named_in(raw: bytes) -> list[str]:
    line = unmarked(decoded(raw)).strip()
    begun = stamped(line)
    return attached_names(begun[1].partition(": ")[2].strip() if begun else line)


def _first_sender(raw: bytes) -> str:
    """A chat begins with a note of WhatsApp, which an iPhone puts into the mouth of the other side."""
    one = next(said(BytesIO(raw)), None)
    return one.sender if isinstance(one, WhatsappMessage) and one.is_marked else ""


def _beside(text: str, name: str) -> str:
    """In the folder of the text."""
    return f"{text.rpartition('/')[0]}/{name}".lstrip("/")


def _title(name: str) -> str:
    found = next(filter(None, (title.fullmatch(account_name(name)) for title in _TITLES)), None)
    return found[1].strip() if found else ""


def _note(found: _Found) -> str:
    form = "day, month, year" if found.order.is_day_first else "month, day, year"
    if found.order.because == "the year stands first":
        form = "year, month, day"
    doubt = "" if found.order.is_sure else ". Check a message whose date you know"
    return f"{found.file.name}: dates are read as {form}: {found.order.because}{doubt}."


# Read -------------------------------------------------------------------------------------------------------------


def read(account: Account) -> Iterator[Outcome]:
    """The messages of each chat, then the chat itself."""
    media = {file.name: file for file in account.files}
    for found in account.found:
        chat = _Chat(found, account.zone, media)
        yield Opened(chat.key)
        try:
            with found.file.open() as stream:
                yield from chat.outcomes(said(stream))
        except DamagedFile as damaged:
            yield Rejection(found.file.name, "invalid_record", damaged.message)
        yield from chat.end()


@dataclass(slots=True)
class _Chat:
    """One file, as far as it was read."""

    found: _Found
    zone: tzinfo
    media: Mapping[str, File]
    repeats: Repeats = field(default_factory=Repeats)
    people: dict[str, None] = field(default_factory=dict[str, None])
    spoken_for: dict[str, None] = field(default_factory=dict[str, None])  # senders of what WhatsApp itself wrote
    messages: int = 0
    first_at: str = ""
    last_at: str = ""
    key: str = ""
    _last_stamp: Stamp | None = None
    _last_sent_at: str | None = None

    def __post_init__(self) -> None:
        self.key = "c-" + digest(self.found.chat.casefold())[:16]

    def outcomes(self, lines: Iterable[WhatsappMessage | int]) -> Iterator[Outcome]:
        name = self.found.file.name
        for one in lines:
            if isinstance(one, int):
                yield Rejection(f"{name}:{one}", "invalid_record", "no message begins before this line")
                continue
            place = f"{name}:{one.line}"
            sent_at = self._sent_at(one)
            if sent_at is None:
                yield Rejection(place, "invalid_record", "the message has a date that does not exist")
                continue
            content = content_of(one)
            self._count(sent_at, one.sender, content)
            data = self._data(one, content, sent_at)
            if content.kind != "media":
                yield Incoming(place, "messages", data["id"], data, None)
            else:
                yield from self._with_media(place, content.media_name, data)

    def _data(self, one: WhatsappMessage, content: Content, sent_at: str) -> Json:
        kind, text, media_kind, media_name, is_edited = content
        sender, chat = one.sender, self.found.chat
        data: Json = {"id": self._key(one, content), "chat_id": self.key, "chat_name": chat}
        if sender and (kind != "system" or sender != chat):
            data["sender"] = sender
        data["kind"] = kind
        if text:
            data["text"] = clipped(text)
        data["sent_at"] = sent_at
        if media_kind:
            data["media_kind"] = media_kind
        if media_name:
            data["media_name"] = media_name
        if is_edited:
            data["is_edited"] = True
        return data

    def _with_media(self, place: str, name: str, data: Json) -> Iterator[Outcome]:
        media = attached(self.media.get(_beside(self.found.file.name, name)), "messages", data["id"])
        if isinstance(media, Attachment):
            data["media"] = media.reference
        stays = () if isinstance(media, Attachment) else _MEDIA[2 if name else 0 :]  # as an export with files told it
        yield Incoming(place, "messages", data["id"], data, None, stays)
        if isinstance(media, Attachment):
            yield media
        elif media:
            yield Rejection(place, "resource_limit", media)

    def end(self) -> Iterator[Outcome]:
        """The chat itself. All its messages are there from the first to the last one, which is the newest.

        Of the minutes at both ends nobody knows whether they are there whole.
        """
        if self.messages:
            between = Coverage(instant(self.first_at), instant(self.last_at))
            yield Covered({"messages": between}, AsOf(self.last_at, is_varied=True))
            data = {
                "id": self.key,
                "name": self.found.chat,
                "participants": self._participants(),
                "message_count": self.messages,
                "first_at": self.first_at,
                "last_at": self.last_at,
            }
            yield Incoming(self.found.file.name, "chats", self.key, without_gaps(data), None)

    def _participants(self) -> list[str]:
        """Whoever said something, and whoever is spoken for; in a group that is the group itself, which is nobody."""
        is_group = len(self.people) > 1
        others = [name for name in self.spoken_for if not (is_group and name == self.found.chat)]
        return list(dict.fromkeys([*self.people, *others]))[:PARTICIPANTS_MAX]

    def _sent_at(self, one: WhatsappMessage) -> str | None:
        """Messages of the same minute have the same time, and come together."""
        if one.stamp is not self._last_stamp:
            self._last_stamp, self._last_sent_at = one.stamp, self._moment(one)
        return self._last_sent_at

    def _moment(self, one: WhatsappMessage) -> str | None:
        wall = wall_time(one.stamp, self.found.order)
        try:
            return iso(moment(wall, self.zone)) if wall else None
        except OverflowError:
            return None

    def _count(self, sent_at: str, sender: str, content: Content) -> None:
        self.messages += 1
        if not self.first_at or sent_at < self.first_at:
            self.first_at = sent_at
        if sent_at > self.last_at:
            self.last_at = sent_at
        if sender:
            (self.people if content.kind != "system" else self.spoken_for).setdefault(sender)

    def _key(self, one: WhatsappMessage, content: Content) -> str:
        """By what is written, time included as it is written; an export without files says another thing of each."""
        told = "media" if content.kind == "media" else content.text
        said_once = digest(one.stamp.text, one.sender, told)
        return f"{self.key}:{self.repeats.key(said_once, self._last_sent_at or '')}"


WHATSAPP = Importer(
    key="whatsapp",
    knows=knows,
    accounts=accounts,
    read=read,
    version=5,
    takes="WhatsApp chats (.txt, or .zip with media)",
    obtain="In the chat: menu, More, Export chat (iPhone: name of the chat, Export chat), with or without media",
)

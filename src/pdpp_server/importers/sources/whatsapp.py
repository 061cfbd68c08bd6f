"""WhatsApp chats that were exported from a phone: the .txt, or the .zip with pictures and recordings."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import NamedTuple

from pdpp_server.importers.formats.charsets import decoded
from pdpp_server.importers.formats.json_values import clipped, without_gaps
from pdpp_server.importers.formats.media import attached
from pdpp_server.importers.formats.whatsapp_lines import (
    Content,
    Order,
    Said,
    Stamp,
    content_of,
    order_of,
    said,
    stamped,
    wall_time,
)
from pdpp_server.importers.formats.zones import moment
from pdpp_server.importers.identity import account_name, digest
from pdpp_server.importers.repeats import Repeats
from pdpp_server.importers.source import Account, Attachment, DamagedFile, File, Files, Head, Importer, Known, Outcome
from pdpp_server.model.ingest import Incoming, Rejection
from pdpp_server.model.times import iso
from pdpp_server.wire.envelope import Json

NAME = "WhatsApp"  # the files do not say whose phone it was
HEAD_BYTES = 8192
PARTICIPANTS_MAX = 200

_TITLE = re.compile(r"(?i).*whatsapp(?:[ -]chat)?(?:\s+(?:with|mit|con|com|avec|met|med|z)\s+|\s+-\s+)(.+)")


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
    begun = [rest for line in lines if (found := stamped(line)) for rest in found[1:]]
    return bool(lines) and stamped(lines[0]) is not None and (len(begun) > 1 or ": " in "".join(begun))


def accounts(files: Files, known: Known) -> Iterable[Account]:
    """All chats are one connection, and each a chat in it."""
    found = [_look(file, files.name) for file in known]
    if found:
        texts = tuple(one.file for one in found)
        media = {name: files.entries[name] for one in found for name in one.media if name in files.entries}
        yield Account(NAME, (*texts, *media.values()), files.zone, tuple(map(_note, found)), tuple(found))


def _look(file: File, export: str) -> _Found:
    """The whole file once: its dates tell how to read them, and its messages which files belong to it.

    Where it turns out to be damaged, what came before does; reading it says so.
    """
    chat = _title(file.name) or (_title(export) if export != file.name else "")
    stamps: list[Stamp] = []
    media: dict[str, None] = {}
    with suppress(DamagedFile), file.open() as stream:
        for one in said(stream):
            if isinstance(one, Said):
                chat = chat or (one.sender if one.is_marked and not stamps else "")
                if not stamps or stamps[-1].parts != one.stamp.parts:
                    stamps.append(one.stamp)
                media.setdefault(_beside(file.name, content_of(one).media_name))
    return _Found(file, chat or account_name(file.name).strip("_ "), order_of(stamps), tuple(media))


def _beside(text: str, name: str) -> str:
    """In the folder of the text."""
    return f"{text.rpartition('/')[0]}/{name}".lstrip("/")


def _title(name: str) -> str:
    found = _TITLE.fullmatch(account_name(name))
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
        try:
            with found.file.open() as stream:
                for one in said(stream):
                    yield from chat.outcomes(one)
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
    messages: int = 0
    first_at: str = ""
    last_at: str = ""

    @property
    def key(self) -> str:
        return "c-" + digest(self.found.chat.casefold())[:16]

    def outcomes(self, one: Said | int) -> Iterator[Outcome]:
        if isinstance(one, int):
            yield Rejection(f"{self.found.file.name}:{one}", "invalid_record", "no message begins before this line")
            return
        place = f"{self.found.file.name}:{one.line}"
        sent_at = self._sent_at(one)
        if sent_at is None:
            yield Rejection(place, "invalid_record", "the message has a date that does not exist")
            return
        content = content_of(one)
        self._count(sent_at, one.sender if content.kind != "system" else "")
        key = self._key(one, content)
        data: Json = {
            "id": key,
            "chat_id": self.key,
            "chat_name": self.found.chat,
            "sender": one.sender if content.kind != "system" or one.sender != self.found.chat else "",
            "kind": content.kind,
            "text": clipped(content.text),
            "sent_at": sent_at,
            "media_kind": content.media_kind,
            "media_name": content.media_name,
            "is_edited": content.is_edited or None,
        }
        media = attached(self._file(content.media_name), "messages", key)
        if isinstance(media, Attachment):
            data["media"] = media.reference
        yield Incoming(place, "messages", key, without_gaps(data), None)
        if isinstance(media, Attachment):
            yield media
        elif media:
            yield Rejection(place, "resource_limit", media)

    def end(self) -> Iterator[Incoming]:
        if self.messages:
            data = {
                "id": self.key,
                "name": self.found.chat,
                "participants": list(self.people)[:PARTICIPANTS_MAX],
                "message_count": self.messages,
                "first_at": self.first_at,
                "last_at": self.last_at,
            }
            yield Incoming(self.found.file.name, "chats", self.key, without_gaps(data), None)

    def _sent_at(self, one: Said) -> str | None:
        wall = wall_time(one.stamp, self.found.order)
        try:
            return iso(moment(wall, self.zone)) if wall else None
        except OverflowError:
            return None

    def _count(self, sent_at: str, sender: str) -> None:
        self.messages += 1
        self.first_at = min(self.first_at or sent_at, sent_at)
        self.last_at = max(self.last_at, sent_at)
        if sender:
            self.people.setdefault(sender)

    def _key(self, one: Said, content: Content) -> str:
        """By what is written, time included as it is written; an export without files says another thing of each."""
        told = "media" if content.kind == "media" else content.text
        return f"{self.key}:{self.repeats.key(digest(one.stamp.text, one.sender, told))}"

    def _file(self, name: str) -> File | None:
        return self.media.get(_beside(self.found.file.name, name)) if name else None


WHATSAPP = Importer(
    key="whatsapp",
    knows=knows,
    accounts=accounts,
    read=read,
    takes="WhatsApp chats (.txt, or .zip with media)",
    obtain="In the chat: menu, More, Export chat (iPhone: name of the chat, Export chat), with or without media",
)

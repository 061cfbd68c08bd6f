"""Telegram Desktop exports in JSON (`result.json`): one chat, or everything with chats and contacts."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from enum import Enum, auto
from typing import Any

from pdpp_server.importers.formats.json_items import Item, first_members
from pdpp_server.importers.formats.json_tree import Begun, MemberPath, Plain, Whole, walk
from pdpp_server.importers.formats.json_values import (
    clipped,
    joined,
    list_in,
    list_of,
    number_in,
    object_in,
    object_of,
    text_in,
    text_of,
    time_of,
    whole_number,
    without_gaps,
    written_out,
)
from pdpp_server.importers.formats.media import attached
from pdpp_server.importers.formats.zones import moment
from pdpp_server.importers.identity import SeenRecords, digest, record_key
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

UNNAMED = "Telegram"

_ONE_CHAT = frozenset({"type", "id", "messages"})
_EVERYTHING = frozenset({"personal_information", "chats", "left_chats", "frequent_contacts"})
_OWNER: MemberPath = ("personal_information",)
_CONTACT: MemberPath = ("contacts", "list", "*")
_LISTS = ("chats", "left_chats")
_CHATS: tuple[MemberPath, ...] = ((), *((name, "list", "*") for name in _LISTS))
_MESSAGES = frozenset((*chat, "messages", "*") for chat in _CHATS)
_WANTED = _MESSAGES | {_OWNER, _CONTACT}
_MEDIA = re.compile(
    r"(?:chats/chat_[0-9]+/)?(?:photos|files|video_files|voice_messages|round_video_messages|stickers|animations)/"
)
_OF_FILE = ("media_name", "media")  # an export without files does not take them from an earlier one
_TOLD_OF_SERVICE = ("title", "members", "inviter", "duration_seconds", "discard_reason", "new_title")


# Recognise --------------------------------------------------------------------------------------------------------


class _Holds(Enum):
    ONE_CHAT = auto()
    EVERYTHING = auto()


def knows(head: Head) -> _Holds | None:
    told = first_members(head)
    if told >= _ONE_CHAT:
        return _Holds.ONE_CHAT
    return _Holds.EVERYTHING if "about" in told and told & _EVERYTHING else None


def accounts(files: Files, known: Known) -> Iterable[Account]:
    """One connection for each person; an export of one chat does not say whose it is."""
    owners: dict[str, list[File]] = {}
    for file, held in known.items():
        owner = _owner(file) if held is _Holds.EVERYTHING else ""
        owners.setdefault(owner or UNNAMED, []).append(file)
    note = "It does not say whose account it is; --name puts it beside other exports of the same account."
    for name, found in owners.items():
        results = {file.name: file for file in found}
        media = [file for file in files.entries.values() if _is_media(file.name, results)]
        notes = (note,) if name == UNNAMED else ()
        yield Account(name, (*found, *media), files.zone, notes, frozenset(results))


def _is_media(name: str, results: Iterable[str]) -> bool:
    """In one of the folders that Telegram puts beside a `result.json`."""
    folders = (result.rpartition("result.json")[0] for result in results)
    return any(name.startswith(folder) and _MEDIA.match(name[len(folder) :]) for folder in folders)


def _owner(file: File) -> str:
    """It stands near the beginning, before the chats."""
    try:
        for event in walk(file, {_OWNER}):
            match event:
                case Whole(_, Item(_, data)):
                    user = text_in(data, "username").lstrip("@")
                    return f"@{user}" if user else _name(data) or text_in(data, "phone_number")
                case Begun((first, *_)) if first in _LISTS:
                    return ""
                case _:
                    pass
    except DamagedFile:
        pass
    return ""


def _name(person: Json) -> str:
    return joined(" ", (text_in(person, name).strip() for name in ("first_name", "last_name")))


# Read -------------------------------------------------------------------------------------------------------------


def read(account: Account) -> Iterator[Outcome]:
    """The messages of each chat, then the chat itself; contacts where they stand."""
    media = {file.name: file for file in account.files if file.name not in account.found}
    seen = SeenRecords()
    for file in account.files:
        if file.name in media:
            continue
        try:
            yield from _Export(file, media, account.zone, seen).outcomes()
        except DamagedFile as damaged:
            yield Rejection(file.name, "invalid_record", damaged.message)


@dataclass(slots=True)
class _Chat:
    """The chat that is being read."""

    place: str = ""
    is_left: bool = False
    told: Json = field(default_factory=dict[str, Any])
    messages: int = 0
    times: tuple[str, str] | None = None
    is_opened: bool = False

    @property
    def key(self) -> str:
        number = self.told.get("id")
        return record_key(str(number)) if isinstance(number, int | str) and str(number) else ""

    @property
    def name(self) -> str:
        kind = text_in(self.told, "type")
        unnamed = "Saved messages" if kind == "saved_messages" else "Deleted account"
        return text_in(self.told, "name").strip() or unnamed

    def add(self, sent_at: str | None) -> None:
        self.messages += 1
        if sent_at:
            first, last = self.times or (sent_at, sent_at)
            self.times = (min(first, sent_at), max(last, sent_at))


class _Export:
    """One `result.json`."""

    def __init__(self, file: File, media: Mapping[str, File], zone: tzinfo, seen: SeenRecords) -> None:
        self._file, self._media, self._zone, self._seen = file, media, zone, seen
        self._folder = file.name.rpartition("/")[0]
        self._chat: _Chat | None = None

    def outcomes(self) -> Iterator[Outcome]:
        for event in walk(self._file, _WANTED):
            match event:
                case Rejection():
                    yield event
                case Begun(path) if path in _CHATS:
                    yield from self._end()
                    self._chat = _Chat(self._file.name, path[:1] == ("left_chats",))
                case Plain((*above, name), value) if self._chat is not None and tuple(above) in _CHATS:
                    self._chat.told[name] = value
                case Whole(path, item):
                    yield from (item,) if isinstance(item, Rejection) else self._item(path, item)
                case _:
                    pass
        yield from self._end()

    def _item(self, path: MemberPath, item: Item) -> Iterator[Outcome]:
        if path == _CONTACT:
            yield from self._contact(item)
        elif path in _MESSAGES and self._chat is not None:
            yield from self._message(item, self._chat)

    def _end(self) -> Iterator[Outcome]:
        """A chat is told when it is read, because it says how many messages it had."""
        chat = self._chat
        if chat is None or not chat.told.get("type"):
            return
        if not chat.key:
            if not chat.messages:
                yield Rejection(chat.place, "invalid_record", "a chat has no id")
            return
        first, last = chat.times or (None, None)
        if chat.is_opened and first and last:  # all that was said between the first message and the last
            yield Covered({"messages": Coverage(instant(first), instant(last))}, AsOf(last, is_varied=True))
        data = {
            "id": chat.key,
            "name": chat.name,
            "kind": text_of(chat.told["type"]),
            "is_left": chat.is_left or None,
            "message_count": chat.messages,
            "first_at": first,
            "last_at": last,
        }
        yield Incoming(chat.place, "chats", chat.key, without_gaps(data), None)

    def _contact(self, item: Item) -> Iterator[Outcome]:
        source = item.data
        name, phone = _name(source), text_in(source, "phone_number")
        if not name and not phone:
            yield Rejection(item.place, "invalid_record", "the contact has neither name nor number")
            return
        user = number_in(source, "user_id")
        key = f"user{user}" if user else "c-" + digest(phone or name)
        added = self._time(source.get("date_unixtime"), source.get("date"))
        data = {"id": key, "name": name or phone, "phone": phone, "added_at": added}
        yield Incoming(item.place, "contacts", key, without_gaps(data), None)

    def _message(self, item: Item, chat: _Chat) -> Iterator[Outcome]:
        source, number = item.data, item.data.get("id")
        if not chat.key or not _is_number(number):
            reason = "the message has no id" if chat.key else "its chat has no id"
            yield Rejection(item.place, "invalid_record", reason)
            return
        sent_at = self._time(source.get("date_unixtime"), source.get("date"))
        text = _text(source)
        key = self._seen.key(f"{chat.key}:{number}", digest(sent_at or "", text, written_out(source.get("from_id"))))
        if key is None:
            return
        if not chat.is_opened:
            chat.is_opened = True
            yield Opened(f"chat {chat.key}")
        chat.add(sent_at)
        data = {
            "id": key,
            "chat_id": chat.key,
            "chat_name": chat.name,
            **_who(source),
            "kind": "service" if source.get("type") == "service" else "message",
            "action": text_in(source, "action"),
            "text": clipped(text),
            "sent_at": sent_at,
            "edited_at": self._time(source.get("edited_unixtime"), source.get("edited")),
            "reply_to": _reply(source, chat.key),
            "forwarded_from": text_in(source, "forwarded_from"),
            "via_bot": text_in(source, "via_bot"),
            **_reactions(source),
            **_media(source),
        }
        media = attached(self._file_of(source), "messages", key)
        if isinstance(media, Attachment):
            data["media"] = media.reference
        stays = _OF_FILE if data["media_kind"] and not isinstance(media, Attachment) else ()
        yield Incoming(item.place, "messages", key, without_gaps(data), None, stays)
        if isinstance(media, Attachment):
            yield media
        elif media:
            yield Rejection(item.place, "resource_limit", media)

    def _file_of(self, source: Json) -> File | None:
        """What was not exported is a sentence in place of a path, and no file has its name."""
        path = text_in(source, "photo") or text_in(source, "file")
        return self._media.get(f"{self._folder}/{path}".lstrip("/")) if path else None

    def _time(self, unix: object, local: object) -> str | None:
        """The one in UTC; old exports have only the time on the owner's clock."""
        if isinstance(unix, str) and unix.isdigit() and len(unix) < 12:
            return time_of(int(unix))
        try:
            when = datetime.fromisoformat(text_of(local))
            return iso(when if when.tzinfo else moment(when, self._zone))
        except (ValueError, OverflowError):
            return None


# Parts of a message -----------------------------------------------------------------------------------------------


def _who(source: Json) -> Json:
    name, number = source.get("from"), source.get("from_id")
    if source.get("type") == "service":
        name, number = source.get("actor"), source.get("actor_id")
    identity = f"user{number}" if _is_number(number) else text_of(number)
    unnamed = "Deleted account" if identity else ""
    return {"sender": text_of(name) or unnamed, "sender_id": identity}


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _text(source: Json) -> str:
    """A text, or pieces of it of which some are links; what a service message tells stands for its text."""
    told = source.get("text")
    text = text_of(told) if isinstance(told, str) else "".join(_piece(one) for one in list_of(told))
    if source.get("type") == "service" and not text:
        return joined(", ", (_fact(name, source.get(name)) for name in _TOLD_OF_SERVICE))
    return joined("\n", [text, *_extras(source)])


def _fact(name: str, value: object) -> str:
    if several := list_of(value):
        return joined(", ", map(text_of, several))
    return f"{value} seconds" if name == "duration_seconds" and whole_number(value) else text_of(value)


def _piece(piece: object) -> str:
    if isinstance(piece, str):
        return text_of(piece)
    told = object_of(piece)
    text, link = text_in(told, "text"), text_in(told, "href")
    return f"{text} ({link})" if link and link != text else text


def _extras(source: Json) -> Iterator[str]:
    """What a message says without a text: a poll, a place, a person."""
    poll, place = object_in(source, "poll"), object_in(source, "location_information")
    if poll:
        answers = (text_in(object_of(one), "text") for one in list_in(poll, "answers"))
        listed = [f"- {answer}" for answer in answers if answer]
        yield "\n".join([text_in(poll, "question"), *listed])
    if place:
        where = f"({place.get('latitude')}, {place.get('longitude')})"
        yield joined(" ", (text_in(source, "place_name"), where))
    person = object_in(source, "contact_information")
    if person:
        yield joined(" ", (_name(person), text_in(person, "phone_number")))


def _reply(source: Json, chat: str) -> str:
    number = source.get("reply_to_message_id")
    return f"{chat}:{number}" if isinstance(number, int) and "reply_to_peer_id" not in source else ""


def _reactions(source: Json) -> Json:
    counts: dict[str, int] = {}
    for one in map(object_of, list_in(source, "reactions")):
        emoji = text_in(one, "emoji") or text_in(one, "type")
        if emoji:
            times = number_in(one, "count") or 1
            counts[emoji] = counts.get(emoji, 0) + times
    listed = [{"emoji": emoji, "count": count} for emoji, count in counts.items()]
    return {"reactions": listed, "reaction_count": sum(counts.values()) or None}


def _media(source: Json) -> Json:
    path = text_in(source, "photo") or text_in(source, "file")
    kind = "photo" if source.get("photo") else text_in(source, "media_type") or ("file" if path else "")
    name = "" if path.startswith("(") else path.rpartition("/")[2]
    return {
        "media_kind": kind,
        "media_name": text_in(source, "file_name") or name,
        "media_seconds": number_in(source, "duration_seconds") if kind else None,
        "sticker_emoji": text_in(source, "sticker_emoji"),
    }


TELEGRAM = Importer(
    key="telegram",
    knows=knows,
    accounts=accounts,
    read=read,
    usual_folders=("~/Downloads/Telegram Desktop",),
    takes="Telegram exports (result.json)",
    obtain="Telegram Desktop: Settings, Advanced, Export Telegram data, as JSON; or a chat's menu, Export chat history",
)

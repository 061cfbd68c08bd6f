"""Slack workspace exports: users, channels, and a file of messages for each channel and day."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from pdpp_server.importers.formats.json_items import Item, items, json_start, members
from pdpp_server.importers.formats.json_values import (
    clipped,
    joined,
    list_in,
    number_in,
    object_in,
    object_of,
    text_in,
    text_of,
    time_in,
    time_of,
    without_gaps,
)
from pdpp_server.importers.formats.slack_text import readable
from pdpp_server.importers.identity import account_name, digest, record_key
from pdpp_server.importers.source import Account, DamagedFile, File, Files, Head, Importer, Known, Outcome
from pdpp_server.model.ingest import Incoming, Rejection
from pdpp_server.wire.envelope import Json

FILES_MAX = 100

_USERS = "users.json"
_CHANNELS = {"channels.json": "public", "groups.json": "private", "dms.json": "direct", "mpims.json": "group_direct"}
_USER = (frozenset({"id", "profile"}), frozenset({"id", "team_id"}), frozenset({"id", "deleted"}))
_DAY = re.compile(r"([^/]+)/[0-9]{4}-[0-9]{2}-[0-9]{2}\.json")
_WORKSPACE = re.compile(r"(.+?)[ _-]+slack[ _-]+export\b.*", re.IGNORECASE)
_TS = re.compile(r"[0-9]{1,12}\.[0-9]{1,9}")


class _Export(NamedTuple):
    """Where the files of a workspace lie."""

    folder: str  # with its slash; empty for the top
    lists: tuple[str, ...]


# Recognise --------------------------------------------------------------------------------------------------------


def knows(head: Head) -> bool:
    """A `users.json` of people."""
    return head.file.name.rpartition("/")[2] == _USERS and _holds_users(json_start(head))


def accounts(files: Files, known: Known) -> Iterable[Account]:
    """People and a list of channels beside them; every such folder is a workspace."""
    for file in known:
        folder = file.name.rpartition("/")[0]
        top = f"{folder}/" if folder else ""
        lists = [f"{top}{one}" for one in _CHANNELS if f"{top}{one}" in files.entries]
        if lists:
            days = [
                other
                for path, other in files.entries.items()
                if path.startswith(top) and _DAY.fullmatch(path[len(top) :])
            ]
            of_lists = [files.entries[one] for one in lists]
            export = _Export(top, tuple(lists))
            workspace = _workspace(folder.rpartition("/")[2] or files.name, file)
            yield Account(workspace, (file, *of_lists, *days), files.zone, found=export)


def _holds_users(start: bytes) -> bool:
    known = next(members(start), frozenset[str]())
    return any(known >= marks for marks in _USER) or start.strip() == b"[]"


def _workspace(name: str, users: File) -> str:
    """As the zip is called, which begins with the workspace; else by the number of the team."""
    named = _WORKSPACE.fullmatch(account_name(name))
    if named:
        return named[1].strip()
    team = next((text_in(data, "team_id") for data in _objects(users) if data.get("team_id")), "")
    return team or account_name(name)


def _objects(file: File) -> Iterator[Json]:
    try:
        yield from (item.data for item in items(file) if isinstance(item, Item))
    except DamagedFile:
        return


# Read -------------------------------------------------------------------------------------------------------------


def read(account: Account) -> Iterator[Outcome]:
    """People and channels first, because messages speak of them; then each channel day by day."""
    export: _Export = account.found
    workspace = _Workspace()
    lists = {f"{export.folder}{_USERS}", *export.lists}
    for file in account.files:
        kind = _CHANNELS.get(file.name.rpartition("/")[2]) if file.name in lists else None
        try:
            for item in items(file):
                if isinstance(item, Rejection):
                    yield item
                elif file.name not in lists:
                    yield from workspace.message(item, file.name[len(export.folder) :].partition("/")[0])
                elif kind:
                    yield from workspace.channel(item, kind)
                else:
                    yield from workspace.user(item)
        except DamagedFile as damaged:
            yield Rejection(file.name, "invalid_record", damaged.message)


class _Channel(NamedTuple):
    key: str
    name: str


@dataclass(slots=True)
class _Workspace:
    """What is known of people and channels, by their ids."""

    people: dict[str, str] = field(default_factory=dict[str, str])
    names: dict[str, str] = field(default_factory=dict[str, str])  # of channels
    channels: dict[str, _Channel] = field(default_factory=dict[str, _Channel])  # by the name of the folder too

    def user(self, item: Item) -> Iterator[Outcome]:
        source, profile = item.data, object_in(item.data, "profile")
        number = text_in(source, "id")
        if not number:
            yield Rejection(item.place, "invalid_record", "the user has no id")
            return
        name = _user_name(source, profile)
        self.people[number] = name
        key = record_key(number)
        data = {
            "id": key,
            "name": name or number,
            "handle": text_in(source, "name"),
            "real_name": text_in(source, "real_name") or text_in(profile, "real_name"),
            "email": text_in(profile, "email"),
            "title": text_in(profile, "title"),
            "phone": text_in(profile, "phone"),
            "time_zone": text_in(source, "tz"),
            "is_bot": source.get("is_bot") is True or None,
            "is_deleted": source.get("deleted") is True or None,
            "updated_at": time_in(source, "updated"),
        }
        yield Incoming(item.place, "users", key, without_gaps(data), None)

    def channel(self, item: Item, kind: str) -> Iterator[Outcome]:
        source = item.data
        number, called = text_in(source, "id"), text_in(source, "name")
        if not number:
            yield Rejection(item.place, "invalid_record", "the channel has no id")
            return
        ids = [text_of(one) for one in list_in(source, "members")]
        people = [self.people.get(one, one) for one in ids if one]
        channel = _Channel(
            record_key(number), called if called and kind != "group_direct" else ", ".join(people) or number
        )
        self.channels[number] = channel
        if called:
            self.channels[called] = channel
        data = {
            "id": channel.key,
            "name": channel.name,
            "kind": kind,
            "topic": text_in(object_in(source, "topic"), "value"),
            "purpose": text_in(object_in(source, "purpose"), "value"),
            "members": people,
            "member_count": len(people) or None,
            "creator": self._person(source.get("creator")),
            "created_at": time_in(source, "created"),
            "is_archived": source.get("is_archived") is True or None,
        }
        yield Incoming(item.place, "channels", channel.key, without_gaps(data), None)

    def message(self, item: Item, folder: str) -> Iterator[Outcome]:
        source = item.data
        moment = text_in(source, "ts")
        if not _TS.fullmatch(moment):
            yield Rejection(item.place, "invalid_record", "the message has no time (`ts`), which is also its id")
            return
        if folder not in self.channels:
            self.channels[folder] = _Channel(f"c-{digest(folder)[:16]}", folder)
            data = {"id": self.channels[folder].key, "name": folder, "kind": "unlisted"}
            yield Incoming(item.place, "channels", data["id"], data, None)
        channel = self.channels[folder]
        key = f"{channel.key}:{moment}"
        yield Incoming(item.place, "messages", key, without_gaps(self._message(source, channel, key, moment)), None)

    def _message(self, source: Json, channel: _Channel, key: str, moment: str) -> Json:
        raw = text_in(source, "text")
        names: dict[str, str] = {}
        if "<#" in raw:  # it names a channel
            names = {name: one.name for name, one in self.channels.items()}
        text = readable(raw, self.people, names)
        user = text_in(source, "user")
        thread = text_in(source, "thread_ts")
        edited = text_in(object_in(source, "edited"), "ts")
        return {
            "id": key,
            "channel_id": channel.key,
            "channel_name": channel.name,
            "sender_id": record_key(user) if user else "",
            "sender": self._sender(source),
            "kind": text_in(source, "subtype") or "message",
            "text": clipped(joined("\n", (text, *self._attachments(source)))),
            "raw_text": clipped(raw) if raw.strip() != text.strip() else "",
            "sent_at": _time(moment),
            "edited_at": _time(edited) if _TS.fullmatch(edited) else None,
            "thread_id": f"{channel.key}:{thread}" if _TS.fullmatch(thread) and thread != moment else "",
            "reply_count": number_in(source, "reply_count") or None,
            **_reactions(source),
            **_files(source),
        }

    def _sender(self, source: Json) -> str:
        return (
            self._person(source.get("user"))
            or _profile_name(object_in(source, "user_profile"))
            or text_in(source, "username")
            or text_in(object_in(source, "bot_profile"), "name")
            or text_in(source, "user")
            or text_in(source, "bot_id")
        )

    def _person(self, number: object) -> str:
        return self.people.get(text_of(number), "")

    def _attachments(self, source: Json) -> Iterator[str]:
        """What programs post, and what a link leads to."""
        for one in map(object_of, list_in(source, "attachments")[:FILES_MAX]):
            told = [text_in(one, name) for name in ("pretext", "title", "text")]
            text = joined("\n", told) or text_in(one, "fallback")
            yield readable(text, self.people, self.names)


# Parts ------------------------------------------------------------------------------------------------------------


def _user_name(source: Json, profile: Json) -> str:
    return _profile_name(profile) or text_in(source, "real_name") or text_in(source, "name")


def _profile_name(profile: Mapping[str, object]) -> str:
    return text_in(profile, "display_name") or text_in(profile, "real_name")


def _time(moment: str) -> str | None:
    seconds, _, fraction = moment.partition(".")
    return time_of(int(seconds) + float(f"0.{fraction[:6]}")) if int(seconds) < 10**11 else None


def _reactions(source: Json) -> Json:
    counts: dict[str, int] = {}
    for one in map(object_of, list_in(source, "reactions")):
        if name := text_in(one, "name"):
            counts[name] = number_in(one, "count") or 1
    listed = [{"name": name, "count": count} for name, count in counts.items()]
    return {"reactions": listed, "reaction_count": sum(counts.values()) or None}


def _files(source: Json) -> Json:
    """What they are called, not where they lie: the addresses in an export carry a key that opens them."""
    found = [_file(object_of(one)) for one in list_in(source, "files")[:FILES_MAX]]
    listed = [one for one in found if one]
    names = ", ".join(one["name"] for one in listed if "name" in one)
    return {"files": listed, "file_names": names}


def _file(source: Json) -> Json:
    data = {
        "id": text_in(source, "id"),
        "name": text_in(source, "name") or text_in(source, "title"),
        "media_type": text_in(source, "mimetype"),
        "size_bytes": number_in(source, "size"),
    }
    return without_gaps(data)


SLACK = Importer(
    key="slack",
    knows=knows,
    accounts=accounts,
    read=read,
    takes="Slack exports (.zip)",
    obtain="As an admin of the workspace: Settings, Import/Export data, Export; the zip from the mail",
)

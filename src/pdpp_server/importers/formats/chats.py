"""What the exports of AI chats have in common: whose they are, and reading them one conversation at a time."""

import re
from collections.abc import Callable, Iterator
from enum import Enum, auto
from typing import NamedTuple

from pdpp_server.importers.formats.json_items import Item, first_members, items, json_start
from pdpp_server.importers.formats.json_values import list_of, object_of, text_in
from pdpp_server.importers.identity import digest, record_key
from pdpp_server.importers.source import Account, DamagedFile, File, Files, Head, Known, Outcome
from pdpp_server.model.ingest import Incoming, Rejection
from pdpp_server.wire.envelope import Json

UNTITLED = "Untitled conversation"
ATTACHMENTS_MAX = 100

_EMPTY_LIST = re.compile(rb"\[\s*\]\s*")


class Marks(NamedTuple):
    """The members by which the files of an export are known."""

    product: str  # also the name of an account that does not say whose it is
    objects: tuple[frozenset[str], ...]
    user_file: str
    user: frozenset[str]
    email: str  # the member that names the person


class Holds(Enum):
    """What a file of such an export holds."""

    OBJECTS = auto()
    USER = auto()
    NOTHING = auto()


def holds(head: Head, marks: Marks) -> Holds | None:
    if not head.file.name.lower().endswith(".json"):
        return None
    if _EMPTY_LIST.fullmatch(json_start(head)):
        return Holds.NOTHING
    known = first_members(head)
    if any(known >= one for one in marks.objects):
        return Holds.OBJECTS
    return Holds.USER if known >= marks.user else None


def accounts(files: Files, known: Known, marks: Marks) -> Iterator[Account]:
    """One for each person. Projects may lie in a folder of their own, below the file that says whose they are."""
    named: dict[str, str] = {}
    found: dict[str, list[File]] = {}
    for file, held in known.items():
        above, _, _ = file.name.rpartition("/")
        folder = above.removesuffix("projects").rstrip("/")
        if held is Holds.OBJECTS:
            found.setdefault(folder, []).append(file)
        elif held is Holds.USER:
            named[folder] = _email(file, marks) or marks.product
            found.setdefault(folder, [])
    by_name: dict[str, list[File]] = {}
    for folder, those in found.items():
        by_name.setdefault(named.get(folder, marks.product), []).extend(those or _empty(files, known, folder))
    unnamed = f"There is no {marks.user_file} in it, so it does not say whose account it is."
    for name, those in by_name.items():
        if those:
            yield Account(name, tuple(those), files.zone, (unnamed,) if name == marks.product else ())


def _email(file: File, marks: Marks) -> str:
    try:
        return next((text_in(item.data, marks.email) for item in items(file) if isinstance(item, Item)), "")
    except DamagedFile:
        return ""


def _empty(files: Files, known: Known, folder: str) -> list[File]:
    """Of somebody who never asked anything."""
    file = files.entries.get(f"{folder}/conversations.json".lstrip("/"))
    return [file] if file and known.get(file) is Holds.NOTHING else []


class SeenMessages:
    """What came before in the same export."""

    def __init__(self) -> None:
        self._contents: dict[str, str] = {}
        self._messages: set[str] = set()

    def before(self, key: str, content: str) -> str | None:
        """The content that came under that key; None the first time."""
        earlier = self._contents.get(key)
        self._contents.setdefault(key, content)
        return earlier

    def message_key(self, message: str, conversation: str) -> str:
        """Copies of a conversation keep the ids of its messages; the first has them for itself."""
        key = record_key(message)
        if key in self._messages:
            key = digest(message, conversation)
        self._messages.add(key)
        return key


def outcomes(account: Account, of_item: Callable[[Item, SeenMessages], Iterator[Outcome]]) -> Iterator[Outcome]:
    """Of every object in every file; a damaged file does not hide the others."""
    seen = SeenMessages()
    for file in account.files:
        try:
            for item in items(file):
                yield from (item,) if isinstance(item, Rejection) else of_item(item, seen)
        except DamagedFile as damaged:
            yield Rejection(file.name, "invalid_record", damaged.message)


def once(item: Item, key: str, content: str, seen: SeenMessages) -> Iterator[Rejection] | None:
    """None the first time. The same object again is nothing, another of the same id a rejection."""
    earlier = seen.before(key, content)
    if earlier is None:
        return None
    reason = "another one of the same id came before and was kept"
    return iter(() if earlier == content else (Rejection(item.place, "invalid_record", reason),))


def conversation(place: str, data: Json, messages: list[Json]) -> Iterator[Incoming]:
    yield Incoming(place, "conversations", data["id"], data, None)
    for number, message in enumerate(messages, 1):
        yield Incoming(f"{place}, message {number}", "messages", message["id"], message, None)


def span(messages: list[Json]) -> tuple[str | None, str | None]:
    """When the first and the last of them were sent."""
    times = sorted(message["sent_at"] for message in messages if "sent_at" in message)
    return (times[0], times[-1]) if times else (None, None)


def objects(value: object) -> list[Json]:
    return [found for one in list_of(value) if (found := object_of(one))]

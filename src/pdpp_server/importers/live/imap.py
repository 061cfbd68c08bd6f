"""A mailbox that is followed over IMAP: what came is read once, what went is known by number, nothing is written."""

import shlex
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import tzinfo
from functools import cached_property
from itertools import chain, islice
from typing import Any, NamedTuple

from pdpp_server.importers.attached.texts import AttachedTexts, attached_texts, lacking
from pdpp_server.importers.formats.mail_threads import MailThreads
from pdpp_server.importers.formats.mbox import MESSAGE_BYTES_MAX, StoredMail
from pdpp_server.importers.live.imap_wire import Examined, Folder, ImapConversation, ImapServer, connected
from pdpp_server.importers.live.trouble import AGAIN, SourceTrouble
from pdpp_server.importers.missing import Doubt, MissingChoice
from pdpp_server.importers.registry import declaration_of
from pdpp_server.importers.source import Attachment
from pdpp_server.importers.sources.mail import Parsed, content_of, message_outcomes, parsed, people_of
from pdpp_server.importers.watch import Stopped
from pdpp_server.model.ingest import Incoming, Rejection
from pdpp_server.model.runs import Mark
from pdpp_server.model.times import instant
from pdpp_server.owner.desk import Owner
from pdpp_server.owner.writer import Writer

GROUP_MESSAGES, GROUP_BYTES = 400, 4 * 1024 * 1024  # fetched and parsed at once
GROUP_CHARS = 8_000_000  # of text, kept at once
REJECTIONS_KEPT = 1000
TOKEN_SECONDS = 60
STREAMS = ("messages", "attachments", "threads")

_LEFT_OUT = {"\\junk", "\\trash", "\\drafts"}
_EVERYTHING = "\\all"

_AS_KNOWN = ("folder", "thread_id", "size_bytes")  # what the way by which a message came says of it

Cursor = Mapping[str, Any]
Items = dict[str, list[tuple[str, str]]]  # what each message of the server became, as stream and key


class Mailbox(NamedTuple):
    """One that is followed."""

    server: ImapServer
    user: str
    account: str  # the name of the connection: the address, as an export of the same account is called
    token_command: str = ""
    has_tokens: bool = False  # its secret is an access token

    @property
    def mark(self) -> str:
        """How the names of its collections begin."""
        return f"imap {self.user}@{self.server.host}: "


def mailbox_of(settings: Mapping[str, Any]) -> Mailbox:
    server = ImapServer(settings["host"], settings["port"], settings["security"], settings.get("certificate", ""))
    return Mailbox(
        server, settings["user"], settings["account"], settings.get("token_command", ""), bool(settings.get("oauth"))
    )


def sign_in(connection: ImapConversation, mailbox: Mailbox, secret: Callable[[], str]) -> None:
    """Raises: SourceTrouble."""
    if mailbox.token_command:
        connection.sign_in_by_token(mailbox.user, _token(mailbox.token_command))
    elif mailbox.has_tokens:
        connection.sign_in_by_token(mailbox.user, secret())
    else:
        connection.sign_in(mailbox.user, secret())


def _token(command: str) -> str:
    try:
        done = subprocess.run(shlex.split(command), capture_output=True, timeout=TOKEN_SECONDS, check=True)
        return done.stdout.decode().strip().splitlines()[0]
    except (OSError, ValueError, IndexError, subprocess.SubprocessError) as error:
        raise SourceTrouble(
            "The command that should print an access token did not.", remedy="Run it yourself, and see what it says."
        ) from error


def followed_folders(connection: ImapConversation) -> list[Folder]:
    """All mail where the server has such a folder, else each that is neither junk nor trash nor drafts.

    Raises: SourceTrouble where there is none, for a mailbox has at least an inbox.
    """
    found = connection.folders()
    if not found:
        raise SourceTrouble("The server shows no folder at all.", remedy=AGAIN)
    everything = [folder for folder in found if _EVERYTHING in folder.flags]
    return everything or [folder for folder in found if folder.flags.isdisjoint(_LEFT_OUT)]


def sync_imap(
    mailbox: Mailbox,
    secret: Callable[[], str],
    owner: Owner,
    zone: tzinfo,
    is_stopping: Callable[[], bool],
    missing: MissingChoice,
    is_new_day: bool = False,
) -> str:
    """Everything that changed, and what came of it. Raises: SourceTrouble, IngestStorageError, Stopped."""
    with connected(mailbox.server) as connection:
        sign_in(connection, mailbox, secret)
        with (
            owner.trying(declaration_of("mail"), mailbox.account) as writer,
            attached_texts(writer.stored_one) as texts,
        ):
            return _Sync(mailbox, connection, writer, zone, is_stopping, missing, is_new_day, texts).run_all()


class _Gone(NamedTuple):
    """Items that a folder has no longer, and the cursor to keep when they are dropped."""

    folder: str
    collection: int
    items: list[str]
    cursor: dict[str, Any] | None


@dataclass
class _Sync:
    """One try."""

    mailbox: Mailbox
    connection: ImapConversation
    writer: Writer
    zone: tzinfo
    is_stopping: Callable[[], bool]
    missing: MissingChoice
    is_new_day: bool
    texts: AttachedTexts
    added: int = 0  # items that were not there before
    accepted: int = 0
    rejected: int = 0
    rejections: list[Rejection] = field(default_factory=list[Rejection])
    removed: int = 0
    kept: int = 0
    shut: list[str] = field(default_factory=list[str])  # folders that are there and cannot be opened now

    @cached_property
    def run(self) -> int:
        return self.writer.begin_run(self.mailbox.mark.rstrip(": "))

    @property
    def has_run(self) -> bool:
        return "run" in self.__dict__

    def run_all(self) -> str:
        """First what came, in all folders, then what went: so a message that was moved is never gone."""
        mark = self.mailbox.mark
        known = {name.removeprefix(mark): number for name, number in self.writer.collections(mark).items()}
        gone: list[_Gone] = []
        present: set[str] = set()
        for folder in followed_folders(self.connection):
            left = self._folder(folder, known.get(folder.name))
            present.add(folder.name)
            if left is None:
                self.shut.append(folder.name)
            elif left.items:
                gone.append(left)
        if len(self.shut) == len(present):
            raise SourceTrouble(f"{self.mailbox.server.host} opens none of its folders.", remedy=AGAIN)
        for name, collection in known.items():
            if name not in present:
                gone.append(_Gone(name, collection, self.writer.items(collection), {}))
        self._let_go([one for one in gone if one.items])
        complete = () if self.rejected or self.kept or self.shut else STREAMS
        if self.has_run:
            self.writer.finish_run(self.run, (), None, ())
        if self.has_run or self.is_new_day:
            self.writer.finish_import((), self.rejections, complete=complete)
        return self._said()

    def _said(self) -> str:
        left = ""
        if self.kept:
            why = "you asked to keep them" if self.missing.keep else "it is more than half of what was there"
            left = f", {self.kept} kept that it has no longer: {why}"
        if self.shut:
            left += f", cannot be opened: {', '.join(self.shut)}"
        is_changed = self.accepted or self.rejected or self.removed
        if not self.has_run or not is_changed:
            return f"nothing changed{left}"
        missing = lacking(self.texts.missing)
        removed = f", {self.removed} removed (`pdpp import --undo {self.run}`)" if self.removed else ""
        return f"{self.accepted} accepted, {self.rejected} rejected{missing}{removed}{left}."

    # What came -------------------------------------------------------------------------------------------------

    def _folder(self, folder: Folder, collection: int | None) -> _Gone | None:
        """Read what is new in it, and say what is gone from it; None where it cannot be opened."""
        cursor = dict(self.writer.cursor(collection)) if collection else {}
        since = None
        if cursor.get("modseq") and not cursor.get("stale"):
            since = cursor["validity"], cursor["modseq"]
        seen = self.connection.examine(folder, since)
        if seen is None:
            return None
        if cursor.get("validity") != seen.validity:
            cursor = {"validity": seen.validity, "next": 1, "stale": bool(cursor)}
        if seen.next < cursor["next"] and collection:  # it takes back which number the next message gets
            cursor["next"] = self._behind_last(collection, seen.validity)
        if seen.next > cursor["next"]:
            uids = self.connection.uids(cursor["next"], seen.next)
            first = next(uids, None)
            if first is not None:
                mark = self._mark(folder.name)
                collection = mark.collection
                cursor = self._read(folder, mark, chain((first,), uids), cursor)
            cursor["next"] = seen.next
        if collection is None:
            return _Gone(folder.name, 0, [], None)
        gone = self._gone(folder, collection, seen, cursor)
        whole = {"validity": seen.validity, "next": seen.next, "modseq": seen.modseq}
        if gone:
            return _Gone(folder.name, collection, gone, whole)
        if whole != self.writer.cursor(collection):
            self.writer.keep_cursor(collection, whole)
        return _Gone(folder.name, collection, [], None)

    def _behind_last(self, collection: int, validity: int) -> int:
        mine = f"{validity}:"
        read = [int(item.removeprefix(mine)) for item in self.writer.items(collection) if item.startswith(mine)]
        return max(read, default=0) + 1

    def _mark(self, folder: str) -> Mark:
        return self.writer.open_collection(self.run, f"{self.mailbox.mark}{folder}", None)

    def _read(self, folder: Folder, mark: Mark, uids: Iterator[int], cursor: Cursor) -> dict[str, Any]:
        """In groups, in their order: the cursor stands behind the last that was kept."""
        kept = dict(cursor)
        while group := list(islice(uids, GROUP_MESSAGES)):
            sizes = self.connection.sizes(group)
            for part in _parts(group, sizes):
                if self.is_stopping():
                    raise Stopped(f"{self.accepted} records are kept")
                kept = {**kept, "next": part[-1] + 1}
                self._keep(folder, mark, part, sizes, kept)
        return kept

    def _keep(self, folder: Folder, mark: Mark, uids: list[int], sizes: Mapping[int, int], cursor: Cursor) -> None:
        wanted = [uid for uid in uids if sizes.get(uid, 0) <= MESSAGE_BYTES_MAX]
        raw = {one.uid: one.raw for one in self.connection.bodies(wanted)}
        lost = [uid for uid in wanted if uid not in raw]
        if lost and self.connection.sizes(lost):  # else they went in this very moment
            raise SourceTrouble(
                f"{self.mailbox.server.host} does not give a message that it shows.",
                remedy=AGAIN,
            )
        messages: dict[int, Parsed] = {}
        unread: Items = {}
        for uid in sorted(set(uids) - set(lost)):
            one = parsed(StoredMail(uid, b"", raw.pop(uid, None)), f"{folder.name}:{uid}", self.zone)
            if isinstance(one, Rejection):
                self._reject(one)
                unread[f"{cursor['validity']}:{uid}"] = []
            else:
                messages[uid] = one
        while messages:
            batch, items = self._records(messages, cursor["validity"], folder)
            if messages:  # their texts are long: the others follow
                self._deliver(mark, batch, items, {**cursor, "next": min(messages)})
            else:
                self._deliver(mark, batch, items | unread, cursor)
                return
        self._deliver(mark, [], unread, cursor)

    def _deliver(self, mark: Mark, batch: list[Incoming], items: Items, cursor: Cursor) -> None:
        receipt = self.writer.deliver_items(mark, batch, items, cursor)
        self.added += len(items)
        self.accepted += receipt.accepted
        for rejection in receipt.rejected:
            self._reject(rejection)

    def _reject(self, rejection: Rejection) -> None:
        self.rejected += 1
        if len(self.rejections) < REJECTIONS_KEPT:
            self.rejections.append(rejection)

    def _records(self, messages: dict[int, Parsed], validity: int, folder: Folder) -> tuple[list[Incoming], Items]:
        """The records of the first messages, which are taken out: as many as can be held with their texts.

        What is known already, from another folder or an export, stays as it is.
        """
        keys = _Keys(self.writer, messages.values())
        threads = _Threads(self.writer)
        batch: list[Incoming] = []
        items: Items = {}
        chars = 0
        while messages and chars < GROUP_CHARS:
            uid = next(iter(messages))
            one = messages.pop(uid)
            key, stored = keys.of(one)
            as_known = {name: stored[name] for name in _AS_KNOWN if name in stored}
            became = items[f"{validity}:{uid}"] = []
            told = message_outcomes(one, key, f"{folder.name}:{uid}", _leaf(folder.name), keys.threads)
            for outcome in self.texts.filled(told):
                match outcome:
                    case Incoming(place, stream, record, data) if data is not None and isinstance(record, str):
                        if stream == "messages":
                            data = {**data, **as_known}
                            threads.add(data, is_new=not stored)
                            became.append(("threads", data["thread_id"]))
                        batch.append(Incoming(place, stream, record, data, None))
                        became.append((stream, record))
                        chars += sum(len(text) for text in data.values() if isinstance(text, str))
                    case Attachment():
                        self.writer.keep_blob(outcome.stream, outcome.key, outcome.data, outcome.mime_type)
                    case Rejection():
                        self._reject(outcome)
                    case _:
                        pass
        return batch + threads.records(), items

    # What went -------------------------------------------------------------------------------------------------

    def _gone(self, folder: Folder, collection: int, seen: Examined, cursor: Cursor) -> list[str]:
        """The items that the folder has no longer."""
        mine = f"{seen.validity}:"
        stale: list[str] = []  # of another numbering
        if cursor.get("stale"):
            stale = [item for item in self.writer.items(collection) if not item.startswith(mine)]
        if seen.vanished is not None and not stale:
            vanished = [f"{mine}{uid}" for uid in seen.vanished]
            known = set(self.writer.items(collection)) if vanished else set[str]()
            return [item for item in vanished if item in known]
        if seen.messages == self.writer.item_count(collection) - len(stale):
            return stale
        end = max(seen.next, self._behind_last(collection, seen.validity))  # also where it names a smaller one
        there = {f"{mine}{uid}" for uid in self.connection.uids(1, end)}
        held = [item for item in self.writer.items(collection) if item.startswith(mine)]
        return stale + [item for item in held if item not in there]

    def _let_go(self, gone: list[_Gone]) -> None:
        """Drop what is gone, unless something was rejected, or it is so much that only the owner can mean it."""
        if not gone or self.rejected:
            return
        keys = {one.collection: self.writer.keys_only_of(one.collection, "messages", one.items) for one in gone}
        times = Counter(key for found in keys.values() for key in found)
        holders = self.writer.holders("messages", times)
        lost = {key for key, count in times.items() if count >= len(holders.get(key, ()))}
        if not self._may_lose(len(lost)):
            self.kept = len(lost)
            return
        for one in gone:
            self._move(one, keys[one.collection], lost, holders)
            mark = Mark(self.run, one.collection)
            self.removed += self.writer.drop_items(mark, one.items, one.cursor)

    def _may_lose(self, lost: int) -> bool:
        if self.missing.keep:
            return False
        held = [self.writer.item_count(number) for number in self.writer.collections(self.mailbox.mark).values()]
        before = sum(held) - self.added
        return 2 * lost <= before or self.missing.settled(Doubt(lost, before, ""))

    def _move(self, gone: _Gone, keys: list[str], lost: set[str], holders: Mapping[str, list[str]]) -> None:
        """What is still in another folder is said to be there; threads count what is left."""
        mine = self.mailbox.mark
        here = f"{mine}{gone.folder}"
        touched: set[str] = set()
        for key, data in self.writer.stored("messages", keys).items():
            if key in lost:
                touched.add(str(data.get("thread_id")))
                continue
            others = [name for name in holders.get(key, ()) if name != here and name.startswith(mine)]
            if others and data.get("folder") == _leaf(gone.folder):
                moved = {**data, "folder": _leaf(others[0].removeprefix(mine))}
                other = self.writer.open_collection(self.run, others[0], None)
                receipt = self.writer.deliver([Incoming(key, "messages", key, moved, None)], other)
                self.accepted += receipt.accepted
        threads: list[Incoming] = []
        for thread in touched:
            messages = self.writer.stored_with("messages", "thread_id", thread)
            left = [message for message in messages if message["id"] not in lost]
            if left:
                record = _thread(thread, left)
                threads.append(Incoming(record["id"], "threads", record["id"], record, None))
        self.writer.deliver(threads, Mark(self.run, gone.collection))


class _Keys:
    """The keys of messages, as an export of the same account gives them: by Message-ID and content."""

    def __init__(self, writer: Writer, messages: Iterable[Parsed]) -> None:
        wanted: set[str] = set()
        self.threads = MailThreads()
        before: set[str] = set()
        for one in messages:
            wanted |= {one.wanted_key, _with_content(one)}
            before.update(one.answers[:1])
            if "in_reply_to" in one.data:
                before.add(one.data["in_reply_to"])
        self._stored = writer.stored("messages", wanted | before)
        self._contents: dict[str, str] = {}
        for key, data in self._stored.items():
            self.threads.knew(key, str(data.get("thread_id", "")))
            if key in wanted:
                self._contents[key] = content_of(data)

    def of(self, one: Parsed) -> tuple[str, Mapping[str, Any]]:
        """Its key, and its data where it is there already."""
        for key in (one.wanted_key, _with_content(one)):
            if self._contents.setdefault(key, one.content) == one.content:
                return key, self._stored.get(key, {})
        return _with_content(one), {}


def _with_content(one: Parsed) -> str:
    return f"{one.wanted_key}~{one.content[:12]}"


class _Threads:
    """The threads of a group of messages, with what is known of them."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._new: dict[str, list[Mapping[str, Any]]] = {}

    def add(self, message: Mapping[str, Any], *, is_new: bool) -> None:
        found = self._new.setdefault(message["thread_id"], [])
        if is_new and not any(one["id"] == message["id"] for one in found):
            found.append(message)

    def records(self) -> list[Incoming]:
        stored = self._writer.stored("threads", self._new)
        told: list[Incoming] = []
        for thread, messages in self._new.items():
            if messages or thread in stored:
                data = _grown(stored.get(thread), _thread(thread, messages)) if messages else stored[thread]
                told.append(Incoming(thread, "threads", thread, data, None))
        return told


def _thread(id: str, messages: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    threads = MailThreads()
    for one in sorted(messages, key=lambda message: message.get("sent_at") or ""):
        threads.add(id, one.get("subject", ""), instant(one.get("sent_at")), people_of(one))
    return next(threads.records())


def _grown(known: Mapping[str, Any] | None, new: Mapping[str, Any]) -> dict[str, Any]:
    """A thread with further messages."""
    if known is None:
        return dict(new)
    grown = {**known, "message_count": known["message_count"] + new["message_count"]}
    for name, choose in (("first_at", min), ("last_at", max)):
        times = [one[name] for one in (known, new) if name in one]
        if times:
            grown[name] = choose(times)
    people = [one for told in (known, new) for one in told.get("participants", "").split(", ") if one]
    if people:
        grown["participants"] = ", ".join(dict.fromkeys(people))
    return grown


def _parts(uids: list[int], sizes: Mapping[int, int]) -> Iterator[list[int]]:
    """No more bytes at once than fit."""
    part: list[int] = []
    size = 0
    for uid in uids:
        if part and size + sizes.get(uid, 0) > GROUP_BYTES:
            yield part
            part, size = [], 0
        part.append(uid)
        size += sizes.get(uid, 0)
    if part:
        yield part


def _leaf(folder: str) -> str:
    return folder.replace("\\", "/").rpartition("/")[2]


# New mail at once -----------------------------------------------------------------------------------------------------

IDLE_SECONDS = 25 * 60.0  # a server may end a wait of half an hour


def wait_for_mail(
    mailbox: Mailbox, secret: Callable[[], str], is_over: Callable[[], bool], told: Callable[[], None]
) -> None:
    """Until it is over: `told` is called whenever the inbox changed. Raises: SourceTrouble."""
    with connected(mailbox.server) as connection:
        sign_in(connection, mailbox, secret)
        inbox = next((folder for folder in connection.folders() if folder.name.upper() == "INBOX"), None)
        if inbox is None or not connection.can_idle or connection.examine(inbox) is None:
            raise SourceTrouble(f"{mailbox.server.host} does not tell of new mail.", remedy="It is asked now and then.")
        told()  # of what came while nobody listened
        while not is_over():
            if connection.idle(is_over, IDLE_SECONDS):
                told()

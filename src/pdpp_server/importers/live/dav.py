"""Calendars and address books that are followed over CalDAV and CardDAV: each is a connection, as its export is."""

import io
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from functools import cached_property
from typing import Any

from pdpp_server.importers.live.dav_wire import CALDAV, CARDDAV, Collection, Dav, DavKind, opened
from pdpp_server.importers.missing import Doubt, MissingChoice
from pdpp_server.importers.registry import declaration_of
from pdpp_server.importers.source import Attachment, File, Files, Importer
from pdpp_server.importers.sources.calendar import CALENDAR
from pdpp_server.importers.sources.contacts import CONTACTS
from pdpp_server.importers.watch import Stopped
from pdpp_server.model.ingest import Incoming, Rejection
from pdpp_server.model.runs import Mark
from pdpp_server.owner.desk import Owner
from pdpp_server.owner.writer import Writer

GROUP = 50  # resources that are asked for at once
KINDS: Mapping[str, tuple[DavKind, Importer]] = {"caldav": (CALDAV, CALENDAR), "carddav": (CARDDAV, CONTACTS)}


def dav_settings(kind: str, url: str, user: str, certificate: str = "") -> dict[str, Any]:
    return {"kind": kind, "url": url, "user": user, **({"certificate": certificate} if certificate else {})}


def shown(settings: Mapping[str, Any], password: str) -> list[str]:
    """The names of what would be followed. Raises: SourceTrouble."""
    with _opened(settings, password) as dav:
        return [collection.name for collection in dav.collections()]


def _opened(settings: Mapping[str, Any], password: str) -> AbstractContextManager[Dav]:
    kind, _ = KINDS[settings["kind"]]
    return opened(settings["url"], settings["user"], password, kind, settings.get("certificate", ""))


def sync_dav(
    settings: Mapping[str, Any],
    state: Mapping[str, Any],
    secret: Callable[[], str],
    owner: Owner,
    zone: tzinfo,
    now: datetime,
    is_stopping: Callable[[], bool],
    missing: MissingChoice,
) -> tuple[str, dict[str, Any]]:
    """Everything that changed, what came of it, and what to remember. Raises: SourceTrouble, Stopped."""
    _, importer = KINDS[settings["kind"]]
    names: dict[str, str] = dict(state.get("names", {}))
    said: list[str] = []
    with _opened(settings, secret()) as dav:
        for collection in dav.collections():
            name = names.setdefault(collection.url, _free(collection.name, names.values()))
            with owner.trying(declaration_of(importer.key), name) as writer:
                one = _Sync(dav, collection, importer, writer, zone, now, is_stopping, missing)
                told = one.run_all()
            said += [f"{name!r}: {told}."] if told else []
    return " ".join(said) or "nothing changed", {"names": names}


def _free(name: str, taken: Any) -> str:
    """A calendar that is renamed there keeps its name here; two of the same name are two here."""
    chosen, number = name, 1
    while chosen in taken:
        number += 1
        chosen = f"{name} {number}"
    return chosen


@dataclass
class _Sync:
    """One try of one calendar or address book."""

    dav: Dav
    collection: Collection
    importer: Importer
    writer: Writer
    zone: tzinfo
    now: datetime
    is_stopping: Callable[[], bool]
    missing: MissingChoice
    derived: Mapping[str, str] = field(default_factory=dict[str, str])
    accepted: int = 0
    removed: int = 0
    rejections: list[Rejection] = field(default_factory=list[Rejection])

    @cached_property
    def mark(self) -> Mark:
        run = self.writer.begin_run(self.collection.url)
        return self.writer.open_collection(run, f"dav {self.collection.url}", None)

    def run_all(self) -> str:
        name = f"dav {self.collection.url}"
        known = self.writer.collections(name).get(name)
        month = f"{self.now:%Y-%m}"
        cursor = self.writer.cursor(known) if known else {}
        if cursor.get("month") != month:  # series are laid out further in another month, so all is read again
            cursor = {}
        if self._is_as_before(cursor):
            return ""
        changed, gone, after = self._changes(cursor, known)
        if not changed and not gone and cursor:
            if after != cursor and known:
                self.writer.keep_cursor(known, {**after, "month": month})
            return ""
        before = self.writer.item_count(known) if known else 0
        self._read(changed)
        kept = self._let_go(gone, before)
        self.writer.finish_run(self.mark.run, (), None, ())
        if not kept:
            self.writer.keep_cursor(self.mark.collection, {**after, "month": month})
        complete = () if self.rejections or kept else tuple(self.writer.declaration.streams)
        self.writer.finish_import((), self.rejections, complete=complete)
        return self._said(kept)

    def _is_as_before(self, cursor: Mapping[str, Any]) -> bool:
        """Whether the server says so itself, so that nothing need be asked."""
        ctag = self.collection.ctag
        return not self.collection.can_sync and ctag != "" and cursor.get("ctag") == ctag

    def _read(self, changed: list[str]) -> None:
        missing: list[str] = []
        for start in range(0, len(changed), GROUP):
            if self.is_stopping():
                raise Stopped(f"{self.accepted} records are kept")
            missing += self._keep(changed[start : start + GROUP])
        self.dav.require_gone(self.collection, missing)

    def _said(self, kept: int) -> str:
        said = f"{self.accepted} accepted, {len(self.rejections)} rejected"
        if self.removed:
            said += f", {self.removed} removed (`pdpp import --undo {self.mark.run}`)"
        if kept:
            said += f", {kept} kept that it has no longer"
        return said

    def _changes(self, cursor: Mapping[str, Any], known: int | None) -> tuple[list[str], list[str], dict[str, Any]]:
        """What to read, what is gone, and the cursor after that."""
        if self.collection.can_sync:
            token = cursor.get("token")
            told = self.dav.changes(self.collection, token) if token else None
            if told is not None:
                return told.changed, told.gone, {"token": told.token}
            told = self.dav.changes(self.collection, "")  # from the beginning: what is not named is gone
            if told is not None:
                return told.changed, self._held_besides(known, set(told.changed)), {"token": told.token}
        hrefs, tags = self.dav.shown(self.collection)
        before: Mapping[str, str] = cursor.get("tags", {})
        changed = [href for href, tag in tags.items() if before.get(href) != tag]
        return changed, self._held_besides(known, hrefs), {"ctag": self.collection.ctag, "tags": tags}

    def _held_besides(self, known: int | None, there: set[str]) -> list[str]:
        """The items kept here that are not among those."""
        held = self.writer.items(known) if known else []
        return [item for item in held if item not in there]

    def _keep(self, hrefs: list[str]) -> list[str]:
        """Those that were not given."""
        found = self.dav.resources(self.collection, hrefs)
        batch: list[Incoming] = []
        items: dict[str, list[tuple[str, str]]] = {href: [] for href in found}
        rejected: list[Rejection] = []
        for outcome in self._outcomes(found):
            match outcome:
                case Incoming(place, stream, key):
                    href = place.rpartition(":")[0]
                    batch.append(outcome)
                    items[href].append((stream, str(key)))
                case Attachment():
                    self.writer.keep_blob(outcome.stream, outcome.key, outcome.data, outcome.mime_type)
                case Rejection():
                    rejected.append(outcome)
                case _:
                    pass
        rejected += self._keep_unreadable(items, {one.place.rpartition(":")[0] for one in rejected})
        receipt, removed = self.writer.replace_items(self.mark, batch, items, self.derived)
        self.accepted += receipt.accepted
        self.removed += removed
        self.rejections += [*rejected, *receipt.rejected]
        return [href for href in hrefs if href not in found]

    def _keep_unreadable(self, items: dict[str, list[tuple[str, str]]], rejected: set[str]) -> list[Rejection]:
        """What was something and cannot be read any more, or not whole, stays what it was too."""
        told: list[Rejection] = []
        for href, became in items.items():
            if became and href not in rejected:
                continue
            before = self.writer.became(self.mark.collection, href)
            if before and href not in rejected:
                told.append(Rejection(href, "invalid_record", "it holds nothing any more that can be read"))
            became += [one for one in before if one not in became]
        return told

    def _outcomes(self, found: Mapping[str, str]) -> Iterator[Any]:
        files = [_file(href, text.encode()) for href, text in found.items()]
        whole = Files("resources", {file.name: file for file in files}, self.zone, now=self.now)
        for account in self.importer.accounts(whole, dict.fromkeys(files, True)):
            self.derived = account.derived
            yield from self.importer.read(account)

    def _let_go(self, gone: list[str], before: int) -> int:
        """Drop what is gone; how many are kept because only the owner can mean so much, or something was rejected."""
        if not gone:
            return 0
        if self.missing.keep or self.rejections:
            return len(gone)
        if 2 * len(gone) > before and not self.missing.settled(Doubt(len(gone), before, "")):
            return len(gone)
        self.removed += self.writer.drop_items(self.mark, gone, None)
        return 0


def _file(name: str, data: bytes) -> File:
    return File(name, len(data), lambda: io.BufferedReader(io.BytesIO(data)))  # pyright: ignore[reportArgumentType]

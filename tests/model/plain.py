"""The model: records in a dictionary, and what a grant shows of them."""

from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from pdpp_server.model.times import instant
from pdpp_server.wire.declarations import decode_declaration
from tests.worlds import chat

STREAM = "messages"
ALWAYS_SHOWN = frozenset({"id"})
LEXICAL = ("subject", "text")

Name = tuple[str, str]  # connection id, key
Data = Mapping[str, Any]


def _document() -> dict[str, Any]:
    document = deepcopy(chat.DOCUMENT)
    messages = document["streams"][0]
    messages["query"]["aggregations"] = {"count": True, "group_by": ["likes"], "group_by_time": ["sent_at"]}
    return document


DECLARATION = decode_declaration(_document())


@dataclass(frozen=True, slots=True)
class Grant:
    """What the owner agreed to, and the token for it."""

    grant_id: str
    token: str
    connections: tuple[str, ...]
    fields: frozenset[str]
    since: str | None
    until: str | None

    def shows(self, name: Name, data: Data) -> bool:
        if name[0] not in self.connections:
            return False
        if self.since is None and self.until is None:
            return True
        at = instant(data.get("sent_at"))
        since, until = instant(self.since), instant(self.until)
        return at is not None and (since is None or at >= since) and (until is None or at < until)

    def of(self, records: Mapping[Name, Data]) -> dict[Name, Data]:
        """What its client sees."""
        return {name: self.projected(data) for name, data in records.items() if self.shows(name, data)}

    def projected(self, data: Data) -> Data:
        return {field: value for field, value in data.items() if field in self.fields}

    def matching(self, records: Mapping[Name, Data], word: str) -> set[Name]:
        return {
            name
            for name, data in self.of(records).items()
            if any(word in str(data.get(field) or "").split() for field in LEXICAL)
        }

    def order(self, name: Name, data: Data) -> tuple[Any, ...]:
        """Where a record stands in an ascending page; one without a value stands last either way."""
        at = instant(data.get("sent_at")) if "sent_at" in self.fields else None
        return at is None, at or 0, *name

    def in_order(self, records: Mapping[Name, Data], *, ascending: bool) -> list[Name]:
        shown = self.of(records)
        ordered = sorted(shown, key=lambda name: self.order(name, shown[name]), reverse=not ascending)
        return ordered if ascending else sorted(ordered, key=lambda name: self.order(name, shown[name])[0])


@dataclass(slots=True)
class Paging:
    """A client on its way through a stream, page by page, while others write."""

    grant: Grant
    ascending: bool
    steady: dict[Name, tuple[Any, ...]]  # shown at the same place all the time, so far
    cursor: str | None = None
    seen: list[Name] = field(default_factory=list[Name])
    may_be_lost: bool = False  # a connection is gone, and with it the place at which a cursor stood

    def look_again(self, records: Mapping[Name, Data]) -> None:
        shown = self.grant.of(records)
        self.steady = {
            name: place
            for name, place in self.steady.items()
            if name in shown and self.grant.order(name, shown[name]) == place
        }

    def require_each_once(self) -> None:
        times = {name: self.seen.count(name) for name in self.steady}
        assert set(times.values()) <= {1}, times


@dataclass(slots=True)
class Following:
    """A client that keeps a copy up to date by what changed."""

    grant: Grant
    held: dict[Name, Data] = field(default_factory=dict[Name, Data])
    bookmark: str | None = None
    cursor: str | None = None
    may_expire: bool = False  # whole streams are gone since it began

    def begin_again(self) -> None:
        self.held, self.bookmark, self.cursor, self.may_expire = {}, None, None, False


def details(connections: Iterable[str], fields: Iterable[str], since: str | None, until: str | None) -> dict[str, Any]:
    stream: dict[str, Any] = {"name": STREAM, "instance_ids": [*connections], "fields": sorted(fields)}
    bounds = {"since": since, "until": until}
    if since or until:
        stream["time_range"] = {name: moment for name, moment in bounds.items() if moment}
    return chat.detail(stream)

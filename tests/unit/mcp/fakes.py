"""A small world behind the port: records in memory, read as a server would read them, and every query remembered."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from pdpp_server.errors import AmbiguousConnection, Candidate, FieldNotFound, InvalidCursor, NotFound, QueryNotFound
from pdpp_server.evidence.handles import mint
from pdpp_server.evidence.titles import title
from pdpp_server.mcp.tool import Tool, ToolResult
from pdpp_server.model.activity import Shown
from pdpp_server.model.aggregates import Aggregation
from pdpp_server.model.catalogue import Catalogue
from pdpp_server.model.pending import Pending
from pdpp_server.model.queries import AggregateQuery, FetchQuery, RecordsQuery, SchemaQuery, SearchQuery, WindowQuery
from pdpp_server.model.records import Excerpt, Hit, Recall, Record, RecordId, RecordPage, SearchPage, Tombstone
from pdpp_server.model.sources import Origin
from pdpp_server.model.text import FieldWindow
from pdpp_server.port.reader import Reader
from tests.worlds.told import told

WORK = Origin("cin_4f2a", "slack", "Work Slack")
HOME = Origin("cin_9b10", "slack", "Home Slack")
ROLES = {"subject": "primary-title", "text": "primary-body"}
EXCERPT_CHARS = 220


V = TypeVar("V")


def given(value: V, request_id: str, settled: list[Shown] | None = None) -> Pending[V]:
    """What a server would give, with a log that only remembers."""
    return Pending(value, request_id, lambda shown, _: None if settled is None else settled.append(shown))


def called(tool: Tool, reader: Reader, arguments: Mapping[str, Any]) -> ToolResult:
    """Both channels of what a tool answers."""
    return told(tool.call(reader, arguments))


def record(
    key: str, data: Mapping[str, Any], origin: Origin = WORK, stream: str = "messages", roles: Mapping[str, str] = ROLES
) -> Record:
    id = RecordId(origin.connection_id, stream, key)
    shown = {name: role for name, role in roles.items() if name in data}
    return Record(id, origin, data, "2026-11-15T08:00:00.000Z", "2026-04-01T09:12:00Z", shown)


@dataclass
class FakeReader:
    """Finds records that hold any word of the query, in their order; a cursor is the number of hits already given."""

    records: tuple[Record, ...] = ()
    catalogue: Catalogue | None = None
    public_url: str | None = None
    as_of: str | None = "2026-11-15T08:00:00Z"
    complete: bool = True
    cursors: bool = True  # whether each hit has its own, as with this server and unlike others
    gone: tuple[Tombstone, ...] = ()  # what a change feed tells after the records
    aggregation: Aggregation | None = None
    asked: list[object] = field(default_factory=list[object])

    def schema(self, query: SchemaQuery) -> Pending[Catalogue]:
        self.asked.append(query)
        assert self.catalogue is not None
        return given(self.catalogue, "req_schema")

    def search(self, query: SearchQuery) -> Pending[SearchPage]:
        self.asked.append(query)
        hits = [hit for hit in (self._hit(record, query.text.split()) for record in self.records) if hit]
        done = self._position(query.cursor)
        page = hits[done : done + query.limit]
        following = _cursor(done + len(page)) if done + len(page) < len(hits) else None
        if self.cursors:
            page = [
                replace(hit, make_cursor=partial(_cursor, number)) for number, hit in enumerate(page, start=done + 1)
            ]
        recall = Recall(self.complete, len(hits), self.complete, len(hits), None if self.complete else 4000)
        return given(SearchPage(tuple(page), following, recall, self.as_of), "req_search")

    def query_records(self, query: RecordsQuery) -> Pending[RecordPage]:
        """In their order; a feed ends with the tombstones and a bookmark."""
        self.asked.append(query)
        is_feed = query.changes_since is not None or bool(self.gone)
        entries = (*self.records, *self.gone)
        done = self._position(query.cursor)
        page = entries[done : done + query.limit]
        end = done + len(page)
        return given(
            RecordPage(
                page,
                _cursor(end) if end < len(entries) else None,
                len(entries) if query.count else None,
                next_changes_since=_cursor(0) if is_feed and end == len(entries) else None,
                cursor_after=lambda index: _cursor(done + index + 1) if self.cursors else None,
            ),
            "req_query",
        )

    def aggregate(self, query: AggregateQuery) -> Pending[Aggregation]:
        self.asked.append(query)
        assert self.aggregation is not None
        return given(replace(self.aggregation, query=query), "req_aggregate")

    def fetch(self, query: FetchQuery) -> Pending[Record]:
        self.asked.append(query)
        found = self._one(query.stream, query.key, query.connection_id)
        if query.fields is None:
            return given(found, "req_fetch")
        data = {name: value for name, value in found.data.items() if name in query.fields}
        return given(record(found.id.key, data, found.origin, found.id.stream, found.roles or {}), "req_fetch")

    def read_record_field(self, query: WindowQuery) -> Pending[FieldWindow]:
        self.asked.append(query)
        found = self._one(query.stream, query.key, query.connection_id)
        if query.field not in found.data:
            raise FieldNotFound("This record has no such field.")
        value = found.data[query.field]
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        start, match = query.offset, None
        if query.q is not None:
            at = text.lower().find(query.q.lower())
            if at < 0:
                raise QueryNotFound("It does not occur there.")
            start, match = max(0, at - query.before), (at, at + len(query.q))
        kind = "string" if isinstance(value, str) else "json"
        piece = text[start : start + query.limit]
        window = FieldWindow(found.id, query.field, kind, piece, start, len(text), query.limit, match)
        return given(window, "req_window")

    def _one(self, stream: str, key: str, connection_id: str | None) -> Record:
        found = [one for one in self.records if one.id.stream == stream and one.id.key == key]
        if connection_id is not None:
            found = [one for one in found if one.id.connection_id == connection_id]
        if not found:
            raise NotFound("There is no such record.")
        if len(found) > 1:
            candidates = tuple(
                Candidate(one.id.connection_id, one.origin.connector_key, "grt_01", one.origin.label) for one in found
            )
            raise AmbiguousConnection(f"The id could be in {len(found)} connections.", candidates=candidates)
        return found[0]

    def _position(self, cursor: str | None) -> int:
        if cursor is None:
            return 0
        if not cursor.startswith("cur_"):
            raise InvalidCursor("Not one of ours.")
        return int(cursor.removeprefix("cur_"))

    def _hit(self, record: Record, words: list[str]) -> Hit | None:
        excerpts = [
            excerpt
            for name, value in record.data.items()
            if isinstance(value, str) and (excerpt := _excerpt(name, value, words))
        ]
        if not excerpts and "neighbour" not in record.data:
            return None
        roles = record.roles
        named = title(roles, record.data, record.origin, record.id.stream, record.authored_at)
        return Hit(record.id, record.origin, named, record.emitted_at, record.authored_at, tuple(excerpts[:2]), 1.0)


def _cursor(done: int) -> str:
    return f"cur_{done:0>150}"


def _excerpt(name: str, text: str, words: list[str]) -> Excerpt | None:
    lower = text.lower()
    places = sorted((at, at + len(word)) for word in words if (at := lower.find(word.lower())) >= 0)
    if not places or len(lower) != len(text):
        return None
    start = max(0, places[0][0] - 70)
    end = min(len(text), start + EXCERPT_CHARS)
    marks: list[tuple[int, int]] = []
    for low, high in places:
        if high <= end and (not marks or low >= marks[-1][1]):
            marks.append((low, high))
    return Excerpt(name, text[start:end], start, tuple(marks), len(text))


def handles(reader: FakeReader) -> list[str]:
    return [mint(one.id) for one in reader.records]

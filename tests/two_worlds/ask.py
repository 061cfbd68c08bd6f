"""Random calls, asked at every door of a server, and the bytes that come back."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import orjson
from starlette.testclient import TestClient

from pdpp_server.app import create_app
from pdpp_server.errors import PdppError
from pdpp_server.evidence.calls import filter_of
from pdpp_server.evidence.handles import mint
from pdpp_server.grants.issue import issue
from pdpp_server.mcp.resources import FIELD_WINDOW, STREAM
from pdpp_server.mcp.server import McpServer
from pdpp_server.mcp.session import ProtocolFault
from pdpp_server.mcp.surface import TOOLS
from pdpp_server.model.blobs import BlobPart
from pdpp_server.model.ingest import Rejection
from pdpp_server.model.queries import (
    BEGINNING,
    BY_MEANING,
    BY_WORDS,
    AggregateQuery,
    BlobQuery,
    Condition,
    Expand,
    FetchQuery,
    Query,
    RecordsQuery,
    SchemaQuery,
    SearchQuery,
    StreamMetadataQuery,
    StreamsQuery,
    WindowQuery,
)
from pdpp_server.model.records import RecordId, RecordPage, SearchPage
from pdpp_server.model.sources import Source
from pdpp_server.owner.desk import Owner
from pdpp_server.owner.meaning import MeaningDesk
from pdpp_server.owner.writer import SUBJECT, Writer
from pdpp_server.port.local import LocalReader
from pdpp_server.reads import stream_metadata, streams
from pdpp_server.reads.services import Call, Services, open_services
from pdpp_server.settings import Settings
from pdpp_server.store.consent.grants import keep_grant
from pdpp_server.store.consent.tokens import keep_token
from pdpp_server.store.records.connection_ids import possible_ids
from pdpp_server.wire import aggregate, fetch, query_records, read_record_field, schema, search
from pdpp_server.wire.declarations import decode_declaration
from pdpp_server.wire.envelope import url
from pdpp_server.wire.grants import decode_selection
from tests.engine.beneath import keep_key, lines_kept
from tests.two_worlds.plan import COMMON, HEAVY, SCALARS, SECRET, VIEW, Life, Plan, some_blob_id, value_of
from tests.worlds.meant import put_model
from tests.worlds.told import ToldReader, told
from tests.worlds.world import NOW, Clock, close

TOKEN, GRANT = "a" * 64, "grt_0123456789abcdef"
KEY, KEYS = bytes(range(64)), ("cursors.key", "activity.key")
_SERVER = McpServer(TOOLS)
BOOKMARKED = datetime(2026, 10, 5, tzinfo=UTC)
BOOKMARK = "bookmark"  # stands for the one that each side has set


@dataclass(frozen=True)
class ConnectorsQuery:
    """GET /v1/connectors."""


@dataclass(frozen=True)
class ResourceQuery:
    """resources/read."""

    uri: str


@dataclass(frozen=True)
class CompletionQuery:
    """completion/complete: a name that is being typed into the address of a resource."""

    template: str
    argument: str
    typed: str
    known: tuple[tuple[str, str], ...]


Asked = Query | ConnectorsQuery | ResourceQuery | CompletionQuery
Tooled = SchemaQuery | SearchQuery | FetchQuery | WindowQuery | RecordsQuery | AggregateQuery
Q = TypeVar("Q", bound=Asked)
_CALL = Call(TOKEN, "req_0")
_REQUEST_ID = re.compile(rb"req_[0-9a-f]+")
_MARK = re.compile(
    rb"\b[rcb](?:[\w-]{150}|[\w-]{64})(?![\w-])"
)  # a cursor or bookmark: sealed, and counting what happened elsewhere too


@dataclass(frozen=True)
class Side:
    """One of the two worlds, ready to be asked."""

    home: Path
    services: Services
    reader: ToldReader
    rest: TestClient
    bookmarks: dict[str, str]  # by stream, as of between the two lives

    def close(self) -> None:
        self.rest.__exit__()
        close(self.services)

    def disclosures(self) -> list[dict[str, Any]]:
        """What the log says left, without the names of the requests."""
        lines = [line.content for line in lines_kept(self.services.database)]
        return [{**line, "request_id": ""} for line in lines if "operation" in line]


def open_side(plan: Plan, life: Life, afterwards: Life, home: Path) -> Side:
    """Live those lives in an empty folder; between them give the plan's grant under names that both worlds share."""
    clock = Clock()
    home.mkdir(parents=True, exist_ok=True)
    put_model(home)
    services = open_services(home, now=clock)
    for name in KEYS:
        keep_key(services.database, name, KEY)
    owner = Owner(services, home)
    declaration = decode_declaration(plan.document)
    writers = {name: owner.writer(declaration, name) for name in life.connections}
    _live(writers, life, clock)
    ids = {name: writer.connection_id for name, writer in writers.items()}
    (selection,) = decode_selection([plan.detail(ids)])
    grant = issue(
        selection,
        declaration,
        eligible=dict.fromkeys(plan.streams, tuple(ids.values())),
        grant_id=GRANT,
        issued_at="2026-11-01T00:00:00.000Z",
        subject=SUBJECT,
        client_id="cli_twin",
        client_name="Twin",
        expires_at=None,
    )
    with services.database.writing() as writer:
        keep_grant(writer, grant)
        keep_token(
            writer, TOKEN, kind="client", now=grant.issued_at, expires_at=None, client_id="cli_twin", grant_id=GRANT
        )
    reader = ToldReader(LocalReader(services, TOKEN))
    MeaningDesk(services.database, home).catch_up(lambda _: None)
    clock.moment = BOOKMARKED
    bookmarks = {granted.name: _bookmark(reader, granted.name) for granted in grant.streams}
    _live(writers, afterwards, clock)
    if len(plan.streams) % 2:  # else what came since then waits
        MeaningDesk(services.database, home).catch_up(lambda _: None)
    clock.moment = NOW
    rest = TestClient(create_app(Settings(home=home), services), base_url="http://127.0.0.1")
    rest.headers.update({"Authorization": f"Bearer {TOKEN}", "Request-Id": "req_0"})
    return Side(home, services, reader, rest.__enter__(), bookmarks)  # one loop for all its requests


def _live(writers: dict[str, Writer], life: Life, clock: Clock) -> None:
    for arrival in life.arrivals:
        clock.moment = arrival.at
        writer = writers[arrival.connection]
        if arrival.run:
            rejections = [Rejection("export:1", "invalid_record", "no record")] if arrival.run.rejects else []
            writer.finish_import(("export",), rejections, complete=arrival.run.complete)
            continue
        receipt = writer.deliver(event.incoming() for event in arrival.events)
        assert not receipt.rejected, receipt.rejected
        for event in arrival.events:
            for data, mime_type in event.blobs():
                writer.keep_blob(event.stream, event.key_text, data, mime_type)


def _bookmark(reader: ToldReader, stream: str) -> str:
    page = reader.query_records(RecordsQuery(stream, changes_since=BEGINNING, limit=100)).value
    while page.next_cursor:
        page = reader.query_records(RecordsQuery(stream, cursor=page.next_cursor, limit=100)).value
    assert page.next_changes_since
    return page.next_changes_since


# Calls ------------------------------------------------------------------------------------------------------------


def calls(plan: Plan, random: Random, many: int) -> Iterator[Asked]:
    """The later ones come last, so that the others stay what they were for each seed."""
    for _ in range(many):
        yield random.choice(ASKED)(plan, random)
    for _ in range(many // 4):
        yield random.choice(ASKED_LAST)(plan, random)
    for _ in range(many // 5):
        yield _search_by_meaning(plan, random)
    for _ in range(many // 10):
        yield _search_filtered(plan, random)
    for _ in range(many // 5):
        yield random.choice((_expanded, _expanded_page, _viewed))(plan, random)


def _streams(plan: Plan, random: Random) -> StreamsQuery:
    return StreamsQuery(random.choice((None, _connection(plan, random))))


def _metadata(plan: Plan, random: Random) -> StreamMetadataQuery:
    return StreamMetadataQuery(_stream(plan, random), random.choice((None, _connection(plan, random))))


def _connectors(plan: Plan, random: Random) -> ConnectorsQuery:
    return ConnectorsQuery()


def _blob(plan: Plan, random: Random) -> BlobQuery:
    part = random.choice((None, None, BlobPart(1, 3), BlobPart(100, None)))
    return BlobQuery(
        some_blob_id(random), random.choice((None, _connection(plan, random))), part, random.random() < 0.3
    )


def _resource(plan: Plan, random: Random) -> ResourceQuery | CompletionQuery:
    id, stream = mint(_id(plan, random)), _stream(plan, random)
    match random.randrange(4):
        case 0:
            return ResourceQuery(f"pdpp://stream/{stream}")
        case 1:
            return ResourceQuery(f"pdpp://record/{id}")
        case 2:
            return ResourceQuery(f"pdpp://field-window/{id}?field_path={_field(plan, stream, random)}&limit_chars=80")
        case _:
            known = random.choice(((), (("name", stream),), (("stream", stream),)))
            template, argument = random.choice(
                ((STREAM.uri, "name"), (STREAM.uri, "connection_id"), (FIELD_WINDOW.uri, "field_path"))
            )
            return CompletionQuery(template, argument, random.choice(("", "", "f", "n", "cin_")), known)


def _records(plan: Plan, random: Random) -> RecordsQuery:
    stream = _stream(plan, random)
    return RecordsQuery(
        stream,
        random.choice((None, None, _connection(plan, random))),
        fields=random.choice((None, None, (_field(plan, stream, random),))),
        conditions=_conditions(plan, stream, random),
        ascending=random.random() < 0.5,
        count=random.random() < 0.3,
        window=random.random() < 0.3,
        limit=random.choice((1, 2, 3, 10, 100)),
    )


def _around(plan: Plan, random: Random) -> RecordsQuery:
    """Around a visible, a hidden or no record."""
    id = _id(plan, random)
    fields = random.choice((None, None, (_field(plan, id.stream, random),)))
    limit, count = random.choice((1, 2, 5, 11)), random.random() < 0.3
    return RecordsQuery(id.stream, id.connection_id or None, fields=fields, count=count, limit=limit, around=id.key)


def _sorted(plan: Plan, random: Random) -> RecordsQuery:
    """By any field: most of them have a range, and some are granted."""
    asked = _records(plan, random)
    return replace(asked, sort=_field(plan, asked.stream, random), count=False, window=False)


def _expanded(plan: Plan, random: Random) -> FetchQuery:
    asked = _fetch(plan, random)
    return replace(asked, expand=_expand(plan, asked.stream, random))


def _expanded_page(plan: Plan, random: Random) -> RecordsQuery:
    asked = _records(plan, random)
    return replace(asked, expand=_expand(plan, asked.stream, random), limit=random.choice((1, 3, 10)))


def _expand(plan: Plan, stream: str, random: Random) -> tuple[Expand, ...]:
    """A relation of that stream, or of no stream; by a visible or a hidden field."""
    declared = [one for one in plan.document["streams"] if one["name"] == stream]
    related = {each["name"]: each["cardinality"] for one in declared for each in one["relationships"]}
    name = random.choice([*related, *related, "from_nowhere"])
    limit = random.choice((None, 1, 5)) if related.get(name) == "has_many" else None
    return (Expand(name, limit),)


def _viewed(plan: Plan, random: Random) -> RecordsQuery:
    return replace(_records(plan, random), fields=None, view=random.choice((VIEW, VIEW, "no_such_view")))


def _changes(plan: Plan, random: Random) -> RecordsQuery:
    """A bookmark of a reader belongs to its world, so each side puts in its own."""
    since = random.choice((BEGINNING, BOOKMARK, BOOKMARK))
    return RecordsQuery(_stream(plan, random), changes_since=since, limit=random.choice((1, 2, 5, 100)))


def _aggregate(plan: Plan, random: Random) -> AggregateQuery:
    stream = _stream(plan, random)
    asked = AggregateQuery(
        stream,
        conditions=_conditions(plan, stream, random),
        limit=random.choice((1, 3, 10, 100)),
        connection_id=random.choice((None, None, _connection(plan, random))),
    )
    match random.randrange(4):
        case 0:
            return asked
        case 1:
            metric: Any = random.choice(("sum", "min", "max", "count_distinct"))
            return replace(asked, metric=metric, field=_field(plan, stream, random))
        case 2:
            return replace(asked, group_by=_field(plan, stream, random))
        case _:
            granularity: Any = random.choice(("hour", "day", "week", "month"))
            zone = random.choice(("UTC", "Europe/Zurich", "Asia/Kathmandu"))
            field = _field(plan, stream, random)
            return replace(asked, group_by_time=field, granularity=granularity, time_zone=zone)


def _numbers(plan: Plan, random: Random) -> AggregateQuery:
    """A number for each group."""
    stream, metric = _stream(plan, random), random.choice(("sum", "min", "max", "count_distinct"))
    asked = AggregateQuery(
        stream,
        metric,
        _field(plan, stream, random),
        conditions=_conditions(plan, stream, random),
        limit=random.choice((1, 3, 10)),
    )
    by = _field(plan, stream, random)
    if random.random() < 0.5:
        return replace(asked, group_by=by)
    return replace(asked, group_by_time=by, granularity=random.choice(("day", "month")), time_zone="Europe/Zurich")


def _conditions(plan: Plan, stream: str, random: Random) -> tuple[Condition, ...]:
    if random.random() < 0.6:
        return ()
    field = _field(plan, stream, random)
    kind = plan.streams[stream].fields.get(field, "text") if stream in plan.streams else "text"
    value = str(value_of(random, kind, COMMON, plan.is_heavy)) if kind in SCALARS else "1"
    comparison: Any = random.choice(("eq", "gte", "lt"))
    return (Condition(field, comparison, value.lower() if kind == "boolean" else value),)


def _schema(plan: Plan, random: Random) -> SchemaQuery:
    stream = random.choice((None, _stream(plan, random)))
    return SchemaQuery(
        stream, random.choice((None, _connection(plan, random))), stream is not None and random.random() < 0.5
    )


def _search(plan: Plan, random: Random) -> SearchQuery:
    parts = [_word(plan, random) for _ in range(random.randint(1, 4))]
    streams = random.choice((None, None, None, (_stream(plan, random),)))
    limit = random.choice((1, 2, 3, 10, 25, 100))
    connection = random.choice((None, None, _connection(plan, random)))
    return SearchQuery(" ".join(parts), streams, connection, limit, mode="lexical")


def _search_by_meaning(plan: Plan, random: Random) -> SearchQuery:
    return replace(_search(plan, random), mode=random.choice(("auto", *BY_WORDS[1:], *BY_MEANING)))


def _search_filtered(plan: Plan, random: Random) -> SearchQuery:
    """In any mode; by visible and by hidden fields."""
    asked, stream = _search_by_meaning(plan, random), _stream(plan, random)
    return replace(asked, streams=(stream,), conditions=_conditions(plan, stream, random))


def _question(plan: Plan, random: Random) -> SearchQuery:
    """With a time, a word of which a letter is missing, or nothing to look for."""
    time = random.choice(("in March 2026", "on 3 March", "last month", "between March and May 2026", "yesterday", ""))
    word = random.choice(COMMON + SECRET)
    place = random.randrange(len(word))
    asked = random.choice((word, word, word[:place] + word[place + 1 :], "what is it", f"-{word}"))
    return SearchQuery(f"{asked} {_word(plan, random)} {time}" if time else asked, limit=random.choice((2, 10, 100)))


def _word(plan: Plan, random: Random) -> str:
    word = HEAVY if plan.is_heavy and random.random() < 0.4 else random.choice(COMMON + COMMON + SECRET)
    match random.random():
        case chance if chance < 0.1:
            return f'"{word} {random.choice(COMMON)}"'
        case chance if chance < 0.2:
            return f"{word[:4]}*"
        case chance if chance < 0.3:
            return f"-{word}"
        case _:
            return word


def _fetch(plan: Plan, random: Random) -> FetchQuery:
    id = _id(plan, random)
    fields = (
        None if random.random() < 0.6 else tuple(_field(plan, id.stream, random) for _ in range(random.randint(1, 3)))
    )
    return FetchQuery(id.stream, id.key, id.connection_id or None, fields)


def _window(plan: Plan, random: Random) -> WindowQuery:
    id = _id(plan, random)
    query = WindowQuery(
        id.stream, id.key, _field(plan, id.stream, random), id.connection_id or None, limit=random.choice((5, 80, 4096))
    )
    if random.random() < 0.5:
        return replace(query, offset=random.choice((0, 3, 40, 10_000)))
    return replace(query, q=random.choice(COMMON + SECRET), before=random.choice((0, 10)))


def _id(plan: Plan, random: Random) -> RecordId:
    """Of a visible, a hidden or no record; sometimes without its connection, sometimes with another one."""
    known = random.choice((plan.visible, plan.hidden)) or plan.visible or plan.hidden
    if not known or random.random() < 0.1:
        return RecordId(_connection(plan, random), _stream(plan, random), "nobody")
    event = random.choice(known)
    key = event.key[0] if len(event.key) == 1 else orjson.dumps(event.key).decode()
    connection = random.choice((event.connection, event.connection, event.connection, None, "account 0"))
    return RecordId(connection_id(plan, connection) if connection else "", event.stream, key)


def _field(plan: Plan, stream: str, random: Random) -> str:
    fields = plan.streams[stream].fields if stream in plan.streams else {}
    return random.choice([*fields, *fields, "id", "no_such_field"])


def _stream(plan: Plan, random: Random) -> str:
    return random.choice([*plan.streams, *plan.streams, "no_such_stream"])


def _connection(plan: Plan, random: Random) -> str:
    return connection_id(plan, random.choice([*plan.lives[0].connections, *plan.lives[1].connections, "nobody's"]))


def connection_id(plan: Plan, name: str) -> str:
    source = plan.document["source"]
    return possible_ids(Source(source["kind"], source["id"]), name, subject=SUBJECT)[0]


ASKED: tuple[Callable[[Plan, Random], Asked], ...] = (
    *(
        _schema,
        _schema,
        _streams,
        _connectors,
        _metadata,
        _blob,
        _resource,
        _window,
        _records,
        _records,
        _records,
        _changes,
        _changes,
        _aggregate,
        _aggregate,
    ),
    *(_search, _search, _search, _search, _fetch, _fetch),
)

ASKED_LAST: tuple[Callable[[Plan, Random], Asked], ...] = (_around, _sorted, _numbers, _question, _question)


# Doors ------------------------------------------------------------------------------------------------------------

Door = Callable[[Side, Asked], tuple[bytes, str | None]]


def by_port(side: Side, query: Asked) -> tuple[bytes, str | None]:
    """The value, whole, and the cursor that goes on after it; what the port does not know is asked elsewhere."""
    if isinstance(query, ConnectorsQuery | BlobQuery | ResourceQuery | CompletionQuery):
        return by_tool(side, query)
    reads: dict[type, Callable[[Any], Any]] = {
        SchemaQuery: side.reader.schema,
        SearchQuery: side.reader.search,
        FetchQuery: side.reader.fetch,
        WindowQuery: side.reader.read_record_field,
        RecordsQuery: side.reader.query_records,
        AggregateQuery: side.reader.aggregate,
        StreamsQuery: partial(streams.serve, side.services, _CALL),
        StreamMetadataQuery: partial(stream_metadata.serve, side.services, _CALL),
    }
    query = _with_bookmark(side, query)
    try:
        answer = reads[type(query)](query)
        value = told(answer)
    except PdppError as refusal:
        said = (refusal.code, refusal.status, refusal.message, refusal.param, refusal.remedy, refusal.candidates)
        return repr(said).encode(), None
    cursor = value.next_cursor if isinstance(value, SearchPage | RecordPage) else None
    if isinstance(value, RecordPage) and value.around:
        cursor = value.around.earlier_cursor or cursor
    return _ordered(_unmarked(value)), cursor


def _unmarked(value: Any) -> Any:
    """Without the marks of a change feed: they are sealed, and count what happened elsewhere too."""
    if isinstance(value, RecordPage):
        return replace(value, next_cursor=value.next_cursor and "more", next_changes_since=None)
    return value


def _with_bookmark(side: Side, query: Q) -> Q:
    if isinstance(query, RecordsQuery) and query.changes_since == BOOKMARK:
        return replace(query, changes_since=side.bookmarks.get(query.stream, "none"))
    return query


def _ordered(value: object) -> bytes:
    """A frozenset prints in an order of its own, so names inside one are sorted."""
    text = re.sub(r"frozenset\(\{(.*?)\}\)", lambda found: str(sorted(found[1].split(", "))), repr(value))
    return text.encode()


def by_tool(side: Side, query: Asked) -> tuple[bytes, str | None]:
    """Both channels of the tool's answer; what has no tool is asked by its address."""
    if isinstance(query, ResourceQuery | CompletionQuery):
        return _by_method(side, query), None
    if not isinstance(query, Tooled):
        return by_rest(side, query)
    asked = _with_bookmark(side, query)
    assert isinstance(asked, Tooled)
    name, arguments = _tool_call(asked)
    answer = _SERVER.call(lambda: side.reader, name, {k: v for k, v in arguments.items() if v is not None})
    body = orjson.loads(answer)["structuredContent"].get("data", {})
    if isinstance(asked, RecordsQuery):
        answer = _MARK.sub(b"mark", answer)
    cursor = _earlier(body) or body.get("next_cursor") if name in ("search", "query_records") else None
    return _REQUEST_ID.sub(b"req_0", answer), cursor


def _earlier(body: Any) -> str | None:
    """Of a page around a record."""
    marks = body.get("meta", {}).get("around", {})
    return marks.get("earlier_cursor") or marks.get("later_cursor")


def _tool_call(query: Tooled) -> tuple[str, dict[str, Any]]:
    match query:
        case SchemaQuery():
            return "schema", {
                "stream": query.stream,
                "connection_id": query.connection_id,
                "detail": "full" if query.full else None,
            }
        case SearchQuery():
            asked = {
                "query": query.text,
                "streams": query.streams and list(query.streams),
                "connection_id": query.connection_id,
            }
            narrowed = {"filter": filter_of(query.conditions) or None, "mode": query.mode}
            return "search", {**asked, **narrowed, "limit": query.limit, "cursor": query.cursor}
        case FetchQuery():
            id = mint(RecordId(query.connection_id or "", query.stream, query.key))
            return "fetch", {"id": id, "fields": query.fields and list(query.fields), **_expansion(query.expand)}
        case WindowQuery():
            id = mint(RecordId(query.connection_id or "", query.stream, query.key))
            place = {"q": query.q, "before_chars": query.before} if query.q else {"offset_chars": query.offset}
            return "read_record_field", {
                "id": id,
                "field_path": query.field,
                "limit_chars": None if query.q else query.limit,
                **place,
            }
        case RecordsQuery():
            return "query_records", {
                "stream": query.stream,
                "connection_id": query.connection_id,
                "fields": query.fields and list(query.fields),
                "view": query.view,
                **_expansion(query.expand),
                "filter": filter_of(query.conditions) or None,
                "sort": query.sort and ("" if query.ascending else "-") + query.sort,
                "count": "exact" if query.count else None,
                "changes_since": query.changes_since,
                "around": query.around and mint(RecordId(query.connection_id or "", query.stream, query.around)),
                "limit": query.limit,
                "cursor": query.cursor,
            }
        case AggregateQuery():
            grouped = query.group_by or query.group_by_time
            return "aggregate", {
                "stream": query.stream,
                "metric": query.metric,
                "field": query.field,
                "group_by": query.group_by,
                "group_by_time": query.group_by_time,
                "granularity": query.granularity,
                "time_zone": query.time_zone if query.group_by_time else None,
                "limit": query.limit if grouped else None,
                "filter": filter_of(query.conditions) or None,
                "connection_id": query.connection_id,
            }


def _expansion(asked: tuple[Expand, ...]) -> dict[str, Any]:
    limits = {each.name: each.limit for each in asked if each.limit is not None}
    return {"expand": [each.name for each in asked] or None, "expand_limit": limits or None}


def _by_method(side: Side, query: ResourceQuery | CompletionQuery) -> bytes:
    """What the methods of MCP beside the tools answer."""
    try:
        if isinstance(query, ResourceQuery):
            answer = _SERVER.serve(lambda: side.reader, "resources/read", {"uri": query.uri}).result
        else:
            ref = {"type": "ref/resource", "uri": query.template}
            params = {"ref": ref, "argument": {"name": query.argument, "value": query.typed}}
            context = {"context": {"arguments": dict(query.known)}}
            answer = _SERVER.serve(lambda: side.reader, "completion/complete", {**params, **context}).result
    except ProtocolFault as fault:
        answer = b"error " + orjson.dumps(fault.body)
    return _REQUEST_ID.sub(b"req_0", answer)


def by_rest(side: Side, query: Asked) -> tuple[bytes, str | None]:
    """Status, headers and body."""
    if isinstance(query, ResourceQuery | CompletionQuery):
        return _by_method(side, query), None
    if isinstance(query, BlobQuery):
        return _blob_by_rest(side, query), None
    asked = _with_bookmark(side, query)
    response = side.rest.get(_ADDRESSES[type(asked)](asked))
    body = response.content
    told = response.json()
    cursor = _earlier(told) or told.get("next_cursor")
    if isinstance(asked, RecordsQuery):  # the marks of a feed are sealed, and count what happened elsewhere too
        for mark in (cursor, told.get("next_changes_since"), asked.cursor, asked.changes_since):
            body = body.replace(mark.encode(), b"mark") if mark else body
    headers = sorted((name, value) for name, value in response.headers.items() if name != "content-length")
    return f"{response.status_code} {headers}\n".encode() + body, cursor


def _blob_by_rest(side: Side, query: BlobQuery) -> bytes:
    address = url("blobs", query.blob_id, connection_id=query.connection_id)
    headers: dict[str, str] = {}
    if query.part:
        headers["Range"] = f"bytes={query.part.first}-{'' if query.part.last is None else query.part.last}"
    response = side.rest.request("HEAD" if query.headers_only else "GET", address, headers=headers)
    return f"{response.status_code} {sorted(response.headers.items())}\n".encode() + response.content


_ADDRESSES: dict[type, Callable[[Any], str]] = {
    ConnectorsQuery: lambda _: url("connectors"),
    SchemaQuery: schema.encode_query,
    SearchQuery: search.encode_query,
    FetchQuery: fetch.encode_query,
    WindowQuery: read_record_field.encode_query,
    RecordsQuery: query_records.encode_query,
    AggregateQuery: aggregate.encode_query,
    StreamsQuery: lambda query: url("streams", connection_id=query.connection_id),
    StreamMetadataQuery: lambda query: url("streams", query.stream, connection_id=query.connection_id),
}
DOORS: dict[str, Door] = {"port": by_port, "tool": by_tool, "rest": by_rest}

"""Random calls, asked at every door of a server, and the bytes that come back."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote, urlencode

import orjson
from starlette.testclient import TestClient

from pdpp_server.app import create_app
from pdpp_server.errors import PdppError
from pdpp_server.evidence.handles import mint
from pdpp_server.grants.issue import issue
from pdpp_server.mcp.server import McpServer
from pdpp_server.mcp.surface import TOOLS
from pdpp_server.model.queries import FetchQuery, Query, SchemaQuery, SearchQuery, WindowQuery
from pdpp_server.model.records import RecordId, SearchPage
from pdpp_server.port.local import LocalReader
from pdpp_server.port.owner import Owner
from pdpp_server.port.writer import SUBJECT
from pdpp_server.reads.services import Services, open_services
from pdpp_server.settings import Settings
from pdpp_server.store.grants import keep_grant
from pdpp_server.store.log import read_segment, segment_paths
from pdpp_server.store.sources import connection_id_of
from pdpp_server.store.tokens import keep_token
from pdpp_server.wire.declarations import decode_declaration
from pdpp_server.wire.grants import decode_selection
from tests.two_worlds.plan import COMMON, HEAVY, SECRET, Life, Plan
from tests.worlds.world import Clock, close

TOKEN, GRANT = "a" * 64, "grt_0123456789abcdef"
KEY, KEYS = bytes(range(64)), ("cursors.key", "activity.key")
_SERVER = McpServer(TOOLS)
_REQUEST_ID = re.compile(rb"req_[0-9a-f]+")


@dataclass(frozen=True)
class Side:
    """One of the two worlds, ready to be asked."""

    home: Path
    services: Services
    reader: LocalReader
    rest: TestClient

    def close(self) -> None:
        self.rest.__exit__()
        close(self.services)

    def disclosures(self) -> list[dict[str, Any]]:
        """What the log says left, without the names of the requests."""
        lines = [line for path in segment_paths(self.home / "activity") for line in read_segment(path)]
        return [{**line.content, "request_id": ""} for line in lines if "operation" in line.content]


def open_side(plan: Plan, life: Life, home: Path) -> Side:
    """Live that life in an empty folder, and give the plan's grant under names that both worlds share."""
    (home / "keys").mkdir(parents=True)
    for name in KEYS:
        (home / "keys" / name).write_bytes(KEY)
    clock = Clock()
    services = open_services(home, now=clock)
    owner = Owner(services, home)
    declaration = decode_declaration(plan.document)
    writers = {name: owner.writer(declaration, name) for name in life.connections}
    for batch in life.batches:
        receipt = writers[batch[0].connection].deliver(event.incoming() for event in batch)
        assert not receipt.rejected, receipt.rejected
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
    rest = TestClient(create_app(Settings(home=home), services), base_url="http://127.0.0.1")
    rest.headers.update({"Authorization": f"Bearer {TOKEN}", "Request-Id": "req_0"})
    return Side(home, services, LocalReader(services, TOKEN), rest.__enter__())  # one loop for all its requests


# Calls ------------------------------------------------------------------------------------------------------------


def calls(plan: Plan, random: Random, many: int) -> Iterator[Query]:
    for _ in range(many):
        yield random.choice((_schema, _search, _search, _search, _search, _fetch, _fetch, _window))(plan, random)


def _schema(plan: Plan, random: Random) -> SchemaQuery:
    stream = random.choice((None, _stream(plan, random)))
    return SchemaQuery(
        stream, random.choice((None, _connection(plan, random))), stream is not None and random.random() < 0.5
    )


def _search(plan: Plan, random: Random) -> SearchQuery:
    parts = [_word(plan, random) for _ in range(random.randint(1, 4))]
    streams = random.choice((None, None, None, (_stream(plan, random),)))
    limit = random.choice((1, 2, 3, 10, 25, 100))
    return SearchQuery(" ".join(parts), streams, random.choice((None, None, _connection(plan, random))), limit)


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
    fields = None if random.random() < 0.6 else tuple(_field(plan, id, random) for _ in range(random.randint(1, 3)))
    return FetchQuery(id.stream, id.key, id.connection_id or None, fields)


def _window(plan: Plan, random: Random) -> WindowQuery:
    id = _id(plan, random)
    query = WindowQuery(
        id.stream, id.key, _field(plan, id, random), id.connection_id or None, limit=random.choice((5, 80, 4096))
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


def _field(plan: Plan, id: RecordId, random: Random) -> str:
    fields = plan.streams[id.stream].fields if id.stream in plan.streams else {}
    return random.choice([*fields, *fields, "id", "no_such_field"])


def _stream(plan: Plan, random: Random) -> str:
    return random.choice([*plan.streams, *plan.streams, "no_such_stream"])


def _connection(plan: Plan, random: Random) -> str:
    return connection_id(plan, random.choice([*plan.lives[0].connections, *plan.lives[1].connections, "nobody's"]))


def connection_id(plan: Plan, name: str) -> str:
    source = plan.document["source"]
    return connection_id_of(source["id"].rsplit("/", 1)[1], source["kind"], name, subject=SUBJECT)


# Doors ------------------------------------------------------------------------------------------------------------

Door = Callable[[Side, Query], tuple[bytes, str | None]]


def by_port(side: Side, query: Query) -> tuple[bytes, str | None]:
    """The value, whole, and the cursor that goes on after it."""
    reads: dict[type, Callable[[Any], Any]] = {
        SchemaQuery: side.reader.schema,
        SearchQuery: side.reader.search,
        FetchQuery: side.reader.fetch,
        WindowQuery: side.reader.read_record_field,
    }
    try:
        value = reads[type(query)](query).value
    except PdppError as refusal:
        told = (refusal.code, refusal.status, refusal.message, refusal.param, refusal.remedy, refusal.candidates)
        return repr(told).encode(), None
    return _ordered(value), value.next_cursor if isinstance(value, SearchPage) else None


def _ordered(value: object) -> bytes:
    """A frozenset prints in an order of its own, so names inside one are sorted."""
    text = re.sub(r"frozenset\(\{(.*?)\}\)", lambda found: str(sorted(found[1].split(", "))), repr(value))
    return text.encode()


def by_tool(side: Side, query: Query) -> tuple[bytes, str | None]:
    """Both channels of the tool's answer."""
    name, arguments = _tool_call(query)
    answer = _SERVER.call(lambda: side.reader, name, {k: v for k, v in arguments.items() if v is not None})
    body = orjson.loads(answer)["structuredContent"]
    return _REQUEST_ID.sub(b"req_0", answer), body.get("data", {}).get("next_cursor") if name == "search" else None


def _tool_call(query: Query) -> tuple[str, dict[str, Any]]:
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
            return "search", {**asked, "limit": query.limit, "cursor": query.cursor}
        case FetchQuery():
            id = mint(RecordId(query.connection_id or "", query.stream, query.key))
            return "fetch", {"id": id, "fields": query.fields and list(query.fields)}
        case WindowQuery():
            id = mint(RecordId(query.connection_id or "", query.stream, query.key))
            place = {"q": query.q, "before_chars": query.before} if query.q else {"offset_chars": query.offset}
            return "read_record_field", {
                "id": id,
                "field_path": query.field,
                "limit_chars": None if query.q else query.limit,
                **place,
            }


def by_rest(side: Side, query: Query) -> tuple[bytes, str | None]:
    """Status, headers and body."""
    path, params = _request(query)
    said = [(name, str(value)) for name, value in params if value is not None]
    response = side.rest.get(f"{path}?{urlencode(said)}")
    answer = f"{response.status_code} {sorted(response.headers.items())}\n".encode() + response.content
    return answer, response.json().get("next_cursor") if isinstance(query, SearchQuery) else None


def _request(query: Query) -> tuple[str, list[tuple[str, object]]]:
    connection: tuple[str, object] = ("connection_id", query.connection_id)
    match query:
        case SchemaQuery():
            return "/v1/schema", [connection, ("stream", query.stream), ("detail", "full" if query.full else None)]
        case SearchQuery():
            asked: list[tuple[str, object]] = [("q", query.text), ("limit", query.limit), ("cursor", query.cursor)]
            return "/v1/search", [connection, *asked, *(("streams", name) for name in query.streams or ())]
        case FetchQuery():
            return _record_path(query), [connection, *(("fields", name) for name in query.fields or ())]
        case WindowQuery():
            place: list[tuple[str, object]] = [("offset_chars", query.offset), ("limit_chars", query.limit)]
            if query.q:
                place = [("q", query.q), ("before_chars", query.before)]
            return f"{_record_path(query)}/field-window", [connection, ("field", query.field), *place]


def _record_path(query: FetchQuery | WindowQuery) -> str:
    return f"/v1/streams/{quote(query.stream, safe='')}/records/{quote(query.key, safe='')}"


DOORS: dict[str, Door] = {"port": by_port, "tool": by_tool, "rest": by_rest}

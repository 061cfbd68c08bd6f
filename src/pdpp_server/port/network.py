"""The reader for any PDPP server over HTTP: encode, send, decode, or raise the refusal it meant."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from pdpp_server.errors import InvalidRequest, PermissionDenied, SourceUnavailable
from pdpp_server.evidence.handles import parse
from pdpp_server.model.aggregates import Aggregation
from pdpp_server.model.catalogue import Catalogue
from pdpp_server.model.queries import AggregateQuery, FetchQuery, RecordsQuery, SchemaQuery, SearchQuery, WindowQuery
from pdpp_server.model.records import Hit, Record, RecordId, RecordPage, SearchPage, Tombstone
from pdpp_server.model.text import FieldWindow
from pdpp_server.port.credentials import SCOPED_KINDS
from pdpp_server.port.exchange import Exchange
from pdpp_server.port.reader import Answer
from pdpp_server.wire import aggregate, fetch, query_records, read_record_field, schema, search

V = TypeVar("V")
Found = TypeVar("Found", bound=Hit | Record | Tombstone)

EVERYTHING = SchemaQuery()
REMEDY = "Use a client's token: `pdpp grants create`."


class NetworkReader:
    """One client's reads from one server. The token's kind is asked first: an owner's reads nothing here."""

    public_url: str | None = None  # nothing says that a stranger's server has pages for people

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._kind: Answer[str] | None = None

    def close(self) -> None:
        self._exchange.close()

    def token_kind(self) -> str:
        """What the server says that the token is; it is asked once."""
        return self._kind.value if self._kind else self._meet().value.token_kind

    def schema(self, query: SchemaQuery) -> Answer[Catalogue]:
        first = self._require_client()
        return first if first and query == EVERYTHING else self._schema(query)

    def search(self, query: SearchQuery) -> Answer[SearchPage]:
        found = self._ask(search.encode_query(query), lambda body: search.decode_page(body, parse))
        hits = tuple(_placed(hit, query.connection_id) for hit in found.value.hits)
        return replace(found, value=replace(found.value, hits=hits))

    def query_records(self, query: RecordsQuery) -> Answer[RecordPage]:
        found = self._ask(query_records.encode_query(query), query_records.decode_page)
        records = tuple(_placed(record, query.connection_id) for record in found.value.records)
        page = replace(found.value, records=records)
        return replace(found, value=replace(page, cursor_after=partial(self._cursor_after, query, page)))

    def aggregate(self, query: AggregateQuery) -> Answer[Aggregation]:
        return self._ask(aggregate.encode_query(query), lambda body: aggregate.decode(body, query))

    def fetch(self, query: FetchQuery) -> Answer[Record]:
        found = self._ask(fetch.encode_query(query), fetch.decode)
        return replace(found, value=_placed(found.value, query.connection_id))

    def read_record_field(self, query: WindowQuery) -> Answer[FieldWindow]:
        found = self._ask(read_record_field.encode_query(query), read_record_field.decode)
        id = found.value.id
        return replace(found, value=replace(found.value, id=_placed_id(id, query.connection_id)))

    def _cursor_after(self, query: RecordsQuery, page: RecordPage, index: int) -> str | None:
        """Asked for again, with fewer; None where by now other records stand there, and a cursor would leave a gap."""
        kept = page.records[: index + 1]
        if len(kept) == len(page.records):
            return page.next_cursor
        fewer = self.query_records(replace(query, limit=len(kept))).value
        return fewer.next_cursor if [one.id for one in fewer.records] == [one.id for one in kept] else None

    def _schema(self, query: SchemaQuery) -> Answer[Catalogue]:
        """A server that knows no compact form is asked for what it has; of that, what was asked for is kept."""
        try:
            found = self._told(schema.encode_query(query), schema.decode)
        except InvalidRequest as refusal:
            if query.full or type(refusal) is not InvalidRequest:
                raise
            found = self._told(schema.encode_plain_query(query), schema.decode)
        return replace(found, value=_selected(found.value, query))

    def _meet(self) -> Answer[Catalogue]:
        found = self._schema(EVERYTHING)
        self._kind = Answer(found.value.token_kind, found.request_id)
        return found

    def _require_client(self) -> Answer[Catalogue] | None:
        """The answer that said the kind, where this was the moment to ask for it."""
        first = None if self._kind else self._meet()
        if self._kind and self._kind.value not in SCOPED_KINDS:
            kind = "An owner token" if self._kind.value == "owner" else "This kind of token"
            refusal = PermissionDenied(f"{kind} is not accepted here.", remedy=REMEDY)
            refusal.request_id = self._kind.request_id
            raise refusal
        return first

    def _ask(self, path: str, decode: Callable[[Mapping[str, Any]], V]) -> Answer[V]:
        self._require_client()
        return self._told(path, decode)

    def _told(self, path: str, decode: Callable[[Mapping[str, Any]], V]) -> Answer[V]:
        body, request_id = self._exchange.get(path)
        try:
            return Answer(decode(body), request_id)
        except SourceUnavailable as fault:
            why = f"gave an answer that cannot be used: {fault.message.rstrip('.')}"
            raise self._exchange.unavailable(why, request_id) from None


def _selected(catalogue: Catalogue, query: SchemaQuery) -> Catalogue:
    entries = [entry for entry in catalogue.entries if query.stream in (None, entry.stream.name)]
    if query.connection_id is not None:
        held = [[one for one in entry.holdings if one.origin.connection_id == query.connection_id] for entry in entries]
        entries = [replace(entry, holdings=tuple(of)) for entry, of in zip(entries, held, strict=True) if of]
    return replace(catalogue, entries=tuple(entries))


def _placed(found: Found, connection_id: str | None) -> Found:
    """What a server leaves out because it was asked for: the connection."""
    if found.id.connection_id or connection_id is None:
        return found
    origin, id = replace(found.origin, connection_id=connection_id), _placed_id(found.id, connection_id)
    return found._replace(id=id, origin=origin) if isinstance(found, Record) else replace(found, id=id, origin=origin)


def _placed_id(id: RecordId, connection_id: str | None) -> RecordId:
    return id if id.connection_id or connection_id is None else id._replace(connection_id=connection_id)

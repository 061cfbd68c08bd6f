"""The reader for any PDPP server over HTTP: encode, send, decode, or raise the refusal it meant."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from pdpp_server.errors import (
    CursorExpired,
    InvalidRecordId,
    InvalidRequest,
    NotFound,
    PdppError,
    PermissionDenied,
    ServerTrouble,
    SourceUnavailable,
)
from pdpp_server.evidence.handles import mint, parse
from pdpp_server.evidence.window import window_of
from pdpp_server.model.activity import Shown
from pdpp_server.model.aggregates import Aggregation
from pdpp_server.model.catalogue import Catalogue, StreamEntry
from pdpp_server.model.pending import Pending
from pdpp_server.model.queries import AggregateQuery, FetchQuery, RecordsQuery, SchemaQuery, SearchQuery, WindowQuery
from pdpp_server.model.records import Around, Hit, Record, RecordId, RecordPage, SearchPage, Tombstone, Warned
from pdpp_server.model.text import FieldWindow
from pdpp_server.port.credentials import SCOPED_KINDS
from pdpp_server.port.cursors import KeptCursors
from pdpp_server.port.exchange import Exchange, new_request_id
from pdpp_server.wire import aggregate, fetch, query_records, read_record_field, schema, search

V = TypeVar("V")
V_co = TypeVar("V_co", covariant=True)
Found = TypeVar("Found", bound=Hit | Record | Tombstone)

EVERYTHING = SchemaQuery()
REMEDY = "Use a client's token: `pdpp grants create`."

# What a server may lack, and what is said of it.
FILTER_REMEDY = "That server may not filter for clients: repeat without filter, or search for words."
AGGREGATE_REMEDY = "Read the records with query_records instead; with count exact it may say how many there are."
AROUND_REMEDY = "Filter by the time of the record instead, or search for words."
WHOLE_REMEDY = "That server gives no windows of fields, so its records are fetched whole; this one cannot be."
COUNTED = Warned("counted_by_list", "That server does not aggregate: this is the count of its list of records.")
CUT_HERE = Warned("window_cut_here", "That server gives no windows of fields: the record was fetched, and cut here.")
LACKING = frozenset({404, 405, 501})


def _written_there(_shown: Shown, _size: int) -> None:
    """Nothing is written here: a line of ours would name what another server disclosed, and we do not keep its log."""


class Answer(Pending[V_co]):
    """What another server gave, having written its own line; of ours there is none, so it may be looked at."""

    __slots__ = ()

    def __init__(self, value: V_co, request_id: str) -> None:
        super().__init__(value, request_id, _written_there)

    @property
    def value(self) -> V_co:
        return self._value


class NetworkReader:
    """One client's reads from one server. The token's kind is asked first: an owner's reads nothing here."""

    public_url: str | None = None  # nothing says that a stranger's server has pages for people

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._kind: Answer[str] | None = None
        self._cursors = KeptCursors()
        self._gives_windows = True

    def close(self) -> None:
        self._exchange.close()

    def use(self, bearer: str) -> None:
        """Reads with that token from now on; what kind it is has to be asked again."""
        self._exchange.use(bearer)
        self._kind = None

    def token_kind(self) -> str:
        """What the server says that the token is; it is asked once."""
        return self._kind.value if self._kind else self._meet().value.token_kind

    def schema(self, query: SchemaQuery) -> Answer[Catalogue]:
        first = self._require_client()
        return first if first and query == EVERYTHING else self._schema(query)

    def search(self, query: SearchQuery) -> Answer[SearchPage]:
        sent = replace(query, cursor=self._meant(query.cursor))

        def decode(body: Mapping[str, Any]) -> SearchPage:
            page = search.decode_page(body, parse)
            placed = (_placed(hit, query.connection_id) for hit in page.hits)
            hits, warned = _reachable(placed)
            following = self._cursors.shown(page.next_cursor)
            kept = tuple(replace(hit, make_cursor=partial(self._cursors.shown_of, hit)) for hit in hits)
            return replace(page, hits=kept, next_cursor=following, warnings=(*page.warnings, *warned))

        filters_one = query.conditions and len(query.streams or ()) == 1  # no server filters several at once
        remedy = FILTER_REMEDY if filters_one else ""
        return self._ask(search.encode_query(sent), decode, remedy, search.encode_preference(query))

    def query_records(self, query: RecordsQuery) -> Answer[RecordPage]:
        sent = replace(query, cursor=self._meant(query.cursor))

        def decode(body: Mapping[str, Any]) -> RecordPage:
            page = query_records.decode_page(body, query)
            placed = (_placed(record, query.connection_id) for record in page.records)
            records, warned = _reachable(placed)
            following = self._cursors.shown(page.next_cursor)
            page = replace(page, records=records, next_cursor=following, warnings=(*page.warnings, *warned))
            if page.around is not None:
                return replace(page, around=self._shown_around(page.around))
            return replace(page, cursor_after=partial(self._cursor_after, query, page))

        found = self._ask(query_records.encode_query(sent), decode, FILTER_REMEDY if query.conditions else "")
        if query.around is not None and found.value.around is None:
            raise _lacks_around(found.request_id)
        return found

    def aggregate(self, query: AggregateQuery) -> Answer[Aggregation]:
        path, remedy = aggregate.encode_query(query), FILTER_REMEDY if query.conditions else ""
        try:
            return self._ask(path, lambda body: aggregate.decode(body, query), remedy)
        except PdppError as refusal:
            if not _may_lack(refusal):
                raise
            return self._counted(query, refusal)

    def fetch(self, query: FetchQuery) -> Answer[Record]:
        found = self._ask(fetch.encode_query(query), fetch.decode)
        return Answer(_placed(found.value, query.connection_id), found.request_id)

    def read_record_field(self, query: WindowQuery) -> Answer[FieldWindow]:
        try:
            return self._window(query) if self._gives_windows else self._cut_window(query)
        except PdppError as refusal:
            if not self._gives_windows or not _may_lack(refusal):
                raise
            found = self._cut_window(query, refusal)
            self._gives_windows = False
            return found

    def _window(self, query: WindowQuery) -> Answer[FieldWindow]:
        found = self._ask(read_record_field.encode_query(query), read_record_field.decode)
        id = found.value.id
        return Answer(replace(found.value, id=_placed_id(id, query.connection_id)), found.request_id)

    def _cut_window(self, query: WindowQuery, refusal: PdppError | None = None) -> Answer[FieldWindow]:
        """From the whole record, in the bounds of any answer. `refusal` stands where there is no such record either."""
        asked = FetchQuery(query.stream, query.key, query.connection_id, (query.field,), query.connector_key)
        try:
            found = self._fetch_some(asked)
        except NotFound as missing:
            raise refusal or missing from None
        except SourceUnavailable as trouble:
            trouble.remedy = WHOLE_REMEDY
            raise
        record = found.value
        try:
            name = query.field
            role, declared = (record.roles or {}).get(name), (record.binary or {}).get(name)
            window = window_of(record.id, record.data.get(name), role, declared, query)
        except PdppError as fault:
            fault.request_id = found.request_id
            raise
        return Answer(replace(window, warnings=(CUT_HERE,)), found.request_id)

    def _fetch_some(self, query: FetchQuery) -> Answer[Record]:
        """With all its fields from a server that does not choose among them."""
        try:
            return self.fetch(query)
        except InvalidRequest:
            return self.fetch(replace(query, fields=None))

    def _counted(self, query: AggregateQuery, refusal: PdppError) -> Answer[Aggregation]:
        """A plain count by the list of records, and nothing else. `refusal` may have meant the stream."""
        if not self._schema(SchemaQuery(query.stream, query.connection_id)).value.entries:
            raise refusal
        if query.metric == "count" and not (query.group_by or query.group_by_time):
            listed = RecordsQuery(
                query.stream,
                query.connection_id,
                query.connector_key,
                conditions=query.conditions,
                count=True,
                limit=1,
            )
            found = self.query_records(listed)
            if (count := found.value.count) is not None:
                return Answer(Aggregation(query, count, count, warnings=(COUNTED,)), found.request_id)
        lacking = InvalidRequest("That server does not aggregate.", remedy=AGGREGATE_REMEDY)
        lacking.request_id = refusal.request_id
        raise lacking

    def _meant(self, cursor: str | None) -> str | None:
        try:
            return self._cursors.meant(cursor)
        except CursorExpired as refusal:
            refusal.request_id = new_request_id()
            raise

    def _cursor_after(self, query: RecordsQuery, page: RecordPage, index: int) -> str | None:
        """Asked for again, with fewer; None where by now other records stand there, and a cursor would leave a gap."""
        kept = page.records[: index + 1]
        if len(kept) == len(page.records):
            return page.next_cursor
        fewer = self.query_records(replace(query, limit=len(kept))).value
        return fewer.next_cursor if [one.id for one in fewer.records] == [one.id for one in kept] else None

    def _shown_around(self, around: Around) -> Around:
        earlier, later = self._cursors.shown(around.earlier_cursor), self._cursors.shown(around.later_cursor)
        return replace(around, earlier_cursor=earlier, later_cursor=later)

    def _schema(self, query: SchemaQuery) -> Answer[Catalogue]:
        """A server that knows no compact form is asked for what it has; of that, what was asked for is kept."""
        try:
            found = self._told(schema.encode_query(query), schema.decode)
        except InvalidRequest as refusal:
            if query.full or type(refusal) is not InvalidRequest:
                raise
            found = self._told(schema.encode_plain_query(query), schema.decode)
        return Answer(_selected(found.value, query), found.request_id)

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

    def _ask(
        self, path: str, decode: Callable[[Mapping[str, Any]], V], remedy: str = "", prefer: str | None = None
    ) -> Answer[V]:
        """`remedy` is for a server that refuses a filter and does not say what to do instead."""
        self._require_client()
        try:
            return self._told(path, decode, prefer)
        except InvalidRequest as refusal:
            if type(refusal) is InvalidRequest and not refusal.remedy:
                refusal.remedy = remedy
            raise

    def _told(self, path: str, decode: Callable[[Mapping[str, Any]], V], prefer: str | None = None) -> Answer[V]:
        told = self._exchange.get(path, prefer)
        return Answer(self._exchange.decoded(told, decode), told.request_id)


def _may_lack(refusal: PdppError) -> bool:
    """Whether the server may have meant that it has no such endpoint."""
    return refusal.answered in LACKING and type(refusal) in (NotFound, SourceUnavailable, ServerTrouble)


def _lacks_around(request_id: str) -> InvalidRequest:
    """A server that does not know the word gave a page like any other, which must not pass for an answer."""
    lacking = InvalidRequest("That server does not list around a record.", param="around", remedy=AROUND_REMEDY)
    lacking.request_id = request_id
    return lacking


def _reachable(found: Iterable[Found]) -> tuple[tuple[Found, ...], tuple[Warned, ...]]:
    """Those that a handle can name, and a warning where there are others: an id that opens nothing is not shown."""
    everything = tuple(found)
    kept = tuple(one for one in everything if _has_handle(one.id))
    left_out = len(everything) - len(kept)
    if not left_out:
        return kept, ()
    message = f"{left_out} of {len(everything)} are left out: no handle of at most 512 bytes can name them."
    return kept, (Warned("unreachable_ids", message),)


def _has_handle(id: RecordId) -> bool:
    try:
        return parse(mint(id)) == id
    except InvalidRecordId:
        return False


def _selected(catalogue: Catalogue, query: SchemaQuery) -> Catalogue:
    entries = [entry for entry in catalogue.entries if query.stream in (None, entry.stream.name)]
    if query.connection_id is not None:
        entries = [_held_by(query.connection_id, entry) for entry in entries]
        entries = [entry for entry in entries if entry.holdings]
    return replace(catalogue, entries=tuple(entries))


def _held_by(connection_id: str, entry: StreamEntry) -> StreamEntry:
    holdings = [one for one in entry.holdings if one.origin.connection_id == connection_id]
    return replace(entry, holdings=tuple(holdings))


def _placed(found: Found, connection_id: str | None) -> Found:
    """What a server leaves out because it was asked for: the connection."""
    if found.id.connection_id or connection_id is None:
        return found
    origin = replace(found.origin, connection_id=connection_id)
    id = _placed_id(found.id, connection_id)
    if isinstance(found, Record):
        return found._replace(id=id, origin=origin)
    return replace(found, id=id, origin=origin)


def _placed_id(id: RecordId, connection_id: str | None) -> RecordId:
    return id if id.connection_id or connection_id is None else id._replace(connection_id=connection_id)

"""Words in granted fields, ranked."""

from collections.abc import Callable
from functools import partial

from pdpp_server.evidence.handles import mint
from pdpp_server.evidence.titles import title
from pdpp_server.model.queries import SearchQuery
from pdpp_server.model.records import Hit, SearchPage
from pdpp_server.reads.binding import binding
from pdpp_server.reads.disclosure import Disclosed
from pdpp_server.reads.services import Call, Services
from pdpp_server.store.search import Found, Position, search
from pdpp_server.wire.cursors import Seal
from pdpp_server.wire.envelope import sources_skipped


def serve(services: Services, call: Call, query: SearchQuery) -> SearchPage:
    with services.reading(call, "search") as read:
        permitted = read.permit(query)
        bound_to = binding(permitted, query.text, query.streams, query.connection_id, query.conditions)
        after = Position.unpack(read.seal.open("search", query.cursor, bound_to=bound_to)) if query.cursor else None
        ranked = search(read.store, permitted, after)
        read.disclose(permitted, _disclosed(ranked.found))
        hits = tuple([_hit(found, partial(_seal, read.seal, found.position, bound_to)) for found in ranked.found])
        next_cursor = hits[-1].cursor if ranked.has_more else None
        return SearchPage(hits, next_cursor, ranked.recall, ranked.as_of, sources_skipped(permitted.missing))


def _seal(seal: Seal, position: Position, bound_to: bytes) -> str:
    return seal.seal("search", position.pack(), bound_to=bound_to)


def _hit(found: Found, make_cursor: Callable[[], str]) -> Hit:
    record = found.record
    name = title(record.roles, record.data, record.origin, record.id.stream, record.authored_at)
    times = (record.emitted_at, record.authored_at)
    return Hit(record.id, record.origin, name, *times, found.excerpts, found.position.score, make_cursor)


def _disclosed(page: tuple[Found, ...]) -> Disclosed:
    """The fields of excerpts, and those that a title or a time came from."""
    records = [found.record for found in page]
    fields = {excerpt.field for found in page for excerpt in found.excerpts}
    fields |= {name for record in records for name in record.roles or () if name in record.data}
    return Disclosed(
        tuple(dict.fromkeys(record.id.connection_id for record in records)),
        tuple(dict.fromkeys(record.id.stream for record in records)),
        tuple(sorted(fields)),
        tuple(mint(record.id) for record in records),
        sum(len(excerpt.text.encode()) for found in page for excerpt in found.excerpts),
    )

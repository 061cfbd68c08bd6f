"""Words in granted fields, ranked."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from pdpp_server.evidence.question import did_you_mean, no_words, read_as
from pdpp_server.evidence.titles import declared_actor, declared_title, identity
from pdpp_server.grants.permitted import Permitted
from pdpp_server.model.activity import NOTHING, Shown
from pdpp_server.model.parameters import bound_by
from pdpp_server.model.pending import Pending
from pdpp_server.model.queries import SearchQuery
from pdpp_server.model.records import Hit, Record, SearchPage, Warned
from pdpp_server.reads.binding import binding
from pdpp_server.reads.services import Call, Services
from pdpp_server.store.records.search import FoundHit, Position, Ranked, search
from pdpp_server.wire.cursors import Seal
from pdpp_server.wire.envelope import prefixes_too_short, sources_skipped


def serve(services: Services, call: Call, query: SearchQuery) -> Pending[SearchPage]:
    with services.reading(call, "search") as read:
        permitted = read.permit(query)
        bound_to = binding(permitted, *bound_by(query))
        after = Position.unpack(read.seal.open("search", query.cursor, bound_to=bound_to)) if query.cursor else None
        ranked = search(read.store, permitted, after, read.today)
        hits = tuple(
            [
                _hit(found, partial(_seal, read.seal, found.position, bound_to), lean=query.lean)
                for found in ranked.found
            ]
        )
        next_cursor = hits[-1].cursor if ranked.has_more and not ranked.recall.is_newest else None
        warnings = (
            *sources_skipped(permitted.missing),
            *prefixes_too_short(ranked.short),
            *_understood(ranked),
        )
        is_short = ranked.has_more and next_cursor is None
        page = SearchPage(hits, next_cursor, ranked.recall, ranked.as_of, warnings, is_short)
        return read.pending(permitted, page, _suggesting(permitted) if ranked.suggested else NOTHING)


def _understood(ranked: Ranked) -> tuple[Warned, ...]:
    if ranked.recall.is_newest:
        return no_words()
    days = [(days.first, days.last, days.is_yearly) for days in ranked.days]
    return (*read_as(days, ranked.names), *[did_you_mean(*suggestion) for suggestion in ranked.suggested])


def _suggesting(permitted: Permitted[SearchQuery]) -> Shown:
    """A word that stands in some record of these tells of them, whichever hits are shown."""
    scopes = permitted.scopes
    fields = [name for scope in scopes for name in scope.stream.lexical_fields if name in scope.fields]
    connections = [connection for scope in scopes for connection in scope.connections]
    return Shown(
        tuple(dict.fromkeys(connections)),
        tuple(dict.fromkeys(scope.stream.name for scope in scopes)),
        tuple(dict.fromkeys(fields)),
    )


def _seal(seal: Seal, position: Position, bound_to: bytes) -> str:
    return seal.seal("search", position.pack(), bound_to=bound_to)


def _hit(found: FoundHit, make_cursor: Callable[[], str], *, lean: bool) -> Hit:
    record = found.record
    field, name = declared_title(record.roles, record.data) or (None, _identity(record))
    hit = Hit(
        record.id,
        record.origin,
        name,
        record.emitted_at,
        record.authored_at,
        found.proof.excerpts,
        found.position.score,
        make_cursor,
        field,
        record.time_field,
    )
    return _with_actor(hit, found) if lean else hit


def _with_actor(hit: Hit, found: FoundHit) -> Hit:
    said_by = declared_actor(found.record.roles, found.record.data) or (None, None)
    field, actor = said_by
    return replace(hit, actor=actor, actor_field=field, also_matched=found.proof.also_matched, beside=found.beside)


def _identity(record: Record) -> str:
    return identity(record.origin, record.id.stream, record.authored_at)

"""A page of one stream, or what changed in it since a bookmark."""

import secrets
import struct
from collections.abc import Callable
from dataclasses import replace

from pdpp_server.errors import InvalidCursor, InvalidRequest
from pdpp_server.evidence.remarks import filter_parts
from pdpp_server.grants.permitted import Permitted
from pdpp_server.model.parameters import bound_by
from pdpp_server.model.pending import Pending
from pdpp_server.model.queries import BEGINNING, RecordsQuery
from pdpp_server.model.records import Around, RecordPage
from pdpp_server.reads.binding import binding
from pdpp_server.reads.services import Call, Read, Services
from pdpp_server.store.records.around import around
from pdpp_server.store.records.changes import ChangeSpan, changes, open_session
from pdpp_server.store.records.query_records import is_ranked, query_records
from pdpp_server.wire.cursors import CursorKind, OrderedPlace, Place, Side, is_of
from pdpp_server.wire.envelope import sources_skipped

_VERSION, _SESSION = struct.Struct(">Q"), struct.Struct(">QQQ")
_SALT_BYTES = 8  # the clock counts what is hidden too, so two marks of one moment must not look alike


def serve(services: Services, call: Call, query: RecordsQuery) -> Pending[RecordPage]:
    with services.reading(call, "query_records") as read:
        permitted = read.permit(query)
        page = _kind_of(query)(read, permitted)
        if permitted.missing:
            page = replace(page, warnings=(*page.warnings, *sources_skipped(permitted.missing)))
        return read.pending(permitted, page)


def _kind_of(query: RecordsQuery) -> Callable[[Read, Permitted[RecordsQuery]], RecordPage]:
    if query.around is not None:
        return _around
    return _changes if _is_feed(query) else _page


# Pages ------------------------------------------------------------------------------------------------------------


def _page(read: Read, permitted: Permitted[RecordsQuery]) -> RecordPage:
    query, seal = permitted.query, read.seal
    bound_to = binding(permitted, *bound_by(query))
    kind = OrderedPlace if is_ranked(permitted) else Place
    after = kind.unpack(seal.open("records", query.cursor, bound_to=bound_to)) if query.cursor else None
    listed = query_records(read.store, permitted, after)

    def cursor_after(index: int) -> str:
        return seal.seal("records", listed.entries[index].mark.pack(), bound_to=bound_to)

    next_cursor = cursor_after(-1) if listed.has_more else None
    said = tuple(filter_parts(listed.passing_each))
    return RecordPage(listed.records, next_cursor, listed.count, listed.span, warnings=said, cursor_after=cursor_after)


# Neighbours -------------------------------------------------------------------------------------------------------


def _around(read: Read, permitted: Permitted[RecordsQuery]) -> RecordPage:
    query, seal = permitted.query, read.seal
    bound_to = binding(permitted, *bound_by(query))
    side, beyond = None, None
    if query.cursor:
        side = _side_of(query.cursor)
        beyond = Place.unpack(seal.open(side, query.cursor, bound_to=bound_to))
    found = around(read.store, permitted, side, beyond)

    def cursor_before(index: int) -> str:
        return seal.seal("earlier", found.entries[index].place.pack(), bound_to=bound_to)

    def cursor_after(index: int) -> str:
        return seal.seal("later", found.entries[index].place.pack(), bound_to=bound_to)

    earlier = cursor_before(0) if found.has_earlier else None
    later = cursor_after(-1) if found.has_later else None
    told = Around(found.around, earlier, later, found.center, cursor_before)
    return RecordPage(found.records, later, found.count, found.span, cursor_after=cursor_after, around=told)


def _side_of(cursor: str) -> Side:
    return "later" if is_of("later", cursor) else "earlier"


# Changes ----------------------------------------------------------------------------------------------------------


def _is_feed(query: RecordsQuery) -> bool:
    return query.changes_since is not None or (query.cursor is not None and is_of("changes", query.cursor))


def _changes(read: Read, permitted: Permitted[RecordsQuery]) -> RecordPage:
    bound_to = binding(permitted, permitted.query.stream)
    session = _session(read, permitted.query, bound_to)
    changed = changes(read.store, permitted, session, permitted.query.limit)

    def cursor_after(index: int) -> str:
        after = session._replace(after=changed.changes[index].version)
        return _salted(read, "changes", _SESSION.pack(*after), bound_to)

    next_cursor = cursor_after(-1) if changed.has_more else None
    bookmark = None if changed.has_more else _salted(read, "bookmark", _VERSION.pack(session.horizon), bound_to)
    entries = tuple([change.entry for change in changed.changes])
    return RecordPage(entries, next_cursor, next_changes_since=bookmark, cursor_after=cursor_after)


def _session(read: Read, query: RecordsQuery, bound_to: bytes) -> ChangeSpan:
    """The session that a bookmark opens or a cursor continues."""
    if query.changes_since == BEGINNING:
        return open_session(read.store, 0)
    if query.changes_since is not None:
        return open_session(read.store, _bookmarked(read, query.changes_since, bound_to))
    assert query.cursor is not None
    packed = read.seal.open("changes", query.cursor, bound_to=bound_to)
    _require_plain(query)
    return ChangeSpan(*_SESSION.unpack_from(packed))


def _require_plain(query: RecordsQuery) -> None:
    """The cursor of a feed goes on with that feed and with nothing else."""
    asked = {"filter": query.conditions, "expand": query.expand, "sort": query.sort, "order": query.ascending}
    for param, value in {**asked, "count": query.count, "window": query.window}.items():
        if value:
            raise InvalidRequest(f"A change feed takes no {param}.", param=param)


def _bookmarked(read: Read, bookmark: str, bound_to: bytes) -> int:
    try:
        (version,) = _VERSION.unpack_from(read.seal.open("bookmark", bookmark, bound_to=bound_to))
    except InvalidCursor:
        raise InvalidCursor(
            "changes_since is `beginning`, or a `next_changes_since` of this feed under this grant.",
            param="changes_since",
            remedy="Start again with changes_since=beginning.",
        ) from None
    return version


def _salted(read: Read, kind: CursorKind, packed: bytes, bound_to: bytes) -> str:
    return read.seal.seal(kind, packed + secrets.token_bytes(_SALT_BYTES), bound_to=bound_to)

"""Lists of records: query string and page, and the change feed."""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

from pdpp_server.errors import InvalidCursor, InvalidExpand, InvalidRequest
from pdpp_server.model.queries import RecordsQuery
from pdpp_server.model.records import Around, Record, RecordId, RecordPage, Span, Tombstone, Warned
from pdpp_server.wire.envelope import (
    NO_COUNT,
    Json,
    decode_short,
    decode_warnings,
    encode_warnings,
    is_object,
    is_partial,
    listed,
    next_link,
    object_of,
    present,
    text_of,
    time_of,
    url,
    whole_of,
)
from pdpp_server.wire.params import Params
from pdpp_server.wire.queries import decode, encode, rows
from pdpp_server.wire.records import decode_record, decode_tombstone, encode_record, encode_tombstone

PARAMETERS = rows(RecordsQuery)


def encode_query(query: RecordsQuery) -> str:
    written = encode(query)
    if query.changes_since is not None:  # a feed has its own order
        written = {name: value for name, value in written.items() if name != "order"}
    return url("streams", query.stream, "records", **written)


def decode_query(params: Params, *, stream: str) -> RecordsQuery:
    query = decode(RecordsQuery, params, stream=stream)
    if query.view is not None and query.fields is not None:
        raise InvalidRequest("view and fields exclude each other.", param="view")
    if query.around is not None:
        _check_around(query, params)
    if query.changes_since is not None:
        _check_feed(query, params)
    return query


def _check_feed(query: RecordsQuery, params: Params) -> None:
    """A feed has one order and no count; the rest of it is asked by its cursor alone."""
    if query.changes_since == "":
        raise InvalidCursor("changes_since is `beginning` or a bookmark.", param="changes_since")
    if query.cursor is not None:
        raise InvalidRequest("The pages of a feed are asked by cursor alone.", param="changes_since")
    if query.expand:
        raise InvalidExpand("A change feed expands nothing.", param="expand")
    for name in ("sort", "order", "count", "window", "filter"):
        if params.has(name):
            raise InvalidRequest(f"A change feed takes no {name}.", param=name)


def _check_around(query: RecordsQuery, params: Params) -> None:
    """The talk alone says what is around a record, and its time in which order."""
    if query.around == "":
        raise InvalidRequest("around is the key of a record.", param="around")
    for name in ("filter", "sort", "order", "changes_since", "expand", "expand_limit"):
        if params.has(name):
            raise InvalidRequest(f"around takes no {name}.", param=name)


def encode_entry(entry: Record | Tombstone) -> Json:
    return encode_record(entry) if isinstance(entry, Record) else encode_tombstone(entry)


def encode_page(page: RecordPage, stream: str, links_self: str, warnings: Iterable[Warned] = ()) -> Json:
    body = encode_list(page, stream, encode_entry, warnings)
    meta = body.pop("meta")
    return {**body, "links": {"self": links_self, "next": next_link(links_self, page.next_cursor)}, "meta": meta}


def encode_list(
    page: RecordPage, stream: str, encode: Callable[[Record | Tombstone], Json], warnings: Iterable[Warned] = ()
) -> Json:
    """A page without links."""
    further = present(has_more=page.has_more, next_cursor=page.next_cursor, next_changes_since=page.next_changes_since)
    window, around = _encode_span(page.span), _encode_around(page.around)
    return {
        "object": "list",
        "url": _list_url(stream),
        **further,
        "data": [encode(entry) for entry in page.records],
        "meta": {
            "count": NO_COUNT if page.count is None else {"kind": "exact", "value": page.count},
            **present(window=window, around=around, partial=is_partial(page.warnings)),
            "warnings": encode_warnings((*page.warnings, *warnings)),
        },
    }


@lru_cache(maxsize=1000)  # of the same few streams
def _list_url(stream: str) -> str:
    return url("streams", stream, "records")


def _encode_span(span: Span | None) -> Json | None:
    return span and present(total=span.total, earliest_at=span.earliest_at, latest_at=span.latest_at)


def _encode_around(around: Around | None) -> Json | None:
    return around and present(earlier_cursor=around.earlier_cursor, later_cursor=around.later_cursor)


def decode_page(body: Mapping[str, Any], query: RecordsQuery) -> RecordPage:
    """The answer to `query`, whose stream and record it does not repeat."""
    meta = object_of(body, "meta")
    counted = object_of(meta, "count")
    records = tuple(_decode_entry(entry) for entry in listed(body, "data"))
    next_cursor = text_of(body, "next_cursor")
    return RecordPage(
        records,
        next_cursor,
        whole_of(counted, "value") if counted.get("kind") == "exact" else None,
        _decode_span(object_of(meta, "window")),
        None if next_cursor else text_of(body, "next_changes_since"),
        decode_warnings(body),
        is_short=decode_short(body),
        around=_decode_around(meta, query, records),
    )


def _decode_span(body: Mapping[str, Any]) -> Span | None:
    total = whole_of(body, "total")
    if total is None:
        return None
    return Span(total, time_of(body, "earliest_at"), time_of(body, "latest_at"))


def _decode_around(
    meta: Mapping[str, Any], query: RecordsQuery, records: tuple[Record | Tombstone, ...]
) -> Around | None:
    key = query.around
    if key is None or not is_object(meta.get("around")):
        return None
    told = object_of(meta, "around")
    earlier, later = text_of(told, "earlier_cursor"), text_of(told, "later_cursor")
    keys = [record.id.key for record in records]
    here = len(records) if earlier else -1  # on a later page, or on an earlier one
    if key in keys:
        here = keys.index(key)
    connection = query.connection_id or (records[0].id.connection_id if records else "")
    return Around(RecordId(connection, query.stream, key), earlier, later, here)


def _decode_entry(body: Mapping[str, Any]) -> Record | Tombstone:
    return decode_tombstone(body) if body.get("deleted") is True else decode_record(body)

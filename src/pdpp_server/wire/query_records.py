"""Lists of records: query string and page, and the change feed."""

from collections.abc import Iterable, Mapping
from typing import Any

from pdpp_server.errors import InvalidCursor, InvalidExpand, InvalidRequest, InvalidSort
from pdpp_server.model.queries import RECORDS_LIMIT, RECORDS_LIMIT_MAX, RecordsQuery
from pdpp_server.model.records import Record, RecordPage, Span, Tombstone, Warned
from pdpp_server.wire.envelope import (
    NO_COUNT,
    Json,
    decode_short,
    decode_warnings,
    encode_warnings,
    is_partial,
    limit_clamped,
    listed,
    next_link,
    object_of,
    present,
    text_of,
    url,
    whole_of,
)
from pdpp_server.wire.expand import EXPAND, decode_expand, encode_expand
from pdpp_server.wire.filters import FILTER, decode_filter, encode_filter
from pdpp_server.wire.params import CURSOR, FIELDS, LIMIT, SELECTORS, Parameter, Params
from pdpp_server.wire.records import decode_record, decode_tombstone, encode_record, encode_tombstone

ORDERS, COUNTS, WINDOWS = ("asc", "desc"), ("none", "estimated", "exact"), ("none", "exact")

PARAMETERS = (
    LIMIT,
    CURSOR,
    Parameter("order", "By the cursor field: `desc` (newest first) unless told.", {"type": "string", "enum": ORDERS}),
    Parameter("sort", "The cursor field; with a minus before it for descending.", repeats=True),
    Parameter("count", "`exact` counts the whole visible, filtered set.", {"type": "string", "enum": COUNTS}),
    Parameter("window", "`exact` adds the total and its first and last time.", {"type": "string", "enum": WINDOWS}),
    FIELDS,
    Parameter("view", "A declared view instead of fields."),
    FILTER,
    *EXPAND,
    Parameter("changes_since", "`beginning`, or a `next_changes_since`: what changed since then."),
    *SELECTORS,
)


def encode_query(query: RecordsQuery) -> str:
    changes = query.changes_since is not None
    return url(
        "streams",
        query.stream,
        "records",
        limit=query.limit,
        cursor=query.cursor,
        order="asc" if query.ascending and not changes else None,
        sort=query.sort and ("" if query.ascending else "-") + query.sort,
        count="exact" if query.count else None,
        window="exact" if query.window else None,
        fields=query.fields,
        view=query.view,
        changes_since=query.changes_since,
        connection_id=query.connection_id,
        connector_id=query.connector_key,
        **encode_filter(query.conditions),
        **encode_expand(query.expand),
    )


def decode_query(params: Params, *, stream: str) -> RecordsQuery:
    params.only(*PARAMETERS)
    limit, clamped_from = params.limit(RECORDS_LIMIT, RECORDS_LIMIT_MAX)
    if clamped_from:
        params.warnings.append(limit_clamped("limit", clamped_from, RECORDS_LIMIT_MAX))
    sort, ascending = _order(params)
    fields, view = params.comma_separated("fields"), params.text("view")
    if view is not None and fields is not None:
        raise InvalidRequest("view and fields exclude each other.", param="view")
    query = RecordsQuery(
        stream,
        params.connection_id(),
        params.connector_key(),
        fields,
        view,
        decode_filter(params),
        decode_expand(params),
        sort,
        ascending,
        params.choice("count", COUNTS) in ("exact", "estimated"),
        params.choice("window", WINDOWS) == "exact",
        params.text("changes_since"),
        limit,
        params.cursor(),
    )
    if query.changes_since is not None:
        _check_feed(query, params)
    return query


def _order(params: Params) -> tuple[str | None, bool]:
    """The field to sort by, if one was named, and whether it ascends."""
    order = params.choice("order", ORDERS)
    sorts = params.comma_separated("sort")
    if sorts is None:
        return None, order == "asc"
    named, descends = {sort.removeprefix("-") for sort in sorts}, {sort.startswith("-") for sort in sorts}
    if len(named) > 1 or len(descends) > 1:
        raise InvalidSort("sort takes one field in one direction.", param="sort")
    ascending = descends == {False}
    if order is not None and (order == "asc") != ascending:
        raise InvalidSort("sort and order name different directions.", param="sort")
    return named.pop(), ascending


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


def encode_page(page: RecordPage, stream: str, links_self: str, warnings: Iterable[Warned] = ()) -> Json:
    window = page.span and present(
        total=page.span.total, earliest_at=page.span.earliest_at, latest_at=page.span.latest_at
    )
    return {
        "object": "list",
        "url": url("streams", stream, "records"),
        **present(has_more=page.has_more, next_cursor=page.next_cursor, next_changes_since=page.next_changes_since),
        "data": [
            encode_record(entry) if isinstance(entry, Record) else encode_tombstone(entry) for entry in page.records
        ],
        "links": {"self": links_self, "next": next_link(links_self, page.next_cursor)},
        "meta": {
            "count": NO_COUNT if page.count is None else {"kind": "exact", "value": page.count},
            **present(window=window, partial=is_partial(page.warnings)),
            "warnings": encode_warnings((*page.warnings, *warnings)),
        },
    }


def decode_page(body: Mapping[str, Any]) -> RecordPage:
    meta = object_of(body, "meta")
    window = object_of(meta, "window")
    total = whole_of(window, "total")
    counted = object_of(meta, "count")
    return RecordPage(
        tuple(_decode_entry(entry) for entry in listed(body, "data")),
        text_of(body, "next_cursor"),
        whole_of(counted, "value") if counted.get("kind") == "exact" else None,
        None if total is None else Span(total, text_of(window, "earliest_at"), text_of(window, "latest_at")),
        None if text_of(body, "next_cursor") else text_of(body, "next_changes_since"),
        decode_warnings(body),
        is_short=decode_short(body),
    )


def _decode_entry(body: Mapping[str, Any]) -> Record | Tombstone:
    return decode_tombstone(body) if body.get("deleted") is True else decode_record(body)

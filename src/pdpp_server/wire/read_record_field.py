"""Window parameters and windows."""

from collections.abc import Iterable, Mapping
from typing import Any

from pdpp_server.errors import InvalidFieldPath, InvalidWindow, SourceUnavailable
from pdpp_server.model.queries import CONTEXT_CHARS_MAX, WINDOW_CHARS, WINDOW_CHARS_MAX, WindowQuery
from pdpp_server.model.records import RecordId, Warned
from pdpp_server.model.text import FieldWindow
from pdpp_server.wire import queries
from pdpp_server.wire.envelope import (
    Json,
    decode_warnings,
    finish,
    limit_clamped,
    needed,
    object_of,
    text_of,
    url,
    whole_of,
)
from pdpp_server.wire.params import ParameterRow, Params

_CONTEXT = {"type": "integer", "minimum": 0, "maximum": CONTEXT_CHARS_MAX}
PARAMETERS = (*queries.rows(WindowQuery), ParameterRow("after_chars", "How much to show after it.", _CONTEXT))


def encode_query(query: WindowQuery) -> str:
    """With `q` the limit is sent too, so that it stands for any context after the match."""
    written = queries.encode(query)
    if query.q is not None:
        written = {name: value for name, value in written.items() if name != "offset_chars"}
    return url("streams", query.stream, "records", query.key, "field-window", **written)


def decode_query(params: Params, *, stream: str, key: str) -> WindowQuery:
    params.only(*PARAMETERS)
    field, q = params.text("field"), params.text("q")
    if not field or "\0" in field:
        raise InvalidFieldPath("field must name one top-level field.", param="field")
    offset, before, after = (
        params.whole("offset_chars", 0, None, InvalidWindow),
        params.whole("before_chars", 0, CONTEXT_CHARS_MAX, InvalidWindow),
        params.whole("after_chars", 0, CONTEXT_CHARS_MAX, InvalidWindow),
    )
    _refuse_mixed(q, offset, before, after)
    limit = _limit(params.whole("limit_chars", 1, None, InvalidWindow), q, before, after)
    clamped_from = limit if limit > WINDOW_CHARS_MAX else None
    return WindowQuery(
        stream,
        key,
        field,
        params.connection_id(),
        offset or 0,
        min(limit, WINDOW_CHARS_MAX),
        q,
        before or 0,
        clamped_from,
        params.connector_key(),
    )


def encode(window: FieldWindow, links_self: str, warnings: Iterable[Warned] = ()) -> Json:
    body: Json = {
        "object": "field_window",
        "stream": window.id.stream,
        "record_id": window.id.key,
        "connection_id": window.id.connection_id,
        "url": url("streams", window.id.stream, "records", window.id.key, "field-window"),
        "field": {"path": window.field, "type": window.type, "text_like": window.text_like},
        "window": {
            "text": window.text,
            "total_chars": window.total,
            "start_chars": window.start,
            "end_chars": window.end,
            "limit_chars": window.limit,
            "complete": window.complete,
            "has_more": window.next_offset is not None,
            "match_start_chars": window.match[0] if window.match else None,
            "match_end_chars": window.match[1] if window.match else None,
            "next_offset_chars": window.next_offset,
            "previous_offset_chars": window.previous_offset,
        },
    }
    clamped = (limit_clamped("limit_chars", window.clamped_from, window.limit),) if window.clamped_from else ()
    return finish(body, links_self, (*warnings, *clamped))


def decode(body: Mapping[str, Any]) -> FieldWindow:
    field, window = object_of(body, "field"), object_of(body, "window")
    start, total, limit = (whole_of(window, name) for name in ("start_chars", "total_chars", "limit_chars"))
    if start is None or total is None:
        raise SourceUnavailable("The server's window does not say where it stands.")
    text = needed(text_of(window, "text"), "window text")
    match = whole_of(window, "match_start_chars"), whole_of(window, "match_end_chars")
    connection = text_of(body, "connection_id") or text_of(body, "connector_instance_id") or ""
    return FieldWindow(
        RecordId(connection, needed(text_of(body, "stream"), "stream"), needed(text_of(body, "record_id"), "record")),
        needed(text_of(field, "path"), "field"),
        text_of(field, "type") or "string",
        text,
        start,
        total,
        len(text) if limit is None else limit,
        (match[0], match[1]) if match[0] is not None and match[1] is not None else None,
        _clamped_from(body),
        text_like=field.get("text_like") is not False,
    )


def _clamped_from(body: Mapping[str, Any]) -> int | None:
    clamped = (warned for warned in decode_warnings(body) if warned.code == "limit_clamped")
    return next((whole_of(warned.detail or {}, "requested_limit") for warned in clamped), None)


def _refuse_mixed(q: str | None, offset: int | None, before: int | None, after: int | None) -> None:
    if q == "":
        raise InvalidWindow("q must not be empty.", param="q")
    if q is not None and offset is not None:
        raise InvalidWindow("q and offset_chars exclude each other.", param="offset_chars")
    if q is None and (before is not None or after is not None):
        param = "after_chars" if before is None else "before_chars"
        raise InvalidWindow(f"{param} needs q.", param=param)


def _limit(asked: int | None, q: str | None, before: int | None, after: int | None) -> int:
    """What the context adds up to, where context was asked for; an explicit limit still bounds it."""
    around = (before or 0) + len(q or "") + (after or 0)
    if asked is None:
        return WINDOW_CHARS if before is None and after is None else around
    return asked if after is None else min(asked, around)

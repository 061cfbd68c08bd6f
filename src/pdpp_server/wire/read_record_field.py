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
    offset = params.whole("offset_chars", 0, None, InvalidWindow)
    before = params.whole("before_chars", 0, CONTEXT_CHARS_MAX, InvalidWindow)
    after = params.whole("after_chars", 0, CONTEXT_CHARS_MAX, InvalidWindow)
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
    id = window.id
    match_start, match_end = window.match or (None, None)
    body: Json = {
        "object": "field_window",
        "stream": id.stream,
        "record_id": id.key,
        "connection_id": id.connection_id,
        "url": url("streams", id.stream, "records", id.key, "field-window"),
        "field": {"path": window.field, "type": window.type, "text_like": window.text_like},
        "window": {
            "text": window.text,
            "total_chars": window.total,
            "start_chars": window.start,
            "end_chars": window.end,
            "limit_chars": window.limit,
            "complete": window.complete,
            "has_more": window.next_offset is not None,
            "match_start_chars": match_start,
            "match_end_chars": match_end,
            "next_offset_chars": window.next_offset,
            "previous_offset_chars": window.previous_offset,
        },
    }
    clamped = (limit_clamped("limit_chars", window.clamped_from, window.limit),) if window.clamped_from else ()
    return finish(body, links_self, (*warnings, *clamped))


def decode(body: Mapping[str, Any]) -> FieldWindow:
    field, window = object_of(body, "field"), object_of(body, "window")
    start, total = whole_of(window, "start_chars"), whole_of(window, "total_chars")
    if start is None or total is None:
        raise SourceUnavailable("The server's window does not say where it stands.")
    text = needed(text_of(window, "text"), "window text")
    limit = whole_of(window, "limit_chars")
    return FieldWindow(
        _decode_id(body),
        needed(text_of(field, "path"), "field"),
        text_of(field, "type") or "string",
        text,
        start,
        total,
        len(text) if limit is None else limit,
        _decode_match(window),
        _clamped_from(body),
        text_like=field.get("text_like") is not False,
    )


def _decode_id(body: Mapping[str, Any]) -> RecordId:
    connection = text_of(body, "connection_id") or text_of(body, "connector_instance_id") or ""
    stream = needed(text_of(body, "stream"), "stream")
    key = needed(text_of(body, "record_id"), "record")
    return RecordId(connection, stream, key)


def _decode_match(window: Mapping[str, Any]) -> tuple[int, int] | None:
    start, end = whole_of(window, "match_start_chars"), whole_of(window, "match_end_chars")
    if start is None or end is None:
        return None
    return start, end


def _clamped_from(body: Mapping[str, Any]) -> int | None:
    for warned in decode_warnings(body):
        if warned.code == "limit_clamped":
            return whole_of(warned.detail or {}, "requested_limit")
    return None


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

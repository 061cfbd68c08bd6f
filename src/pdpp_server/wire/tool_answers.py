"""The structured answers of the tools, as the JSON Schemas that a client is told."""

from collections.abc import Mapping
from typing import Any

_Schema = Mapping[str, Any]
_TEXT: _Schema = {"type": "string"}
_LIST: _Schema = {"type": "array"}
_OBJECT: _Schema = {"type": "object"}
_NEXT: _Schema = {"next": _LIST}
_REQUEST: _Schema = {"request_id": _TEXT}


def _answer(members: _Schema, *required: str) -> _Schema:
    """An answer has these members, or it is a refusal."""
    return {
        "type": "object",
        "properties": members,
        "anyOf": [{"required": [*required]}, {"required": ["error"]}],
    }


SCHEMA_ANSWER = _answer({"data": _OBJECT, **_NEXT, **_REQUEST}, "data", "next")

RECORDS_ANSWER = _answer(
    {
        "data": {**_OBJECT, "description": "data[].handle is the id for fetch, emitted_at when it was stored"},
        **_NEXT,
        "read_with": _OBJECT,
        **_REQUEST,
    },
    "data",
    "next",
)

AGGREGATE_ANSWER = _answer(
    {"data": {**_OBJECT, "description": "value, or groups and other_count"}, **_NEXT, **_REQUEST}, "data", "next"
)

_RESULT: _Schema = {
    "type": "object",
    "properties": {
        "id": {**_TEXT, "description": "Pass to fetch as it is"},
        "title": _TEXT,
        "url": _TEXT,
        "connection_id": _TEXT,
    },
    "required": ["id", "title", "url"],
}

SEARCH_ANSWER = _answer(
    {"results": {**_LIST, "items": _RESULT}, "data": _OBJECT, **_NEXT, "read_with": _OBJECT, **_REQUEST},
    "results",
    "data",
    "next",
)

DOCUMENT_ANSWER = _answer(
    {
        "id": _TEXT,
        "title": _TEXT,
        "text": _TEXT,
        "url": _TEXT,
        "metadata": {**_OBJECT, "additionalProperties": _TEXT},
    },
    "id",
    "title",
    "text",
    "url",
    "metadata",
)

WINDOW_ANSWER = _answer(
    {
        "record": {**_OBJECT, "properties": {"id": _TEXT}},
        "field": _OBJECT,
        "window": {
            **_OBJECT,
            "properties": {"text": _TEXT, "next_cursor": {"type": ["string", "null"]}},
            "required": ["text", "next_cursor"],
        },
        **_NEXT,
        **_REQUEST,
    },
    "record",
    "field",
    "window",
)

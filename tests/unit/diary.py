"""A declared source small enough to know by heart: diary entries, their photos, and loose notes."""

from copy import deepcopy
from typing import Any

SOURCE_ID = "https://registry.pdpp.dev/connectors/diary"

_ENTRIES: dict[str, Any] = {
    "name": "entries",
    "description": "One entry a day.",
    "semantics": "mutable_state",
    "display": {"label": "Diary entries", "detail": "Title, text and date."},
    "schema": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "required": ["id", "title"],
        "properties": {
            "id": {"type": "string"},
            "title": {"type": "string", "x_pdpp_role": "primary-title"},
            "body": {"type": ["string", "null"]},
            "mood": {"type": ["integer", "null"]},
            "written_at": {"type": "string", "format": "date-time"},
            "day": {"type": ["null", "string"], "format": "date"},
            "place": {"$ref": "#/$defs/place"},
            "score": {"type": ["integer", "string"]},
        },
        "$defs": {"place": {"type": "object"}},
    },
    "primary_key": ["id"],
    "cursor_field": "written_at",
    "consent_time_field": "written_at",
    "selection": {"fields": True, "resources": True},
    "views": [{"id": "titles", "label": "Titles", "fields": ["id", "title", "written_at"]}],
    "relationships": [{"name": "photos", "stream": "photos", "foreign_key": "entry_id", "cardinality": "has_many"}],
    "query": {
        "range_filters": {"written_at": ["gte", "lt"], "mood": ["gt"]},
        "expand": [{"name": "photos", "default_limit": 5, "max_limit": 20}],
        "search": {"lexical_fields": ["title", "body"], "semantic_fields": ["body"]},
        "aggregations": {
            "count": True,
            "sum": ["mood"],
            "min": ["mood", "written_at"],
            "max": ["day"],
            "count_distinct": ["title"],
            "group_by": ["mood"],
            "group_by_time": ["written_at", "day"],
        },
    },
}
_PHOTOS: dict[str, Any] = {
    "name": "photos",
    "semantics": "append_only",
    "schema": {
        "type": "object",
        "properties": {"entry_id": {"type": "string"}, "number": {"type": "integer"}, "caption": {"type": "string"}},
    },
    "primary_key": ["entry_id", "number"],
    "selection": {"fields": False, "resources": True},
}
_NOTES: dict[str, Any] = {
    "name": "notes",
    "semantics": "mutable_state",
    "schema": {"type": "object", "properties": {"id": {"type": "string"}, "text": {"type": "string"}}},
    "primary_key": ["id"],
    "selection": {"fields": True, "resources": False},
}
_DIARY: dict[str, Any] = {
    "protocol_version": "0.1.0",
    "source": {"kind": "connector", "id": SOURCE_ID},
    "declaration_version": "2026-11-01",
    "publisher": {"id": "https://registry.pdpp.dev/"},
    "display": {"name": "Diary"},
    "selection_presets": [
        {
            "id": "reading",
            "label": "What I wrote",
            "streams": [
                {"name": "entries", "view": "titles"},
                {"name": "photos", "fields": ["caption"]},
                {"name": "notes"},
            ],
        }
    ],
    "streams": [_ENTRIES, _PHOTOS, _NOTES],
    "extensions": {"https://example.org/profile": {"colour": "blue"}},
}


def diary() -> dict[str, Any]:
    """A fresh copy, to be spoilt at will."""
    return deepcopy(_DIARY)

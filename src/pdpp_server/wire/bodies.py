"""What every answer looks like, as JSON Schema. Members listed as required are always there; others may be added."""

from typing import Any

from pdpp_server.model.queries import BY_MEANING, BY_WORDS
from pdpp_server.wire.envelope import Json
from pdpp_server.wire.shapes import list_of

TEXT: Json = {"type": "string"}
TEXT_OR_NULL: Json = {"type": ["string", "null"]}
FLAG: Json = {"type": "boolean"}
NUMBER: Json = {"type": "number"}
COUNT: Json = {"type": "integer", "minimum": 0}
COUNT_OR_NULL: Json = {"type": ["integer", "null"], "minimum": 0}
SCALAR: Json = {"type": ["boolean", "number", "string", "null"]}
ANY_OBJECT: Json = {"type": "object"}
TEXTS = list_of(TEXT)


def ref(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def _object(required: Json, optional: Json | None = None) -> Json:
    return {"type": "object", "required": [*required], "properties": {**required, **(optional or {})}}


def _map_of(values: Json) -> Json:
    return {"type": "object", "additionalProperties": values}


def _only(*values: str) -> Json:
    return {"const": values[0]} if len(values) == 1 else {"enum": [*values]}


def _one_of(*shapes: Json) -> Json:
    return {"anyOf": [*shapes]}


def _finished(required: Json, optional: Json | None = None) -> Json:
    """With the links and meta of a single object."""
    links = _object({"self": TEXT})
    meta = _object({"count": ref("Count"), "warnings": list_of(ref("Warning"))}, {"partial": FLAG})
    return _object({**required, "links": links, "meta": meta}, optional)


def _page(items: Json, meta: Json, required: Json, optional: Json | None = None) -> Json:
    shared: Json = {"object": _only("list"), "has_more": FLAG, "data": list_of(items)}
    links = _object({"self": TEXT, "next": TEXT_OR_NULL})
    return _object({**shared, **required, "links": links, "meta": meta}, optional)


_ORIGIN: Json = {"connector_key": TEXT, "connection_id": TEXT}
_LABEL: Json = {"display_name": TEXT}
_SOURCE = _object({"kind": _only("connector", "provider_native"), "id": TEXT})
_CONNECTOR: Json = {
    "object": _only("connector"),
    "connector_key": TEXT,
    "connector_id": TEXT,
    "source": _SOURCE,
    "stream_count": COUNT,
}
_FRESHNESS = _object(
    {"status": _only("current", "stale", "unknown")},
    {"captured_at": TEXT, "refreshed_on": TEXT, "last_attempted_at": TEXT},
)
_LISTED: Json = {
    "object": _only("stream"),
    "name": TEXT,
    "record_count": COUNT,
    "last_updated": TEXT_OR_NULL,
    "freshness": _FRESHNESS,
}
_ABILITY = _object({"declared": FLAG, "usable": FLAG}, {"operators": TEXTS, "reason": TEXT})
_CARDINALITY = _only("has_many", "has_one")
_DECLARED: Json = {
    "name": TEXT,
    "semantics": _only("append_only", "mutable_state"),
    "primary_key": TEXTS,
    "record_count": COUNT,
}
_DECLARED_TIMES: Json = {"cursor_field": TEXT, "consent_time_field": TEXT}
_STREAM: Json = {
    "object": _only("stream_metadata"),
    **_DECLARED,
    "selection": _object({"fields": FLAG, "resources": FLAG}),
    "schema": ANY_OBJECT,
    "views": list_of(_object({"id": TEXT, "label": TEXT, "fields": TEXTS})),
    "relationships": list_of(_object({"name": TEXT, "stream": TEXT, "foreign_key": TEXT, "cardinality": _CARDINALITY})),
    "query": ANY_OBJECT,
    "field_capabilities": _map_of(
        _object(
            {
                "granted": FLAG,
                "schema": ANY_OBJECT,
                "lexical_search": _ABILITY,
                "semantic_search": _ABILITY,
                "aggregation": _map_of(_ABILITY),
            },
            {"type": TEXT, "role": TEXT, "exact_filter": _ABILITY, "range_filter": _ABILITY},
        )
    ),
    "expand_capabilities": list_of(
        _object(
            {
                "name": TEXT,
                "stream": TEXT,
                "target_stream": TEXT,
                "cardinality": _CARDINALITY,
                "foreign_key": TEXT,
                "granted": FLAG,
                "usable": FLAG,
                "default_limit": COUNT,
                "max_limit": COUNT,
            },
            {"child_parent_key_field": TEXT, "reason": TEXT},
        )
    ),
    "freshness": _FRESHNESS,
}
_STREAM_OPTIONAL: Json = {**_DECLARED_TIMES, "display": ANY_OBJECT, "description": TEXT}
_HOLDING = _object(
    {"connection_id": TEXT, "record_count": COUNT},
    {**_LABEL, "earliest_at": TEXT, "latest_at": TEXT, "captured_at": TEXT, "refreshed_on": TEXT},
)
_CONNECTION = _object({"connection_id": TEXT}, _LABEL)
_COMPACT_STREAM = _object(
    {
        **_DECLARED,
        "holdings": _map_of({"type": "array", "minItems": 1, "prefixItems": [COUNT], "items": TEXT_OR_NULL}),
        "field_capabilities": _map_of(TEXT),
        "expand_capabilities": list_of(
            _object(
                {"name": TEXT, "stream": TEXT, "cardinality": _CARDINALITY, "usable": FLAG, "max_limit": COUNT},
                {"reason": TEXT},
            )
        ),
    },
    {
        **_DECLARED_TIMES,
        "views": TEXTS,
        "granted_connections": list_of(_CONNECTION),
        "description": TEXT,
        "field_descriptions": _map_of(TEXT),
    },
)
_SCHEMA: Json = {
    "object": _only("schema"),
    "bearer": _object({"token_kind": TEXT, "scope": _only("owner", "grant")}, {"grant_id": TEXT, "client_id": TEXT}),
    "capabilities": _object({"client_query_extensions": TEXTS}),
}
_NAMED: Json = {"object": _only("record"), "id": TEXT, "stream": TEXT, **_ORIGIN}
_RECORD: Json = {**_NAMED, "data": ANY_OBJECT, "emitted_at": TEXT}
_RELATED = _object({"object": _only("list"), "data": list_of(ref("Record")), "has_more": FLAG})
_RECORD_OPTIONAL: Json = {
    **_LABEL,
    "authored_at": TEXT,
    "roles": _map_of(TEXT),
    "binary": ANY_OBJECT,
    "expanded": _map_of(_one_of(_RELATED, ref("Record"), {"type": "null"})),
}
_EXCERPT = _object(
    {
        "object": _only("evidence_excerpt"),
        "field_path": TEXT,
        "preview_text": TEXT,
        "provenance": TEXT,
        "truncated": FLAG,
        "offset_chars": COUNT,
        "total_chars": COUNT,
        "read": _object(
            {
                "object": _only("field_window_read"),
                "method": _only("GET"),
                "route": TEXT,
                "stream": TEXT,
                "record_id": TEXT,
                "field": TEXT,
                "connection_id": TEXT,
                "offset_chars": COUNT,
            }
        ),
    },
    {"match_start_chars": COUNT, "match_end_chars": COUNT, "rarest": COUNT},
)
_HIT = _object(
    {
        "object": _only("search_result"),
        "stream": TEXT,
        "record_key": TEXT,
        "connector_id": TEXT,
        **_ORIGIN,
        "title": TEXT,
        "emitted_at": TEXT,
        "matched_fields": TEXTS,
        "record_url": TEXT,
    },
    {
        **_LABEL,
        "authored_at": TEXT,
        "score": _object({"kind": TEXT, "value": NUMBER, "order": TEXT}),
        "snippet": _object({"field": TEXT, "text": TEXT}),
        "evidence_excerpts": list_of(_EXCERPT),
        "cursor": TEXT,
        "title_field": TEXT,
        "actor": TEXT,
        "actor_field": TEXT,
        "amount": NUMBER,
        "amount_field": TEXT,
        "currency": TEXT,
        "currency_field": TEXT,
        "also_matched": TEXTS,
        "beside": TEXT,
    },
)
_MEANING = {
    "retrieval_mode": _only(*BY_WORDS[1:], *BY_MEANING),
    "index_state": _object({"state": _only("built", "building"), "waiting": COUNT}),
}
_COUNT_ACCURACY = _only("exact", "lower_bound", "not_counted")
_RANKING_SCOPE = _only("all_matches", "candidate_window", "newest_records", "unknown")
_SEARCH_META = _object(
    {
        "count": COUNT_OR_NULL,
        "count_accuracy": _COUNT_ACCURACY,
        "recall": _object(
            {
                "complete": FLAG,
                "ranking_scope": _RANKING_SCOPE,
                "truncated": FLAG,
            },
            {
                "ranked_candidate_count": COUNT,
                "candidate_window_limit": COUNT,
                "neighbour_count": COUNT,
                "meaning_count": COUNT,
            },
        ),
        "warnings": list_of(ref("Warning")),
    },
    {"as_of": TEXT, "words": _map_of(COUNT), "narrows": FLAG, **_MEANING},
)
_LEAN_EXCERPT = _object(
    {"field_path": TEXT, "text": TEXT, "start": COUNT, "total_chars": COUNT},
    {"marks": list_of(list_of(COUNT)), "provenance": TEXT},
)
_LEAN_HIT = _object(
    {"object": _only("search_result"), "stream": TEXT, "record_key": TEXT, **_ORIGIN},
    {
        **_LABEL,
        "authored_at": TEXT,
        "actor": TEXT,
        "amount": NUMBER,
        "currency": TEXT,
        "matched_fields": TEXTS,
        "beside": TEXT,
        "evidence": list_of(_LEAN_EXCERPT),
    },
)
_LEAN_SEARCH_META = _object(
    {
        "count_accuracy": _COUNT_ACCURACY,
        "recall": _object(
            {"complete": FLAG, "ranking_scope": _RANKING_SCOPE, "says": TEXT},
            {"ranked_candidate_count": COUNT, "candidate_window_limit": COUNT},
        ),
    },
    {
        "count": COUNT,
        "matches": COUNT,
        "beside": COUNT,
        "by_meaning": COUNT,
        **_MEANING,
        "words": _map_of(COUNT),
        "notes": TEXTS,
        "as_of": TEXT,
        "partial": FLAG,
        "warnings": list_of(ref("Warning")),
    },
)
_PAGE_META = _object(
    {"count": ref("Count"), "warnings": list_of(ref("Warning"))},
    {
        "window": _object({"total": COUNT}, {"earliest_at": TEXT, "latest_at": TEXT}),
        "around": _object({}, {"earlier_cursor": TEXT, "later_cursor": TEXT}),
        "partial": FLAG,
    },
)
_WINDOW: Json = {
    "text": TEXT,
    **dict.fromkeys(("total_chars", "start_chars", "end_chars", "limit_chars"), COUNT),
    "complete": FLAG,
    "has_more": FLAG,
    **dict.fromkeys(
        ("match_start_chars", "match_end_chars", "next_offset_chars", "previous_offset_chars"), COUNT_OR_NULL
    ),
}
_BLOB: Json = {"blob_id": TEXT, "sha256": TEXT, "size_bytes": COUNT, "mime_type": TEXT}
_ENDPOINTS = _object({"schema": TEXT, "core_query_base": TEXT, "connectors": TEXT, "well_known": TEXT, "openapi": TEXT})

AGENT_DISCOVERY = _object({"mcp": _object({"endpoint": TEXT})})

SCHEMAS: dict[str, Any] = {
    "Error": _object(
        {
            "error": _object(
                {"type": TEXT, "code": TEXT, "message": TEXT, "request_id": TEXT},
                {
                    "param": TEXT,
                    "resource_metadata": TEXT,
                    "next_step": TEXT,
                    "available_connections": list_of(
                        _object({"connection_id": TEXT, "connector_key": TEXT}, {"grant_id": TEXT, **_LABEL})
                    ),
                    "available_connection_count": COUNT,
                    "available_connections_truncated": FLAG,
                    "available_connections_omitted": COUNT,
                    "retry_with": TEXT,
                },
            )
        }
    ),
    "Warning": _object({"code": TEXT, "message": TEXT}, {"param": TEXT, "detail": ANY_OBJECT}),
    "Count": _object({"kind": _only("none", "exact")}, {"value": COUNT}),
    "Record": _object(_RECORD, _RECORD_OPTIONAL),
    "Tombstone": _object({**_NAMED, "deleted": {"const": True}, "deleted_at": TEXT, "emitted_at": TEXT}, _LABEL),
    "Schema": _one_of(
        _finished(
            {
                **_SCHEMA,
                "connectors": list_of(
                    _object(
                        {
                            **_CONNECTOR,
                            "streams": list_of(
                                _object({**_STREAM, "granted_connections": list_of(_HOLDING)}, _STREAM_OPTIONAL)
                            ),
                        }
                    )
                ),
            }
        ),
        _finished(
            {
                **_SCHEMA,
                "detail": _only("compact"),
                "connector_count": COUNT,
                "stream_count": COUNT,
                "connectors": list_of(
                    _object(
                        {**_CONNECTOR, "streams": list_of(_COMPACT_STREAM)},
                        {"granted_connections": list_of(_CONNECTION)},
                    )
                ),
            }
        ),
    ),
    "Connectors": _object(
        {
            "object": _only("list"),
            "data": list_of(
                _object(
                    {
                        **_CONNECTOR,
                        "streams": list_of(
                            _object(
                                {
                                    **_LISTED,
                                    "capabilities": _object(
                                        {
                                            **dict.fromkeys(
                                                (
                                                    "records",
                                                    "stream_metadata",
                                                    "changes_since",
                                                    "exact_filters",
                                                    "range_filters",
                                                    "expand",
                                                    "aggregate",
                                                ),
                                                FLAG,
                                            ),
                                            "records_url": TEXT,
                                            "metadata_url": TEXT,
                                            "aggregate_url": TEXT_OR_NULL,
                                        }
                                    ),
                                }
                            )
                        ),
                    }
                )
            ),
        }
    ),
    "Streams": _page(
        _object({**_LISTED, **_ORIGIN}, {**_LABEL, "connector_id": TEXT, "source": _SOURCE}), _PAGE_META, {}
    ),
    "StreamMetadata": _finished(_STREAM, _STREAM_OPTIONAL),
    "SearchPage": _one_of(
        _page(_HIT, _SEARCH_META, {"url": TEXT}, {"next_cursor": TEXT}),
        _object(
            {
                "object": _only("list"),
                "url": TEXT,
                "has_more": FLAG,
                "data": list_of(_LEAN_HIT),
                "meta": _LEAN_SEARCH_META,
            },
            {"next_cursor": TEXT},
        ),
    ),
    "RecordPage": _page(
        _one_of(ref("Record"), ref("Tombstone")),
        _PAGE_META,
        {"url": TEXT},
        {"next_cursor": TEXT, "next_changes_since": TEXT},
    ),
    "OneRecord": _finished(_RECORD, _RECORD_OPTIONAL),
    "FieldWindow": _finished(
        {
            "object": _only("field_window"),
            "stream": TEXT,
            "record_id": TEXT,
            "connection_id": TEXT,
            "url": TEXT,
            "field": _object({"path": TEXT, "type": TEXT, "text_like": FLAG}),
            "window": _object(_WINDOW),
        }
    ),
    "Aggregation": _finished(
        {
            "object": _only("aggregation"),
            "stream": TEXT,
            "metric": TEXT,
            **dict.fromkeys(("field", "group_by", "group_by_time", "granularity", "time_zone"), TEXT_OR_NULL),
            "filtered_record_count": COUNT,
            "approximate": FLAG,
        },
        {
            "value": SCALAR,
            "groups": list_of(
                _object({"key": SCALAR, "count": COUNT}, {"value": SCALAR, "start": TEXT, "currency": TEXT})
            ),
            "limit": COUNT,
            "groups_kept": TEXT,
            "other_count": COUNT,
            "other_value": NUMBER,
            "currency": TEXT_OR_NULL,
            "currency_field": TEXT,
        },
    ),
    "Blob": _object({"object": _only("blob"), **_BLOB}),
    "Delivered": _object(
        {
            "stream": TEXT,
            "records_accepted": COUNT,
            "records_rejected": COUNT,
            "records_unchanged": COUNT,
            "records_attempted": COUNT,
            "errors": TEXTS,
            "rejections": list_of(_object({"input_index": COUNT, "code": TEXT, "receipt_id": TEXT})),
        }
    ),
    "Connection": _object(
        {"object": _only("connection"), "connection_id": TEXT, "connector_key": TEXT, "display_name": TEXT}
    ),
    "SentConnection": {
        "type": "object",
        "required": ["declaration", "display_name"],
        "properties": {"declaration": ANY_OBJECT, "display_name": {**TEXT, "minLength": 1}},
        "additionalProperties": False,
    },
    "State": _object(
        {
            "object": _only("stream_state"),
            "connector_id": TEXT,
            "connector_instance_id": TEXT,
            "grant_id": TEXT_OR_NULL,
            "state": _map_of(ANY_OBJECT),
            "updated_at": TEXT_OR_NULL,
        }
    ),
    "SentState": {
        "type": "object",
        "required": ["state"],
        "properties": {"state": _map_of(ANY_OBJECT)},
        "additionalProperties": False,
    },
    "Index": _object(
        {
            "object": _only("pdpp_discovery_index"),
            "role": _only("resource_server"),
            "resource_name": TEXT,
            "reference_revision": TEXT,
            "links": _ENDPOINTS,
        }
    ),
    "ProtectedResource": _object(
        {
            "resource": TEXT,
            "resource_name": TEXT,
            "bearer_methods_supported": TEXTS,
            "pdpp_core_query_base": TEXT,
            "pdpp_provider_connect_version": TEXT,
            "pdpp_self_export_supported": FLAG,
            "pdpp_token_kinds_supported": TEXTS,
            "pdpp_agent_discovery": AGENT_DISCOVERY,
            "pdpp_discovery_hints": ANY_OBJECT,
            "capabilities": _object({"lexical_retrieval": ANY_OBJECT, "client_query_extensions": TEXTS}),
        }
    ),
    "McpResource": _object(
        {
            "resource": TEXT,
            "resource_name": TEXT,
            "bearer_methods_supported": TEXTS,
            "pdpp_token_kinds_supported": TEXTS,
            "pdpp_agent_discovery": AGENT_DISCOVERY,
        }
    ),
    "Document": _object({"openapi": TEXT, "info": ANY_OBJECT, "paths": ANY_OBJECT, "components": ANY_OBJECT}),
    "Health": _object({"object": _only("health"), "database": FLAG, "log": FLAG}),
    "Live": _object({"object": _only("live")}),
    "Ready": _object({"object": _only("ready"), "database": FLAG, "schema": FLAG, "log": FLAG}),
}

"""The `aggregate` tool: count, sum and group without reading bodies."""

from collections.abc import Mapping
from functools import partial
from typing import Any, get_args

from pdpp_server.evidence.aggregate import aggregate_next, aggregate_text, fitted_ways
from pdpp_server.evidence.shown import aggregation_shown
from pdpp_server.mcp.arguments import CONNECTION_ID, FILTER, STREAM
from pdpp_server.mcp.render import json_bytes
from pdpp_server.mcp.tool import Tool, ToolResult
from pdpp_server.model.aggregates import Aggregation
from pdpp_server.model.pending import Pending
from pdpp_server.model.queries import GROUPS_LIMIT, GROUPS_LIMIT_MAX, Granularity, Metric
from pdpp_server.port.reader import Reader
from pdpp_server.wire.tools import decode_aggregate, encode_aggregation

STRUCTURED_BYTES = 10_000
_FIELD: Mapping[str, Any] = {"type": "string", "minLength": 1}


def aggregate(reader: Reader, arguments: Mapping[str, Any]) -> Pending[ToolResult]:
    found = reader.aggregate(decode_aggregate(arguments))
    return found.shaped(partial(_result, arguments, found.request_id))


def _result(arguments: Mapping[str, Any], request_id: str, aggregation: Aggregation) -> ToolResult:
    steps = aggregate_next(aggregation, arguments)
    structured: Mapping[str, Any] = {}
    for way in fitted_ways(aggregation):
        structured = encode_aggregation(way.aggregation, request_id, way.total_chars, steps)
        if json_bytes(structured) <= STRUCTURED_BYTES:
            break
    shown = aggregation_shown(aggregation)
    return ToolResult(aggregate_text(aggregation, arguments), structured, shown, shown)


AGGREGATE = Tool(
    "aggregate",
    "Count and sum",
    "Numbers over all records of a stream that pass a typed filter: count, sum, min, max, count_distinct; or counts by "
    "value or period. other_count is how many records are in groups beyond limit. schema(stream) shows agg.",
    {
        "type": "object",
        "properties": {
            "stream": STREAM,
            "metric": {"enum": list(get_args(Metric))},
            "field": {**_FIELD, "description": "For every metric but count"},
            "group_by": {**_FIELD, "description": "With count: the largest groups"},
            "group_by_time": {**_FIELD, "description": "With count: the latest periods; needs granularity"},
            "granularity": {"enum": list(get_args(Granularity))},
            "time_zone": {**_FIELD, "description": "IANA name, default UTC"},
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": GROUPS_LIMIT_MAX,
                "description": f"Groups, default {GROUPS_LIMIT}",
            },
            "filter": FILTER,
            "connection_id": CONNECTION_ID,
        },
        "required": ["stream", "metric"],
        "additionalProperties": False,
    },
    {
        "type": "object",
        "properties": {
            "data": {"type": "object", "description": "value, or groups and other_count"},
            "next": {"type": "array"},
            "request_id": {"type": "string"},
        },
        "anyOf": [{"required": ["data", "next"]}, {"required": ["error"]}],
    },
    aggregate,
)

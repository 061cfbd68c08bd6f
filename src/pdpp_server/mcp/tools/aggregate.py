"""The `aggregate` tool: count, sum and group without reading bodies."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from pdpp_server.evidence.aggregate import aggregate_next, aggregate_text, fitted_ways
from pdpp_server.evidence.budgets import AGGREGATE_STRUCTURED_BYTES
from pdpp_server.evidence.shown import aggregation_shown
from pdpp_server.mcp.arguments import arguments_for, input_schema
from pdpp_server.mcp.render import json_bytes
from pdpp_server.mcp.tool import Tool, ToolResult
from pdpp_server.model.aggregates import Aggregation
from pdpp_server.model.pending import Pending
from pdpp_server.model.queries import AggregateQuery
from pdpp_server.port.reader import Reader
from pdpp_server.wire.aggregate import decode_query
from pdpp_server.wire.tool_answers import AGGREGATE_ANSWER
from pdpp_server.wire.tools import encode_aggregation, params_of


def aggregate(reader: Reader, arguments: Mapping[str, Any]) -> Pending[ToolResult]:
    query = decode_query(params_of(AggregateQuery, arguments, "stream"), stream=arguments["stream"])
    found = reader.aggregate(query)
    return found.shaped(partial(_result, arguments, found.request_id))


def _result(arguments: Mapping[str, Any], request_id: str, aggregation: Aggregation) -> ToolResult:
    steps = aggregate_next(aggregation, arguments)
    structured: Mapping[str, Any] = {}
    for way in fitted_ways(aggregation):
        structured = encode_aggregation(way.aggregation, request_id, way.total_chars, steps)
        if json_bytes(structured) <= AGGREGATE_STRUCTURED_BYTES:
            break
    shown = aggregation_shown(aggregation)
    return ToolResult(aggregate_text(aggregation, arguments), structured, shown, shown)


AGGREGATE = Tool(
    "aggregate",
    "Count and sum",
    "Numbers over all records of a stream that pass a typed filter: count, sum, min, max, count_distinct; of all or "
    "for each value or period. other_count is how many records are in groups beyond limit. schema(stream) shows agg.",
    input_schema(arguments_for(AggregateQuery), "stream", "metric"),
    AGGREGATE_ANSWER,
    aggregate,
)

"""What every tool may spend, and every answer of a life that was made to overspend."""

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from pdpp_server.evidence.handles import parse
from pdpp_server.port.local import LocalReader
from tests.harness.clients import written
from tests.harness.sights import split_window
from tests.scenarios.mcp.agents import Agent, Result, agent_on
from tests.worlds.lives import WIDE_FIELDS, Life

TEXT_BYTES = {
    "schema": 8_000,
    "schema_stream": 6_000,
    "schema_full": 6_000,
    "query_records": 3_600,
    "search": 3_600,
    "search_few": 3_600,
    "aggregate": 2_400,
    "fetch": 16_000,
    "read_record_field": 300,  # beside the window and three times the id
    "refusal": 2_000,
}
STRUCTURED_BYTES = {
    "schema": 16_000,
    "schema_stream": 10_000,
    "schema_full": 40_000,
    "query_records": 24_000,
    "search": 16_000,
    "search_few": 7_500,
    "aggregate": 10_000,
    "fetch": 16_000,
    "read_record_field": 20_000,
    "refusal": 4_000,
}


class Sized(NamedTuple):
    name: str  # of its budget
    answer: Result
    text_bytes: int
    structured_bytes: int


def sized_answers(life: Life) -> Iterator[Sized]:
    """Everything that can be asked of the largest stream, as much of it as may be asked for."""
    agent = agent_on(LocalReader(life.services, life.token, "https://me.example"))
    stream = max(life.records, key=lambda name: len(life.records[name]))
    for name, arguments in _calls(life, stream):
        yield _sized(name, _asked(agent, name, arguments), arguments)


def _calls(life: Life, stream: str) -> Iterator[tuple[str, dict[str, Any]]]:
    of, narrow = {"stream": stream}, {"connection_id": min(life.connections)}
    yield "schema", {}
    for name in life.records:
        yield "schema_stream", {"stream": name}
        yield "schema_full", {"stream": name, "detail": "full", **narrow}
        yield "query_records", {"stream": name, "limit": 25, **narrow}
    yield "search_few", {"query": "walrus"}
    for limit in (1, 10, 25, 100):
        for narrowing in ({"count": "exact"}, {"fields": ["title"]}, {"expand": ["answered"]}):
            yield "query_records", {**of, **narrow, "limit": limit, **narrowing}
        yield "query_records", {**of, **narrow, "limit": limit, "changes_since": "beginning"}
        name = "search_few" if limit <= 10 else "search"
        yield name, {"query": "walrus", "limit": limit}
        yield name, {"query": "walrus " * 140, "limit": limit, "streams": [stream]}
        yield "aggregate", {**of, **narrow, "metric": "count", "group_by": "kind", "limit": limit}
    days = {"metric": "count", "group_by_time": "written_at", "granularity": "day", "limit": 100}
    yield "aggregate", {**of, **narrow, **days, "filter": {"kind": "x" * 2500}}
    yield from _openings(life, stream)
    keys = Counter(parse(id).key for id in life.records[stream])
    yield "refusal", {"id": f"{stream}:{keys.most_common(1)[0][0]}"}
    yield "refusal", {"id": "x" * 100_000}
    yield "refusal", {"id": "x:y", "🦭" * 9_000: 1}


def _openings(life: Life, stream: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The records with the shortest and the longest handles, and the longest one, window by window."""
    by_length = sorted(life.records[stream], key=len)
    for id in (*by_length[:2], *by_length[-4:], *filter(None, [life.needle_id])):
        yield "fetch", {"id": id}
        yield "fetch", {"id": id, "expand": ["answered"]}
        for place in ({}, {"offset_chars": 5}, {"cursor": "500000"}):
            yield "read_record_field", {"id": id, "field_path": "title", "limit_chars": 16_384, **place}
            yield "read_record_field", {"id": id, "field_path": "body", "limit_chars": 16_384, **place}
    for id in life.records.get("wide", ()):
        yield "fetch", {"id": id}
        yield "read_record_field", {"id": id, "field_path": WIDE_FIELDS[0], "offset_chars": 5, "limit_chars": 20}


def _asked(agent: Agent, name: str, arguments: dict[str, Any]) -> Result:
    tool = "fetch" if name == "refusal" else name.removesuffix("_stream").removesuffix("_full").removesuffix("_few")
    answer = agent.call(tool, **arguments)
    assert answer.is_error == (name == "refusal"), answer.text
    return answer


def _sized(name: str, answer: Result, arguments: dict[str, Any]) -> Sized:
    text = len(answer.text.encode())
    if name == "read_record_field":
        window = len(split_window(answer.text)[1].encode())
        text -= window + 3 * len(arguments["id"].encode())
    return Sized(name, answer, text, len(written(answer.structured).encode()))

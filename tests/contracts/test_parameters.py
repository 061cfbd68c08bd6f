"""A parameter that is declared is read, and one that is read is declared: of tools, of addresses, and of queries."""

import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from pdpp_server.errors import PdppError
from pdpp_server.mcp.surface import TOOLS
from pdpp_server.mcp.tool import Tool
from pdpp_server.model.parameters import parameters
from pdpp_server.model.queries import (
    AggregateQuery,
    Condition,
    Expand,
    FetchQuery,
    RecordsQuery,
    SchemaQuery,
    SearchQuery,
    WindowQuery,
)
from pdpp_server.port.reader import Reader
from pdpp_server.wire import (
    aggregate,
    blobs,
    fetch,
    query_records,
    read_record_field,
    schema,
    search,
    stream_metadata,
    streams,
)
from pdpp_server.wire.params import SUBJECT_ID, ParameterRow, Params
from tests.worlds.post import Post
from tests.worlds.world import World

# Who answers. What the wire writes into an address, or evidence into a next step, does not make an argument count.
ANSWERING = tuple(str(Path("pdpp_server") / part) for part in ("reads", "grants", "store", "evidence/window.py"))
CALLS: Mapping[str, list[dict[str, Any]]] = {
    "schema": [{}, {"stream": "messages"}],
    "search": [{"query": "lease"}],
    "fetch": [{"id": "messages:m1"}, {"id": "messages:m1", "fields": ["text"]}],
    "read_record_field": [{"id": "messages:m1", "field_path": "text"}, {"field_path": "text"}],
}
HANDED_ON = {"query_records": query_records.PARAMETERS, "aggregate": aggregate.PARAMETERS}


# Tools ------------------------------------------------------------------------------------------------------------


class Asked(dict[str, Any]):
    """Arguments that note which of them were looked for."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        super().__init__(given)
        self.looked_for: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        self.looked_for.add(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self.looked_for.add(name)
        return super().get(name, default)

    def __contains__(self, name: object) -> bool:
        self.looked_for.add(str(name))
        return super().__contains__(name)

    def keys(self) -> Any:
        return AskedNames(self)


class AskedNames:
    def __init__(self, asked: Asked) -> None:
        self._asked = asked

    def isdisjoint(self, names: Any) -> bool:
        found = [name for name in names if name in self._asked]  # each is looked for
        return not found

    def __le__(self, names: Any) -> bool:
        return {*self._asked} <= {*names}


@pytest.mark.parametrize("tool", [tool for tool in TOOLS if tool.name in CALLS], ids=lambda tool: tool.name)
def test_a_tool_reads_every_argument_that_it_lists_and_no_other(tool: Tool, world: World) -> None:
    looked_for: set[str] = set()
    for call in CALLS[tool.name]:
        asked = Asked(call)
        with suppress(PdppError):
            tool.call(world.reader, asked)
        looked_for |= asked.looked_for

    listed = set(tool.input_schema["properties"])
    assert listed - looked_for == set(), "listed, and nobody reads it"
    assert looked_for - listed == set(), "read, and not listed"


@pytest.mark.parametrize("tool", [tool for tool in TOOLS if tool.name in HANDED_ON], ids=lambda tool: tool.name)
def test_what_a_tool_hands_on_whole_is_read_by_the_address_of_the_same_name(tool: Tool) -> None:
    assert set(tool.input_schema["properties"]) - {"stream"} <= {each.name for each in HANDED_ON[tool.name]}


def test_every_tool_is_asked_here() -> None:
    assert {tool.name for tool in TOOLS} == CALLS.keys() | HANDED_ON.keys()


# Addresses --------------------------------------------------------------------------------------------------------


class AskedParams(Params):
    """Parameters that note which of them were read, and of which something is said wherever somebody looks."""

    def __init__(self, *pairs: tuple[tuple[str, ...], str]) -> None:
        super().__init__(pairs)
        self.read: set[str] = set()

    def has_any(self, names: frozenset[str]) -> bool:
        return True

    def _values(self, name: str) -> list[str]:
        self.read.add(name)
        return super()._values(name)

    def nested(self, name: str) -> list[tuple[tuple[str, ...], str]]:
        self.read.add(name)
        return super().nested(name)


def _schema(params: Params) -> None:
    schema.decode_query(params)
    schema.wants_compact(params)


ADDRESSES: tuple[tuple[str, tuple[ParameterRow, ...], Callable[[Params], Any], AskedParams], ...] = (
    ("search", search.PARAMETERS, search.decode_query, AskedParams((("q",), "lease"))),
    ("records", query_records.PARAMETERS, lambda p: query_records.decode_query(p, stream="s"), AskedParams()),
    (
        "aggregate",
        aggregate.PARAMETERS,
        lambda p: aggregate.decode_query(p, stream="s"),
        AskedParams((("metric",), "count"), (("group_by_time",), "at"), (("granularity",), "day")),
    ),
    ("fetch", fetch.PARAMETERS, lambda p: fetch.decode_query(p, stream="s", key="k"), AskedParams()),
    (
        "window",
        read_record_field.PARAMETERS,
        lambda p: read_record_field.decode_query(p, stream="s", key="k"),
        AskedParams((("field",), "text")),
    ),
    ("schema", schema.PARAMETERS, _schema, AskedParams()),
    ("streams", streams.PARAMETERS, streams.decode_query, AskedParams()),
    ("metadata", stream_metadata.PARAMETERS, lambda p: stream_metadata.decode_query(p, stream="s"), AskedParams()),
    ("blobs", blobs.PARAMETERS, lambda p: blobs.decode_query(p, "b", None, headers_only=False), AskedParams()),
)


@pytest.mark.parametrize(("name", "parameters", "decode", "params"), ADDRESSES, ids=lambda each: str(each)[:12])
def test_an_address_reads_every_parameter_that_it_lists_and_no_other(
    name: str, parameters: tuple[ParameterRow, ...], decode: Callable[[Params], Any], params: AskedParams
) -> None:
    decode(params)

    listed = {parameter.name for parameter in parameters} - {SUBJECT_ID.name}  # which says that it is not used
    assert listed - params.read == set(), "listed, and nobody reads it"
    assert params.read - listed == set(), "read, and not listed"


# Queries ----------------------------------------------------------------------------------------------------------


class Noting:
    """Stands in front of a field of a query and notes when an answering layer reads it."""

    def __init__(self, slot: Any, name: str, noted: set[str]) -> None:
        self._slot, self._name, self._noted = slot, name, noted

    def __get__(self, query: Any, kind: type | None = None) -> Any:
        if query is None:
            return self
        reader = sys._getframe(1).f_code.co_filename
        if any(layer in reader for layer in ANSWERING):
            self._noted.add(self._name)
        return self._slot.__get__(query, kind)

    def __set__(self, query: Any, value: Any) -> None:
        self._slot.__set__(query, value)


def _queries(account: str) -> list[Any]:
    """Between them they use every field."""
    early = (Condition("written_at", "lt", "2027-01-01T00:00:00Z"),)
    return [
        SchemaQuery("letters", account, full=True),
        SearchQuery("first", ("letters",), account, 1, conditions=early),
        SearchQuery("first letter", lean=True, brief=True),
        FetchQuery("letters", "l1", account, ("text",), "post", (Expand("thread"),)),
        WindowQuery("letters", "l1", "text", account, 1, 10),
        WindowQuery("letters", "l1", "text", account, 0, 10, "i", 2, connector_key="post"),
        RecordsQuery("letters", account, "post", ("text",), conditions=early, count=True, window=True, limit=1),
        RecordsQuery("letters", account, view="short", sort="written_at", ascending=True),
        RecordsQuery("threads", account, expand=(Expand("letters", 1),)),
        RecordsQuery("letters", account, changes_since="beginning"),
        AggregateQuery("letters", conditions=early, connection_id=account, connector_key="post"),
        AggregateQuery("letters", group_by_time="written_at", granularity="day", time_zone="UTC", limit=1),
        AggregateQuery("letters", "sum", "pages"),
    ]


def _ask(reader: Reader, query: Any) -> None:
    match query:
        case SchemaQuery():
            reader.schema(query)
        case SearchQuery():
            reader.search(query)
        case FetchQuery():
            reader.fetch(query)
        case WindowQuery():
            reader.read_record_field(query)
        case RecordsQuery():
            reader.query_records(query)
        case _:
            reader.aggregate(query)


def test_every_field_of_a_query_is_read_by_whoever_answers_it(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    post = Post(world)
    reader = world.reader_of(post.grant({"name": "letters"}, {"name": "threads"}))
    queries = _queries(post.office)
    noted: dict[type, set[str]] = {type(query): set() for query in queries}
    for kind, names in noted.items():
        for field in fields(kind):
            monkeypatch.setattr(kind, field.name, Noting(kind.__dict__[field.name], field.name, names))

    for query in queries:
        _ask(reader, query)

    declared = {f"{kind.__name__}.{field.name}" for kind in noted for field in fields(kind)}
    read = {f"{kind.__name__}.{name}" for kind, names in noted.items() for name in names}
    assert declared - read == set()


# Words ------------------------------------------------------------------------------------------------------------

QUERIES = (AggregateQuery, FetchQuery, RecordsQuery, SchemaQuery, SearchQuery, WindowQuery)


@pytest.mark.parametrize("kind", QUERIES, ids=lambda kind: kind.__name__)
def test_what_can_be_chosen_is_named_in_the_help(kind: type) -> None:
    chosen = [parameter for parameter in parameters(kind) if parameter.kind == "choice"]

    assert [word for parameter in chosen for word in parameter.choices if word not in parameter.help] == []

"""The schema tool: a short index, then one stream, each bounded and each enough to go on."""

import jsonschema_rs
import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pdpp_server.errors import InvalidRequest
from pdpp_server.evidence.schema import number_ranges
from pdpp_server.evidence.text import byte_len, name_text
from pdpp_server.mcp.tools.schema import SCHEMA
from pdpp_server.model.catalogue import Catalogue, Expandable, Holding, StreamEntry
from pdpp_server.model.queries import SchemaQuery
from pdpp_server.model.sources import REGISTRY, Origin, Source
from pdpp_server.model.streams import Aggregations, Expansion, Field, Relationship, Stream, View
from tests.requirements import requirement
from tests.unit.mcp.fakes import HOME, WORK, FakeReader, called
from tests.unit.mcp.hostile import TEXTS, is_visible

SLOW = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
MAIL = Origin("cin_77e0", "mail", "Gmail")
THREAD = Expandable("thread", "threads", "has_many", "message_id", 10, 50, granted=True)


def stream(name: str, fields: dict[str, Field] | None = None) -> Stream:
    fields = fields or {
        "id": Field("id", "string", {"type": "string"}),
        "text": Field("text", "string", {"type": "string"}, "primary-body"),
        "sent_at": Field("sent_at", "date-time", {"type": "string", "format": "date-time"}),
        "amount": Field("amount", "number", {"type": "number"}),
        "secret": Field("secret", "string", {"type": "string"}),
    }
    known = "sent_at" in fields
    return Stream(
        name,
        "mutable_state",
        fields,
        (next(iter(fields)),),
        {"type": "object", "properties": {n: dict(f.schema) for n, f in fields.items()}},
        cursor_field="sent_at" if known else None,
        consent_time_field="sent_at" if known else None,
        views=(View("basic", "Basics", ("id", "sent_at")),) if known else (),
        relationships=(Relationship("thread", "threads", "message_id", "has_many"),),
        expansions=(Expansion("thread"),),
        range_filters={"sent_at": ("gte", "lt")} if known else {},
        lexical_fields=("text",) if known else (),
        aggregations=Aggregations(count=True, sum=("amount",), group_by_time=("sent_at",)) if known else Aggregations(),
    )


def entry(name: str, *origins: Origin, declared: Stream | None = None) -> StreamEntry:
    holdings = tuple(Holding(origin, 100, "2019-03-01T00:00:00Z", "2026-11-09T11:59:00Z") for origin in origins)
    source = Source("connector", REGISTRY + (origins[0].connector_key if origins else "none"))
    declared = declared or stream(name)
    return StreamEntry(source, declared, frozenset(declared.fields) - {"secret"}, holdings, "grt_1", (THREAD,))


def reader(*entries: StreamEntry) -> FakeReader:
    return FakeReader(catalogue=Catalogue("client", "cli_1", ("grt_1",), entries))


@requirement("mcp.schema.index")
def test_the_index_reads_like_this() -> None:
    asked = reader(entry("messages", MAIL), entry("channels", WORK, HOME), entry("messages", WORK, HOME))

    result = called(SCHEMA, asked, {})

    assert result.text.split("\n") == [
        "schema: 3 connections, 3 streams. [1] is connection number 1; after a stream its connections, records and "
        "first..last month.",
        '[1] cin_77e0 mail "Gmail"',
        '[2] cin_4f2a slack "Work Slack"',
        '[3] cin_9b10 slack "Home Slack"',
        "connector mail: messages[1] 100 records 2019-03..2026-11",
        "connector slack: channels[2-3] 200 records 2019-03..2026-11 · messages[2-3] 200 records 2019-03..2026-11",
        'next: schema {"stream":"messages"} for fields and filters; with several sources, query_records and aggregate '
        "always need connection_id",
    ]
    assert result.structured["next"] == [{"tool": "schema", "arguments": {"stream": "messages"}}]
    assert result.structured["note"] == "with several sources, query_records and aggregate always need connection_id"
    rows = [row for connector in result.structured["data"]["connectors"] for row in connector["streams"]]
    assert [row["name"] for row in rows] == ["messages", "channels", "messages"]
    assert not any("field_capabilities" in row for row in rows)


@requirement("mcp.schema.one-connection", "mcp.schema.legend", "mcp.schema.always-returned", "mcp.schema.compact-kept")
def test_one_stream_reads_like_this() -> None:
    asked = reader(entry("messages", WORK))

    result = called(SCHEMA, asked, {"stream": "messages", "connection_id": "cin_4f2a"})

    assert result.text.split("\n") == [
        'schema messages: cin_4f2a slack "Work Slack", 100 records 2019-03..2026-11, key id, mutable state',
        "flags: eq exact filter, range(operators), lex word search, sem search by meaning, sort, agg(aggregations), "
        "role=what the field is declared to be",
        "id string eq | text string eq lex role=primary-body | sent_at date-time eq range(gte,lt) sort "
        "agg(group_by_time) | amount number eq agg(sum)",
        "always_returned=id · sort: sent_at · views: basic(id,sent_at) · expand: thread (threads, up to 50) · "
        "count: exact · search modes: lexical · not granted: secret",
        'next: search {"query":"WORDS","streams":["messages"],"connection_id":"cin_4f2a"}',
    ]
    assert asked.asked == [SchemaQuery("messages", "cin_4f2a")]
    data = result.structured["data"]
    assert data["connectors"][0]["streams"][0]["field_capabilities"]["amount"] == "t=number,eq,a=sum"
    assert data["field_capability_legend"]["eq"] == "exact filter"


@requirement("mcp.schema.shared-name")
def test_a_name_of_several_sources_shows_the_fields_of_each() -> None:
    text = called(SCHEMA, reader(entry("messages", MAIL), entry("messages", WORK)), {"stream": "messages"}).text

    assert text.count("id string eq | text string eq lex") == 2
    assert "cin_77e0 mail" in text and "cin_4f2a slack" in text


@requirement("mcp.schema.full-needs-stream")
def test_the_full_schema_needs_a_stream() -> None:
    asked = reader()
    with pytest.raises(InvalidRequest):
        called(SCHEMA, asked, {"detail": "full"})
    assert asked.asked == []


@requirement("mcp.schema.full-one-source")
def test_the_full_schema_is_directly_under_data() -> None:
    result = called(SCHEMA, reader(entry("messages", WORK)), {"stream": "messages", "detail": "full"})

    assert result.structured["data"]["object"] == "schema"
    (row,) = result.structured["data"]["connectors"][0]["streams"]
    assert row["schema"]["properties"]["sent_at"] == {"type": "string", "format": "date-time"}
    assert (
        'sent_at date-time eq range(gte,lt) sort agg(group_by_time) {"type":"string","format":"date-time"}'
        in result.text
    )


@requirement("mcp.budget.text", "mcp.budget.structured", "mcp.schema.index")
@pytest.mark.parametrize("each", ["all", "one", "many"])
def test_a_large_index_names_every_stream_and_keeps_its_budget(each: str) -> None:
    origins = [Origin(f"cin_{n:024}", f"connector-{n % 5}", f"{'Label ' * 20}{n}") for n in range(25)]
    entries = [
        entry(
            f"{n:02}_{'a_long_stream_name_' * 4}"[:64],
            *(origins if each == "all" else origins[n % 25 :: 1 if each == "many" else 25]),
        )
        for n in range(80)
    ]

    result = called(SCHEMA, reader(*sorted(entries, key=lambda e: e.source.connector_key)), {})

    assert byte_len(result.text) <= 8000
    assert len(orjson.dumps(result.structured)) <= 16_000
    assert all(one.stream.name in result.text for one in entries)
    assert all(one.stream.name in str(result.structured["data"]) for one in entries)
    assert all(origin.connection_id in result.text for origin in origins)


NAMES = st.one_of(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=64), st.just("f" * 64))


@st.composite
def catalogues(draw: st.DrawFn) -> tuple[StreamEntry, ...]:
    names = draw(st.lists(NAMES, min_size=1, max_size=5, unique=True))
    number = draw(st.sampled_from([1, 5, 60, 500]))
    description = draw(TEXTS)
    fields = {
        name: Field(
            name, "string", {"type": "string", "description": description}, draw(st.sampled_from([None, "x y"]))
        )
        for name in (f"{names[n % len(names)]}{n}"[-64:] for n in range(number))
    }
    labels = draw(st.lists(TEXTS, min_size=1, max_size=25))
    origins = [Origin(f"cin_{n:024}", "slack", label) for n, label in enumerate(labels)]
    rows = draw(st.sampled_from([1, 2, 12]))
    declared = stream(draw(NAMES), fields)
    return tuple(entry(declared.name, *origins[index % len(origins) :], declared=declared) for index in range(rows))


@requirement("mcp.budget.text", "mcp.budget.structured", "mcp.tools.output-schemas", "ev.escape.no-forged-lines")
@SLOW
@given(catalogues(), st.booleans())
def test_a_stream_keeps_its_budget_over_hostile_declarations(entries: tuple[StreamEntry, ...], full: bool) -> None:
    arguments = {"stream": entries[0].stream.name, "detail": "full" if full else "compact"}

    result = called(SCHEMA, reader(*entries), arguments)

    assert byte_len(result.text) <= 6000
    assert len(orjson.dumps(result.structured)) <= (40_000 if full else 10_000)
    assert is_visible(result.text)
    assert any(name_text(name) in result.text for name in entries[0].stream.fields)
    assert jsonschema_rs.is_valid(dict(SCHEMA.output_schema), dict(result.structured))
    assert result.text.split("\n")[-1].startswith("next: ")


def test_nothing_granted_is_said_plainly() -> None:
    assert called(SCHEMA, reader(), {}).text == "schema: no stream is granted here. Only the owner can widen a grant."
    assert called(SCHEMA, reader(), {"stream": "x"}).text.endswith("next: schema {} for the streams that are")


def test_numbers_are_told_as_ranges() -> None:
    assert number_ranges([7, 1, 2, 3, 9, 10]) == "1-3,7,9-10"

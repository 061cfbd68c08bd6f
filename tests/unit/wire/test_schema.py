"""The schema document over the wire."""

from dataclasses import replace
from typing import Any

import orjson
import pytest

from pdpp_server.errors import InvalidRequest, SourceUnavailable
from pdpp_server.model.catalogue import Catalogue, Expandable, Holding, StreamEntry
from pdpp_server.model.queries import SchemaQuery
from pdpp_server.model.sources import REGISTRY, Origin, Source
from pdpp_server.model.streams import Aggregations, Expansion, Field, Relationship, Stream, View
from pdpp_server.wire.params import Params
from pdpp_server.wire.schema import (
    decode,
    decode_query,
    encode_compact,
    encode_full,
    encode_query,
    wants_compact,
)
from tests.requirements import requirement

SLACK = Source("connector", REGISTRY + "slack")
WORK = Origin("cin_work", "slack", "Work Slack")
HOME = Origin("cin_home", "slack", None)
SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["id"],
    "properties": {
        "id": {"type": "string"},
        "text": {"type": "string", "x_pdpp_type": "text", "x_pdpp_role": "primary-body"},
        "sent_at": {"type": "string", "format": "date-time", "x_pdpp_role": "event-time"},
        "length": {"type": ["integer", "null"]},
        "secret": {"type": "string"},
        "tags": {"type": ["array", "string"]},
    },
}
TYPES = {
    "id": "string",
    "text": "string",
    "sent_at": "date-time",
    "length": "integer",
    "secret": "string",
    "tags": "mixed",
}
MESSAGES = Stream(
    name="messages",
    semantics="append_only",
    fields={
        name: Field(name, TYPES[name], schema, schema.get("x_pdpp_role"))
        for name, schema in SCHEMA["properties"].items()
    },
    primary_key=("id",),
    schema=SCHEMA,
    cursor_field="sent_at",
    consent_time_field="sent_at",
    selects_resources=False,
    views=(View("basic", "Basics", ("id", "sent_at")),),
    relationships=(Relationship("reactions", "reactions", "message_id", "has_many"),),
    expansions=(Expansion("reactions", 25, 200),),
    range_filters={"sent_at": ("gte", "lt"), "length": ("gt",)},
    lexical_fields=("text", "secret"),
    semantic_fields=("text",),
    aggregations=Aggregations(count=True, sum=("length",), group_by_time=("sent_at",)),
    label="Messages",
    detail="Every message.",
)
GRANTED = frozenset(MESSAGES.fields) - {"secret"}
CATALOGUE = Catalogue(
    "client",
    "cli_1",
    ("grt_1",),
    (
        StreamEntry(
            SLACK,
            MESSAGES,
            GRANTED,
            (Holding(WORK, 12, "2026-01-01", "2026-11-01", "2026-11-10T08:00:00.000Z"), Holding(HOME, 0)),
            "grt_1",
        ),
        StreamEntry(SLACK, replace(MESSAGES, name="mentions"), GRANTED, (Holding(WORK, 3), Holding(HOME, 1)), "grt_1"),
        StreamEntry(SLACK, replace(MESSAGES, name="reactions", views=()), GRANTED, (Holding(WORK, 5),), "grt_1"),
    ),
)


def ordered(catalogue: Catalogue) -> Catalogue:
    return replace(catalogue, entries=tuple(sorted(catalogue.entries, key=lambda entry: entry.stream.name)))


def over_the_wire(body: dict[str, Any]) -> dict[str, Any]:
    return orjson.loads(orjson.dumps(body))


def query_of(raw: str) -> SchemaQuery:
    return decode_query(Params.parse(raw.encode("ascii")))


def test_a_catalogue_survives_the_wire_in_full() -> None:
    assert decode(over_the_wire(encode_full(CATALOGUE, "/v1/schema"))) == ordered(CATALOGUE)


def test_expansions_survive_the_wire() -> None:
    usable = Expandable("reactions", "reactions", "has_many", "message_id", 25, 200, granted=True)
    refused = Expandable(
        "author", "people", "has_one", "id", 10, 50, granted=False, reason="related_stream_not_granted"
    )
    entry = replace(CATALOGUE.entries[0], expandable=(usable, refused))
    catalogue = replace(CATALOGUE, entries=(entry,))
    full, compact = (decode(over_the_wire(encode(catalogue, ""))) for encode in (encode_full, encode_compact))

    assert full == catalogue
    assert [(one.name, one.stream, one.usable, one.reason) for one in compact.entries[0].expandable] == [
        ("reactions", "reactions", True, None),
        ("author", "people", False, refused.reason),
    ]


def test_an_expansion_that_is_not_said_to_be_usable_is_not() -> None:
    body = over_the_wire(encode_full(CATALOGUE, ""))
    body["connectors"][0]["streams"][0]["expand_capabilities"] = [{"name": "reactions"}]

    assert [one.usable for entry in decode(body).entries for one in entry.expandable] == [False]


def test_the_compact_form_says_the_same_again_after_the_wire() -> None:
    plain = Catalogue(
        "client",
        "cli_1",
        ("grt_1",),
        tuple(replace(entry, granted=frozenset(MESSAGES.fields)) for entry in CATALOGUE.entries),
    )
    compact = encode_compact(plain, "/v1/schema?view=compact")

    assert encode_compact(decode(over_the_wire(compact)), "/v1/schema?view=compact") == compact


def test_the_compact_form_of_one_stream_keeps_what_its_publisher_says() -> None:
    length = replace(MESSAGES.fields["length"], schema={"type": "integer", "description": "In characters."})
    told = replace(MESSAGES, fields={**MESSAGES.fields, "length": length}, description="What was said.")
    alone = replace(CATALOGUE, entries=(replace(CATALOGUE.entries[0], stream=told),))

    compact = encode_compact(alone, "/v1/schema")
    (entry,) = decode(over_the_wire(compact)).entries

    assert (entry.stream.description, entry.stream.fields["length"].description) == ("What was said.", "In characters.")
    among_others = replace(alone, entries=(*alone.entries, CATALOGUE.entries[1]))
    assert "What was said." not in str(encode_compact(among_others, "/v1/schema"))


def test_the_compact_form_keeps_holdings_and_grants() -> None:
    decoded = decode(over_the_wire(encode_compact(CATALOGUE, "/v1/schema?view=compact")))

    assert [entry.holdings for entry in decoded.entries] == [entry.holdings for entry in ordered(CATALOGUE).entries]
    assert [entry.granted for entry in decoded.entries] == [GRANTED] * 3
    assert {entry.grant_id for entry in decoded.entries} == {"grt_1"}


def test_a_compact_row_is_short_and_keeps_what_agents_need() -> None:
    body = encode_compact(CATALOGUE, "/v1/schema?view=compact")
    (connector,) = body["connectors"]
    rows = {row["name"]: row for row in connector["streams"]}

    assert (body["detail"], body["connector_count"], body["stream_count"]) == ("compact", 1, 3)
    assert connector["granted_connections"] == [
        {"connection_id": "cin_work", "display_name": "Work Slack"},
        {"connection_id": "cin_home"},
    ]
    assert rows["messages"] == {
        "name": "messages",
        "semantics": "append_only",
        "primary_key": ["id"],
        "cursor_field": "sent_at",
        "consent_time_field": "sent_at",
        "views": ["basic"],
        "view_fields": {"basic": ["id", "sent_at"]},
        "record_count": 12,
        "holdings": {
            "cin_work": [12, "2026-01-01", "2026-11-01", "2026-11-10T08:00:00.000Z"],
            "cin_home": [0],
        },
        "field_capabilities": {
            "id": "t=string,eq",
            "text": "t=string,role=primary-body,eq,lex,sem",
            "sent_at": "t=date-time,role=event-time,eq,r=gte|lt,a=group_by_time",
            "length": "t=integer,eq,r=gt,a=sum",
            "secret": "t=string,g=false,eq=unusable:field_not_granted,lex=unusable:field_not_granted",
            "tags": "t=mixed",
        },
        "expand_capabilities": [],
    }
    assert rows["reactions"]["granted_connections"] == [{"connection_id": "cin_work", "display_name": "Work Slack"}]
    assert "granted_connections" not in rows["mentions"]


def test_separators_inside_a_flag_become_underscores() -> None:
    stream = replace(MESSAGES, fields={"id": Field("id", "string", {}, "a,b=c d;[e]{f}")})
    catalogue = replace(CATALOGUE, entries=(StreamEntry(SLACK, stream, frozenset({"id"}), (Holding(WORK, 1),)),))
    (row,) = encode_compact(catalogue, "/v1/schema")["connectors"][0]["streams"]

    assert row["field_capabilities"]["id"] == "t=string,role=a_b_c_d__e__f_,eq"


def test_a_capability_is_usable_only_if_declared_and_granted() -> None:
    body = encode_full(CATALOGUE, "/v1/schema")
    (row,) = [row for row in body["connectors"][0]["streams"] if row["name"] == "messages"]
    capabilities = row["field_capabilities"]

    assert capabilities["secret"]["lexical_search"] == {
        "declared": True,
        "usable": False,
        "reason": "field_not_granted",
    }
    assert capabilities["sent_at"]["range_filter"] == {"declared": True, "usable": True, "operators": ["gte", "lt"]}
    assert capabilities["id"]["range_filter"] == {"declared": False, "usable": False}
    assert capabilities["tags"]["exact_filter"] == {"declared": False, "usable": False}
    assert capabilities["length"]["aggregation"]["sum"] == {"declared": True, "usable": True}
    assert (capabilities["text"]["type"], capabilities["text"]["role"]) == ("text", "primary-body")
    assert "type" not in capabilities["id"]
    assert "role" not in capabilities["id"]


def test_clients_lose_their_filters_under_core_strict_and_the_owner_does_not() -> None:
    client = replace(CATALOGUE, extensions=())
    owner = replace(client, token_kind="owner", client_id=None, grant_ids=())
    strict, owners = (encode_full(one, "/v1/schema") for one in (client, owner))

    assert "exact_filter" not in strict["connectors"][0]["streams"][0]["field_capabilities"]["id"]
    assert "exact_filter" in owners["connectors"][0]["streams"][0]["field_capabilities"]["id"]
    assert strict["capabilities"]["client_query_extensions"] == []
    compact = encode_compact(client, "/v1/schema")
    assert compact["connectors"][0]["streams"][0]["field_capabilities"]["sent_at"] == (
        "t=date-time,role=event-time,a=group_by_time"
    )


def test_the_bearer_is_described_by_kind() -> None:
    owner = Catalogue("owner", None, (), ())

    assert encode_full(owner, "/v1/schema")["bearer"] == {"token_kind": "owner", "scope": "owner"}
    assert encode_full(CATALOGUE, "/v1/schema")["bearer"] == {
        "token_kind": "client",
        "scope": "grant",
        "grant_id": "grt_1",
        "client_id": "cli_1",
    }


def test_connectors_and_streams_come_in_one_order() -> None:
    mail = Source("connector", REGISTRY + "mail")
    entries = (*CATALOGUE.entries, StreamEntry(mail, MESSAGES, GRANTED, ()))
    one, other = (
        encode_compact(replace(CATALOGUE, entries=each), "/v1/schema") for each in (entries, tuple(reversed(entries)))
    )

    assert one == other
    assert [connector["connector_key"] for connector in one["connectors"]] == ["mail", "slack"]
    assert [row["name"] for row in one["connectors"][1]["streams"]] == ["mentions", "messages", "reactions"]


def test_a_connector_has_its_short_key_and_its_address_once() -> None:
    (connector,) = encode_compact(CATALOGUE, "/v1/schema")["connectors"]

    assert (connector["connector_key"], connector["connector_id"]) == ("slack", "slack")
    assert connector["source"] == {"kind": "connector", "id": REGISTRY + "slack"}


@requirement("rs.schema.budget")
def test_many_connections_fit_the_budget() -> None:
    """Nineteen connections of ten streams with twenty fields each, every one searchable and comparable."""
    fields = {f"field_{n:02}": Field(f"field_{n:02}", "date-time", {}, "event-time") for n in range(20)}
    ranges, words = dict.fromkeys(fields, ("gte", "gt", "lte", "lt")), tuple(fields)
    holdings = tuple(
        Holding(
            Origin(f"cin_{n:024x}", "slack", f"Workspace number {n}"),
            123_456,
            "2020-01-01",
            "2026-11-01",
            "2026-11-10T08:00:00.000Z",
        )
        for n in range(19)
    )
    entries = tuple(
        StreamEntry(
            SLACK,
            Stream(f"stream_{n}", "append_only", fields, ("field_00",), {}, range_filters=ranges, lexical_fields=words),
            frozenset(fields),
            holdings,
        )
        for n in range(10)
    )
    whole = orjson.dumps(encode_compact(replace(CATALOGUE, entries=entries), "/v1/schema?view=compact"))
    one = orjson.dumps(
        encode_compact(replace(CATALOGUE, entries=entries[:1]), "/v1/schema?view=compact&stream=stream_0")
    )

    assert len(whole) < 60_000
    assert len(one) < 6_000


@pytest.mark.parametrize(
    ("raw", "query", "compact"),
    [
        ("", SchemaQuery(), False),
        ("view=compact", SchemaQuery(), True),
        ("view=%20COMPACT", SchemaQuery(), True),
        ("stream=a&connection_id=b", SchemaQuery("a", "b"), False),
        ("connection_id=", SchemaQuery(), False),
        ("detail=full&stream=a", SchemaQuery("a", None, True), False),
        ("detail=full&view=compact", SchemaQuery(), True),
    ],
)
def test_a_schema_query_is_read(raw: str, query: SchemaQuery, compact: bool) -> None:
    assert query_of(raw) == query
    assert wants_compact(Params.parse(raw.encode("ascii"))) is compact


@pytest.mark.parametrize(
    ("raw", "param"),
    [
        ("detail=full", "detail"),
        ("detail=short&stream=a", "detail"),
        ("view=basic", "view"),
        ("stream=", "stream"),
        ("connector_instance_id=a", "connector_instance_id"),
        ("q=a", "q"),
    ],
)
def test_a_bad_schema_query_is_refused_by_name(raw: str, param: str) -> None:
    params = Params.parse(raw.encode("ascii"))
    with pytest.raises(InvalidRequest) as refused:
        decode_query(params)
        wants_compact(params)

    assert refused.value.param == param


@pytest.mark.parametrize("query", [SchemaQuery(), SchemaQuery("a", "b"), SchemaQuery("a/b", None, True)])
def test_a_query_survives_the_wire(query: SchemaQuery) -> None:
    assert query_of(encode_query(query).partition("?")[2]) == query


def test_an_older_servers_compact_schema_is_understood() -> None:
    catalogue = decode(
        {
            "bearer": {"token_kind": "client", "grant_id": "grt_9"},
            "connectors": [
                {
                    "connector_key": "slack",
                    "streams": [
                        {
                            "name": "messages",
                            "primary_key": ["id"],
                            "cursor_field": "gone",
                            "record_count": 7,
                            "granted_connections": [{"connector_instance_id": "cin_a", "display_name": "Work"}],
                            "field_capabilities": {"id": "declared", "text": "t=text,eq,lex"},
                        }
                    ],
                }
            ],
        }
    )
    (entry,) = catalogue.entries

    assert entry.source == Source("connector", "slack")
    assert entry.holdings == (Holding(Origin("cin_a", "slack", "Work"), 7),)
    assert entry.stream.cursor_field is None
    assert {name: field.type for name, field in entry.stream.fields.items()} == {"id": None, "text": "text"}
    assert [field.name for field in entry.stream.fields.values() if entry.stream.compares(field)] == ["text"]
    assert entry.stream.lexical_fields == ("text",)
    assert (entry.stream.semantics, catalogue.extensions) == (None, None)


def test_a_schema_that_names_no_kind_of_token_is_the_servers_fault() -> None:
    with pytest.raises(SourceUnavailable):
        decode({"connectors": []})


def test_a_strangers_format_that_is_no_text_is_none() -> None:
    row = {"name": "a", "schema": {"properties": {"b": {"type": "string", "format": ["date"]}}}}
    connector = {"connector_key": "slack", "streams": [row]}
    (entry,) = decode({"bearer": {"token_kind": "client"}, "connectors": [connector]}).entries

    assert entry.stream.fields["b"].type == "string"


@pytest.mark.parametrize("said", ["many", [[]], ["7", 8, None, {}], [True], {"cin_a": 1}])
def test_amounts_that_are_none_are_left_out(said: object) -> None:
    row = {"name": "a", "connector_instance_id": "cin_a", "holdings": {"cin_a": said}, "field_capabilities": {}}
    connector = {"connector_key": "slack", "streams": [row]}
    (entry,) = decode({"bearer": {"token_kind": "client"}, "connectors": [connector]}).entries

    assert entry.holdings == (Holding(Origin("cin_a", "slack"), None),)
    assert entry.records is None


@pytest.mark.parametrize("body", [{}, {"connectors": None}, {"connectors": ["slack"]}])
def test_a_schema_without_its_list_is_none(body: dict[str, object]) -> None:
    with pytest.raises(SourceUnavailable):
        decode({"bearer": {"token_kind": "client"}, **body})

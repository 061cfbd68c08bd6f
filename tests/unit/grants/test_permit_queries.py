"""Each kind of query against a shop: what it may name, what it may touch, and how it is refused."""

import json
import pickle
from dataclasses import replace
from typing import Any, TypeVar, cast

import pytest

from pdpp_server.errors import (
    AmbiguousConnection,
    AmbiguousSchemaDetail,
    ConnectionNotFound,
    ConnectorInvalid,
    FieldNotGranted,
    InsufficientScope,
    InvalidExpand,
    InvalidFilter,
    InvalidRequest,
    InvalidSort,
    NotFound,
    PdppError,
    StreamNotGranted,
    UnknownField,
)
from pdpp_server.grants import permit as deciding
from pdpp_server.grants.issue import everything
from pdpp_server.grants.permitted import Permitted
from pdpp_server.model.grants import Grant, Holder, StreamGrant, TokenKind
from pdpp_server.model.queries import (
    AggregateQuery,
    BlobQuery,
    Condition,
    Expand,
    FetchQuery,
    Query,
    RecordsQuery,
    SchemaQuery,
    SearchQuery,
    StreamMetadataQuery,
    StreamsQuery,
    WindowQuery,
)
from pdpp_server.model.sources import Origin
from pdpp_server.wire.declarations import decode_declaration
from tests.requirements import requirement

FIRST, SECOND, MARKET = "cin_first", "cin_second", "cin_market"
ORIGINS = {FIRST: Origin(FIRST, "shop", "First"), SECOND: Origin(SECOND, "shop", "Second"),
           MARKET: Origin(MARKET, "market", "Market")}  # fmt: skip
TEXT = {"type": "string"}
Q = TypeVar("Q", bound=Query)


def permit(holder: Holder, query: Q, **options: bool) -> Permitted[Q]:
    """As a query comes in: equal words are no longer the same strings."""
    sent: Q = pickle.loads(pickle.dumps(query))
    return deciding.permit(holder, sent, **options)


def declared(key: str, *streams: dict[str, Any]) -> Grant:
    document = {
        "protocol_version": "0.1.0",
        "source": {"kind": "connector", "id": f"https://registry.pdpp.dev/connectors/{key}"},
        "declaration_version": "1",
        "publisher": {"id": "https://registry.pdpp.dev/"},
        "display": {"name": key},
        "streams": list(streams),
    }
    connections = (FIRST, SECOND) if key == "shop" else (MARKET,)
    read = decode_declaration(json.loads(json.dumps(document)))
    return replace(everything(read, connections), grant_id=f"grt_{key}")


def stream(name: str, fields: dict[str, Any], **more: Any) -> dict[str, Any]:
    schema = {"type": "object", "required": ["id"], "properties": {"id": TEXT, **fields}}
    selection = {"fields": True, "resources": True}
    shape = {"name": name, "semantics": "mutable_state", "schema": schema, "primary_key": ["id"]}
    return {**shape, "selection": selection, **more}


ORDERS = stream(
    "orders",
    {
        "at": {"type": "string", "format": "date-time"},
        "age": {"type": "number"},
        "total": {"type": "number"},
        "state": TEXT,
        "customer_id": TEXT,
        "tags": {"type": "object"},
        "invoice": {"type": "object", "x_pdpp_role": "blob-reference"},
    },
    cursor_field="at",
    consent_time_field="at",
    views=[{"id": "short", "label": "Short", "fields": ["total", "state"]}],
    relationships=[
        {"name": "before", "stream": "customers", "foreign_key": "customer_id", "cardinality": "has_one"},
        {"name": "silent", "stream": "items", "foreign_key": "order_id", "cardinality": "has_many"},
        {"name": "items", "stream": "items", "foreign_key": "order_id", "cardinality": "has_many"},
        {"name": "customer", "stream": "customers", "foreign_key": "customer_id", "cardinality": "has_one"},
    ],
    query={
        "range_filters": {"age": ["gte"], "total": ["gte"], "at": ["gte"]},
        "expand": [{"name": "items", "default_limit": 2, "max_limit": 5}, {"name": "customer"}],
        "aggregations": {"count": True, "sum": ["total"], "group_by": ["state"], "group_by_time": ["at"]},
    },
)
ITEMS = stream("items", {"order_id": TEXT, "weight": {"type": "number"}}, query={"aggregations": {"sum": ["weight"]}})
SHOP = declared("shop", ORDERS, ITEMS, stream("customers", {"name": TEXT}))
STALL = declared("market", stream("orders", {"total": {"type": "number"}}))
GIVEN = {each.name: each for each in SHOP.streams}
ALL_FIELDS = frozenset(GIVEN["orders"].fields)


def client(*streams: StreamGrant) -> Holder:
    return Holder("client", "cli", (replace(SHOP, streams=streams or SHOP.streams),), ORIGINS)


def without(*fields: str) -> Holder:
    return client(replace(GIVEN["orders"], fields=ALL_FIELDS - {*fields}), GIVEN["items"], GIVEN["customers"])


CLIENT = client()
OWNER = Holder("owner", None, (SHOP, STALL), ORIGINS)
PACKAGE = Holder("mcp_package", "cli", (SHOP, STALL), ORIGINS, "gpkg")
LATER_KIND = cast(TokenKind, "visitor")  # nobody knows it yet; whoever is not the owner is not taken for the owner


def refused(kind: type[PdppError], holder: Holder, query: Query, **options: bool) -> PdppError:
    with pytest.raises(kind) as told:
        permit(holder, query, **options)
    assert type(told.value) is kind
    return told.value


def touched(holder: Holder, query: Query) -> list[tuple[str, tuple[str, ...]]]:
    return [(scope.stream.name, scope.connections) for scope in permit(holder, query).scopes]


BOTH = (FIRST, SECOND)


@pytest.mark.parametrize("param", ["filter", "expand", "view", "around"])
def test_a_strict_server_takes_no_extension_from_clients_and_all_from_the_owner(param: str) -> None:
    asked: dict[str, Any] = {
        "filter": {"conditions": (Condition("state", "eq", "x"),)},
        "expand": {"expand": (Expand("items"),)},
        "view": {"view": "short"},
        "around": {"around": "o1"},
    }[param]
    query = RecordsQuery("orders", connection_id=FIRST, **asked)

    assert refused(InvalidRequest, CLIENT, query, core_strict=True).param == param
    for kind in ("mcp_package", LATER_KIND):
        assert refused(InvalidRequest, replace(CLIENT, kind=kind), query, core_strict=True).param == param
    assert permit(CLIENT, query, core_strict=False).scopes
    assert permit(CLIENT, query).scopes
    assert permit(OWNER, query, core_strict=True).scopes
    assert permit(CLIENT, RecordsQuery("orders"), core_strict=True).scopes


def test_a_strict_server_counts_by_group_for_clients_and_makes_no_other_number_by_group() -> None:
    total: dict[str, Any] = {"metric": "sum", "field": "total"}
    groups: list[dict[str, Any]] = [{"group_by": "state"}, {"group_by_time": "at"}]

    for group in groups:
        (param,) = group
        query = AggregateQuery("orders", connection_id=FIRST, **total, **group)
        assert refused(InvalidRequest, CLIENT, query, core_strict=True).param == param
        assert permit(OWNER, query, core_strict=True).scopes
        assert permit(CLIENT, AggregateQuery("orders", **group), core_strict=True).scopes
    assert permit(CLIENT, AggregateQuery("orders", **total), core_strict=True).scopes


def test_a_schema_is_of_everything_of_one_stream_or_of_one_connection() -> None:
    assert touched(CLIENT, SchemaQuery()) == [("orders", BOTH), ("items", BOTH), ("customers", BOTH)]
    assert touched(CLIENT, SchemaQuery("items")) == [("items", BOTH)]
    assert touched(CLIENT, SchemaQuery("items", FIRST)) == [("items", (FIRST,))]
    assert touched(CLIENT, SchemaQuery("items", FIRST, full=True)) == [("items", (FIRST,))]
    assert touched(CLIENT, SchemaQuery("nonsense", full=True)) == []
    assert touched(OWNER, SchemaQuery("orders")) == [("orders", BOTH), ("orders", (MARKET,))]
    assert refused(InvalidRequest, CLIENT, SchemaQuery(full=True)).param == "detail"
    assert refused(InvalidRequest, CLIENT, SchemaQuery(None, FIRST, full=True)).param == "detail"
    ambiguous = refused(AmbiguousSchemaDetail, CLIENT, SchemaQuery("items", full=True))
    assert [each.connection_id for each in ambiguous.candidates] == [FIRST, SECOND]


def test_streams_are_listed_of_all_of_one_connector_or_of_one_connection() -> None:
    assert len(touched(OWNER, StreamsQuery())) == 4
    assert touched(OWNER, StreamsQuery(connector_key="market")) == [("orders", (MARKET,))]
    assert touched(OWNER, StreamsQuery(MARKET)) == [("orders", (MARKET,))]
    mixed = client(replace(GIVEN["orders"], connections=(FIRST,)), GIVEN["items"])
    assert touched(mixed, StreamsQuery(SECOND)) == [("items", (SECOND,))]
    refused(ConnectionNotFound, CLIENT, StreamsQuery("cin_unknown"))
    assert refused(ConnectorInvalid, CLIENT, StreamsQuery(connector_key="market")).param == "connector_id"
    assert refused(ConnectorInvalid, CLIENT, StreamsQuery(connector_key="zzz")).param == "connector_id"


def test_metadata_is_of_one_version_of_one_stream() -> None:
    assert touched(CLIENT, StreamMetadataQuery("orders")) == [("orders", BOTH)]
    later = replace(SHOP, grant_id="grt_later", streams=(replace(GIVEN["orders"], connections=(SECOND,)),))
    former = replace(SHOP, streams=(replace(GIVEN["orders"], connections=(FIRST,)),))
    owner = Holder("owner", None, (former, later), ORIGINS)

    told = refused(AmbiguousSchemaDetail, owner, StreamMetadataQuery("orders"))

    assert [each.connection_id for each in told.candidates] == [FIRST, SECOND]
    assert touched(owner, StreamMetadataQuery("orders", FIRST)) == [("orders", (FIRST,))]


def test_a_search_is_narrowed_by_streams_and_connection() -> None:
    assert len(touched(CLIENT, SearchQuery("x"))) == 3
    assert touched(CLIENT, SearchQuery("x", ("items",))) == [("items", BOTH)]
    assert touched(CLIENT, SearchQuery("x", ("customers", "items"))) == [("items", BOTH), ("customers", BOTH)]
    assert touched(CLIENT, SearchQuery("x", ("items",), FIRST)) == [("items", (FIRST,))]
    assert touched(OWNER, SearchQuery("x", ("items",), MARKET)) == []
    refused(ConnectionNotFound, CLIENT, SearchQuery("x", connection_id=MARKET))
    for holder in (CLIENT, PACKAGE, replace(CLIENT, kind=LATER_KIND)):
        assert refused(StreamNotGranted, holder, SearchQuery("x", ("nonsense",))).param == "streams"


def test_a_filter_in_a_search_needs_one_stream_and_is_looked_at() -> None:
    good, bad = (Condition("state", "eq", "x"),), (Condition("nonsense", "eq", "x"),)

    assert touched(CLIENT, SearchQuery("x", ("orders",), conditions=good)) == [("orders", BOTH)]
    for streams in (None, (), ("orders", "items")):
        assert refused(InvalidRequest, CLIENT, SearchQuery("x", streams, conditions=good)).param == "filter"
    assert refused(UnknownField, CLIENT, SearchQuery("x", ("orders",), conditions=bad)).param == "filter"


@pytest.mark.parametrize(
    ("condition", "refusal", "said"),
    [
        (("state", "eq", "x"), None, ""),
        (("state", "gte", "x"), InvalidFilter, "Usable: equality."),
        (("total", "gte", "1"), None, ""),
        (("total", "eq", "1"), None, ""),
        (("total", "lt", "1"), InvalidFilter, "Usable: equality, gte."),
        (("at", "lt", "2026-01-01"), InvalidFilter, "Usable: equality, gte. A date among the words of `search` lifts"),
        (("total", "eq", "much"), InvalidFilter, ""),
        (("tags", "eq", "x"), InvalidFilter, ""),
        (("nonsense", "eq", "x"), UnknownField, ""),
        (("invoice", "eq", "x"), FieldNotGranted, ""),
    ],
)
def test_a_filter_compares_what_is_granted_in_a_declared_way(
    condition: tuple[Any, Any, str], refusal: type[PdppError] | None, said: str
) -> None:
    holder, conditions = without("invoice"), (Condition(*condition),)
    for query in (RecordsQuery("orders", conditions=conditions), AggregateQuery("orders", conditions=conditions)):
        if refusal is None:
            assert permit(holder, query).scopes
            continue
        told = refused(refusal, holder, query)
        assert told.param == "filter"
        assert (told.remedy or "").startswith(said)


def test_every_condition_is_looked_at() -> None:
    conditions = (Condition("state", "eq", "x"), Condition("nonsense", "eq", "x"))

    refused(UnknownField, CLIENT, RecordsQuery("orders", conditions=conditions))


def test_records_are_sorted_by_what_can_be_ranged_over() -> None:
    for name in ("at", "age", "total"):
        assert touched(CLIENT, RecordsQuery("orders", sort=name)) == [("orders", BOTH)]
    for name in ("aa", "state", "zz"):
        told = refused(InvalidSort, CLIENT, RecordsQuery("orders", sort=name))
        assert (told.param, told.remedy) == ("sort", "Sort by at, age, total, or leave sort out.")
    blind = without("at", "age", "total")
    assert refused(InvalidSort, blind, RecordsQuery("orders", sort="state")).remedy == "Leave sort out."
    for name in ("at", "total"):
        hidden = refused(FieldNotGranted, blind, RecordsQuery("orders", sort=name))
        assert (hidden.param, hidden.remedy) == ("sort", "Leave sort out.")


def test_a_strict_server_sorts_for_clients_by_the_order_of_the_stream_alone() -> None:
    assert permit(CLIENT, RecordsQuery("orders", sort="at"), core_strict=True).scopes
    for name in ("age", "total"):
        for holder in (CLIENT, replace(CLIENT, kind=LATER_KIND)):
            told = refused(InvalidSort, holder, RecordsQuery("orders", sort=name), core_strict=True)
            assert told.remedy == "Sort by at, or leave sort out."
    assert permit(OWNER, RecordsQuery("orders", FIRST, sort="total"), core_strict=True).scopes


def test_fields_and_views_show_what_is_granted_of_them_and_the_key() -> None:
    holder = without("state")

    assert permit(holder, RecordsQuery("orders")).scopes[0].fields == ALL_FIELDS - {"state"}
    assert permit(holder, RecordsQuery("orders", fields=("total",))).scopes[0].fields == {"id", "total"}
    assert permit(holder, RecordsQuery("orders", fields=("id", "total"))).scopes[0].fields == {"id", "total"}
    assert permit(holder, RecordsQuery("orders", view="short")).scopes[0].fields == {"id", "total"}
    assert permit(without("id"), RecordsQuery("orders", fields=("total",))).scopes[0].fields == {"total"}
    assert permit(CLIENT, WindowQuery("orders", "k", "state")).scopes[0].fields == {"id", "state"}
    for view in ("aaa", "zzz"):
        told = refused(InvalidRequest, holder, RecordsQuery("orders", view=view))
        assert (told.param, told.remedy) == ("view", "Declared views: short.")
    assert refused(InvalidRequest, CLIENT, RecordsQuery("items", view="short")).remedy == "Declared views: none."
    assert refused(FieldNotGranted, holder, RecordsQuery("orders", fields=("total", "state"))).param == "fields"
    assert refused(FieldNotGranted, holder, WindowQuery("orders", "k", "state")).param == "field"
    told = refused(UnknownField, client(replace(GIVEN["items"], fields=frozenset({"order_id", "id"}))),
                   FetchQuery("items", "k", fields=("name",)))  # fmt: skip
    assert told.remedy == "Granted fields: id, order_id."


@pytest.mark.parametrize(
    ("asked", "param"),
    [
        ({}, None),
        ({"metric": "sum", "field": "total"}, None),
        ({"group_by": "state"}, None),
        ({"group_by_time": "at"}, None),
        ({"metric": "sum", "field": "state"}, "field"),
        ({"metric": "max", "field": "total"}, "field"),
        ({"group_by": "total"}, "group_by"),
        ({"group_by_time": "state"}, "group_by_time"),
        ({"metric": "sum", "field": "total", "group_by": "total"}, "group_by"),
    ],
)
def test_numbers_are_of_what_the_stream_declares(asked: dict[str, Any], param: str | None) -> None:
    query = AggregateQuery("orders", **asked)

    if param is None:
        assert touched(CLIENT, query) == [("orders", BOTH)]
    else:
        assert refused(InvalidRequest, CLIENT, query).param == param


def test_a_refused_number_tells_only_of_granted_fields() -> None:
    told = refused(InvalidRequest, CLIENT, AggregateQuery("orders", "sum", "state"))
    hidden = refused(InvalidRequest, without("total"), AggregateQuery("orders", "sum", "state"))

    assert (told.remedy, hidden.remedy) == ("Usable: total.", "Usable: none.")
    refused(FieldNotGranted, without("total"), AggregateQuery("orders", "sum", "total"))
    assert refused(InvalidRequest, CLIENT, AggregateQuery("items")).param == "metric"
    assert touched(CLIENT, AggregateQuery("items", metric="sum", field="weight")) == [("items", BOTH)]


def test_a_blob_is_looked_for_where_a_granted_field_refers_to_blobs() -> None:
    (scope,) = permit(CLIENT, BlobQuery("b")).scopes

    assert (scope.stream.name, scope.fields, scope.connections) == ("orders", {"invoice"}, BOTH)
    assert touched(CLIENT, BlobQuery("b", FIRST)) == [("orders", (FIRST,))]
    assert touched(without("invoice"), BlobQuery("b")) == []
    refused(ConnectionNotFound, CLIENT, BlobQuery("b", MARKET))


@pytest.mark.parametrize(
    ("name", "limit", "given"),
    [
        ("items", None, 2), ("items", 1, 1), ("items", 5, 5), ("items", 4, 4), ("customer", None, 10),
        ("items", 0, "expand_limit"), ("items", 6, "expand_limit"), ("items", -1, "expand_limit"),
        ("customer", 1, "expand_limit"),
        ("nonsense", None, "expand"), ("aaa", None, "expand"), ("zzz", None, "expand"), ("silent", None, "expand"),
    ],
)  # fmt: skip
def test_related_records_are_as_many_as_declared(name: str, limit: int | None, given: int | str) -> None:
    for query in (
        FetchQuery("orders", "k", expand=(Expand(name, limit),)),
        RecordsQuery("orders", expand=(Expand(name, limit),)),
    ):
        if isinstance(given, str):
            assert refused(InvalidExpand, CLIENT, query).param == given
            continue
        (related,) = permit(CLIENT, query).related
        assert (related.relationship.name, related.limit) == (name, given)


def test_what_can_be_expanded_is_named() -> None:
    told = refused(InvalidExpand, CLIENT, FetchQuery("orders", "k", expand=(Expand("x"),)))
    nothing = refused(InvalidExpand, CLIENT, FetchQuery("items", "k", expand=(Expand("x"),)))

    assert (told.remedy, nothing.remedy) == ("Usable: items, customer.", "Usable: none.")


@requirement("grants.permit.connections")
def test_related_records_lie_in_the_same_grant_and_connections() -> None:
    expand = (Expand("items"), Expand("customer"))
    mixed = client(GIVEN["orders"], replace(GIVEN["items"], connections=(SECOND, MARKET)), GIVEN["customers"])

    related = permit(mixed, RecordsQuery("orders", expand=expand)).related

    assert [(each.relationship.name, each.scope.connections) for each in related] == [
        ("items", (SECOND,)),
        ("customer", BOTH),
    ]
    alone = Holder("mcp_package", "cli", (replace(SHOP, streams=(GIVEN["orders"],)),
                   replace(SHOP, grant_id="a", streams=(GIVEN["items"],)),
                   replace(SHOP, grant_id="z", streams=(GIVEN["items"],))), ORIGINS)  # fmt: skip
    refused(InsufficientScope, alone, RecordsQuery("orders", FIRST, expand=(Expand("items"),)))


@requirement("grants.permit.fields")
def test_the_field_that_joins_must_be_granted_where_it_stands() -> None:
    unjoined = client(GIVEN["orders"], replace(GIVEN["items"], fields=frozenset({"id"})), GIVEN["customers"])

    refused(FieldNotGranted, unjoined, FetchQuery("orders", "k", expand=(Expand("items"),)))
    refused(FieldNotGranted, without("customer_id"), FetchQuery("orders", "k", expand=(Expand("customer"),)))
    assert permit(without("customer_id"), FetchQuery("orders", "k", expand=(Expand("items"),))).related
    assert permit(unjoined, FetchQuery("orders", "k", expand=(Expand("customer"),))).related


def abilities(holder: Holder, **options: bool) -> list[tuple[str, bool, str | None]]:
    permitted = permit(holder, SchemaQuery("orders", FIRST), **options)
    return [(each.name, each.granted, each.reason) for each in permitted.expandable[0]]


def test_what_can_be_expanded_is_what_would_be_permitted() -> None:
    alone = client(GIVEN["orders"])

    assert abilities(CLIENT) == [("items", True, None), ("customer", True, None)]
    assert abilities(alone) == [(name, False, "related_stream_not_granted") for name in ("items", "customer")]
    assert abilities(replace(alone, kind=LATER_KIND)) == abilities(alone)
    assert abilities(replace(alone, kind="owner")) == [
        (name, False, "related_stream_unknown") for name in ("items", "customer")
    ]
    assert abilities(without("customer_id"))[1] == ("customer", True, "field_not_granted")
    strict = [("items", True, "client_expand_not_supported"), ("customer", True, "client_expand_not_supported")]
    assert abilities(CLIENT, core_strict=True) == strict
    for kind in ("mcp_package", LATER_KIND):
        assert abilities(replace(CLIENT, kind=kind), core_strict=True) == strict
    assert abilities(OWNER, core_strict=True) == abilities(CLIENT)
    first, second = permit(CLIENT, SchemaQuery("orders", FIRST)).expandable[0]
    assert (first.default_limit, first.max_limit, first.stream, first.foreign_key) == (2, 5, "items", "order_id")
    assert (second.cardinality, second.usable) == ("has_one", True)
    for query in (SchemaQuery(), StreamsQuery(), StreamMetadataQuery("orders")):
        permitted = permit(CLIENT, query, core_strict=True)
        assert len(permitted.expandable) == len(permitted.scopes)
        assert permitted.core_strict
    assert permit(CLIENT, SearchQuery("x")).expandable == ()


def test_the_owner_names_one_source_where_several_have_a_stream() -> None:
    told = refused(InvalidRequest, OWNER, RecordsQuery("orders"))

    assert (told.param, "2 sources" in told.message) == ("connector_id", True)
    assert touched(OWNER, RecordsQuery("items")) == [("items", BOTH)]
    assert touched(OWNER, RecordsQuery("orders", MARKET)) == [("orders", (MARKET,))]
    assert touched(OWNER, RecordsQuery("orders", connector_key="shop")) == [("orders", BOTH)]
    assert refused(NotFound, OWNER, RecordsQuery("nonsense")).param == "stream"
    assert refused(NotFound, OWNER, RecordsQuery("items", connector_key="market")).param == "stream"
    refused(ConnectionNotFound, OWNER, RecordsQuery("items", MARKET))


def test_a_package_names_one_connection_even_where_one_grant_has_the_stream() -> None:
    told = refused(AmbiguousConnection, PACKAGE, RecordsQuery("items"))
    refused(AmbiguousConnection, replace(PACKAGE, kind=LATER_KIND), RecordsQuery("items"))

    assert [(each.connection_id, each.grant_id) for each in told.candidates] == [
        (FIRST, "grt_shop"),
        (SECOND, "grt_shop"),
    ]
    assert "'items' is granted from 2" in told.message
    assert touched(CLIENT, RecordsQuery("items")) == [("items", BOTH)]
    removed = replace(PACKAGE, origins={SECOND: ORIGINS[SECOND]})
    alone = refused(AmbiguousConnection, removed, RecordsQuery("items"))
    assert [each.label for each in alone.candidates] == ["Second"]
    assert "only one of them has 'items'" in alone.message
    none_left = refused(AmbiguousConnection, replace(PACKAGE, origins={}), RecordsQuery("items"))
    assert none_left.message == "No source of 'items' is left: each that the grant names was removed."


@pytest.mark.parametrize(("count", "more"), [(1, ""), (19, ""), (20, ""), (21, " and 1 more"), (41, " and 21 more")])
def test_a_refused_stream_names_twenty_that_are_granted(count: int, more: str) -> None:
    names = [f"s{number:02}" for number in range(count)]
    wide = declared("shop", *(stream(name, {}) for name in names))

    told = refused(StreamNotGranted, Holder("client", "cli", (wide,), ORIGINS), RecordsQuery("nonsense"))

    assert told.remedy == f"Granted streams: {', '.join(names[:20])}{more}. Only the owner can widen a grant."
    refused(StreamNotGranted, replace(CLIENT, kind=LATER_KIND), RecordsQuery("nonsense"))
    nothing = refused(StreamNotGranted, Holder("client", "cli", (), ORIGINS), RecordsQuery("nonsense"))
    assert "Granted streams" not in nothing.remedy

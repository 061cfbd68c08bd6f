"""GET /v1/streams and GET /v1/streams/{stream}."""

import pytest

from pdpp_server.wire.declarations import decode_declaration
from tests.requirements import requirement
from tests.scenarios.resource_server.shop import ITEMS, ORDERS, SHOP, Counter, Shop, order, record


@requirement("rs.streams.rows", "rs.streams.freshness", "rs.selector.canonical-out", "rs.envelope.links-next")
def test_each_stream_of_each_connection_has_its_row(counter: Counter) -> None:
    body = counter.body("/v1/streams")
    rows = {(row["name"], row["connection_id"]): row for row in body["data"]}
    shop = counter.shop

    assert list(rows) == [(name, id) for name in ("items", "orders") for id in (shop.first, shop.second)]
    assert rows["orders", shop.first] == {
        "object": "stream",
        "name": "orders",
        "record_count": 2,
        "last_updated": "2026-11-02T00:00:00.000Z",
        "connector_key": "shop",
        "connection_id": shop.first,
        "display_name": "First shop",
        "freshness": {"status": "unknown", "captured_at": "2026-11-02T00:00:00.000Z"},
    }
    assert rows["items", shop.second]["last_updated"] is None
    assert (body["has_more"], body["links"]) == (False, {"self": "/v1/streams", "next": None})
    assert body["meta"] == {"count": {"kind": "none"}, "warnings": []}


@requirement("rs.streams.visible-counts")
def test_hidden_records_change_neither_count_nor_time(counter: Counter) -> None:
    before = counter.get("/v1/streams").content
    late = order("hidden", "2025-01-01T00:00:00Z", "2026-11-14T00:00:00.000Z")
    counter.shop.filled(SHOP, "First shop", [late, record("customers", "c2")])
    assert counter.get("/v1/streams").content == before

    shown = order("shown", "2026-06-01T00:00:00Z", "2026-11-15T00:00:00.000Z")
    counter.shop.filled(SHOP, "First shop", [shown])
    row = counter.body("/v1/streams")["data"][2]
    assert (row["record_count"], row["last_updated"]) == (3, "2026-11-15T00:00:00.000Z")


@requirement("rs.streams.rows", "rs.selector.alias-warned")
def test_selectors_keep_the_rows_of_one_connection(counter: Counter) -> None:
    shop = counter.shop
    body = counter.body(f"/v1/streams?connector_instance_id={shop.second}")
    owners = counter.body(f"/v1/streams?connector_id={SHOP['source']['id']}", shop.owner_token)["data"]

    assert {row["connection_id"] for row in body["data"]} == {shop.second}
    assert [warning["code"] for warning in body["meta"]["warnings"]] == ["deprecated_alias_used"]
    assert {(row["connector_id"], row["source"]["id"]) for row in owners} == {("shop", SHOP["source"]["id"])}
    assert counter.refusal(f"/v1/streams?connection_id={shop.market}") == (404, "connection_not_found", "connection_id")
    assert counter.refusal("/v1/streams?connector_id=market") == (400, "connector_invalid", "connector_id")


@requirement("rs.streams.metadata")
def test_metadata_is_whole_for_a_granted_stream(counter: Counter) -> None:
    body = counter.body("/v1/streams/orders")
    granted = {name for name, field in body["field_capabilities"].items() if field["granted"]}

    assert (body["object"], body["name"], body["schema"]) == ("stream_metadata", "orders", ORDERS["schema"])
    assert (body["semantics"], body["cursor_field"], body["consent_time_field"]) == (
        "mutable_state",
        "placed_at",
        "placed_at",
    )
    assert granted == {"id", "placed_at", "total", "state", "remark"}
    assert set(body["field_capabilities"]) == set(ORDERS["schema"]["properties"])
    assert "granted_connections" not in body
    assert body["links"] == {"self": "/v1/streams/orders"}


@requirement("rs.streams.metadata", "rs.selector.owner-names-source")
def test_metadata_of_another_stream_is_refused_and_the_owner_names_a_source(counter: Counter) -> None:
    owner = counter.shop.owner_token

    assert counter.refusal("/v1/streams/customers") == (403, "grant_stream_not_allowed", "stream")
    assert counter.refusal("/v1/streams/nothing") == (403, "grant_stream_not_allowed", "stream")
    assert counter.refusal("/v1/streams/nothing", owner) == (404, "not_found", "stream")
    assert counter.refusal("/v1/streams/orders", owner) == (400, "invalid_request", "connector_id")
    assert counter.body("/v1/streams/orders?connector_id=market", owner)["record_count"] == 1
    assert counter.body(f"/v1/streams/orders?connection_id={counter.shop.first}", owner)["record_count"] == 3


@requirement("rs.streams.metadata", "rs.enforcement.undeclared-stream")
def test_metadata_of_a_stream_that_is_gone_says_so(counter: Counter) -> None:
    fewer = decode_declaration({**SHOP, "declaration_version": "2", "streams": SHOP["streams"][1:]})
    for name in ("First shop", "Second shop"):
        counter.shop.owner.writer(fewer, name).deliver([])

    assert counter.refusal("/v1/streams/orders") == (404, "stream_not_declared", "stream")


@requirement("rs.schema.expand-capabilities")
def test_an_expansion_is_usable_where_the_grant_reaches_the_related_records(counter: Counter) -> None:
    to_items, to_customer = counter.body("/v1/streams/orders")["expand_capabilities"]
    owners = counter.body("/v1/streams/orders?connector_id=shop", counter.shop.owner_token)["expand_capabilities"]

    assert to_items == {
        "name": "items",
        "stream": "items",
        "target_stream": "items",
        "cardinality": "has_many",
        "child_parent_key_field": "order_id",
        "foreign_key": "order_id",
        "granted": True,
        "usable": True,
        "default_limit": 2,
        "max_limit": 5,
    }
    assert (to_customer["granted"], to_customer["usable"], to_customer["reason"]) == (
        False,
        False,
        "related_stream_not_granted",
    )
    assert "child_parent_key_field" not in to_customer
    assert [(one["granted"], one["usable"]) for one in owners] == [(True, True)] * 2


@requirement("rs.schema.expand-capabilities")
def test_an_expansion_without_its_key_is_granted_and_not_usable(counter: Counter) -> None:
    shop = counter.shop
    without_key = {"name": "items", "instance_ids": [shop.first], "fields": ["id", "name"]}
    token = shop.grant({"name": "orders", "instance_ids": [shop.first]}, without_key)
    for path in ("/v1/schema?stream=orders", "/v1/schema?stream=orders&view=compact"):
        (row,) = counter.body(path, token)["connectors"][0]["streams"]
        assert (row["expand_capabilities"][0]["usable"], row["expand_capabilities"][0]["reason"]) == (
            False,
            "field_not_granted",
        )


@requirement("rs.schema.expand-capabilities")
def test_core_strict_lets_no_client_expand(shop: Shop) -> None:
    with shop.serving(core_strict=True) as counter:
        abilities = counter.body("/v1/streams/orders")["expand_capabilities"]

    assert [(one["usable"], one["reason"]) for one in abilities] == [(False, "client_expand_not_supported")] * 2


@requirement("rs.parameters.unknown-refused")
@pytest.mark.parametrize("path", ["/v1/streams", "/v1/streams/orders"])
def test_an_unknown_parameter_is_refused(counter: Counter, path: str) -> None:
    assert counter.refusal(f"{path}?view=compact") == (400, "invalid_request", "view")


@requirement("rs.streams.rows")
@pytest.mark.parametrize("path", ["/v1/connectors", "/v1/streams", "/v1/streams/orders"])
def test_a_list_is_logged_before_it_leaves(counter: Counter, path: str) -> None:
    counter.body(path)
    (line,) = counter.shop.disclosures()[-1:]

    assert sorted(line["connections"]) == sorted([counter.shop.first, counter.shop.second])
    assert set(line["streams"]) <= {ITEMS["name"], ORDERS["name"]}

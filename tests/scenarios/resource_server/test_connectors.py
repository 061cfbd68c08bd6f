"""GET /v1/connectors."""

from tests.requirements import requirement
from tests.scenarios.resource_server.shop import REGISTRY, Counter, Shop


@requirement("rs.connectors.list", "rs.streams.visible-counts")
def test_a_source_is_listed_with_what_the_grant_shows_and_what_can_be_asked(counter: Counter) -> None:
    body = counter.body("/v1/connectors")
    (connector,) = body["data"]
    items, orders = connector.pop("streams")

    assert set(body) == {"object", "data"}
    assert connector == {
        "object": "connector",
        "connector_key": "shop",
        "connector_id": "shop",
        "source": {"kind": "connector", "id": f"{REGISTRY}shop"},
        "stream_count": 2,
    }
    assert orders == {
        "object": "stream",
        "name": "orders",
        "record_count": 3,
        "last_updated": "2026-11-10T08:00:00.000Z",
        "freshness": {"status": "unknown", "captured_at": "2026-11-10T08:00:00.000Z"},
        "capabilities": {
            "records": True,
            "stream_metadata": True,
            "changes_since": True,
            "exact_filters": True,
            "range_filters": True,
            "expand": True,
            "aggregate": True,
            "records_url": "/v1/streams/orders/records?connector_id=shop",
            "metadata_url": "/v1/streams/orders?connector_id=shop",
            "aggregate_url": "/v1/streams/orders/aggregate?connector_id=shop",
        },
    }
    assert (items["capabilities"]["aggregate"], items["capabilities"]["aggregate_url"]) == (False, None)


@requirement("rs.connectors.list")
def test_every_address_in_the_list_answers(counter: Counter) -> None:
    for connector in counter.body("/v1/connectors", counter.shop.owner_token)["data"]:
        for stream in connector["streams"]:
            for name in ("records_url", "metadata_url"):
                assert counter.get(stream["capabilities"][name], counter.shop.owner_token).status_code == 200


@requirement("rs.connectors.list")
def test_the_owner_sees_every_source(counter: Counter) -> None:
    connectors = counter.body("/v1/connectors", counter.shop.owner_token)["data"]

    assert [(one["connector_key"], one["stream_count"]) for one in connectors] == [("market", 1), ("shop", 3)]


@requirement("rs.connectors.list")
def test_under_core_strict_a_client_can_only_read(shop: Shop) -> None:
    with shop.serving(core_strict=True) as counter:
        _, orders = counter.body("/v1/connectors")["data"][0]["streams"]
        owners = counter.body("/v1/connectors", shop.owner_token)["data"][1]["streams"][2]

    narrowing = ("exact_filters", "range_filters", "expand")
    assert [orders["capabilities"][name] for name in narrowing] == [False] * 3
    assert [owners["capabilities"][name] for name in narrowing] == [True] * 3


@requirement("rs.parameters.unknown-refused")
def test_it_takes_no_parameter(counter: Counter) -> None:
    assert counter.refusal("/v1/connectors?limit=1") == (400, "invalid_request", "limit")

"""A shop with related streams beside a market that has orders too; a client that may read part of the shop."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from pdpp_server.app import create_app
from pdpp_server.model.ingest import Incoming
from pdpp_server.owner.desk import Owner
from pdpp_server.reads.services import open_services
from pdpp_server.settings import Settings
from pdpp_server.wire.declarations import decode_declaration
from pdpp_server.wire.grants import DETAIL_TYPE, decode_selection
from tests.engine.beneath import lines_in
from tests.worlds.world import Clock

REGISTRY = "https://registry.pdpp.dev/connectors/"
GRANTED = ["id", "placed_at", "total", "state", "remark"]
TEXT: dict[str, Any] = {"type": "string"}


def stream(name: str, fields: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "semantics": "mutable_state",
        "schema": {"type": "object", "required": ["id"], "properties": {"id": TEXT, **fields}},
        "primary_key": ["id"],
        "selection": {"fields": True, "resources": True},
        **more,
    }


ORDERS = stream(
    "orders",
    {
        "placed_at": {"type": "string", "format": "date-time", "x_pdpp_role": "event-time"},
        "total": {"type": "number", "x_pdpp_role": "amount"},
        "state": TEXT,
        "remark": {**TEXT, "x_pdpp_role": "primary-body"},
        "customer_id": TEXT,
        "invoice": {"type": "object", "x_pdpp_role": "blob-reference"},
    },
    cursor_field="placed_at",
    consent_time_field="placed_at",
    views=[{"id": "short", "label": "Short", "fields": ["id", "total"]}],
    relationships=[
        {"name": "items", "stream": "items", "foreign_key": "order_id", "cardinality": "has_many"},
        {"name": "customer", "stream": "customers", "foreign_key": "customer_id", "cardinality": "has_one"},
    ],
    query={
        "range_filters": {"placed_at": ["gte", "lt"], "total": ["gte", "lte"]},
        "search": {"lexical_fields": ["remark"]},
        "expand": [{"name": "items", "default_limit": 2, "max_limit": 5}, {"name": "customer"}],
        "aggregations": {
            "count": True,
            "sum": ["total"],
            "max": ["total"],
            "group_by": ["state"],
            "group_by_time": ["placed_at"],
        },
    },
)
ITEMS = stream("items", {"order_id": TEXT, "name": TEXT})
CUSTOMERS = stream("customers", {"name": TEXT})


def declared(key: str, *streams: dict[str, Any]) -> dict[str, Any]:
    return {
        "protocol_version": "0.1.0",
        "source": {"kind": "connector", "id": REGISTRY + key},
        "declaration_version": "1",
        "publisher": {"id": "https://registry.pdpp.dev/"},
        "display": {"name": key.title()},
        "streams": list(streams),
    }


SHOP = declared("shop", ORDERS, ITEMS, CUSTOMERS)
MARKET = declared("market", stream("orders", {"total": {"type": "number"}}))


def record(stream: str, id: str, emitted_at: str = "2026-11-10T08:00:00.000Z", **data: Any) -> Incoming:
    return Incoming("test", stream, None, {"id": id, **data}, emitted_at)


def order(id: str, placed_at: str, emitted_at: str, **data: Any) -> Incoming:
    return record("orders", id, emitted_at, placed_at=placed_at, customer_id="c1", **data)


RECORDS = [
    order("o1", "2026-02-01T00:00:00Z", "2026-11-01T00:00:00.000Z", total=10, state="paid", remark="A blue lamp"),
    order("o2", "2026-03-01T00:00:00Z", "2026-11-02T00:00:00.000Z", total=20.5, state="open", remark="A red lamp"),
    order("old", "2025-03-01T00:00:00Z", "2026-11-03T00:00:00.000Z", total=7, state="paid", remark="An old lamp"),
    *(record("items", f"i{n}", order_id="o1", name=f"Item {n}") for n in range(3)),
    record("customers", "c1", name="Ada"),
]


class Shop:
    """One home with two connections of the shop and one of the market, and its server."""

    def __init__(self, home: Path) -> None:
        self.home, self.clock = home, Clock()
        self.services = open_services(home, now=self.clock)
        self.owner = Owner(self.services, home)
        self.first = self.filled(SHOP, "First shop", RECORDS)
        self.second = self.filled(SHOP, "Second shop", [record("orders", "o9", placed_at="2026-05-01T00:00:00Z")])
        self.market = self.filled(MARKET, "Market", [record("orders", "m1", total=1)])
        orders = {
            "fields": ["id", "placed_at", "total", "state", "remark"],
            "time_range": {"since": "2026-01-01T00:00:00Z"},
        }
        both = [self.first, self.second]
        self.token = self.grant(
            {"name": "orders", "instance_ids": both, **orders}, {"name": "items", "instance_ids": both}
        )
        self.owner_token, _ = self.owner.owner_token(days=30)

    def filled(self, document: dict[str, Any], name: str, records: list[Incoming]) -> str:
        writer = self.owner.writer(decode_declaration(document), name)
        assert writer.deliver(records).rejected == ()
        return writer.connection_id

    def grant(self, *streams: dict[str, Any]) -> str:
        detail = {
            "type": DETAIL_TYPE,
            "source": {"id": SHOP["source"]["id"]},
            "purpose_code": "https://pdpp.dev/purpose/x",
            "access_mode": "continuous",
            "streams": list(streams),
        }
        return self.owner.create_grant(decode_selection([detail]), "Agent", None).token

    def disclosures(self) -> list[Mapping[str, Any]]:
        return [line.content for line in lines_in(self.home) if "operation" in line.content]

    @contextmanager
    def serving(self, **settings: Any) -> Generator["Counter", None, None]:
        app = create_app(Settings(home=self.home, **settings), self.services)
        with TestClient(app, base_url="http://127.0.0.1", client=("127.0.0.1", 50_000)) as client:
            yield Counter(client, self)


class Counter:
    """Where the shop is asked; by its client unless another token is given."""

    def __init__(self, client: TestClient, shop: Shop) -> None:
        self.client, self.shop = client, shop

    def get(self, path: str, token: str | None = None) -> Any:
        return self.client.get(path, headers={"Authorization": f"Bearer {token or self.shop.token}"})

    def body(self, path: str, token: str | None = None) -> Any:
        response = self.get(path, token)
        assert response.status_code == 200, response.text
        return response.json()

    def refusal(self, path: str, token: str | None = None) -> tuple[int, str, str | None]:
        response = self.get(path, token)
        return response.status_code, response.json()["error"]["code"], response.json()["error"].get("param")

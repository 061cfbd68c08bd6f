"""A ledger: two bank accounts of one source, with amounts, currencies, yes or no, dates and times to count by."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pdpp_server.model.ingest import Incoming, Receipt
from pdpp_server.owner.desk import Owner
from pdpp_server.port.local import LocalReader
from pdpp_server.reads.services import open_services
from pdpp_server.wire.declarations import decode_declaration
from pdpp_server.wire.grants import DETAIL_TYPE, decode_selection
from tests.worlds.told import ToldReader
from tests.worlds.world import Clock

SOURCE_ID = "https://registry.pdpp.dev/connectors/ledger"
CURRENT, SAVINGS = "Current account", "Savings account"
GRANTED = ["id", "booked_at", "value_day", "amount", "cents", "currency", "shop", "card", "lines"]
LONG_NAME = "The Very Long Name Of A Shop " * 5  # longer than what an index holds of a text

_BOOKINGS: dict[str, Any] = {
    "name": "bookings",
    "semantics": "mutable_state",
    "description": "What was booked.",
    "schema": {
        "type": "object",
        "required": ["id"],
        "properties": {
            "id": {"type": "string"},
            "booked_at": {"type": ["string", "null"], "format": "date-time"},
            "value_day": {"type": "string", "format": "date"},
            "amount": {"type": "number", "x_pdpp_role": "amount", "description": "Negative for what went out."},
            "cents": {"type": ["integer", "null"]},
            "currency": {"type": ["string", "null"], "x_pdpp_role": "currency"},
            "shop": {"type": "string"},
            "card": {"type": "boolean"},
            "lines": {"type": "array"},
            "secret": {"type": "string"},
        },
    },
    "primary_key": ["id"],
    "cursor_field": "booked_at",
    "consent_time_field": "booked_at",
    "selection": {"fields": True, "resources": True},
    "query": {
        "range_filters": {"booked_at": ["gte", "lt"], "amount": ["gte", "lt"]},
        "search": {"lexical_fields": ["shop"]},
        "aggregations": {
            "count": True,
            "sum": ["amount", "cents"],
            "min": ["amount", "cents", "booked_at", "value_day"],
            "max": ["amount", "cents", "booked_at", "value_day"],
            "count_distinct": ["currency", "shop", "card", "booked_at", "cents", "secret"],
            "group_by": ["currency", "shop", "card", "amount", "value_day", "booked_at"],
            "group_by_time": ["booked_at", "value_day"],
        },
    },
}
_NOTES: dict[str, Any] = {
    "name": "notes",
    "semantics": "append_only",
    "schema": {"type": "object", "properties": {"id": {"type": "string"}, "written_at": {"type": "string"}}},
    "primary_key": ["id"],
    "selection": {"fields": True, "resources": True},
}
DOCUMENT: dict[str, Any] = {
    "protocol_version": "0.1.0",
    "source": {"kind": "connector", "id": SOURCE_ID},
    "declaration_version": "1",
    "publisher": {"id": "https://registry.pdpp.dev/"},
    "display": {"name": "Ledger"},
    "streams": [_BOOKINGS, _NOTES],
}
DECLARATION = decode_declaration(DOCUMENT)


def booking(id: str, booked_at: str | None = None, **data: Any) -> Incoming:
    told = {"id": id, **({} if booked_at is None else {"booked_at": booked_at}), **data}
    return Incoming(f"test:{id}", "bookings", None, told, "2026-11-14T08:00:00Z")


RECORDS: dict[str, list[Incoming]] = {
    CURRENT: [
        booking("b1", "2026-09-30T21:59:59Z", value_day="2026-09-30", amount=0.1, cents=10, currency="CHF", card=True),
        booking("b2", "2026-09-30T22:00:00Z", value_day="2026-10-01", amount=0.2, cents=20, currency="CHF", card=False),
        booking("b3", "2026-10-25T00:30:00Z", value_day="2026-10-26", amount=0.3, cents=30, currency="EUR", card=True),
        booking("b4", "2026-10-25T01:30:00Z", value_day="2026-10-26", amount=-2, cents=-200, currency="EUR",
                shop=LONG_NAME + "in Bern"),
        booking("b5", amount=5.5, currency=None, shop=LONG_NAME + "in Basel", secret="walrus"),
    ],
    SAVINGS: [
        booking("b1", "2026-11-01T12:00:00Z", value_day="2026-11-01", amount=2.0, cents=200, currency="EUR",
                shop=LONG_NAME + "in Bern", secret="zebra"),
        booking("b2", "2025-01-01T00:00:00.000001Z", value_day="2025-01-01", amount=1000, currency="USD", shop="Kiosk"),
    ],
}  # fmt: skip


class Ledger:
    """The server of the ledger in an empty folder; `token` may read everything of both accounts but the secrets."""

    def __init__(self, home: Path, records: dict[str, list[Incoming]] = RECORDS) -> None:
        self.home = home
        self.services = open_services(home, now=Clock())
        self.owner = Owner(self.services, home)
        self.current, self.savings = (self._account(name, records[name]) for name in (CURRENT, SAVINGS))
        self.token = self.grant()

    def grant(self, **narrowing: Any) -> str:
        """A new client's token for the bookings of both accounts; narrow it with fields, time_range or resources."""
        both = [self.current, self.savings]
        detail = {
            "type": DETAIL_TYPE,
            "source": {"id": SOURCE_ID},
            "purpose_code": "https://pdpp.dev/purpose/assistance",
            "access_mode": "continuous",
            "streams": [
                {"name": "bookings", "instance_ids": both, "fields": GRANTED, **narrowing},
                {"name": "notes", "instance_ids": both},
            ],
        }
        return self.owner.create_grant(decode_selection([detail]), "Agent", None).token

    def reader(self, token: str | None = None) -> ToldReader:
        return ToldReader(LocalReader(self.services, token or self.token))

    def deliver(self, account: str, records: Iterable[Incoming]) -> Receipt:
        return self.owner.writer(DECLARATION, account).deliver(records)

    def close(self) -> None:
        self.services.close()

    def _account(self, name: str, records: list[Incoming]) -> str:
        writer = self.owner.writer(DECLARATION, name)
        receipt = writer.deliver(records)
        assert receipt.rejected == ()
        return writer.connection_id

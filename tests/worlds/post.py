"""Threads and letters that refer to each other in both directions, of two accounts."""

from typing import Any

from pdpp_server.model.ingest import Incoming
from pdpp_server.wire.declarations import decode_declaration
from pdpp_server.wire.grants import DETAIL_TYPE, decode_selection
from tests.worlds.world import World

SOURCE_ID = "https://registry.pdpp.dev/connectors/post"
OFFICE, HOME = "Office post", "Home post"

_THREADS: dict[str, Any] = {
    "name": "threads",
    "semantics": "mutable_state",
    "schema": {
        "type": "object",
        "required": ["id"],
        "properties": {"id": {"type": "string"}, "topic": {"type": "string"}, "is_open": {"type": "boolean"}},
    },
    "primary_key": ["id"],
    "selection": {"fields": True, "resources": True},
    "relationships": [{"name": "letters", "stream": "letters", "foreign_key": "thread_id", "cardinality": "has_many"}],
    "query": {"expand": [{"name": "letters", "default_limit": 2, "max_limit": 3}]},
}
_LETTERS: dict[str, Any] = {
    "name": "letters",
    "semantics": "mutable_state",
    "schema": {
        "type": "object",
        "required": ["id"],
        "properties": {
            "id": {"type": "string"},
            "thread_id": {"type": ["string", "null"], "x_pdpp_role": "thread"},
            "text": {"type": "string", "x_pdpp_role": "primary-body"},
            "pages": {"type": ["integer", "null"]},
            "is_read": {"type": "boolean"},
            "tags": {"type": "array"},
            "written_at": {"type": ["string", "null"], "format": "date-time", "x_pdpp_role": "event-time"},
            "secret": {"type": "string"},
        },
    },
    "primary_key": ["id"],
    "cursor_field": "written_at",
    "consent_time_field": "written_at",
    "selection": {"fields": True, "resources": True},
    "views": [{"id": "short", "label": "Short", "fields": ["id", "written_at", "secret"]}],
    "relationships": [{"name": "thread", "stream": "threads", "foreign_key": "thread_id", "cardinality": "has_one"}],
    "query": {
        "range_filters": {"written_at": ["gte", "lt"], "pages": ["gte", "gt", "lte", "lt"]},
        "expand": [{"name": "thread"}],
        "search": {"lexical_fields": ["text"]},
        "aggregations": {"count": True, "sum": ["pages"], "group_by_time": ["written_at"]},
    },
}
DECLARATION = decode_declaration(
    {
        "protocol_version": "0.1.0",
        "source": {"kind": "connector", "id": SOURCE_ID},
        "declaration_version": "1",
        "publisher": {"id": "https://registry.pdpp.dev/"},
        "display": {"name": "Post"},
        "streams": [_THREADS, _LETTERS],
    }
)


def thread(id: str, **data: Any) -> Incoming:
    return Incoming(f"test:{id}", "threads", None, {"id": id, **data}, "2026-11-14T08:00:00Z")


def letter(id: str, **data: Any) -> Incoming:
    return Incoming(f"test:{id}", "letters", None, {"id": id, **data}, "2026-11-14T08:00:00Z")


RECORDS = {
    OFFICE: [
        thread("t1", topic="Lease", is_open=True),
        thread("t2", topic="Empty"),
        letter(
            "l1", thread_id="t1", text="First", pages=1, is_read=True, written_at="2026-03-01T09:00:00Z", secret="x"
        ),
        letter("l2", thread_id="t1", text="Second", pages=20, written_at="2026-03-02T09:00:00+02:00", secret="y"),
        letter("l3", thread_id="t1", text="Third", pages=3, is_read=False, written_at="2026-03-03T09:00:00Z"),
        letter("l4", text="Undated", tags=["a"]),
    ],
    HOME: [
        thread("t1", topic="Garden"),
        letter("l1", thread_id="t1", text="At home", pages=2, written_at="2026-03-02T07:00:00Z"),
        letter("l9", thread_id="gone", text="Loose", pages=5, written_at="2026-01-01T00:00:00Z"),
    ],
}


class Post:
    """The accounts in a world, and tokens for parts of them."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.office, self.home = (self._filled(name) for name in (OFFICE, HOME))

    def _filled(self, name: str) -> str:
        writer = self.world.owner.writer(DECLARATION, name)
        assert writer.deliver(RECORDS[name]).rejected == ()
        writer.finish("post.ndjson", [])
        return writer.connection_id

    def grant(self, *streams: dict[str, Any]) -> str:
        """A client's token; each stream is of both accounts unless it says otherwise."""
        both = [self.office, self.home]
        detail = {
            "type": DETAIL_TYPE,
            "source": {"id": SOURCE_ID},
            "purpose_code": "https://pdpp.dev/purpose/assistance",
            "access_mode": "continuous",
            "streams": [{"instance_ids": both, **stream} for stream in streams],
        }
        return self.world.owner.create_grant(decode_selection([detail]), "Agent", None).token

"""A chat source small enough to know by heart: two accounts whose records share their ids."""

from typing import Any

from pdpp_server.model.ingest import Incoming
from pdpp_server.wire.declarations import decode_declaration
from pdpp_server.wire.grants import DETAIL_TYPE

SOURCE_ID = "https://registry.pdpp.dev/connectors/chat"
WORK, FAMILY = "Work chat", "Family chat"
EMITTED_AT = "2026-11-14T08:00:00Z"
LONG_TEXT = "The lease runs for a year. " * 400 + "Then the walrus clause ends it. " + "Nothing else is new. " * 100

_MESSAGES: dict[str, Any] = {
    "name": "messages",
    "semantics": "mutable_state",
    "display": {"label": "Messages", "detail": "Subject, text, author and time."},
    "schema": {
        "type": "object",
        "required": ["id"],
        "properties": {
            "id": {"type": "string"},
            "subject": {"type": ["string", "null"], "x_pdpp_role": "primary-title"},
            "text": {"type": "string", "x_pdpp_role": "primary-body"},
            "author": {"type": "string", "x_pdpp_role": "actor"},
            "sent_at": {"type": "string", "format": "date-time", "x_pdpp_role": "event-time"},
            "likes": {"type": "integer"},
            "reactions": {"type": "object"},
        },
    },
    "primary_key": ["id"],
    "cursor_field": "sent_at",
    "consent_time_field": "sent_at",
    "selection": {"fields": True, "resources": True},
    "query": {
        "range_filters": {"sent_at": ["gte", "lt"], "likes": ["gte"]},
        "search": {"lexical_fields": ["subject", "text"]},
    },
}
_CHANNELS: dict[str, Any] = {
    "name": "channels",
    "semantics": "append_only",
    "schema": {
        "type": "object",
        "required": ["team", "number"],
        "properties": {"team": {"type": "string"}, "number": {"type": "integer"}, "topic": {"type": "string"}},
    },
    "primary_key": ["team", "number"],
    "selection": {"fields": True, "resources": True},
    "query": {"search": {"lexical_fields": ["topic"]}},
}
DOCUMENT: dict[str, Any] = {
    "protocol_version": "0.1.0",
    "source": {"kind": "connector", "id": SOURCE_ID},
    "declaration_version": "1",
    "publisher": {"id": "https://registry.pdpp.dev/"},
    "display": {"name": "Chat"},
    "streams": [_MESSAGES, _CHANNELS],
}
DECLARATION = decode_declaration(DOCUMENT)


def message(id: str, **data: Any) -> Incoming:
    return Incoming(f"test:{id}", "messages", None, {"id": id, **data}, EMITTED_AT)


def channel(team: str, number: int, topic: str) -> Incoming:
    return Incoming("test:channel", "channels", None, {"team": team, "number": number, "topic": topic}, EMITTED_AT)


def deletion(key: str | tuple[str, ...], stream: str = "messages") -> Incoming:
    return Incoming("test:deletion", stream, key, None, EMITTED_AT)


def detail(*streams: dict[str, Any]) -> dict[str, Any]:
    """One member of `authorization_details`: these streams of the chat source."""
    return {
        "type": DETAIL_TYPE,
        "source": {"id": SOURCE_ID},
        "purpose_code": "https://pdpp.dev/purpose/assistance",
        "access_mode": "continuous",
        "streams": list(streams),
    }


RECORDS: dict[str, list[Incoming]] = {
    WORK: [
        message("m1", subject="Lease draft", text="The lease draft is ready.", author="Ada",
                sent_at="2026-03-01T09:00:00Z", likes=3, reactions={"thumbs": 2}),
        message("m2", subject="Lease, whole text", text=LONG_TEXT, author="Ben",
                sent_at="2026-03-02T09:00:00Z", likes=0),
        message("m3", subject=None, text="Lunch at noon?", author="Ada", sent_at="2026-04-01T11:30:00Z"),
        message("m4", subject="Kyoto", text="東京都の地図を見て。京都は次。", author="Cleo",
                sent_at="2026-05-01T00:00:00Z"),
        message("m5", subject="No time", text="Nobody knows when the lease was written.", author="Ben"),
        channel("legal", 1, "Everything about the lease"),
        channel("lunch", 2, "Where to eat"),
    ],
    FAMILY: [
        message("m1", subject="Holidays", text="We meet at the lake in July.", author="Dora",
                sent_at="2026-03-01T18:00:00Z", likes=7),
        message("m2", subject="Key", text="The key of the lake house is with the neighbour.", author="Eli",
                sent_at="2026-06-01T18:00:00Z"),
        channel("lake", 1, "The house at the lake"),
    ],
}  # fmt: skip

"""A server that answers as the public reference did when it was tried: it says less, and some of it otherwise."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from tests.worlds.foreign import META, refused

ADDRESS = "https://registry.pdpp.dev/connectors/slack"
WORK, HOME = "cin_0f3a9c7b21d84e5566aa77bb", "cin_99ff88ee77dd66cc55bb44aa"
LABELS = {WORK: "Work Slack", HOME: "Home Slack"}
CHANNELS = ("general", "general", "general", "legal", "legal", "garden", "travel")
MESSAGES: dict[str, dict[str, Any]] = {
    f"m{number}": {
        "id": f"m{number}",
        "text": f"Note {number}: the overdraft fee is due again.",
        "sent_at": f"2024-{number % 12 + 1:02}-05T08:00:00Z",
        "channel": CHANNELS[number % len(CHANNELS)],
    }
    for number in range(14)
}
PARTIAL = {"code": "partial_results", "message": "More rows than one answer has.", "param": "connection_id"}


@dataclass
class Reference:
    """Two connections with the same messages. Over both it gives `limit` of each, and no cursor."""

    asked: list[str] = field(default_factory=list[str])
    says_more: bool = True  # whether lists say `has_more` at all

    def app(self) -> Starlette:
        messages = "/v1/streams/messages"
        return Starlette(
            routes=[
                Route("/v1/schema", self._schema),
                Route("/v1/search", self._search),
                Route(f"{messages}/records", self._records),
                Route(f"{messages}/aggregate", self._aggregate),
                Route(f"{messages}/records/{{key}}/field-window", self._window),
                Route(f"{messages}/records/{{key}}", self._record),
            ]
        )

    async def _schema(self, request: Request) -> JSONResponse:
        self._remember(request)
        held = [{"connection_id": id, "display_name": label} for id, label in LABELS.items()]
        row = {
            "name": "messages",
            "primary_key": ["id"],
            "cursor_field": "sent_at",
            "field_capabilities": dict.fromkeys(MESSAGES["m0"], "declared"),
            "expand_capabilities": [],
        }
        connector = {
            "object": "connector",
            "connector_key": "slack",
            "connector_id": "slack",
            "source": {"kind": "connector", "id": ADDRESS},
            "stream_count": 1,
            "granted_connections": held,
            "streams": [row],
        }
        bearer = {"token_kind": "client", "scope": "grant", "grant_id": "grt_1", "client_id": "cli_1"}
        return JSONResponse({"object": "schema", "bearer": bearer, "connectors": [connector], "meta": META})

    async def _records(self, request: Request) -> JSONResponse:
        self._remember(request)
        asked = request.query_params
        limit, connection = int(asked.get("limit", "25")), asked.get("connection_id")
        if "filter" in request.url.query:
            return refused(400, "invalid_request", "Client tokens cannot filter.", "filter")
        start = int(asked.get("cursor", "0"))
        keys = [*MESSAGES][start : start + limit]
        is_more = start + limit < len(MESSAGES)
        page = {
            "object": "list",
            "data": [_record(key, id) for id in ((connection,) if connection else LABELS) for key in keys],
            **({"has_more": is_more} if self.says_more else {}),
            **({"next_cursor": str(start + limit)} if connection and is_more else {}),
        }
        warned = [PARTIAL] if is_more and not connection and self.says_more else []
        return JSONResponse({**page, "meta": {"count": {"kind": "none"}, "warnings": warned}})

    async def _record(self, request: Request) -> JSONResponse:
        self._remember(request)
        key = request.path_params["key"]
        if key not in MESSAGES:
            return refused(404, "not_found", "Not found")
        connection = request.query_params.get("connection_id", WORK)
        return JSONResponse({**_record(key, connection), "connector_key": ADDRESS, "meta": META})

    async def _aggregate(self, request: Request) -> JSONResponse:
        """The first groups of each connection, added up; what was left out is not told."""
        self._remember(request)
        asked = request.query_params
        number = len(MESSAGES) * (1 if "connection_id" in asked else len(LABELS))
        body: dict[str, Any] = {"object": "aggregation", "stream": "messages", "metric": "count", "meta": META}
        body |= {"filtered_record_count": number, "approximate": False}
        if "group_by" in asked:
            counted = Counter(str(message[asked["group_by"]]) for message in MESSAGES.values()).most_common()
        elif "group_by_time" in asked:
            counted = sorted(Counter(message["sent_at"][:7] + "-01" for message in MESSAGES.values()).items())
        else:
            return JSONResponse({**body, "value": number})
        kept = counted[: int(asked.get("limit", "10"))]
        times = number // len(MESSAGES)
        return JSONResponse({**body, "groups": [{"key": key, "count": count * times} for key, count in kept]})

    async def _search(self, request: Request) -> JSONResponse:
        self._remember(request)
        hits = [_hit(key, id) for id in LABELS for key in [*MESSAGES][:2]]
        meta = {"count": 28, "count_accuracy": "exact", "warnings": []}
        return JSONResponse({"object": "list", "url": "/v1/search", "has_more": True, "data": hits, "meta": meta})

    async def _window(self, request: Request) -> JSONResponse:
        self._remember(request)
        key, asked = request.path_params["key"], request.query_params
        text: str = MESSAGES[key][asked["field"]]
        start = text.lower().index(asked["q"].lower()) if "q" in asked else int(asked.get("offset_chars", "0"))
        window = {"text": text[start:], "total_chars": len(text), "start_chars": start, "end_chars": len(text)}
        window |= {"limit_chars": 4096, "complete": start == 0, "has_more": False}
        body = {"object": "field_window", "stream": "messages", "record_id": key, "window": window, "meta": META}
        return JSONResponse({**body, "field": {"path": asked["field"], "type": "string"}})

    def _remember(self, request: Request) -> None:
        self.asked.append(request.url.path + (f"?{request.url.query}" if request.url.query else ""))


def _record(key: str, connection: str) -> dict[str, Any]:
    named = {"connection_id": connection, "connector_instance_id": connection, "display_name": LABELS[connection]}
    about = {"object": "record", "id": key, "stream": "messages", "emitted_at": "2026-11-09T12:01:00.000Z"}
    return {**about, "data": MESSAGES[key], **named}


def _hit(key: str, connection: str) -> dict[str, Any]:
    words = "… the <mark>overdraft</mark> fee …"
    read = {"object": "field_window_read", "method": "GET", "stream": "messages", "record_id": key, "field": "text"}
    excerpt = {"object": "evidence_excerpt", "field_path": "text", "preview_text": words, "truncated": True}
    return {
        "object": "search_result",
        "stream": "messages",
        "record_key": key,
        "connector_id": "slack",
        "connection_id": connection,
        "connector_instance_id": connection,
        "display_name": LABELS[connection],
        "emitted_at": "2026-11-09T12:01:00.000Z",
        "authored_at": MESSAGES[key]["sent_at"],
        "matched_fields": ["text"],
        "record_url": f"/v1/streams/messages/records/{key}",
        "score": {"kind": "bm25", "value": -3.21, "order": "lower_is_better"},
        "snippet": {"field": "text", "text": words},
        "evidence_excerpts": [{**excerpt, "provenance": "lexical_match", "read": read}],
    }

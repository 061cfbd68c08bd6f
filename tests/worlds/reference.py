"""A server that answers as the public reference did when it was tried: it says less, and some of it otherwise."""

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from tests.worlds.foreign import META, refused

ADDRESS = "https://registry.pdpp.dev/connectors/slack"
WORK, HOME = "cin_0f3a9c7b21d84e5566aa77bb", "cin_99ff88ee77dd66cc55bb44aa"
PACKAGE = "a" * 64  # a token that is good at /mcp alone
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
    sent: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])  # to its tools and its device flow
    says_more: bool = True  # whether lists say `has_more` at all
    behind: int = 0  # how much of its index is not up to date

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
                Route("/mcp", self._tools, methods=["POST"]),
                Route("/.well-known/oauth-protected-resource", _resource),
                Route("/.well-known/oauth-authorization-server", _server),
                Route("/oauth/register", _registered, methods=["POST"]),
                Route("/oauth/authorize", _picked),
                Route("/oauth/device_authorization", self._device, methods=["POST"]),
                Route("/oauth/token", _package, methods=["POST"]),
            ]
        )

    async def _tools(self, request: Request) -> Response:
        """As streams of one event, which servers made with the SDK send unless told otherwise."""
        if request.headers["authorization"] != f"Bearer {PACKAGE}":
            return refused(401, "authentication_error", "Missing Bearer token")
        message = await request.json()
        self.sent.append(message)
        if message["method"] == "tools/list":
            names = {"search": ["q", "streams", "limit"], "schema": ["stream", "detail"], "fetch": ["id"]}
            listed = [
                {"name": name, "inputSchema": {"type": "object", "properties": {key: {} for key in taken}}}
                for name, taken in names.items()
            ]
            reply: dict[str, Any] = {"result": {"tools": listed}}
        elif message["params"]["name"] == "search":
            text = f"search: 1 hit(s). first_fetch_id={WORK}/messages:m1\u202e"
            data = {
                "data": {"object": "list", "result_count": 1},
                "results": [],
                "provider_url": "x",
                "request_id": None,
            }
            reply = {"result": {"content": [{"type": "text", "text": text}], "structuredContent": data}}
        else:
            reply = {"error": {"code": -32602, "message": "Input validation error"}}
        body = json.dumps({"jsonrpc": "2.0", "id": message["id"], **reply})
        return Response(f"event: message\ndata: {body}\n\n", media_type="text/event-stream")

    async def _device(self, request: Request) -> Response:
        asked = {name: str(value) for name, value in (await request.form()).items()}
        self.sent.append(asked)
        if "authorization_details" not in asked:
            return _oauth_error("invalid_request", "authorization_details is required\u202e.")
        told = {"device_code": "dc_1", "user_code": "A1B2C3", "verification_uri": f"{_origin(request)}/device"}
        return JSONResponse({**told, "expires_in": 300, "interval": 1})

    async def _schema(self, request: Request) -> JSONResponse:
        self._remember(request)
        if request.headers["authorization"] == f"Bearer {PACKAGE}":
            return refused(404, "not_found", "Unknown source: unknown")
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
        meta: dict[str, Any] = {"count": 28, "count_accuracy": "exact", "warnings": []}
        if self.behind:
            meta["index_maintenance"] = {"pending_scopes": self.behind, "note": "Some results may be missing."}
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


def _origin(request: Request) -> str:
    return str(request.base_url).rstrip("/")


def _resource(request: Request) -> JSONResponse:
    return JSONResponse({"resource": _origin(request), "authorization_servers": [_origin(request)]})


def _server(request: Request) -> JSONResponse:
    oauth, needs = f"{_origin(request)}/oauth", ["client_id", "resource", "authorization_details"]
    profile = {"profile": "grant_scoped_mcp", "pdpp_token_kind": "client", "required_parameters": needs}
    return JSONResponse(
        {
            "issuer": _origin(request),
            "authorization_endpoint": f"{oauth}/authorize",
            "token_endpoint": f"{oauth}/token",
            "device_authorization_endpoint": f"{oauth}/device_authorization",
            "registration_endpoint": f"{oauth}/register",
            "pdpp_device_authorization_profiles_supported": [profile],
        }
    )


def _registered(_: Request) -> JSONResponse:
    return JSONResponse({"client_id": "cli_1"}, 201)


def _picked(request: Request) -> Response:
    """Its owner picks two sources at once."""
    asked = request.query_params
    if asked.get("authorization_details") == "[{}]":
        error = {
            "error": "invalid_authorization_details",
            "error_description": "Which source?",
            "state": asked["state"],
        }
        return RedirectResponse(f"{asked['redirect_uri']}?{urlencode(error)}")
    return RedirectResponse(f"{asked['redirect_uri']}?{urlencode({'code': 'c', 'state': asked['state']})}")


def _package(_: Request) -> JSONResponse:
    return JSONResponse({"access_token": PACKAGE, "token_type": "Bearer", "grant_package_id": "pkg_1"})


def _oauth_error(error: str, description: str) -> JSONResponse:
    return JSONResponse({"error": error, "error_description": description}, 400)


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

"""Somebody else's server: the same protocol with other habits, and a memory for what it was asked."""

from dataclasses import dataclass, field
from typing import Any, Literal

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

TOKEN = "a-token-of-that-server"
CONNECTION = "cin_77aa00bb11cc22dd33ee44ff"
ADDRESS = "https://registry.pdpp.dev/connectors/tracker"
TASKS: dict[str, dict[str, Any]] = {
    "t-1": {"id": "t-1", "what": "Mend the gate", "due": "2026-10-01T08:00:00Z", "effort": 3},
    "t/2": {"id": "t/2", "what": "Paint the gate green", "due": "2026-10-09T08:00:00Z", "effort": 8},
}
META = {"count": {"kind": "none"}, "warnings": []}
CAN, CANNOT = {"declared": True, "usable": True}, {"declared": False, "usable": False}


@dataclass
class Foreign:
    """`compact` is what it makes of `view=compact`; it names a connection by its alias, and never titles a hit.

    It has no windows of fields. `lack` is how it answers where it has nothing; `mark` is what its cursors begin with.
    """

    compact: Literal["known", "ignored", "refused"] = "known"
    lack: Response | None = None
    aggregates: bool = True
    counts: bool = True
    mark: str = ""
    label: str = "My tasks"
    connection: str | None = CONNECTION
    tasks: dict[str, dict[str, Any]] = field(default_factory=lambda: TASKS)
    kind: str | None = "client"
    asked: list[str] = field(default_factory=list[str])
    headers: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    hits: list[dict[str, Any]] = field(default_factory=lambda: [hit("t-1"), hit("t/2", sent_at="2026-10-09T08:00:00Z")])

    def app(self) -> Starlette:
        tasks = "/v1/streams/tasks"
        return Starlette(
            routes=[
                Route("/v1/schema", self._schema),
                Route("/v1/search", self._search),
                Route(f"{tasks}/records", self._records),
                Route(f"{tasks}/aggregate", self._aggregate if self.aggregates else self._nothing),
                Route(f"{tasks}/records/{{key:path}}/field-window", self._nothing),
                Route(f"{tasks}/records/{{key:path}}", self._record),
                Route("/{anything:path}", self._nothing),
            ]
        )

    def _remember(self, request: Request) -> None:
        self.asked.append(request.url.path + (f"?{request.url.query}" if request.url.query else ""))
        self.headers.append(dict(request.headers))

    async def _schema(self, request: Request) -> JSONResponse:
        self._remember(request)
        compact = request.query_params.get("view") == "compact"
        if compact and self.compact == "refused":
            return refused(400, "unsupported_query", "Unsupported query parameter: view", "view")
        short = compact and self.compact == "known"
        bearer = {"scope": "grant", "grant_id": "grt_7", "client_id": "cli_7", "token_kind": self.kind}
        said = {name: value for name, value in bearer.items() if value is not None}
        whole = connector(short, self.label)
        if short and "stream" in request.query_params:  # a server that knows no forms knows no selection either
            whole["streams"] = [row for row in whole["streams"] if row["name"] == request.query_params["stream"]]
        return JSONResponse({"object": "schema", "bearer": said, "connectors": [whole], "meta": META})

    async def _search(self, request: Request) -> JSONResponse:
        self._remember(request)
        if "filter" in request.url.query:
            return refused(400, "invalid_request", "Client tokens cannot filter.", "filter")
        meta = {"count": len(self.hits), "count_accuracy": "exact", "warnings": []}
        return JSONResponse({"object": "list", "url": "/v1/search", **self._page(request, self.hits), "meta": meta})

    async def _records(self, request: Request) -> JSONResponse:
        self._remember(request)
        if "filter" in request.url.query:
            return refused(400, "invalid_request", "Client tokens cannot filter.", "filter")
        gone = {
            "object": "record",
            "id": "t-0",
            "stream": "tasks",
            "deleted": True,
            "deleted_at": "2026-11-01T00:00:00Z",
        }
        everything = [*(self._task(key) for key in self.tasks), *([] if self.mark else [gone])]
        counted = self.counts and request.query_params.get("count") == "exact"
        meta = {**META, "count": {"kind": "exact", "value": len(self.tasks)}} if counted else META
        return JSONResponse({"object": "list", **self._page(request, everything), "meta": meta})

    def _page(self, request: Request, everything: list[dict[str, Any]]) -> dict[str, Any]:
        """All at once, from a server without cursors."""
        if not self.mark:
            return {"has_more": False, "data": everything}
        asked = request.query_params
        done = int(asked.get("cursor", "0").removeprefix(self.mark))
        end = done + int(asked.get("limit", "25"))
        more = {"next_cursor": f"{self.mark}{end}"} if end < len(everything) else {}
        return {"has_more": bool(more), **more, "data": everything[done:end]}

    def _task(self, key: str) -> dict[str, Any]:
        named = {"connector_instance_id": self.connection} if self.connection else {}
        return {**record(key, self.tasks[key]), "display_name": self.label, "connector_instance_id": None, **named}

    async def _record(self, request: Request) -> JSONResponse:
        self._remember(request)
        key = request.path_params["key"]
        if key not in self.tasks:
            return refused(404, "not_found", "Not found")
        if "fields" in request.query_params:
            return refused(400, "invalid_request", "Client tokens cannot choose fields.", "fields")
        return JSONResponse({**self._task(key), "connector_key": ADDRESS, "record_json_bytes": 311, "meta": META})

    async def _aggregate(self, request: Request) -> JSONResponse:
        self._remember(request)
        groups = [{"key": "2026-10-01", "count": 2}]
        grouped = {"groups": groups, "other_count": 0} if "group_by_time" in request.query_params else {"value": 2}
        body = {"object": "aggregation", "stream": "tasks", "metric": "count", "filtered_record_count": 2, "meta": META}
        return JSONResponse({**body, **grouped})

    async def _nothing(self, request: Request) -> Response:
        self._remember(request)
        return self.lack or refused(404, "not_found", "Route not found")


def refused(status: int, code: str, message: str, param: str | None = None) -> JSONResponse:
    error = {"type": "api_error", "code": code, "message": message, "request_id": "req_theirs"}
    return JSONResponse({"error": error | ({"param": param} if param else {})}, status)


def connector(short: bool, label: str = "My tasks") -> dict[str, Any]:
    held = [{"connector_instance_id": CONNECTION, "display_name": label}]
    head = {"object": "connector", "connector_key": "tracker", "connector_id": "tracker"}
    row = compact_row() if short else full_row()
    other = {**row, "name": "lists"}
    return {
        **head,
        "source": {"kind": "connector", "id": ADDRESS},
        "stream_count": 2,
        **({"granted_connections": held} if short else {}),
        "streams": [row, other] if short else [{**one, "granted_connections": held} for one in (row, other)],
    }


def compact_row() -> dict[str, Any]:
    flags = {"id": "t=string", "what": "t=string,lex", "due": "t=date-time,a=group_by_time", "effort": "t=integer"}
    return {"name": "tasks", "primary_key": ["id"], "cursor_field": "due", "field_capabilities": flags}


def full_row() -> dict[str, Any]:
    kinds = {"id": "string", "what": "string", "due": "string", "effort": "integer"}
    properties: dict[str, Any] = {name: {"type": kind} for name, kind in kinds.items()}
    properties["due"]["format"] = "date-time"
    return {
        "object": "stream_metadata",
        "name": "tasks",
        "primary_key": ["id"],
        "cursor_field": "due",
        "schema": {"type": "object", "properties": properties, "required": ["id"]},
        "query": {"search": {"lexical_fields": ["what"]}, "aggregations": {"group_by_time": ["due"]}},
        "field_capabilities": {
            name: {"granted": True, "schema": schema, "lexical_search": CAN if name == "what" else CANNOT}
            for name, schema in properties.items()
        },
        "expand_capabilities": [],
    }


def record(key: str, data: dict[str, Any] | None = None) -> dict[str, Any]:
    return {
        "object": "record",
        "id": key,
        "stream": "tasks",
        "data": data or TASKS[key],
        "emitted_at": "2026-11-01T00:00:00.000Z",
        "connector_instance_id": CONNECTION,
        "display_name": "My tasks",
    }


def hit(key: str, **more: Any) -> dict[str, Any]:
    excerpt = {"object": "evidence_excerpt", "field_path": "what", "preview_text": "the <mark>gate</mark>"}
    return {
        "object": "search_result",
        "stream": "tasks",
        "record_key": key,
        "connector_id": "tracker",
        "connector_instance_id": CONNECTION,
        "display_name": "My tasks",
        "emitted_at": "2026-11-01T00:00:00.000Z",
        "matched_fields": ["what"],
        "snippet": {"field": "what", "text": "the <mark>gate</mark>"},
        "evidence_excerpts": [excerpt | {"provenance": "lexical_match", "truncated": True}],
        **more,
    }

"""What probes ask: whether this process lives, whether requests should be sent to it, how it does."""

from starlette.requests import Request
from starlette.responses import Response

from pdpp_server.errors import DatabaseUnavailable, PermissionDenied
from pdpp_server.http.hosts import LOOPBACK
from pdpp_server.http.metrics import CONTENT_TYPE
from pdpp_server.http.replies import json_reply
from pdpp_server.reads.services import Services
from pdpp_server.resource_server.endpoint import Inside
from pdpp_server.settings import Settings
from pdpp_server.wire.discovery import LIVE, encode_health, encode_ready


def health(inside: Inside, __: Request) -> Response:
    """Nothing here depends on what is stored, and nothing stored is said."""
    can_read, _ = _tried(inside.services)
    can_log = inside.services.can_log()
    return json_reply(encode_health(database=can_read, log=can_log), 200 if can_read and can_log else 503)


def live(_: Inside, __: Request) -> Response:
    return json_reply(LIVE)


def ready(inside: Inside, __: Request) -> Response:
    """Not the reason, which would tell anybody where the database is; the server's log and `pdpp doctor` have it."""
    can_read, has_schema = _tried(inside.services)
    can_log = inside.services.can_log()
    is_ready = can_read and has_schema and can_log
    waits = {} if is_ready else {"Retry-After": str(DatabaseUnavailable.retry_after_seconds)}
    told = encode_ready(database=can_read, schema=has_schema, log=can_log)
    return json_reply(told, 200 if is_ready else 503, waits)


def metrics(inside: Inside, request: Request) -> Response:
    _require_local(request, inside.kernel.settings)
    return Response(inside.kernel.metrics.text(), media_type=CONTENT_TYPE)


def _require_local(request: Request, settings: Settings) -> None:
    """A request that came through a proxy has its sender's address in a header, and is not local."""
    forwarded = "forwarded" in request.headers or "x-forwarded-for" in request.headers
    local = request.client is not None and request.client.host in LOOPBACK and request.url.hostname in LOOPBACK
    if not settings.metrics_remote and (forwarded or not local):
        raise PermissionDenied(
            "Metrics are given to this machine only.", remedy="Set PDPP_METRICS_REMOTE=1 to allow it."
        )


def _tried(services: Services) -> tuple[bool, bool]:
    """Whether it can be read, and whether it has the tables that this version knows."""
    try:
        if not services.database.has_schema():
            return True, False
        with services.database.reading():
            return True, True
    except Exception:  # noqa: BLE001 - for whatever reason, it cannot be read
        return False, False

"""What an operator's probes ask: is it alive, can it read, can it log."""

from starlette.requests import Request
from starlette.responses import Response

from pdpp_server.errors import PermissionDenied
from pdpp_server.http.hosts import LOOPBACK
from pdpp_server.http.metrics import CONTENT_TYPE
from pdpp_server.http.replies import json_reply
from pdpp_server.reads.services import Services
from pdpp_server.resource_server.endpoint import Inside
from pdpp_server.settings import Settings
from pdpp_server.wire.discovery import encode_health


def health(inside: Inside, _: Request) -> Response:
    """Nothing here depends on what is stored, and nothing stored is said."""
    can_read = _can_read(inside.services)
    can_log = inside.services.log.can_append()
    return json_reply(encode_health(database=can_read, log=can_log), 200 if can_read and can_log else 503)


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


def _can_read(services: Services) -> bool:
    try:
        with services.database.reading():
            return True
    except Exception:  # noqa: BLE001 - for whatever reason, it cannot be read
        return False

"""Any trouble as a refusal: its status, and the headers that belong to it."""

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.routing import Match, Route

from pdpp_server.errors import InvalidRequest, NotFound, PdppError, ServerTrouble

_NOWHERE = "Check how it is spelt. Your pages begin at the address without a path; agents ask at /mcp."

_ANOTHER_WAY = (
    "Ask it in that way; /openapi.json says what each address takes. Your pages begin at the address without a path."
)


def refusal_of(error: Exception, request: Request) -> tuple[PdppError, int, dict[str, str]]:
    """Of a bug, only that there was one. A wrong method keeps the status that HTTP has for it."""
    match error:
        case PdppError():
            seconds = error.retry_after_seconds
            return error, error.status, {"Retry-After": str(seconds)} if seconds else {}
        case HTTPException(status_code=404):
            return NotFound("There is nothing at this address.", remedy=_NOWHERE), 404, {}
        case HTTPException(status_code=405):
            allowed = ", ".join(_allowed(request)) or (error.headers or {})["Allow"]
            return InvalidRequest(f"This address takes {allowed} only.", remedy=_ANOTHER_WAY), 405, {"Allow": allowed}
        case HTTPException(status_code=406):
            return InvalidRequest(error.detail, param="Accept"), 406, {}
        case ClientDisconnect():
            return InvalidRequest("The body ended before its end."), 400, {}
        case _:
            return ServerTrouble("Something went wrong here; the request id finds it in the server's log."), 500, {}


def _allowed(request: Request) -> list[str]:
    """Every method that this address takes: one address may have several routes."""
    routes = [route for route in request.app.routes if isinstance(route, Route)]
    here = [route for route in routes if route.matches(request.scope)[0] is not Match.NONE]
    return sorted({method for route in here for method in route.methods or ()})

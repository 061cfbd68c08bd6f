"""People and programs: who asks with a browser gets trouble as a page, and all others as they expect it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from starlette.datastructures import Headers
from starlette.responses import Response

from pdpp_server.http.heard import HeardRequest


@dataclass(frozen=True, slots=True)
class Trouble:
    """What is wrong, what a person can do about it, and what HTTP says of it."""

    message: str
    remedy: str
    code: str
    status: int
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


Show = Callable[[HeardRequest, Trouble], Response]


def wants_page(headers: Headers) -> bool:
    """Browsers name HTML before all else; programs that show a token, or take anything, do not mean it."""
    return "text/html" in headers.get("accept", "") and "authorization" not in headers

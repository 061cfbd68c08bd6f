"""A request as it is heard once for all: its headers by their names, and the course that it takes."""

from dataclasses import dataclass
from functools import lru_cache

from starlette.datastructures import Headers
from starlette.requests import Request, empty_receive
from starlette.types import Receive, Scope

from pdpp_server.errors import PdppError

COURSE, HEADERS = "pdpp.course", "pdpp.headers"  # their places in a scope


@dataclass(slots=True)
class Course:
    """What becomes of a request. Whoever answers may say which operation it was, and with which code it ended."""

    request_id: str
    started: float
    operation: str = "none"
    code: str | None = None
    trouble: PdppError | None = None  # of this server, where its answer tells of that


class NamedHeaders(Headers):
    """Starlette's headers, which it looks for through the whole list each time: here by their names."""

    def __init__(self, raw: list[tuple[bytes, bytes]]) -> None:
        super().__init__(raw=raw)
        self._first = dict(reversed(raw))
        self._are_single = len(self._first) == len(raw)

    def __getitem__(self, key: str) -> str:
        return self._first[_sent_name(key)].decode("latin-1")

    def get(self, key: str, default: str | None = None) -> str | None:  # type: ignore[override]
        value = self._first.get(_sent_name(key))
        return default if value is None else value.decode("latin-1")

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and _sent_name(key) in self._first

    def getlist(self, key: str) -> list[str]:
        value = self._first.get(_sent_name(key))
        if value is None:
            return []
        return [value.decode("latin-1")] if self._are_single else super().getlist(key)


@lru_cache(maxsize=1000)  # those that we ask for
def _sent_name(key: str) -> bytes:
    return key.lower().encode("latin-1")


class HeardRequest(Request):
    """A request that has passed the front."""

    def __init__(self, scope: Scope, receive: Receive = empty_receive) -> None:
        super().__init__(scope, receive)
        self.course: Course = scope[COURSE]

    @property
    def headers(self) -> Headers:
        return self.scope[HEADERS]

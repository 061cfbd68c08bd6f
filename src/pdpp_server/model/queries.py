"""Queries: what a caller asked for, parsed once at the edge."""

from dataclasses import dataclass

SEARCH_LIMIT, SEARCH_LIMIT_MAX = 25, 100
WINDOW_CHARS, WINDOW_CHARS_MAX, CONTEXT_CHARS_MAX = 4096, 16_384, 8192


@dataclass(frozen=True, slots=True)
class SchemaQuery:
    stream: str | None = None
    connection_id: str | None = None
    full: bool = False


@dataclass(frozen=True, slots=True)
class SearchQuery:
    text: str
    streams: tuple[str, ...] | None = None
    connection_id: str | None = None
    limit: int = SEARCH_LIMIT
    cursor: str | None = None
    clamped_from: int | None = None


@dataclass(frozen=True, slots=True)
class FetchQuery:
    stream: str
    key: str
    connection_id: str | None = None
    fields: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class WindowQuery:
    """One window of one field, from `offset`, or around the first match of `q`."""

    stream: str
    key: str
    field: str
    connection_id: str | None = None
    offset: int = 0
    limit: int = WINDOW_CHARS
    q: str | None = None
    before: int = 0
    clamped_from: int | None = None


Query = SchemaQuery | SearchQuery | FetchQuery | WindowQuery

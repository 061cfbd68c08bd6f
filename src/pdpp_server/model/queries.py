"""Queries: what a caller asked for, parsed once at the edge."""

from dataclasses import dataclass
from typing import Literal

from pdpp_server.model.blobs import Part

SEARCH_LIMIT, SEARCH_LIMIT_MAX = 25, 100
RECORDS_LIMIT, RECORDS_LIMIT_MAX = 25, 100
GROUPS_LIMIT, GROUPS_LIMIT_MAX = 10, 100
WINDOW_CHARS, WINDOW_CHARS_MAX, CONTEXT_CHARS_MAX = 4096, 16_384, 8192


Comparison = Literal["eq", "gte", "gt", "lte", "lt"]
Metric = Literal["count", "sum", "min", "max", "count_distinct"]
Granularity = Literal["minute", "hour", "day", "week", "month", "quarter", "year"]
BEGINNING = "beginning"


@dataclass(frozen=True, slots=True)
class Condition:
    """`value` is the text that was sent; the declared type of the field says what it means."""

    field: str
    comparison: Comparison
    value: str


@dataclass(frozen=True, slots=True)
class Expand:
    """Related records of each record, by the name of the relationship."""

    name: str
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class SchemaQuery:
    stream: str | None = None
    connection_id: str | None = None
    full: bool = False


@dataclass(frozen=True, slots=True)
class StreamsQuery:
    """What there is, how much, how fresh: of every stream and connection, or of those selected."""

    connection_id: str | None = None
    connector_key: str | None = None


@dataclass(frozen=True, slots=True)
class StreamMetadataQuery:
    stream: str
    connection_id: str | None = None
    connector_key: str | None = None


@dataclass(frozen=True, slots=True)
class SearchQuery:
    text: str
    streams: tuple[str, ...] | None = None
    connection_id: str | None = None
    limit: int = SEARCH_LIMIT
    cursor: str | None = None
    conditions: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class FetchQuery:
    stream: str
    key: str
    connection_id: str | None = None
    fields: tuple[str, ...] | None = None
    connector_key: str | None = None
    expand: tuple[Expand, ...] = ()


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
    connector_key: str | None = None


@dataclass(frozen=True, slots=True)
class RecordsQuery:
    """A page of one stream, by its cursor field and key; or, with `changes_since`, what changed since a bookmark."""

    stream: str
    connection_id: str | None = None
    connector_key: str | None = None
    fields: tuple[str, ...] | None = None
    view: str | None = None
    conditions: tuple[Condition, ...] = ()
    expand: tuple[Expand, ...] = ()
    sort: str | None = None  # a field; must be the one by which the stream is ordered
    ascending: bool = False
    count: bool = False
    window: bool = False
    changes_since: str | None = None
    limit: int = RECORDS_LIMIT
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class AggregateQuery:
    stream: str
    metric: Metric = "count"
    field: str | None = None
    group_by: str | None = None
    group_by_time: str | None = None
    granularity: Granularity | None = None
    time_zone: str = "UTC"
    limit: int = GROUPS_LIMIT
    conditions: tuple[Condition, ...] = ()
    connection_id: str | None = None
    connector_key: str | None = None


@dataclass(frozen=True, slots=True)
class BlobQuery:
    """The whole blob, a part of it, or only what its headers say."""

    blob_id: str
    connection_id: str | None = None
    part: Part | None = None
    headers_only: bool = False


# Reads that name one stream.
StreamRead = StreamMetadataQuery | FetchQuery | WindowQuery | RecordsQuery | AggregateQuery
Query = SchemaQuery | StreamsQuery | SearchQuery | BlobQuery | StreamRead

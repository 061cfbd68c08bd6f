"""The catalogue: which streams a caller may ask, of which connections, and what is in them."""

from dataclasses import dataclass, replace
from typing import NamedTuple

from pdpp_server.model.sources import Origin, Source
from pdpp_server.model.streams import Field, Stream

CLIENT_QUERY_EXTENSIONS = (
    "filter",
    "sort",
    "count",
    "view",
    "expand",
    "aggregate",
    "around",
    "ranked_sort",
    "grouped_metrics",
)  # what clients have beyond Core


@dataclass(frozen=True, slots=True)
class Holding:
    """What one connection holds of a stream, counted over visible records only."""

    origin: Origin
    records: int | None  # None where a server did not say
    earliest: str | None = None  # of the stream's time field, where that field is granted
    latest: str | None = None
    changed_at: str | None = None  # when something visible last changed
    refreshed_on: str | None = None  # the UTC day of the last complete picture of the stream


@dataclass(frozen=True, slots=True)
class Expandable:
    """A declared expansion, and whether whoever asks may use it; if not, why."""

    name: str
    stream: str
    cardinality: str
    foreign_key: str
    default_limit: int
    max_limit: int
    granted: bool  # whether the related stream is
    reason: str | None = None

    @property
    def usable(self) -> bool:
        return self.reason is None


@dataclass(frozen=True, slots=True)
class StreamEntry:
    source: Source
    stream: Stream
    granted: frozenset[str]
    holdings: tuple[Holding, ...]
    grant_id: str | None = None
    expandable: tuple[Expandable, ...] = ()
    said_records: int | None = None  # of all holdings together, by a server that does not count them one by one

    @property
    def records(self) -> int | None:
        """Of all holdings; None where that cannot be known."""
        counts = [holding.records for holding in self.holdings]
        known = [count for count in counts if count is not None]
        return sum(known) if len(known) == len(counts) else self.said_records

    @property
    def explained_fields(self) -> list[Field]:
        """Granted fields that can be compared by size, where it is said what their numbers and times mean."""
        ranged = [self.stream.fields[name] for name in self.stream.range_filters if name in self.granted]
        return [field for field in ranged if field.description]


class MissingConnection(NamedTuple):
    """A connection that a grant names, and that is no longer here."""

    connection_id: str
    connector_key: str
    grant_id: str | None


@dataclass(frozen=True, slots=True)
class Catalogue:
    token_kind: str
    client_id: str | None
    grant_ids: tuple[str, ...]
    entries: tuple[StreamEntry, ...]  # in order of connector key, stream name
    package_id: str | None = None
    missing: tuple[MissingConnection, ...] = ()
    extensions: tuple[str, ...] | None = CLIENT_QUERY_EXTENSIONS  # that clients may use; None where nobody says

    @property
    def sorts_by_any(self) -> bool:
        """Whether its server says that it sorts by any field with a range."""
        return "ranked_sort" in (self.extensions or ())

    @property
    def narrows(self) -> bool:
        """Whether this bearer may filter and take views: Core gives that to the owner only."""
        return self.token_kind == "owner" or self.extensions is None or "filter" in self.extensions

    def by_words_alone(self) -> "Catalogue":
        """The same of a server that has no model: whatever is declared, nothing can be asked by its meaning there."""
        streams = [replace(entry.stream, semantic_fields=()) for entry in self.entries]
        entries = [replace(entry, stream=stream) for entry, stream in zip(self.entries, streams, strict=True)]
        return replace(self, entries=tuple(entries))

    @property
    def meant(self) -> str | None:
        """The one grant that this is about, where it is about one: of a package, the child that everything is of."""
        told = {entry.grant_id for entry in self.entries} or {*self.grant_ids}
        return told.pop() if len(told) == 1 else None

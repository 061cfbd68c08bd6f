"""Source declarations and connections."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pdpp_server.model.streams import Stream

REGISTRY = "https://registry.pdpp.dev/connectors/"
_PLACEHOLDERS = frozenset({"", "legacy", "default_account", "default account"})


@dataclass(frozen=True, slots=True)
class Source:
    kind: str
    id: str

    @property
    def connector_key(self) -> str:
        """The short key of a registry address; any other id stands for itself."""
        return self.id.removeprefix(REGISTRY).rstrip("/") if self.id.startswith(REGISTRY) else self.id


@dataclass(frozen=True, slots=True)
class Declaration:
    source: Source
    version: str
    publisher: str
    name: str
    streams: Mapping[str, Stream]
    document: Mapping[str, Any]  # as published: what a snapshot keeps


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a record comes from, in the words that an answer uses."""

    connection_id: str
    connector_key: str
    name: str | None = None  # as it is stored; what may be shown of it is the label
    label: str | None = field(init=False, compare=False, repr=False)  # made once: every hit and line asks for it

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", self._label())

    def __hash__(self) -> int:
        """By its name alone: an answer looks up what is said of an origin for every hit and line."""
        return hash(self.connection_id)

    def _label(self) -> str | None:
        """The owner's own name for the connection; never a placeholder, nor what only repeats the two ids."""
        name = (self.name or "").strip()
        is_filler = name.lower() in _PLACEHOLDERS or name.startswith(REGISTRY)
        return None if is_filler or name in {self.connector_key, self.connection_id} else name


@dataclass(frozen=True, slots=True)
class Connection:
    origin: Origin
    source: Source
    declaration_version: str


@dataclass(frozen=True, slots=True)
class StoredStream:
    """How much of a stream came by one connection, and from when to when (microseconds)."""

    name: str
    records: int
    earliest: int | None
    latest: int | None


@dataclass(frozen=True, slots=True)
class StoredSource:
    """A connection as its owner sees it."""

    connection_id: str
    connector_key: str
    name: str | None
    updated_at: str
    rejected: int
    streams: tuple[StoredStream, ...]

    @property
    def called(self) -> str:
        return self.name or self.connection_id

"""Source declarations and connections."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pdpp_server.model.streams import Stream

REGISTRY = "https://registry.pdpp.dev/connectors/"


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
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Connection:
    origin: Origin
    source: Source
    declaration_version: str

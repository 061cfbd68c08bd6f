"""Sync state: how far a collector has come in each stream, in its own words."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from pdpp_server.model.ingest import Target
from pdpp_server.model.sources import Origin

Cursors = Mapping[str, Mapping[str, Any]]  # by stream


class StateQuery(NamedTuple):
    """Whose state: that of the connection itself, or the one that belongs to a grant."""

    target: Target
    grant_id: str | None


@dataclass(frozen=True, slots=True)
class SyncState:
    origin: Origin
    grant_id: str | None
    cursors: Cursors
    updated_at: str | None

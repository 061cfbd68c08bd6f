"""Selections: what a client asks to be allowed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Key = str | tuple[str, ...]  # a record key as asked: a canonical string, or the parts of a compound one


@dataclass(frozen=True, slots=True)
class TimeRange:
    """`since` <= time < `until`; at least one is given."""

    since: str | None = None
    until: str | None = None


@dataclass(frozen=True, slots=True)
class StreamSelection:
    """What is asked of one stream; None leaves the choice to the declaration or to the owner."""

    name: str  # or "*", alone: every stream of the source
    necessity: str = "required"  # | "optional"
    connections: tuple[str, ...] | None = None
    time: TimeRange | None = None
    view: str | None = None  # never beside `fields`
    fields: tuple[str, ...] | None = None
    resources: tuple[Key, ...] | None = None


@dataclass(frozen=True, slots=True)
class Selection:
    """What is asked of one source: streams, or a preset that its publisher named."""

    source_id: str
    source_kind: str | None
    purpose_code: str
    purpose_description: str | None
    access_mode: str  # "single_use" | "continuous"
    streams: tuple[StreamSelection, ...] = ()
    preset: str | None = None
    retention: Mapping[str, Any] | None = None
    client_claims: Mapping[str, Any] | None = None

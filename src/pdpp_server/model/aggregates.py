"""Aggregations: numbers about records, without the records."""

from dataclasses import dataclass
from typing import Literal

from pdpp_server.model.queries import AggregateQuery
from pdpp_server.model.records import Warned

Scalar = bool | int | float | str
Kept = Literal["largest", "latest"]


@dataclass(frozen=True, slots=True)
class Group:
    """`key` is None for the records without a value; `start` is when a time bucket begins, with its offset."""

    key: Scalar | None
    count: int
    start: str | None = None


@dataclass(frozen=True, slots=True)
class Aggregation:
    """The answer to `query`: a value, or groups with how many records are in the groups that were left out."""

    query: AggregateQuery
    records: int  # that were looked at: visible, and passing every condition
    value: Scalar | None = None
    groups: tuple[Group, ...] | None = None
    other_count: int = 0
    kept: Kept | None = None  # which groups these are where there are others; None where a server did not say
    warnings: tuple[Warned, ...] = ()

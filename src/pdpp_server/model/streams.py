"""Streams, fields and what can be asked of each."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

SCALARS = frozenset({"boolean", "integer", "number", "string"})
DATES = frozenset({"date", "date-time"})


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    type: str  # the single JSON type; `date`/`date-time` for such strings; `mixed` where several types are allowed
    schema: Mapping[str, Any]
    role: str | None = None

    @property
    def is_scalar(self) -> bool:
        return self.type in SCALARS or self.type in DATES

    @property
    def is_number(self) -> bool:
        return self.type in {"integer", "number"}

    @property
    def is_date(self) -> bool:
        return self.type in DATES


@dataclass(frozen=True, slots=True)
class View:
    id: str
    label: str
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Relationship:
    name: str
    stream: str
    foreign_key: str
    cardinality: str


@dataclass(frozen=True, slots=True)
class Expansion:
    name: str
    default_limit: int = 10
    max_limit: int = 50


@dataclass(frozen=True, slots=True)
class Aggregations:
    count: bool = False
    sum: tuple[str, ...] = ()
    min: tuple[str, ...] = ()
    max: tuple[str, ...] = ()
    count_distinct: tuple[str, ...] = ()
    group_by: tuple[str, ...] = ()
    group_by_time: tuple[str, ...] = ()


@dataclass(frozen=True)  # no slots: the derived properties below are cached on the value
class Stream:
    """What a declaration says about one stream. A grant keeps the one that its owner consented to."""

    name: str
    semantics: str
    fields: Mapping[str, Field]
    primary_key: tuple[str, ...]
    schema: Mapping[str, Any]
    cursor_field: str | None = None
    consent_time_field: str | None = None
    selects_fields: bool = True
    selects_resources: bool = True
    views: tuple[View, ...] = ()
    relationships: tuple[Relationship, ...] = ()
    expansions: tuple[Expansion, ...] = ()
    range_filters: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    lexical_fields: tuple[str, ...] = ()
    semantic_fields: tuple[str, ...] = ()
    aggregations: Aggregations = Aggregations()
    label: str | None = None
    detail: str | None = None
    description: str | None = None

    @cached_property
    def roles(self) -> Mapping[str, str]:
        """Field name to declared role, in the order of the schema."""
        return {name: field.role for name, field in self.fields.items() if field.role}

    @cached_property
    def time_fields(self) -> tuple[str, ...]:
        """The fields that may say when a record happened, best first."""
        dated_cursor = self.cursor_field if self.cursor_field and self.fields[self.cursor_field].is_date else None
        event = next((name for name, role in self.roles.items() if role == "event-time"), None)
        ordered = (event, self.consent_time_field, dated_cursor)
        return tuple(dict.fromkeys(name for name in ordered if name))

    @cached_property
    def order_field(self) -> str | None:
        """The field by which records are laid out in time: the consent boundary where there is one."""
        return self.consent_time_field or (self.time_fields[0] if self.time_fields else None)

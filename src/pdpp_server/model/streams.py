"""Streams, fields and what can be asked of each."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, cast

from pdpp_server.model.times import instant

SCALARS = frozenset({"boolean", "integer", "number", "string"})
DATES = frozenset({"date", "date-time"})
TOLD_MAX = 16  # sets of fields of which it is kept what is declared: whoever asks can name any
BLOB_ROLE = "blob-reference"
THREAD_ROLE = "thread"  # of a field that names the talk which a record is a part of: a thread, a chat, a session
DAY_ROLE = "event-day"  # of the first day of what takes whole days, for which an instant is only midnight somewhere
END_ROLE = "event-end"  # of the instant at which something ends
AMOUNT_ROLE, CURRENCY_ROLE = "amount", "currency"
CURRENCY = "currency"  # so declarations call it that were made before it had a role
BLOB_REF = "blob_ref"  # the one field name that the record model itself keeps for a blob

_NAMES = frozenset({"boolean", "integer", "string"})  # types whose values can be names of something
_READABLE = re.compile(r"text/|[\w.+-]+/(?:[\w.+-]+\+)?json\b", re.IGNORECASE)
_NUMBER = re.compile(r"-?[0-9]{1,40}(?:\.[0-9]{1,40})?(?:[eE][+-]?[0-9]{1,2})?").fullmatch


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    type: str | None
    # the single JSON type; `date`/`date-time` for such strings; `mixed` where several are allowed; None: nobody said
    schema: Mapping[str, Any]
    role: str | None = None

    @property
    def description(self) -> str | None:
        """What the publisher says of it."""
        said = self.schema.get("description")
        return said if isinstance(said, str) else None

    @property
    def media_type(self) -> str | None:
        """What kind of text it holds, where the publisher says."""
        said = self.schema.get("contentMediaType")
        return said if isinstance(said, str) else None

    def described_by(self, newer: "Field | None") -> "Field":
        """With the role that a newer declaration gives to a field of this name and type."""
        if newer is None or newer.type != self.type or newer.role == self.role:
            return self
        return self if BLOB_ROLE in (self.role, newer.role) else replace(self, role=newer.role)

    @property
    def is_scalar(self) -> bool:
        return self.type in SCALARS or self.type in DATES

    def comparable(self, value: object) -> int | float | str | None:
        """A value as it is compared: dates by instant, numbers by size, booleans as 0 and 1; None for nothing."""
        if self.type in DATES:
            return instant(value)
        if isinstance(value, str):  # as nearly every value
            return value
        if value is None or isinstance(value, dict | list):
            return None
        if isinstance(value, bool):
            return int(value)
        if isinstance(value, int | float):
            return value if abs(value) < 1 << 63 else float(value)
        return str(value)

    def literal(self, text: str) -> int | float | str | None:
        """The same for the text of a filter; None where it is no value of this type."""
        if self.is_date:
            return instant(text)
        if self.type == "boolean":
            return {"true": 1, "false": 0}.get(text)
        if self.is_number:
            return self.comparable(float(text) if set(text) & set(".eE") else int(text)) if _NUMBER(text) else None
        return text

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
    """`foreign_key` holds the key of the other side: on the related stream, or, to one record, on this stream."""

    name: str
    stream: str
    foreign_key: str
    cardinality: str  # "has_many" or "has_one"

    def joins_there(self, related: "Stream") -> bool:
        """Whether the foreign key is a field of the related stream."""
        return self.foreign_key in related.fields


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


class ToldFields(NamedTuple):
    """What is declared of some fields: their roles, which are bytes in a text, and which say when it happened."""

    roles: Mapping[str, str]
    binary: Mapping[str, Any] | None
    times: tuple[str, ...]


@dataclass(frozen=True)  # no slots: the derived properties below are cached on the value
class Stream:
    """What a declaration says about one stream. A grant keeps the one that its owner consented to."""

    name: str
    semantics: str | None  # None where a server did not say
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
    # of a stream of another server
    exact_fields: frozenset[str] | None = None  # that it says can be compared; None: by our rule, every scalar
    named_views: tuple[str, ...] = ()  # of which it did not say what they show
    says_search: bool = True  # whether it said what can be searched

    def compares(self, field: Field) -> bool:
        return field.is_scalar if self.exact_fields is None else field.name in self.exact_fields

    def described_by(self, newer: "Stream") -> "Stream":
        """What a newer declaration says about the same fields, and nothing of what may be done with them.

        A field that refers to blobs opens them, so that role is a right, and stays as it was consented to.
        """
        fields = {name: field.described_by(newer.fields.get(name)) for name, field in self.fields.items()}
        return replace(self, fields=fields, label=newer.label, detail=newer.detail, description=newer.description)

    @cached_property
    def roles(self) -> Mapping[str, str]:
        """Field name to declared role, in the order of the schema."""
        return {name: field.role for name, field in self.fields.items() if field.role}

    @cached_property
    def by_role(self) -> Mapping[str, tuple[str, ...]]:
        """Each role with its fields, in the order of the schema."""
        fields: dict[str, tuple[str, ...]] = {}
        for name, role in self.roles.items():
            fields[role] = (*fields.get(role, ()), name)
        return fields

    def field_of(self, role: str) -> str | None:
        """The first field of that role."""
        fields = self.by_role.get(role)
        return fields[0] if fields else None

    @cached_property
    def currency_field(self) -> str | None:
        """The field that says what the amount of a record is counted in."""
        if AMOUNT_ROLE not in self.by_role:
            return None
        return self.field_of(CURRENCY_ROLE) or (CURRENCY if CURRENCY in self.fields else None)

    @cached_property
    def blob_fields(self) -> frozenset[str]:
        """The fields that refer to blobs."""
        return frozenset(self.by_role.get(BLOB_ROLE, ()))

    @cached_property
    def binary_fields(self) -> Mapping[str, Any]:
        """The fields that are declared to be bytes in a text, as `media type;encoding`; where only members of a value
        are, these by name."""
        told = {name: _declared_bytes(field.schema) for name, field in self.fields.items()}
        return {name: declared for name, declared in told.items() if declared}

    def told_of(self, fields: frozenset[str]) -> ToldFields:
        """What is declared of these fields alone; found once, as every record that is shown asks."""
        told = self._told.get(fields)
        if told is None:
            times = tuple([name for name in self._shown_times if name in fields])
            told = ToldFields(_of_fields(self.roles, fields), _of_fields(self.binary_fields, fields) or None, times)
            if len(self._told) < TOLD_MAX:
                self._told[fields] = told
        return told

    @cached_property
    def _told(self) -> dict[frozenset[str], ToldFields]:
        return {}

    @cached_property
    def talk_fields(self) -> tuple[str, ...]:
        """The fields that may name the talk of a record, best first: its thread; where people speak, its title."""
        wanted = (THREAD_ROLE, "primary-title") if self._is_spoken else (THREAD_ROLE,)
        talks: list[str] = []
        for role in wanted:
            names = [name for name in self.by_role.get(role, ()) if self.fields[name].type in _NAMES]
            talks += names[:1]
        return tuple(talks)

    @property
    def has_speakers(self) -> bool:
        """Whether somebody says something in each record."""
        return "actor" in self.by_role and "primary-body" in self.by_role

    @property
    def _is_spoken(self) -> bool:
        """The same, and pages follow the time."""
        time = self.order_field
        if time is None or time != self.position_field:
            return False
        return self.has_speakers and self.fields[time].is_date

    @cached_property
    def position_field(self) -> str | None:
        """The field by which a page is ordered; without one the key alone orders."""
        name = self.cursor_field
        return name if name and self.fields[name].is_scalar else None

    @cached_property
    def sortable(self) -> tuple[str, ...]:
        """The fields by which a page can be sorted: that which orders the stream, and all that can be ranged over."""
        ranged = [name for name in self.range_filters if self.fields[name].is_scalar]
        own = [self.position_field] if self.position_field else []
        return tuple(dict.fromkeys([*own, *ranged]))

    @cached_property
    def time_fields(self) -> tuple[str, ...]:
        """The fields that may say when a record happened, best first."""
        ordered = [*self.by_role.get("event-time", ())[:1]]
        if self.consent_time_field:
            ordered.append(self.consent_time_field)
        if self.cursor_field and self.fields[self.cursor_field].is_date:
            ordered.append(self.cursor_field)
        return tuple(dict.fromkeys(ordered))

    @cached_property
    def _shown_times(self) -> tuple[str, ...]:
        """As a reader is told of them: the day of what takes whole days, wherever the clock of the reader is."""
        days = [name for name in self.by_role.get(DAY_ROLE, ()) if self.fields[name].type == "date"]
        return (*days, *self.time_fields)

    @cached_property
    def end_field(self) -> str | None:
        """The field that says when each record ends: where some could leave it out, they would not be found by it."""
        for name in self.schema.get("required", ()):
            if self.roles.get(name) == END_ROLE and self.fields[name].schema.get("type") == "string":
                return name
        return None

    @cached_property
    def order_field(self) -> str | None:
        """The field by which records are laid out in time: the consent boundary where there is one."""
        return self.consent_time_field or (self.time_fields[0] if self.time_fields else None)


def _of_fields(told: Mapping[str, Any], fields: frozenset[str]) -> Mapping[str, Any]:
    """What is told of these fields; where that is all of it, as with most grants, it is not copied."""
    return told if told.keys() <= fields else {name: said for name, said in told.items() if name in fields}


def _declared_bytes(schema: object) -> str | dict[str, Any] | None:
    """What JSON Schema calls content: an encoding, or a media type that is neither text nor JSON."""
    if not isinstance(schema, Mapping):
        return None
    told = cast("Mapping[str, Any]", schema)
    encoding = str(told.get("contentEncoding") or "")
    media_type = str(told.get("contentMediaType") or "")
    if encoding or (media_type and not _READABLE.match(media_type)):
        return f"{media_type};{encoding}"
    if "items" in told:
        return _declared_bytes(told["items"])
    properties = told.get("properties")
    if not isinstance(properties, Mapping):
        return None
    inner = {name: _declared_bytes(each) for name, each in cast("Mapping[str, Any]", properties).items()}
    return {name: declared for name, declared in inner.items() if declared} or None

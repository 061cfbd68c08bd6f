"""Records, their identity, and search hits."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, NamedTuple

from pdpp_server.model.sources import Origin


class RecordId(NamedTuple):
    connection_id: str
    stream: str
    key: str


class Record(NamedTuple):
    """One record as its reader may see it: `data` holds granted fields only."""

    id: RecordId
    origin: Origin
    data: Mapping[str, Any]
    emitted_at: str
    authored_at: str | None = None
    roles: Mapping[str, str] | None = None  # declared roles of the fields in `data`; None where nobody said
    expanded: "Mapping[str, Expanded]" = MappingProxyType({})
    binary: Mapping[str, Any] | None = None  # of the fields in `data`, those declared to be bytes: see Stream
    time_field: str | None = None  # where `authored_at` stands; None where nobody said


@dataclass(frozen=True, slots=True)
class Expanded:
    """Related records: a list of them, or the one that there is or is not."""

    records: tuple[Record, ...]
    is_list: bool = True
    has_more: bool = False


class Version(NamedTuple):
    """When a record came to look as it did, or was deleted; not what it held."""

    emitted_at: str | None
    deleted_at: str | None


@dataclass(frozen=True, slots=True)
class Tombstone:
    """A record that its reader saw once and sees no longer: deleted, or outside the grant now."""

    id: RecordId
    origin: Origin
    emitted_at: str
    deleted_at: str


class Excerpt(NamedTuple):
    """A proven piece of a field: `text` starts at code point `start` of the field; marks are absolute offsets.

    Without a mark it is a passage: what stands there, and no match. Another server may show what matched and not say
    where that stands: then offsets count from the beginning of `text`, and are shown to nobody.
    """

    field: str
    text: str
    start: int
    marks: tuple[tuple[int, int], ...]
    total_chars: int
    is_placed: bool = True
    rarest: int = 0  # which of the marks is the most telling; a shorter form is cut around it
    is_meant: bool = False  # found by its meaning: no word of it has to be one of the question's

    @property
    def is_match(self) -> bool:
        return bool(self.marks) or not self.is_placed

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def provenance(self) -> str:
        if self.is_match:
            return "lexical_match"
        return "semantic" if self.is_meant else "passage"


class Amount(NamedTuple):
    """How much a record is about, what that is counted in, and the fields that say so, by their declared roles."""

    value: int | float
    field: str | None = None
    currency: str | None = None
    currency_field: str | None = None

    @property
    def fields(self) -> tuple[str, ...]:
        return tuple([name for name in (self.field, self.currency_field) if name is not None])


@dataclass(frozen=True, slots=True)
class Hit:
    id: RecordId
    origin: Origin
    title: str
    emitted_at: str
    authored_at: str | None
    excerpts: tuple[Excerpt, ...]  # empty: found by a server that proved nothing, or through what shows no text
    score: float | None = None
    make_cursor: Callable[[], str | None] = field(default=lambda: None, compare=False, repr=False)
    title_field: str | None = None  # where the title stands; None where it is made of label, stream and time
    time_field: str | None = None  # where `authored_at` stands; None where nobody said
    actor: str | None = None  # who wrote it, by the declared role
    actor_field: str | None = None
    amount: Amount | None = None
    also_matched: tuple[str, ...] = ()  # fields that matched and have no excerpt, such as that of the actor
    beside: RecordId | None = None  # the match that lifted it, where it has none of its own and that one is known
    distance: float | None = None  # of its meaning from the question's, where it was found by that
    matched_fields: list[str] = field(init=False, compare=False, repr=False)
    is_meant: bool = field(init=False, compare=False, repr=False)  # found by its meaning alone
    is_beside: bool = field(init=False, compare=False, repr=False)
    # all that is known is how it begins: it stands beside a match and has none

    def __post_init__(self) -> None:
        """Made once: whoever counts, shows or writes a page asks each hit for them."""
        proven = [excerpt.field for excerpt in self.excerpts if excerpt.marks or not excerpt.is_placed]
        matched = list(dict.fromkeys([*proven, *self.also_matched])) if self.also_matched or proven[1:] else proven
        is_meant = not matched and any(excerpt.is_meant for excerpt in self.excerpts)
        object.__setattr__(self, "matched_fields", matched)
        object.__setattr__(self, "is_meant", is_meant)
        object.__setattr__(self, "is_beside", bool(self.excerpts) and not matched and not is_meant)

    @property
    def told_fields(self) -> tuple[str, ...]:
        """The fields that its title, its time, its actor and its amount came from."""
        named = [name for name in (self.title_field, self.time_field, self.actor_field) if name is not None]
        return (*named, *self.amount.fields) if self.amount else tuple(named)

    @property
    def cursor(self) -> str | None:
        """Goes on right after this hit, for an answer that has room for no more. Sealing takes time: ask only then."""
        return self.make_cursor()


@dataclass(frozen=True, slots=True)
class Recall:
    """What the ranking looked at. `matches` is None where nobody counted."""

    complete: bool
    matches: int | None
    matches_exact: bool
    ranked: int | None
    window: int | None = None
    beside: int = 0  # further hits that only stand beside a match
    words: tuple[tuple[str, int], ...] = ()  # of the query, and how many visible records hold each
    is_newest: bool = False  # nothing was looked for: these are the newest records
    meant: int = 0  # further hits that only their meaning found
    here: tuple[int, ...] = ()  # of `words`, how many hits of this page hold each; empty where nobody said


NOTES = frozenset({"read_as", "did_you_mean", "no_words", "beside_left_out", "filter_parts", "words_left_out"})


@dataclass(frozen=True, slots=True)
class Warned:
    """A remark that does not change the status of an answer."""

    code: str
    message: str
    param: str | None = None
    detail: Mapping[str, Any] | None = None

    @property
    def is_note(self) -> bool:
        """Whether it says what was made of a question, with which nothing is amiss."""
        return self.code in NOTES


@dataclass(frozen=True, slots=True)
class Span:
    """How many records a page is a part of, and from when to when; without times where the grant hides them."""

    total: int
    earliest_at: str | None = None
    latest_at: str | None = None
    fields: tuple[str, ...] = ()  # where these times stand


def nearest(center: int, count: int, of: int) -> slice:
    """The `count` places that are nearest to one: half of them before it, more on the other side of an end."""
    first = max(0, min(center - count // 2, of - count))
    return slice(first, first + count)


@dataclass(frozen=True, slots=True)
class Around:
    """The record that a page of neighbours was asked for, and the cursors that go on from that page either way."""

    id: RecordId
    earlier_cursor: str | None = None
    later_cursor: str | None = None
    center: int = 0  # what is nearest to this place of the page is kept where there is not room for all
    cursor_before: Callable[[int], str | None] = field(default=lambda _: None, compare=False, repr=False)

    @property
    def goes_on(self) -> bool:
        return self.earlier_cursor is not None or self.later_cursor is not None


@dataclass(frozen=True, slots=True)
class RecordPage:
    """Some records of one stream; of a change feed also tombstones, and on its last page the next bookmark."""

    records: tuple[Record | Tombstone, ...]
    next_cursor: str | None = None
    count: int | None = None
    span: Span | None = None
    next_changes_since: str | None = None
    warnings: tuple[Warned, ...] = ()
    cursor_after: Callable[[int], str | None] = field(default=lambda _: None, compare=False, repr=False)
    # of a record's place in the page: goes on right after it, for an answer that has room for no more
    is_short: bool | None = False  # more is there, and no cursor leads to it; None where a server did not say
    around: Around | None = None

    @property
    def has_more(self) -> bool | None:
        return True if self.next_cursor is not None else self.is_short

    def nearest(self, count: int) -> "RecordPage":
        """Fewer records of a page around one, and the cursors that go on from those; none where nobody makes them."""
        assert self.around is not None
        around, here = self.around, len(self.records)
        kept = nearest(around.center, count, here)
        earlier = around.cursor_before(kept.start) if kept.start else around.earlier_cursor
        later = self.cursor_after(kept.stop - 1) if kept.stop < here else around.later_cursor

        def before(index: int) -> str | None:
            return around.cursor_before(kept.start + index)

        def after(index: int) -> str | None:
            return self.cursor_after(kept.start + index)

        narrowed = replace(
            around,
            earlier_cursor=earlier,
            later_cursor=later,
            center=around.center - kept.start,
            cursor_before=before,
        )
        return replace(self, records=self.records[kept], next_cursor=later, cursor_after=after, around=narrowed)


@dataclass(frozen=True, slots=True)
class SearchPage:
    hits: tuple[Hit, ...]
    next_cursor: str | None
    recall: Recall
    as_of: str | None = None  # when something visible last changed in the searched streams
    warnings: tuple[Warned, ...] = ()
    is_short: bool | None = False  # as of a page of records
    narrows: bool = False  # whether filters, and what stands around a record, are known to be given here
    mode: str | None = None  # in which it was searched, where that was not by words alone
    waiting: int | None = None  # visible records whose meaning is not indexed yet, where it was looked at

    @property
    def has_more(self) -> bool | None:
        return True if self.next_cursor is not None else self.is_short

"""What an engine must provide: the one list that everything else in the store stands upon."""

from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from io import BufferedReader
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Protocol, Self, TypeVar

from pdpp_server.model.blobs import Blob
from pdpp_server.store.activity import Activity, Log
from pdpp_server.store.asked import AskedTable
from pdpp_server.store.blob_files import Draft
from pdpp_server.store.keys import Keys
from pdpp_server.store.layout import Layout, LayoutCache, StreamPlace
from pdpp_server.store.records.asked import Fullest, Narrowed, Where
from pdpp_server.store.records.rank import MatchCounts
from pdpp_server.store.records.reach import BoundValue, IndexedRange, Reach
from pdpp_server.store.records.words import Phrase, Tokenizer, WordQuery, WordsOfRecord
from pdpp_server.store.session import Changing, Session, Statement
from pdpp_server.store.tries import Tries
from pdpp_server.store.turns import Turns

V = TypeVar("V")
Stored = tuple[int, str, int, int, str, str]  # rid, key, version, revised, emitted_at, data


class Records(Protocol):
    """Records, their values and their days in one snapshot. A reach comes from a permit and is never widened."""

    def get(self, sid: int, key: str) -> tuple[int, int, int, str, str, int | None] | None:
        """One record by its key: rid, version, revised, emitted_at, data, time."""
        ...

    def earlier(self, sid: int, key: str, version: int) -> tuple[int, int | None, str | None, str | None] | None:
        """The last version before that one in which it lived: version, time, emitted_at, data."""
        ...

    def rids_of(self, sid: int, keys: Iterable[str], since: int | None, until: int | None) -> list[int]:
        """Which records of these keys lie within the time."""
        ...

    def named(self, sid: int, keys: Iterable[str]) -> list[tuple[int, str, int, int, str, int | None]]:
        """What is said of records by key, without their data: the time stands last."""
        ...

    def keys(self, rids: Iterable[int]) -> list[tuple[int, str, int | None]]:
        """Key and time of records."""
        ...

    def stored(self, rids: Iterable[int]) -> list[Stored]:
        """Records."""
        ...

    def data(self, rid: int) -> str:
        """The data of one."""
        ...

    def visible(self, reach: Reach) -> Iterator[Stored]:
        """Every record of a reach."""
        ...

    def page(
        self,
        reach: Reach,
        fid: int,
        start: tuple[BoundValue, str | bytes],
        within: tuple[BoundValue, BoundValue],
        *,
        ascending: bool,
        chunk: int,
    ) -> list[tuple[BoundValue, int, str, int, int, str, str]]:
        """The next records in the order of a field and of keys, behind that value and key."""
        ...

    def page_by_key(
        self, reach: Reach, start: str | bytes, *, ascending: bool, chunk: int
    ) -> list[tuple[BoundValue, int, str, int, int, str, str]]:
        """The same in the order of keys alone."""
        ...

    def rids_by_key(self, sid: int, before: str, most: int) -> tuple[list[int], str | None]:
        """The rids of a stream from the last key on, or from before that one, hidden ones too; the key at which to go
        on, where there may be more."""
        ...

    def ranked(
        self, reach: Reach, table: str, fid: int, start: BoundValue, *, ascending: bool, chunk: int
    ) -> list[tuple[BoundValue, int, str, int, int, str, str]]:
        """The next records in the order of a field alone, behind that value; those without a value are left out."""
        ...

    def beginning(self, fid: int, value: BoundValue, most: BoundValue) -> list[tuple[BoundValue, str]]:
        """Values and keys between two values, so that a place can be known again by its digest."""
        ...

    def beginning_by_key(self, sid: int, key: str, most: str) -> list[tuple[BoundValue, str]]:
        """The same between two keys."""
        ...

    def entries(self, reach: Reach, bounds: IndexedRange, enough: int) -> int:
        """How many values lie within the bounds, in the range of the reach; no further than `enough`."""
        ...

    def holding(self, reach: Reach, bounds: IndexedRange) -> Iterator[Stored]:
        """The visible records of these values."""
        ...

    def passing(self, reach: Reach, bounds: IndexedRange, *also: IndexedRange) -> list[int]:
        """Which visible records have these values, and each of the others as well, in no order worth a name."""
        ...

    def passing_count(self, reach: Reach, bounds: IndexedRange, *also: IndexedRange) -> int:
        """How many those are."""
        ...

    def left(self, reach: Reach, asked: Hashable, find: Callable[[], Reach]) -> Reach:
        """What a filter leaves of a reach, as single records: found now, or kept since the same was asked before."""
        ...

    def known(self, reach: Reach, asked: Hashable, find: Callable[[], V]) -> V:
        """What is true of a reach as long as its stream does not change: found now, or kept from before. Nobody but the
        same grant gets it."""
        ...

    def told(
        self, reach: Reach, asked: Hashable, rids: Sequence[int], find: Callable[[Sequence[int]], Mapping[int, V]]
    ) -> Mapping[int, V]:
        """The same of single records: what `find` tells of those of which it is not kept from before."""
        ...

    def by_day(self, reach: Reach, bounds: IndexedRange, *, ascending: bool, chunk: int) -> list[Stored]:
        """The first visible records of one value in the order of their rids, which is that of days; or the last."""
        ...

    def tallies(self, reach: Reach, bounds: IndexedRange) -> Iterator[tuple[BoundValue, int]]:
        """Each value within the bounds, in their order, and how many visible records have it."""
        ...

    def edges(self, reach: Reach, bounds: IndexedRange) -> list[BoundValue]:
        """The least and the greatest value of a field within the bounds; the upper one does not belong to them."""
        ...

    def beside(
        self, reach: Reach, fid: int, rids: Sequence[int], silence: int, most: int
    ) -> Iterator[tuple[int, list[int], list[int]]]:
        """What stands right before and after records in the order of a time, nearest first, within that silence."""
        ...

    def field_of(self, rids: Sequence[int], field: str) -> dict[int, object]:
        """One field of several records, to be compared."""
        ...

    def having(self, fid: int, value: BoundValue) -> list[str]:
        """The data of every record of one value, for what the owner's own sources compare."""
        ...

    def live(self, sid: int) -> int:
        """How many records a stream has."""
        ...

    def days(self, sid: int, after: int, before: int) -> list[tuple[int, int]]:
        """How many it has of each day between two."""
        ...

    def days_total(self, sid: int, after: int, before: int) -> int:
        """And in all."""
        ...

    def has_days(self, sid: int, first: int, end: int) -> bool:
        """Whether there is any record of these days."""
        ...

    def on_day(self, reach: Reach, day: int) -> int:
        """How many records of that day are visible."""
        ...

    def newest_change(self, sid: int, kinds: Iterable[str], shift: int, first: int, end: int) -> tuple[int, str] | None:
        """The newest change of these kinds in a stretch of days: version, emitted_at."""
        ...

    def narrowing(self, reach: Reach, rid: str) -> str:
        """The WHERE that narrows by grant, for a statement whose column `rid` holds the rid."""
        ...


class Words(Protocol):
    """The index of words in one snapshot. It counts and notes what stands where; scores are made of that above it."""

    @property
    def noted(self) -> dict[int, MatchCounts]:
        """What was noted of each record, by rid, since somebody cleared it."""
        ...

    def stands(self, where: Where, phrase: Phrase) -> bool:
        """Whether any visible record holds it."""
        ...

    def count(self, where: Where, any_of: Sequence[Phrase], most: int) -> int:
        """How many hold any of these, no further than `most`."""
        ...

    def matching(self, where: Where, any_of: Sequence[Phrase]) -> list[int]:
        """Which ones."""
        ...

    def note(self, where: Where, words: WordQuery, narrowed: Narrowed | None = None, newest: int | None = None) -> None:
        """Note those that hold a wanted phrase, and what narrows; of each reach the newest so many, where said."""
        ...

    def note_fullest(self, where: Where, words: WordQuery, narrowed: Narrowed, asked: Fullest) -> None:
        """Note those in which the one wanted phrase counts most; all together, but of each reach its newest."""
        ...

    def holding(self, where: Where, words: WordQuery, narrowed: Narrowed) -> list[int]:
        """Which ones that are; nothing is noted."""
        ...


class Meanings(Protocol):
    """What records mean, in one snapshot: passages as vectors, made by one model. A record that is not here waits."""

    def model(self) -> str | None:
        """By which model they were made."""
        ...

    def blocks(self, low: int, high: int) -> list[tuple[int, bytes]]:
        """The signs of the vectors of a range of rids, block by block."""
        ...

    def seen(self, whose: Hashable, see: Callable[[], Any]) -> Any:
        """What somebody sees of them; what was seen before, where nothing was written since."""
        ...

    def of(self, rids: Iterable[int]) -> list[tuple[int, bytes]]:
        """The passages of records, with their vectors."""
        ...

    def at_edges(self, reach: Reach) -> list[int]:
        """The visible records of the first and the last day of a reach that is bounded by time."""
        ...


class MeaningIndex(Protocol):
    """The same, kept in the transaction of whoever makes or erases it."""

    def put(self, dimensions: int, rows: Sequence[tuple[int, bytes, bytes]]) -> None:
        """Records by rid, with their passages and what their blocks say of them."""
        ...

    def drop(self, rids: Sequence[int]) -> None:
        """These records wait again, or are gone."""
        ...

    def drop_between(self, low: int, high: int) -> None:
        """All of a range of rids that spans whole streams."""
        ...

    def begin(self, identity: str | None) -> None:
        """From now on by that model, or none: what another has made is dropped."""
        ...


class Index(Protocol):
    """What makes records findable, kept in the transaction that brings or erases them."""

    def add_words(self, place: StreamPlace, rows: Sequence[WordsOfRecord]) -> None:
        """Rid, and the texts for the columns of its stream."""
        ...

    def drop_words(self, place: StreamPlace, rows: Sequence[WordsOfRecord]) -> None:
        """The same texts, which are no longer there."""
        ...

    def clear_words(self) -> None:
        """All of them, of every stream."""
        ...

    def add_values(self, rows: Sequence[tuple[int, BoundValue, int]]) -> None:
        """Field, value, rid."""
        ...

    def drop_values(self, rows: Sequence[tuple[int, BoundValue, int]]) -> None:
        """The same, no longer there."""
        ...

    def add_positions(self, rows: Sequence[tuple[int, BoundValue, str, int]]) -> None:
        """Field, value, key, rid: the order of pages."""
        ...

    def drop_positions(self, rows: Sequence[tuple[int, BoundValue, str]]) -> None:
        """The same, no longer there."""
        ...


class Blobs(Protocol):
    """The bytes of blobs, by their digest: whole, or not there at all."""

    def draft(self, data: bytes | Path | BinaryIO) -> AbstractContextManager[Draft]:
        """The bytes, durable and without a name; gone again if nobody placed them."""
        ...

    def place(self, writing: "Writing", draft: Draft, /) -> None:
        """Give them their name, inside the transaction that knows them by it."""
        ...

    def open(self, reading: Session, blob: Blob, /) -> BufferedReader:
        """The bytes, for as long as whoever got them keeps them open.

        Raises:
            LostBlob: they are not what the database says, or said a moment ago.
        """
        ...

    def is_whole(self, reading: Session, blob: Blob, /) -> bool:
        """Whether as many bytes are there as it has."""
        ...

    def strays(self, known: Container[str]) -> list[Path]:
        """Files that nothing knows by its digest: what a killed writer left behind. Nobody can read them here."""
        ...


class Reading(Session, Protocol):
    """One snapshot with a deadline: every statement in it sees the same moment."""

    @property
    def layouts(self) -> LayoutCache: ...

    @property
    def layout(self) -> Layout: ...

    @property
    def records(self) -> Records: ...

    @property
    def words(self) -> Words: ...

    @property
    def meanings(self) -> Meanings: ...

    @property
    def tokenizer(self) -> Tokenizer: ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...


class Writing(Changing, Protocol):
    """One transaction of the one writer: all of it is kept, or none."""

    def counted(self) -> dict[str, int]:
        """How far the numbers of connections, streams and others have come; none is given twice."""
        ...

    def count_on(self, counted: dict[str, int]) -> None:
        """From there."""
        ...

    @property
    def index(self) -> Index: ...

    @property
    def meanings(self) -> MeaningIndex: ...

    def texts(self, name: str) -> str:
        """The texts in a list that is bound under that name as JSON, for a statement."""
        ...

    def numbers(self, name: str) -> str:
        """The numbers in such a list."""
        ...

    def note_erasure(self) -> None:
        """Something is erased in this transaction, of which no trace may stay behind."""
        ...

    def merge_words(self) -> bool:
        """A part of the work that keeps the index of words fast; whether there is more to do."""
        ...


class Write(Writing, Protocol):
    """The same, with what a change of whole streams and connections needs to know."""

    @property
    def layouts(self) -> LayoutCache: ...

    @property
    def layout(self) -> Layout: ...

    @property
    def now(self) -> str: ...


class Database(Protocol):
    """Everything durable of one owner: records, declarations, grants, blobs, the log and the keys."""

    @property
    def blobs(self) -> Blobs: ...

    @property
    def log(self) -> Log: ...

    @property
    def activity(self) -> Activity: ...

    @property
    def asked(self) -> AskedTable: ...

    @property
    def keys(self) -> Keys: ...

    @property
    def tries(self) -> Tries: ...

    @property
    def turns(self) -> Turns: ...

    @property
    def layouts(self) -> LayoutCache: ...

    @property
    def path(self) -> Path: ...

    @property
    def is_elsewhere(self) -> bool:
        """Whether whoever asks it waits for another process, and so must not keep others waiting."""
        ...

    def has_schema(self) -> bool:
        """Whether its tables are those that this version knows, or the next."""
        ...

    def reading(self, *ahead: Statement, is_all: bool = False) -> Reading:
        """A snapshot for this thread, as a context manager. What is asked in it first may be said `ahead`: where each
        question is a journey, they travel together. Where that `is_all`, the end of the snapshot travels along; whoever
        asks more nevertheless is answered out of one in which all of it is as before.

        Raises:
            DatabaseUnavailable: there is no such snapshot any more, or none at all.
        """
        ...

    def writing(self) -> AbstractContextManager[Writing]:
        """A transaction; it is durable when the block is left."""
        ...

    def write(self, now: str) -> AbstractContextManager[Write]: ...

    def forget_erased(self) -> None:
        """Leave nothing of what was erased.

        Raises:
            IngestStorageError: others read or wrote all the time.
        """
        ...

    def truncate_wal(self) -> None:
        """Fold what waits beside the database into it."""
        ...

    def close(self) -> None: ...

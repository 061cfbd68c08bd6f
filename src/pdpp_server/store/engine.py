"""What an engine must provide: the one list that everything else in the store stands upon."""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from pdpp_server.store.blob_files import BlobFiles
from pdpp_server.store.layout import Layout, LayoutCache
from pdpp_server.store.records.rank import Note
from pdpp_server.store.records.words import Tokenizer
from pdpp_server.store.session import Session, Values


class Ranking(Protocol):
    """The records that a statement notes, for the score."""

    noted: dict[int, Note]

    def use(self, phrases: int, slots: Sequence[int]) -> None: ...

    def counts(self) -> list[int]: ...


class Reading(Session, Protocol):
    """One snapshot with a deadline: every statement in it sees the same moment."""

    @property
    def layouts(self) -> LayoutCache: ...

    @property
    def layout(self) -> Layout: ...

    @property
    def ranking(self) -> Ranking: ...

    @property
    def tokenizer(self) -> Tokenizer: ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...


class Writing(Session, Protocol):
    """One transaction of the one writer: all of it is kept, or none."""

    def run(self, statement: str, values: Values = ()) -> None:
        """A change, or several in one text."""
        ...

    def run_many(self, statement: str, values: Iterable[Values]) -> None:
        """The same change with many values."""
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
    """One owner's records, declarations, grants and blobs."""

    @property
    def blobs(self) -> BlobFiles: ...

    @property
    def layouts(self) -> LayoutCache: ...

    @property
    def path(self) -> Path: ...

    def reading(self) -> Reading:
        """A snapshot for this thread, as a context manager."""
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

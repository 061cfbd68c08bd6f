"""One snapshot or one transaction, as whoever keeps something in tables sees it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

Values = Sequence[Any] | Mapping[str, Any]
Statement = tuple[str, Values]


class Session(Protocol):
    """Plain SQL inside one snapshot or one transaction. What a statement gives is fetched whole: a cursor left open
    would pin its snapshot."""

    def rows(self, statement: str, values: Values = ()) -> list[Any]:
        """All rows."""
        ...

    def one(self, statement: str, values: Values = ()) -> Any:
        """The first row, or its only column; None where there is none."""
        ...

    def each(self, statement: str, values: Values = ()) -> Iterator[Any]:
        """Row by row, for whoever looks at all of them and keeps few."""
        ...

    def stream(self, statement: str, values: Values = ()) -> Iterator[Any]:
        """The same of a whole table, of which nobody could keep all; the order is said as `collate binary`."""
        ...


class Changing(Session, Protocol):
    """The same in a transaction that changes something."""

    def run(self, statement: str, values: Values = ()) -> None:
        """A change, or several in one text."""
        ...

    def run_many(self, statement: str, values: Iterable[Values]) -> None:
        """The same change with many values."""
        ...

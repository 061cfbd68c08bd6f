"""What is asked of an index of words: where it looks, and what a record must hold besides."""

from collections.abc import Sequence
from typing import NamedTuple

from pdpp_server.store.records.reach import Reach
from pdpp_server.store.records.words import Phrase


class Where(NamedTuple):
    """Visible records, and the columns of the index in which the grant lets them be searched."""

    reaches: Sequence[Reach]
    slots: tuple[int, ...]
    is_part: bool  # whether their rows may have other columns too


class Narrowed(NamedTuple):
    """Only records that hold any, or all, of these."""

    phrases: tuple[Phrase, ...]
    hold_all: bool = False


class Fullest(NamedTuple):
    """Of the records that hold a phrase at least so many times, those that come first by that alone."""

    most: int
    times: int
    newest: int | None  # look only at so many of those that hold it at all

"""How much text an answer may spend, and on what first."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

from pdpp_server.evidence.budgets import WORTH_TRYING_BYTES
from pdpp_server.evidence.text import byte_len


class BudgetRow(NamedTuple):
    """One item in several ways: the least that is worth a line, and richer ones, richest first."""

    least: str
    richer: Iterable[str] = ()


def fit(rows: Sequence[BudgetRow], limit: int, *, joint: int = 1) -> list[str]:
    """As many rows as fit, at least one, in at most `limit` bytes with `joint` bytes between two.

    Rows get their least first, so that no item is lost to the wealth of another; what is left makes the first rows
    richer.
    """
    shown = [row.least for row in rows[: room_for(rows, limit, joint=joint)]]
    left = limit - sum(byte_len(line) + joint for line in shown) + joint
    for index, row in enumerate(rows[: len(shown)]):
        if left < WORTH_TRYING_BYTES:
            break
        least = byte_len(row.least)
        shown[index] = first_that_fits(chain(row.richer, (row.least,)), least + left)
        left -= byte_len(shown[index]) - least
    return shown


def room_for(rows: Sequence[BudgetRow], limit: int, *, joint: int = 1) -> int:
    """How many rows fit in their least form; one in any case, if there is one."""
    left = limit + joint
    for count, row in enumerate(rows):
        left -= byte_len(row.least) + joint
        if left < 0:
            return max(1, count)
    return len(rows)


def affordable(parts: Iterable[str], limit: int, *, joint: int = 1) -> list[str]:
    """Each part that still fits, with `joint` bytes beside it, and an empty text in the place of each that does not."""
    taken: list[str] = []
    for part in parts:
        size = byte_len(part) + joint
        taken.append(part if part and size <= limit else "")
        limit -= size if taken[-1] else 0
    return taken


def first_that_fits(ways: Iterable[str], limit: int) -> str:
    """The first of several ways to say it that has at most `limit` bytes; the last one where none has."""
    way = ""
    for way in ways:
        if byte_len(way) <= limit:
            return way
    return way


def that_fit(sizes: Iterable[int], room: int, for_rest: int) -> tuple[list[int], int]:
    """The first sizes that fit, one at least, and what is left; `for_rest` stays free where some do not fit."""
    fitting: list[int] = []
    for size in sizes:
        if size > room and fitting:
            room -= for_rest
            break
        fitting.append(size)
        room -= size
    while room < 0 and len(fitting) > 1:
        room += fitting.pop()
    return fitting, max(0, room)

"""Segments of the word index, merged: a search has to look into each of them, for words that stand nowhere too."""

import apsw

_MERGE = "insert into words(words, rank) values('merge', 1000)"  # so many pages at a time, about a tenth of a second
_NOTHING_DONE = 2  # rows that a merge without work changes are fewer


def merge_some(writer: apsw.Connection) -> bool:
    """A part of the work; whether there is more to do."""
    before = writer.total_changes()
    writer.execute(_MERGE)
    return writer.total_changes() - before >= _NOTHING_DONE

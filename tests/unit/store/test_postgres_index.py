"""The words of a batch, as the rows that PostgreSQL keeps of them."""

from collections.abc import Iterable
from typing import Any

from pdpp_server.store.engines.postgres.index import PostgresIndex
from pdpp_server.store.engines.postgres.postings import PostingRun
from pdpp_server.store.layout import StreamPlace
from pdpp_server.store.session import Values

PLACE = StreamPlace(4, {"subject": 0, "text": 1}, {}, None, {})


class Written:
    """What was written, in order."""

    def __init__(self) -> None:
        self.kept: list[Any] = []

    def rows(self, statement: str, values: Values = ()) -> list[Any]:
        raise NotImplementedError

    def run(self, statement: str, values: Values = ()) -> None:
        raise NotImplementedError

    def run_many(self, statement: str, values: Iterable[Values]) -> None:
        self.kept += values


def test_a_block_says_in_which_records_it_begins_and_ends() -> None:
    written = Written()

    PostgresIndex(written).add_words(PLACE, [(6, ("", "moon")), (5, ("hut", "")), (12, ("", "the moon"))])

    rows = {term: row for _, term, *row in written.kept}
    assert rows["moon"] == [5, 6, 12, PostingRun(5, [1, 1, 0, 7, 1, 1]).written()]
    assert rows["hut"] == [5, 5, 5, PostingRun(5, [0, 0, 0]).written()]

"""The words of a batch, as the rows that PostgreSQL keeps of them."""

from collections.abc import Iterable
from typing import Any

from pdpp_server.store.engines.postgres.index import FEW_RECORDS, PostgresIndex
from pdpp_server.store.engines.postgres.postings import TERM_CHARS, kept_run, kept_term
from pdpp_server.store.layout import StreamPlace
from pdpp_server.store.session import Values

PLACE = StreamPlace(4, {"subject": 0, "text": 1}, {}, None, {})


class Written:
    """What was written, in order, where a few records at a time join that batch."""

    def __init__(self, joined: int | None = None) -> None:
        self.kept: list[Any] = []
        self._joined = joined

    def rows(self, statement: str, values: Values = ()) -> list[Any]:
        assert self._joined is not None, "these records are enough for a batch of their own"
        return [(self._joined,)]

    def run(self, statement: str, values: Values = ()) -> None:
        raise NotImplementedError

    def run_many(self, statement: str, values: Iterable[Values]) -> None:
        self.kept += values


def test_a_block_says_in_which_records_it_begins_and_ends() -> None:
    written = Written(joined=5)

    PostgresIndex(written).add_words(PLACE, [(6, "", "moon"), (5, "hut", ""), (12, "", "the moon")])

    rows = {term: row for _, term, *row in written.kept}
    assert rows["moon"] == [5, 6, 12, kept_run(5, [1, 1, 0, 7, 1, 1])]
    assert rows["hut"] == [5, 5, 5, kept_run(5, [0, 0, 0])]


def test_many_records_are_a_batch_of_their_own_and_few_join_another() -> None:
    many, few = Written(), Written(joined=900)

    PostgresIndex(many).add_words(PLACE, [(rid, "", "moon") for rid in range(7, 8 + FEW_RECORDS)])
    PostgresIndex(few).add_words(PLACE, [(895, "", "moon"), (910, "", "moon")])

    assert [row[2] for row in many.kept if row[1] == "moon"] == [7]
    assert [row[2:] for row in few.kept if row[1] == "moon"] == [(900, 895, 910, kept_run(900, [-5, 1, 0, 10, 1, 0]))]


def test_what_is_longer_than_any_word_has_a_key_that_the_database_has_room_for() -> None:
    word, written = "ж" * TERM_CHARS, Written(joined=5)

    PostgresIndex(written).add_words(PLACE, [(5, "", f"{word} {word}a {word}b")])

    terms = [row[1] for row in written.kept if row[1]]
    assert terms == sorted([word, kept_term(f"{word}a"), kept_term(f"{word}b")])
    assert len({*terms}) == 3 and all(len(term.encode()) < 2650 for term in terms)

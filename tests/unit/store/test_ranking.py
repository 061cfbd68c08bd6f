"""What a search notes of each record: which phrases stand in it, how often, in how long a text."""

from typing import Any

import apsw
import pytest

from pdpp_server.store.engines.sqlite.ranking import Ranking, length_of
from pdpp_server.store.records.rank import HeldPhrases, MatchCounts


@pytest.mark.parametrize(
    ("sizes", "slots", "length"),
    [
        (b"\x03\x05\x07", [0, 2], 10),
        (b"\x03", [], 0),
        (b"\x81\x00\x05", [0], 128),
        (b"\x81\x00\x05", [0, 1], 133),
        (b"\x7f\x81\x80\x01", [1], 16385),
    ],
)
def test_a_length_is_the_words_of_the_granted_columns(sizes: bytes, slots: list[int], length: int) -> None:
    assert length_of(sizes, slots) == length


def noted(asked: str, phrases: int) -> dict[int, MatchCounts]:
    connection = apsw.Connection(":memory:")
    connection.execute("create virtual table words using fts5(a, b)")
    connection.execute("insert into words values('tea', 'tea and tea'), ('cake', 'tea'), ('tea', 'tea cake tea')")
    ranking = Ranking(connection)
    function = ranking.use([1] * phrases, [0, 1])
    size = "(select sz from words_docsize where id = words.rowid)"
    rows: list[Any] = [*connection.execute(f"select rowid, {function}(words), {size} from words(?)", (asked,))]
    ranking.note(ranking.taken(rows))
    return ranking.noted


def test_one_phrase_is_counted_in_all_columns() -> None:
    assert noted("tea", 1) == {
        1: MatchCounts(4, HeldPhrases([3], [0b11])),
        2: MatchCounts(2, HeldPhrases([1], [0b10])),
        3: MatchCounts(4, HeldPhrases([3], [0b11])),
    }


def test_of_several_phrases_each_is_counted_and_one_that_is_not_there_is_nothing() -> None:
    assert noted("tea or cake".upper(), 2) == {
        1: MatchCounts(4, HeldPhrases([3, 0], [0b11, 0])),
        2: MatchCounts(2, HeldPhrases([1, 1], [0b10, 0b01])),
        3: MatchCounts(4, HeldPhrases([3, 1], [0b11, 0b10])),
    }

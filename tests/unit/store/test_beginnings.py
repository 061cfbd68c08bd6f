"""A prefix is asked for by the words that begin with it; where they are too many, the index merges them itself."""

from collections.abc import Sequence

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp_server.model.queries import SearchQuery
from pdpp_server.store.engines.sqlite import beginnings
from pdpp_server.store.engines.sqlite.beginnings import Beginnings
from pdpp_server.store.engines.sqlite.cutting import Fts5Cutter
from pdpp_server.store.engines.sqlite.session import SqliteSession
from pdpp_server.store.records.words import Tokenizer
from tests.requirements import requirement
from tests.worlds.beneath import lay_index
from tests.worlds.chat import WORK, message
from tests.worlds.world import World

WORDS = st.lists(st.text("abcdé1", min_size=1, max_size=6), min_size=1, max_size=30)


class Index:
    """A word index in memory, with a reader's way to ask for prefixes."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.connection = apsw.Connection(":memory:")
        cutter = Fts5Cutter(self.connection)
        self.tokenizer = Tokenizer(cutter)
        self.beginnings = Beginnings(SqliteSession(self.connection))
        cutter.take_prefixes(self.connection, self.beginnings.said)
        lay_index(self.connection)
        for number, text in enumerate(texts):
            self.connection.execute("insert into words(rowid, s0) values(?, ?)", (number, text))

    def found(self, match: str) -> set[int]:
        asked = self.connection.execute("select rowid from words where words match ?", (match,))
        return {rowid for (rowid,) in asked}


@given(WORDS, st.text("abcd", min_size=3, max_size=4))
@requirement("rs.search.prefixes")
def test_the_words_that_begin_with_a_prefix_find_what_the_index_finds_for_it(texts: list[str], prefix: str) -> None:
    index = Index(texts)
    for phrase in index.tokenizer.query(f"{prefix}* a-{prefix}*").all:
        in_parts = [index.found(part) for part in index.beginnings.parts(phrase)]

        assert index.found(index.beginnings.match(phrase)) == index.found(phrase.match)
        assert set[int]().union(*in_parts) == index.found(phrase.match)


@requirement("rs.search.prefixes")
def test_a_prefix_is_no_word_of_which_an_ending_is_taken() -> None:
    index = Index(["gasoline", "garden", "the houses"])

    (gasoline,) = index.tokenizer.query("gasol*").wanted
    (house,) = index.tokenizer.query("house*").wanted

    assert index.found(index.beginnings.match(gasoline)) == {0}
    assert index.found(index.beginnings.match(house)) == {2}


@requirement("rs.search.prefixes")
def test_many_words_are_asked_for_in_parts_and_too_many_by_the_prefix_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    index = Index([f"walrus{number}" for number in range(20)])
    (phrase,) = index.tokenizer.query("wal*").wanted

    assert len([*index.beginnings.parts(phrase)]) == 2
    monkeypatch.setattr(beginnings, "WORDS", 19)
    assert [*index.beginnings.parts(phrase)] == [phrase.match]


@requirement("rs.search.prefixes")
def test_no_more_prefixes_are_kept_than_there_is_room_for_and_those_in_use_stay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(beginnings, "KEPT", 2)
    index = Index(["walrus", "meeting", "stapler"])
    first, second, third = index.tokenizer.query("wal* mee* sta*").wanted
    for phrase in (first, second, first):
        index.beginnings.match(phrase)

    asked = [index.beginnings.match(phrase) for phrase in (third, first)]

    assert [index.found(match) for match in asked] == [{2}, {0}]


@requirement("rs.search.prefixes")
def test_a_text_that_looks_like_a_prefix_of_ours_is_a_text() -> None:
    index = Index(["walrus"])

    assert index.found('"\x1fwal\x1f0\x1f9"') == set()
    assert index.found('"\x1fwalrus"') == {0}


@pytest.mark.sqlite("compares two ways of SQLite")
@pytest.mark.parametrize("most", [0, 1, 1000])
@requirement("rs.search.prefixes")
def test_the_answer_does_not_tell_how_many_words_begin_alike(
    world: World, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    world.deliver(WORK, [message(f"n{i}", text=f"walrus{i % 7} meeting walnut") for i in range(40)])
    query = SearchQuery("wal* -walrus3* meet*", ("messages",), limit=50)
    plain = world.reader.search(query).value

    monkeypatch.setattr(beginnings, "WORDS", most)
    monkeypatch.setattr(beginnings, "TOGETHER", 2)

    assert world.reader.search(query).value == plain
    assert len(plain.hits) >= 30


@requirement("rs.search.prefixes")
def test_a_new_word_is_found_by_a_prefix_that_was_asked_for_before(world: World) -> None:
    query = SearchQuery("alpen*", ("messages",))
    world.deliver(WORK, [message("a", text="alpenglow")])
    before = world.reader.search(query).value

    world.deliver(WORK, [message("b", text="alpenrose")])
    after = world.reader.search(query).value

    assert {hit.id.key for hit in before.hits} == {"a"}
    assert {hit.id.key for hit in after.hits} == {"a", "b"}

"""Notes from texts are those that the index would make."""

from typing import Any

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp_server.store.engines.sqlite.cutting import Fts5Cutter
from pdpp_server.store.engines.sqlite.ranking import Ranking
from pdpp_server.store.records.rank import HeldPhrases, MatchCounts
from pdpp_server.store.records.texts import Texts
from pdpp_server.store.records.words import Tokenizer, spaced
from tests.requirements import requirement

SLOTS = (0, 1)
HELD = """
select words.rowid, held(words), sz from words cross join words_docsize on id = words.rowid where words match ?
"""
ENDINGS = [
    *("", "s", "ies", "sses", "y", "ed", "ing", "eed", "ational", "tional", "ation", "ator", "izer", "ization", "ize"),
    *("ably", "ibly", "ibility", "alism", "iveness", "fulness", "ousness", "ality", "ivity", "icate", "ative", "alize"),
    *("icity", "ical", "ness", "ance", "ence", "ement", "ment", "ent", "ion", "ous", "ive", "e", "ll", "ying", "ogy"),
]
STEMS = st.text("abcdefgilmnoprstuvy", min_size=1, max_size=6)
WORDS = st.one_of(
    st.builds(str.__add__, STEMS, st.sampled_from(ENDINGS)),
    st.sampled_from(["gas", "Use", "happy", "SAYING", "café", "京都", "naïve", "x", "7", "don't", "a_b"]),
)


def indexed() -> tuple[apsw.Connection, Ranking, Tokenizer]:
    index = apsw.Connection(":memory:")
    cutter = Fts5Cutter(index)
    cutter.take_prefixes(index)
    ranking = Ranking(index)
    index.execute(
        "create virtual table words using fts5(s0, s1, content='', tokenize='porter unicode61 remove_diacritics 2')"
    )
    return index, ranking, Tokenizer(cutter)


INDEX, RANKING, TOKENIZER = indexed()


@given(st.lists(WORDS, max_size=12), st.lists(WORDS, max_size=3), st.lists(WORDS, min_size=1, max_size=4), st.data())
@requirement("store.search.hidden-time")
def test_a_note_from_the_text_is_the_one_from_the_index(
    subject: list[str], body: list[str], asked: list[str], data: st.DataObject
) -> None:
    texts = {0: " ".join(subject), 1: "; ".join(body)}
    shapes = ["{}", '"{}"'] if len(asked) < 3 else ["{}"]
    query = data.draw(st.sampled_from(shapes)).format(" ".join(asked))
    prefix = next((word for word in subject if word.isascii() and len(TOKENIZER.tokens(word)[0]) > 3), None)
    words = TOKENIZER.query(f"{query} {prefix}*" if prefix else query)
    if not words.wanted:
        return

    INDEX.execute("insert into words(rowid, s0, s1) values(1, ?, ?)", (spaced(texts[0]), spaced(texts[1])))
    RANKING.noted.clear()
    RANKING.use([1] * len(words.wanted), SLOTS)
    match = " OR ".join(phrase.match for phrase in words.wanted)
    rows: Any = INDEX.execute(HELD, (match,)).fetchall()
    RANKING.note(RANKING.taken(rows))
    INDEX.execute("insert into words(words) values('delete-all')")

    assert Texts(TOKENIZER, words.wanted).note(texts) == RANKING.noted.get(1)


@pytest.mark.parametrize(
    ("texts", "note"),
    [
        ({0: "Lease of the lake", 1: "the lease, the leases"}, MatchCounts(8, HeldPhrases([3, 1], [0b11, 0b01]))),
        ({0: "", 1: "nothing here"}, None),
        ({}, None),
    ],
)
def test_counts_lengths_and_columns(texts: dict[int, str], note: MatchCounts | None) -> None:
    assert Texts(TOKENIZER, TOKENIZER.query("lease lake").wanted).note(texts) == note


@requirement("rs.search.coverage")
def test_records_that_hold_two_words_in_as_many_places_are_told_apart() -> None:
    texts = ["lake lease", "lake lease", "lake lake lease", "lake lease lease", "lake lake lease lease", "lake"]
    words = TOKENIZER.query("lake lease")

    INDEX.executemany("insert into words(rowid, s0, s1) values(?, ?, '')", enumerate(texts, start=1))
    RANKING.noted.clear()
    RANKING.use([1, 1], SLOTS)
    rows: Any = INDEX.execute(HELD, ("lake OR lease",)).fetchall()
    RANKING.note(RANKING.taken(rows))
    INDEX.execute("insert into words(words) values('delete-all')")

    from_texts = {rid: Texts(TOKENIZER, words.wanted).note({0: text}) for rid, text in enumerate(texts, start=1)}
    assert from_texts == RANKING.noted

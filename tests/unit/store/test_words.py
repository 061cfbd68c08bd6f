"""A proof is where the index found it: offsets in code points, of the words that were asked for."""

from collections.abc import Sequence

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp_server.errors import InvalidRequest
from pdpp_server.store.engines.postgres.postings import BEGINNING_CHARS
from pdpp_server.store.engines.sqlite.cutting import Fts5Cutter
from pdpp_server.store.records.words import (
    PREFIX_LETTERS_MAX,
    Phrase,
    Tokenizer,
    WordQuery,
    _break_before,  # pyright: ignore[reportPrivateUsage]
    _word_places,  # pyright: ignore[reportPrivateUsage]
)
from tests.requirements import requirement

TOKENIZER = Tokenizer(Fts5Cutter(apsw.Connection(":memory:")))
WORDS = ["lease", "Café", "naïve", "🦭", "京都", "running", "runs", "ΑΒΓ", "e\u0301te", "x", "—", "データ", "ไทย"]


def places(text: str, phrases: Sequence[Phrase]) -> list[tuple[int, int]]:
    found = TOKENIZER.finder(phrases, [1.0] * len(phrases)).spans(text, near=220)
    return [(span.start, span.end) for span in found]


def proven(text: str, query: str) -> list[str]:
    return [text[start:end] for start, end in places(text, TOKENIZER.query(query).wanted)]


@pytest.mark.parametrize(
    ("text", "query", "pieces"),
    [
        ("The lease ends.", "lease", ["lease"]),
        ("🦭🦭 The LEASE 🦭 ends.", "lease", ["LEASE"]),
        ("Ünïcödé lease", "unicode lease", ["Ünïcödé", "lease"]),
        ("He runs; she was running.", "run", ["runs", "running"]),
        ("東京都の地図", "京都", ["京都"]),
        ("京都と東京都、京都", "京都", ["京都", "京都", "京都"]),
        ("abc京都def", "京都", ["京都"]),
        ("データを見て", "データ", ["データ"]),
        ("the walrus clause, the clause", '"walrus clause"', ["walrus clause"]),
        ("the walrus, clause", '"walrus clause"', ["walrus, clause"]),
        ("walrus walruses walking", "walr*", ["walrus", "walruses"]),
        ("lease lake lease", "lake", ["lake"]),
        ("a-b lease_x", "lease", ["lease"]),
        ("cafe\u0301 open", "café", ["cafe\u0301"]),
        ("\U0001f468\u200d\U0001f469 lease", "lease", ["lease"]),
        ("nothing here", "lease", []),
        ("", "lease", []),
    ],
)
@requirement("store.index.proven-offsets")
def test_a_phrase_is_proven_where_it_stands(text: str, query: str, pieces: list[str]) -> None:
    assert proven(text, query) == pieces


@given(
    st.lists(st.sampled_from(WORDS), max_size=30),
    st.sampled_from(WORDS),
    st.sampled_from([" ", "\n", ", ", " 🦭 ", "\u3000"]),
)
@requirement("store.index.proven-offsets")
def test_every_proof_tokenizes_to_what_was_asked(words: list[str], asked: str, between: str) -> None:
    text = between.join(words)
    wanted = TOKENIZER.query(asked).wanted

    for start, end in places(text, wanted):
        assert TOKENIZER.tokens(text[start:end]) == wanted[0].tokens


def asked_of(query: str) -> WordQuery:
    """Nothing where it is refused."""
    try:
        return TOKENIZER.query(query)
    except InvalidRequest:
        return WordQuery((), ())


@given(st.text(max_size=200), st.text(min_size=1, max_size=10))
@requirement("store.index.proven-offsets")
def test_the_index_and_the_proof_agree_on_any_text(text: str, query: str) -> None:
    index = apsw.Connection(":memory:")
    index.execute("create virtual table t using fts5(x, tokenize='porter unicode61 remove_diacritics 2')")
    clean, asked = text.replace("\0", " "), asked_of(query.replace("\0", " "))
    index.execute("insert into t values(?)", (" ".join(TOKENIZER.tokens(clean)),))

    for phrase in asked.wanted:
        spans = places(clean, [phrase])
        assert all(0 <= start < end <= len(clean) for start, end in spans)
        if len(phrase.tokens) == 1 and not phrase.is_prefix:
            assert bool(spans) == (phrase.tokens[0] in TOKENIZER.tokens(clean))


@pytest.mark.parametrize("filler", ["word ", "データ", "x", "🦭 "], ids=["words", "unspaced", "one long word", "emoji"])
@requirement("store.index.proven-offsets")
def test_a_match_at_the_end_of_a_megabyte_is_proven(filler: str) -> None:
    text = filler * (1_000_000 // len(filler.encode())) + " the walrus clause"

    for query, piece in {
        "walrus": "walrus",
        '"walrus clause"': "walrus clause",
        "clauses": "clause",
        "walr*": "walrus",
    }.items():
        (start, end), *_ = places(text, TOKENIZER.query(query).wanted)
        assert text[start:end] == piece


@requirement("store.index.proven-offsets")
def test_a_part_of_a_longer_word_is_no_proof() -> None:
    text = "x" * 8192 + "walrus " + "y " * 50 + "walrus"

    assert places(text, TOKENIZER.query("walrus").wanted) == [(len(text) - 6, len(text))]


@requirement("store.index.proven-offsets")
def test_a_phrase_across_two_stretches_of_a_long_text_is_found() -> None:
    for start in range(8170, 8195):
        text = "y" * start + " walrus clause " + "z " * 5000
        assert proven(text, '"walrus clause"') == ["walrus clause"]


@pytest.mark.parametrize(
    ("query", "wanted", "unwanted"),
    [
        ("the lease of the lake", ["lease", "lake"], []),
        ("to be or not to be", ["to", "be", "or", "not"], []),
        ('lease -lake -"long walk"', ["lease"], ["lake", "long walk"]),
        ('"of the lake', ["of the lake"], []),
        ("lea* -lake*", ["lea"], ["lake"]),
        ("lea* lea* lea* lea* lea*", ["lea"], []),
        ("京都* 京*", ["京  都", "京"], []),
        ("lease lake lease", ["lease", "lake"], []),
        ("-lake", [], ["lake"]),
        ("... — !", [], []),
        ('"" - "', [], []),
        ("lake AND NOT", ["lake"], []),
    ],
)
def test_a_query_is_words_phrases_prefixes_and_what_to_leave_out(
    query: str, wanted: list[str], unwanted: list[str]
) -> None:
    asked = TOKENIZER.query(query)

    assert [phrase.text.strip() for phrase in asked.unwanted] == unwanted
    assert [phrase.text.strip() for phrase in asked.wanted] == wanted


@given(st.text(max_size=60))
def test_any_query_can_be_asked_of_the_index(query: str) -> None:
    index = apsw.Connection(":memory:")
    index.execute("create virtual table t using fts5(x, tokenize='porter unicode61 remove_diacritics 2')")
    asked = asked_of(query)

    for phrase in asked.all:
        index.execute("select * from t where t match ?", (phrase.match,)).fetchall()


@requirement("store.index.proven-offsets")
def test_the_rarer_word_is_the_one_to_be_shown() -> None:
    text = "lease " * 200 + "the walrus came " + "lease " * 200
    phrases = TOKENIZER.query("lease walrus").wanted
    finder = TOKENIZER.finder(phrases, [0.1, 5.0])

    best = finder.best(finder.spans(text, near=220), 150)

    assert "walrus" in text[best.start : best.start + 150]


@requirement("store.index.proven-offsets")
def test_of_words_that_are_as_rare_the_one_that_the_text_has_once_is_shown() -> None:
    text = "the tenant pays. " * 60 + "Animals: a cat may be kept. " + "the tenant pays. " * 60

    spans = TOKENIZER.finder(TOKENIZER.query("tenant animals").wanted, [5.0, 5.0]).spans(text, near=220)

    assert "Animals" in [text[span.start : span.end] for span in spans]


@requirement("store.index.proven-offsets")
def test_words_are_shown_where_they_stand_together() -> None:
    text = f"deposit {'so it goes ' * 60} returned {'so it goes ' * 60} the deposit was returned {'so it goes ' * 60}"

    spans = TOKENIZER.finder(TOKENIZER.query("deposit returned").wanted, [5.0, 5.0]).spans(text, near=220)

    assert [text[span.start : span.end] for span in spans] == ["deposit", "returned"]


STEMS = st.text("abeginostuy", min_size=1, max_size=4)
ENDINGS = st.sampled_from(
    ["", "s", "ies", "ed", "ing", "ational", "ization", "ibility", "fulness", "ly", "y", "e", "*"]
)
PLAIN_WORDS = st.lists(st.builds(str.__add__, STEMS, ENDINGS), min_size=1, max_size=20)


@given(PLAIN_WORDS, PLAIN_WORDS, st.sampled_from([" ", "-", "\n", ", ", "'"]))
@requirement("store.index.proven-offsets")
def test_words_stand_in_a_plain_text_where_they_stand_in_any_other(
    said: list[str], others: list[str], between: str
) -> None:
    asked = TOKENIZER.query(" ".join([word for word in said[:4] if not word.endswith("*")])).wanted
    text = between.join([*others, *said, *[word.title() for word in others]])
    finder = TOKENIZER.finder(asked, [1.0] * len(asked))

    other = f"{text} \u2014"  # of which every word is tokenized

    assert finder.spans(text, near=10_000) == finder.spans(other, near=10_000)


@requirement("rs.search.words-ranked")
def test_a_word_asked_twice_counts_once_and_a_stop_word_may_end_a_sentence() -> None:
    assert [phrase.text for phrase in TOKENIZER.query("Where is the lease? LEASE leases when?").wanted] == ["lease?"]


@requirement("rs.search.prefixes")
def test_a_fifth_prefix_is_refused_with_a_remedy() -> None:
    with pytest.raises(InvalidRequest) as refused:
        TOKENIZER.query("aaa* bbb* ccc* ddd* -eee*")

    assert refused.value.message == "The query has 5 prefixes; at most 4 are searched at once."
    assert refused.value.param == "q"
    assert refused.value.remedy


@requirement("rs.search.prefixes")
def test_a_prefix_is_no_longer_than_what_every_engine_keeps_of_a_term() -> None:
    longest = "x" * PREFIX_LETTERS_MAX
    with pytest.raises(InvalidRequest) as refused:
        TOKENIZER.query(f"moon -{longest}x*")

    assert refused.value.message == f"A prefix has at most {PREFIX_LETTERS_MAX} letters."
    assert (refused.value.param, bool(refused.value.remedy)) == ("q", True)
    assert TOKENIZER.query(f"{longest}*").wanted[0].is_prefix
    assert not TOKENIZER.query(f"{longest}x").wanted[0].is_prefix
    assert PREFIX_LETTERS_MAX <= BEGINNING_CHARS


@pytest.mark.parametrize(
    ("query", "short"),
    [("the A* algorithm", ("A*",)), ("5* -la* 5*", ("5*", "la*")), ("gas*", ("gas*",)), ("é*", ("é*",)), ("gaso*", ())],
)
@requirement("rs.search.prefixes")
def test_a_prefix_that_is_too_short_is_looked_for_as_a_word(query: str, short: tuple[str, ...]) -> None:
    asked = TOKENIZER.query(query)

    assert asked.short == short
    assert any(phrase.is_prefix for phrase in asked.all) == (not short)


@pytest.mark.parametrize(
    ("question", "left"),
    [
        ("What did Anna's boat cost?", "What did boat cost?"),
        ("Did ANNA, or ann, sail?", "Did or ann, sail?"),
        ("Anna", "Anna"),
        ('"Anna sails" annas', '"Anna sails"'),
    ],
)
def test_a_question_without_a_name_keeps_the_rest_as_it_was_typed(question: str, left: str) -> None:
    names = TOKENIZER.query("Anna").wanted

    assert TOKENIZER.without(question, names) == left


def test_a_stretch_begins_at_the_last_break_that_is_near() -> None:
    assert _break_before("two words here", 9) == 3
    assert _break_before("a,b,c", 5) == 3
    assert _break_before("aa bb " + "c" * 300, 306) == 0  # none of the last 200
    assert _break_before("aa", 0) == 0


def test_a_word_is_placed_where_it_begins_and_not_inside_of_another() -> None:
    assert _word_places("unlease the lease, a lease", "lease") == [12, 21]
    assert _word_places("lease", "lease") == [0]
    assert _word_places("unlease", "lease") == []
    assert _word_places("nothing", "lease") == []


def test_a_finder_of_some_phrases_finds_those_alone_and_calls_them_as_before() -> None:
    asked = TOKENIZER.query('lease "two words" garden').wanted
    finder = TOKENIZER.finder(asked, [1.0, 2.0, 3.0])
    text = "The lease of the garden has two words."

    everything = finder.spans(text, near=200)

    assert [span.phrase for span in everything] == [0, 2, 1]
    assert finder.of((2,)).spans(text, near=200) == [everything[1]]
    assert finder.of((0, 1)).spans(text, near=200) == [everything[0], everything[2]]
    assert finder.of((2,)) is finder.of((2,))

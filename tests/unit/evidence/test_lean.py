"""A page of hits for a reader of few bytes."""

from pdpp_server.evidence.budgets import CURRENCY_CHARS, LEAN_NAME_CHARS
from pdpp_server.evidence.lean import lean_page, narrow_excerpt
from pdpp_server.model.records import Amount, Excerpt, Hit, Recall, SearchPage
from pdpp_server.model.sources import Origin
from tests.unit.evidence.entries import hit, match

TEXT = "one two three four five six seven eight nine ten"


def page(*hits: Hit, words: tuple[tuple[str, int], ...] = ()) -> SearchPage:
    return SearchPage(hits, None, Recall(True, len(hits), True, len(hits), words=words))


def test_a_text_is_cut_between_words_around_its_most_telling_match() -> None:
    at = TEXT.index("seven")
    cut = narrow_excerpt(Excerpt("body", TEXT, 0, ((0, 3), (at, at + 5)), 500, rarest=1), 20)
    assert cut.text == "six seven eight"
    assert (cut.start, cut.marks, cut.rarest) == (TEXT.index("six"), ((at, at + 5),), 0)


def test_a_text_that_is_hardly_longer_stays_whole_and_one_without_a_match_is_cut_at_its_end() -> None:
    whole = match(TEXT, (0, 3))
    assert narrow_excerpt(whole, len(TEXT) - 20) == whole
    assert narrow_excerpt(whole, len(TEXT) - 21) != whole
    assert narrow_excerpt(Excerpt("body", TEXT, 0, (), 500), 10).text == "one two"


def test_names_words_and_unseen_signs_are_shortened_or_shown() -> None:
    one = hit("1", match("a\u202eb"), actor="x" * 100, actor_field="from", origin=Origin("cin_1", "mail", "y" * 100))
    (lean,) = lean_page(page(one)).hits
    assert lean.actor is not None and len(lean.actor) == LEAN_NAME_CHARS
    assert lean.origin.label is not None and len(lean.origin.label) == LEAN_NAME_CHARS
    assert lean.excerpts[0].text == "a\ufffdb"
    (sold,) = lean_page(page(hit("1", match("a"), amount=Amount(-3, "price", "\u202e" + "x" * 90, "unit")))).hits
    assert sold.amount is not None and sold.amount.currency == f"\\u202e{'x' * (CURRENCY_CHARS - 2)}…"


def test_that_not_every_word_is_counted_is_said() -> None:
    made = lean_page(page(hit("1", match("a")), words=(*[(f"w{n}", n) for n in range(20)],)))
    assert len(made.recall.words) == 12
    assert [warned.message for warned in made.warnings] == [
        "Of the 20 words of the query the first 12 are counted here."
    ]
    assert lean_page(made).warnings == made.warnings
    assert lean_page(page(hit("1", match("a")), words=(("w", 1),))).warnings == ()


def test_a_field_that_matched_and_is_not_shown_is_named() -> None:
    three = [match("x " * 200, field=field, total=9000) for field in ("body", "subject", "note")]
    (lean,) = lean_page(page(hit("1", *three))).hits
    assert [excerpt.field for excerpt in lean.excerpts] == ["body"]
    assert lean.also_matched == ("subject", "note")


def test_every_hit_shows_something_and_the_first_ones_the_most() -> None:
    hits = [hit(str(n), match("word " * 80, total=9000)) for n in range(30)]
    sizes = [len(one.excerpts[0].text) for one in lean_page(page(*hits)).hits]
    assert sizes[:5] == [400] * 5
    assert sizes[0] > 3 * sizes[-1]
    assert min(sizes) >= 40

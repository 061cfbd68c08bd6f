"""What is said beside hits and records."""

from dataclasses import replace

import pytest

from pdpp_server.evidence.remarks import (
    drowned_lines,
    filter_parts,
    filtered_out,
    hits_shortened,
    missing_lines,
    not_searched,
    recall_lines,
    recall_says,
    records_shortened,
    search_remarks,
    warning_lines,
)
from pdpp_server.model.queries import Condition, SearchQuery
from pdpp_server.model.records import Recall, RecordPage, SearchPage, Warned
from pdpp_server.model.sources import Origin
from tests.unit.evidence.entries import hit, match

ALL = Recall(True, 3, True, 3)
ANY = SearchQuery("a")
BY_ANN = (Condition("from", "eq", "Ann"),)


@pytest.mark.parametrize(
    ("recall", "says"),
    [
        (ALL, "all matches of these words ranked"),
        (
            replace(ALL, words=(("a", 1), ("b", 2))),
            "all matches of these words ranked; any word may match, more and rarer ones rank higher",
        ),
        (Recall(False, None, False, 3, is_newest=True), "nothing was looked for; these are the newest records"),
        (Recall(False, None, False, None), "that server does not say what it ranked"),
        (
            Recall(False, 9000, True, 500),
            "only 500 matches were ranked; rarer words, streams or connection_id reach the others",
        ),
    ],
)
def test_what_was_complete_is_said_in_words(recall: Recall, says: str) -> None:
    assert recall_says(SearchPage((), None, recall), SearchQuery("a")) == says


def test_a_page_that_ended_early_says_that_the_rest_is_weaker() -> None:
    query = SearchQuery("a", limit=10, brief=True)
    early = SearchPage((hit("1", match("a")),), "c2", ALL)
    assert recall_says(early, query).endswith("; those not shown here match less, a limit shows them")
    assert not recall_says(replace(early, next_cursor=None), query).endswith("weaker")
    assert not recall_says(early, replace(query, limit=1)).endswith("weaker")
    assert not recall_says(hits_shortened(early, 10), query).endswith("weaker")


def test_matches_that_were_not_ranked_are_told_and_which_they_are_where_that_is_known() -> None:
    assert list(recall_lines(ALL)) == []
    partly, others = Recall(False, 9000, True, 500), "rarer words, streams or connection_id reach the others"
    assert list(recall_lines(partly)) == [f"recall: only 500 matches were ranked; {others}"]
    assert list(recall_lines(replace(partly, words=(("a", 500), ("b", 8600))))) == [
        f"recall: only 500 matches were ranked: all with a rarer word, of a common one only some; {others}"
    ]


def test_words_that_match_nothing_and_one_that_drowns_the_others_are_told() -> None:
    assert list(missing_lines(replace(ALL, words=(("a", 0), ("b c", 3))), ANY)) == ['no match: "a"']
    assert list(drowned_lines(replace(ALL, words=(("a", 1), ("b", 29))))) == []
    drowned = replace(ALL, words=(("the", 900), ("b", 30), ("c", 40), ("d", 50)), here=(2, 0, 1, 1))
    assert list(drowned_lines(drowned)) == ['records: "b" 30 (none here), "c" 40 (1 here), "the" 900 (2 here)']


def test_what_matches_nothing_under_a_filter_may_stand_elsewhere() -> None:
    (said,) = missing_lines(replace(ALL, words=(("a", 0),)), replace(ANY, conditions=BY_ANN))
    assert said == 'no match: "a" (among what passes the filter)'


def test_a_name_that_somebody_has_who_wrote_narrows() -> None:
    page = SearchPage(
        (hit("1", match("x"), actor="Ann", actor_field="from"),), None, replace(ALL, words=(("ann", 3),)), narrows=True
    )
    assert search_remarks(page, SearchQuery("ann")) == [
        'only by Ann: add "streams":["messages"],"filter":{"from":"Ann"}'
    ]
    assert search_remarks(replace(page, narrows=False), SearchQuery("ann")) == []
    assert search_remarks(page, SearchQuery("ann", conditions=(Condition("from", "eq", "Ann"),))) == []


def test_sources_are_told_where_there_are_several() -> None:
    hits = (hit("1"), hit("2", origin=Origin("cin_2", "mail")), hit("3"))
    page = SearchPage(hits, None, ALL, as_of="2026-03-02T09:12:00.000Z")
    assert search_remarks(page, SearchQuery("a")) == ["sources: cin_1 2, cin_2 1; data as of 2026-03-02T09:12Z"]
    assert search_remarks(replace(page, hits=hits[:1]), SearchQuery("a")) == []


def test_a_filter_that_nothing_passes_names_the_nearest_call_that_works() -> None:
    said = filtered_out("messages", "cin_1", (Condition("from", "eq", "Ann"),))
    assert said.startswith(
        'next: search {"query":"Ann","streams":["messages"],"connection_id":"cin_1"} finds words inside'
    )
    told = (
        Condition("is_read", "eq", "false"),
        Condition("at", "eq", "2026-03-02T09:12:00Z"),
        Condition("n", "gte", "9"),
    )
    for condition in told:
        said = filtered_out("messages", None, (condition,))
        assert said == 'next: drop a condition or widen it; schema {"stream":"messages"} for what there is'


def test_streams_without_words_and_conditions_alone_are_told_where_there_are_any() -> None:
    assert [said.message for said in not_searched(["a", "b"], "hybrid")] == [
        "No words are looked for in a, b: list it with query_records, or filter it."
    ]
    assert [said.message for said in not_searched(["a"], "semantic")] == [
        "Nothing is looked for by meaning in a: leave out mode, list it with query_records, or filter it."
    ]
    (parts,) = filter_parts([("is_open", 14), ("at", 0)])
    assert parts.is_note
    assert parts.detail == {"is_open": 14, "at": 0}
    assert parts.message == "Records that pass what is asked of one field alone: is_open 14, at 0."
    assert [*not_searched((), "semantic"), *filter_parts(())] == []


def test_that_not_all_fits_is_said_once() -> None:
    page = SearchPage((hit("1", match("a")),), "c2", ALL, warnings=(Warned("other", "Kept."),))
    twice = hits_shortened(hits_shortened(page, 5), 3)
    assert [(warned.code, warned.message) for warned in twice.warnings] == [
        ("other", "Kept."),
        ("page_shortened", "of 3 matches asked for, 1 fit in one answer; the cursor goes on after them."),
    ]
    (*_, beside) = hits_shortened(page, 1).warnings
    assert beside.message == "not all that stands beside the matches is here; around shows it."
    assert beside.is_note
    assert records_shortened(RecordPage(()), 4).warnings[0].message.startswith("of 4 records asked for, 0 fit")


def test_a_warning_is_told_from_a_note() -> None:
    told = (Warned("read_as", "Read as a phrase."), Warned("odd code", "Line\nbreak."))
    assert list(warning_lines(told)) == ['note: "Read as a phrase."', 'warning "odd code": "Line break."']

"""Search over the wire."""

import re
from dataclasses import replace
from html import unescape

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pdpp_server.errors import InvalidRequest, SourceUnavailable
from pdpp_server.model.queries import SearchQuery
from pdpp_server.model.records import Amount, Excerpt, Hit, Recall, RecordId, SearchPage, Warned
from pdpp_server.model.sources import Origin
from pdpp_server.wire.params import Params
from pdpp_server.wire.search import (
    decode_page,
    decode_preference,
    decode_query,
    encode_page,
    encode_preference,
    encode_query,
)

ALL = Recall(complete=True, matches=1, matches_exact=True, ranked=1)
ORIGIN = Origin("cin_a", "slack", "Work Slack")
texts = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("<>&;/markltgamp…"), max_size=30)


@st.composite
def excerpts(draw: st.DrawFn) -> Excerpt:
    text, start = draw(texts), draw(st.integers(0, 40))
    places = sorted(draw(st.sets(st.integers(0, len(text)), max_size=6)))
    marks = tuple((start + a, start + b) for a, b in zip(places[::2], places[1::2], strict=False))
    return Excerpt("text", text, start, marks, start + len(text) + draw(st.integers(0, 9)))


@st.composite
def pages(draw: st.DrawFn) -> SearchPage:
    hits = tuple(
        Hit(
            RecordId("cin_a", "messages", draw(st.sampled_from(["m1", "a/b", '["u1","2026"]']))),
            ORIGIN,
            draw(texts),
            "2026-11-09T12:01:00.000Z",
            draw(st.none() | st.just("2026-11-09T11:59:00Z")),
            tuple(draw(st.lists(excerpts(), max_size=2))),
            draw(st.none() | st.floats(0, 99)),
        )
        for _ in range(draw(st.integers(0, 2)))
    )
    counted = draw(st.none() | st.integers(0, 9))
    recall = Recall(
        draw(st.booleans()),
        counted,
        counted is not None and draw(st.booleans()),
        draw(st.none() | st.integers(0, 9)),
        200,
    )
    warnings = draw(st.sampled_from([(), (Warned("limit_clamped", "Lowered.", "limit", {"max_limit": 100}),)]))
    return SearchPage(hits, draw(st.none() | st.just("c_1")), recall, draw(st.none() | st.just("2026-11-10")), warnings)


def query_of(raw: str) -> SearchQuery:
    return decode_query(Params.parse(raw.encode("ascii")))


def page_of(*excerpts: Excerpt, cursor: str | None = None) -> SearchPage:
    hit = Hit(RecordId("cin_a", "messages", "m/1"), ORIGIN, "Fees", "2026-11-09T12:01:00.000Z", None, excerpts, 3.5)
    return SearchPage((hit,), cursor, ALL)


@given(pages())
def test_a_page_survives_the_wire(page: SearchPage) -> None:
    assert decode_page(encode_page(page, "/v1/search?q=x")) == page


def test_all_that_a_lean_page_knows_survives_the_wire_where_it_is_preferred() -> None:
    query = SearchQuery("fees", lean=True, brief=True)
    assert decode_preference([encode_preference(query) or ""]) == (True, True, True)
    matched = Excerpt("text", "Fees & fees", 3, ((3, 7), (10, 14)), 20, rarest=1)
    passage = Excerpt("text", "How it begins", 0, (), 40)
    (hit,) = page_of(matched).hits
    known = replace(hit, title_field="subject", actor="Ada", actor_field="author", also_matched=("author",))
    hits = (
        known,
        replace(known, excerpts=(passage,)),
        replace(known, excerpts=(), amount=Amount(-2.5, "price", "EUR", "unit")),
        replace(known, amount=Amount(0, "price")),
        replace(hit, excerpts=(passage,), beside=hit.id._replace(key="m/2")),
    )
    page = SearchPage(hits, None, replace(ALL, words=(("fees", 2), ("none", 0))))

    assert decode_page(encode_page(page, "/v1/search?q=x", whole=True)) == page
    plain = encode_page(page, "/v1/search?q=x")
    assert "words" not in plain["meta"]
    assert all({"actor", "amount", "beside"}.isdisjoint(one) for one in plain["data"])


@given(
    st.builds(
        SearchQuery,
        st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip),
        st.none() | st.just(("a", "b,c")),
        st.none() | st.just("cin_a"),
        st.integers(1, 100),
        st.none() | st.just("c-1_"),
    )
)
def test_a_query_survives_the_wire(query: SearchQuery) -> None:
    assert query_of(encode_query(query).partition("?")[2]) == query


def test_a_hit_has_the_members_of_the_contract() -> None:
    excerpt = Excerpt("text", "the overdraft fee", 90, ((94, 103),), 200)

    assert encode_page(page_of(excerpt), "/v1/search?q=overdraft") == {
        "object": "list",
        "url": "/v1/search",
        "has_more": False,
        "data": [
            {
                "object": "search_result",
                "stream": "messages",
                "record_key": "m/1",
                "connector_id": "slack",
                "connector_key": "slack",
                "connection_id": "cin_a",
                "display_name": "Work Slack",
                "title": "Fees",
                "emitted_at": "2026-11-09T12:01:00.000Z",
                "matched_fields": ["text"],
                "record_url": "/v1/streams/messages/records/m%2F1?connection_id=cin_a",
                "score": {"kind": "bm25", "value": 3.5, "order": "higher_is_better"},
                "snippet": {"field": "text", "text": "…the <mark>overdraft</mark> fee…"},
                "evidence_excerpts": [
                    {
                        "object": "evidence_excerpt",
                        "field_path": "text",
                        "preview_text": "the <mark>overdraft</mark> fee",
                        "provenance": "lexical_match",
                        "truncated": True,
                        "offset_chars": 90,
                        "match_start_chars": 94,
                        "match_end_chars": 103,
                        "total_chars": 200,
                        "read": {
                            "object": "field_window_read",
                            "method": "GET",
                            "route": "/v1/streams/messages/records/m%2F1/field-window",
                            "stream": "messages",
                            "record_id": "m/1",
                            "field": "text",
                            "connection_id": "cin_a",
                            "offset_chars": 90,
                        },
                    }
                ],
            }
        ],
        "links": {"self": "/v1/search?q=overdraft", "next": None},
        "meta": {
            "count": 1,
            "count_accuracy": "exact",
            "recall": {
                "complete": True,
                "ranking_scope": "all_matches",
                "truncated": False,
                "ranked_candidate_count": 1,
            },
            "warnings": [],
        },
    }


def test_a_hit_without_proof_has_no_snippet_and_no_excerpt() -> None:
    (hit,) = encode_page(page_of(), "/v1/search?q=x")["data"]

    assert hit["matched_fields"] == []
    assert "snippet" not in hit
    assert "evidence_excerpts" not in hit


@given(excerpts())
@example(Excerpt("text", "<i>a & b</i> <mark>c</mark>", 0, ((3, 4), (7, 12)), 27))
def test_the_only_tags_in_a_snippet_are_our_marks_and_they_are_balanced(excerpt: Excerpt) -> None:
    (hit,) = encode_page(page_of(excerpt), "/v1/search?q=x")["data"]
    snippet = hit["snippet"]["text"] if excerpt.marks else hit["evidence_excerpts"][0]["preview_text"]

    assert snippet.count("<mark>") == snippet.count("</mark>") == snippet.count("<") / 2
    assert unescape(re.sub("</?mark>", "", snippet)).strip("…") == excerpt.text.strip("…")


def test_the_whole_field_is_not_called_truncated() -> None:
    (hit,) = encode_page(page_of(Excerpt("text", "a fee", 0, ((2, 5),), 5)), "/v1/search?q=fee")["data"]

    assert hit["snippet"]["text"] == "a <mark>fee</mark>"
    assert hit["evidence_excerpts"][0]["truncated"] is False


def test_the_next_link_repeats_the_query_with_the_new_cursor() -> None:
    links_self = "/v1/search?q=a+%26b&streams[]=x&limit=2&cursor=old"
    links_next = encode_page(page_of(cursor="n/ew"), links_self)["links"]["next"]

    assert links_next.startswith("/v1/search?")
    assert query_of(links_next.partition("?")[2]) == SearchQuery("a &b", ("x",), None, 2, "n/ew")


def test_a_remark_made_twice_is_said_once() -> None:
    params = Params.parse(b"q=x&limit=500")
    query = decode_query(params)
    page = SearchPage((), None, ALL, None, (Warned("limit_clamped", "Lowered.", "limit"),))
    (warned,) = encode_page(page, "/v1/search", params.warnings)["meta"]["warnings"]

    assert query.limit == 100
    assert warned["detail"] == {"requested_limit": 500, "max_limit": 100}


@pytest.mark.parametrize(("raw", "limit"), [("q=x", 25), ("q=x&limit=1", 1), ("q=x&limit=100", 100)])
def test_a_limit_in_bounds_is_taken(raw: str, limit: int) -> None:
    assert query_of(raw).limit == limit


@pytest.mark.parametrize(
    ("raw", "param"),
    [
        ("", "q"),
        ("q=", "q"),
        ("q=+", "q"),
        ("q=x&limit=0", "limit"),
        ("q=x&limit=-1", "limit"),
        ("q=x&limit=ten", "limit"),
        ("q=x&limit=", "limit"),
        ("q=x&sort=a", "sort"),
        ("q=x&filter=1", "filter"),
        ("q=x&connector_id=slack", "connector_id"),
        ("q=x&q=y", "q"),
        ("q=x&streams=", "streams"),
        ("q=x&cursor=", "cursor"),
    ],
)
def test_a_bad_parameter_is_refused_by_name(raw: str, param: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        query_of(raw)

    assert refused.value.param == param


def test_a_foreign_page_without_title_recall_and_offsets_is_understood() -> None:
    page = decode_page(
        {
            "object": "list",
            "has_more": True,
            "next_cursor": "abc",
            "data": [
                {
                    "object": "search_result",
                    "stream": "messages",
                    "record_key": "m1",
                    "connector_id": "https://registry.pdpp.dev/connectors/slack",
                    "connector_instance_id": "cin_a",
                    "emitted_at": "2026-11-09T12:01:00.000Z",
                    "matched_fields": ["text"],
                    "snippet": {"field": "text", "text": "… the <mark>overdraft</mark> fee …"},
                    "evidence_excerpts": [{"field_path": "text", "preview_text": "… the <mark>overdraft</mark> fee …"}],
                }
            ],
        }
    )

    assert page.hits == (
        Hit(
            RecordId("cin_a", "messages", "m1"),
            Origin("cin_a", "slack"),
            "",
            "2026-11-09T12:01:00.000Z",
            None,
            (Excerpt("text", "… the overdraft fee …", 0, ((6, 15),), 21, is_placed=False),),
        ),
    )
    assert page.next_cursor == "abc"
    assert page.recall == Recall(complete=False, matches=None, matches_exact=False, ranked=None)


def test_a_time_of_another_server_is_no_longer_than_a_time() -> None:
    ever = f"2026-11-09T12:01:00.{'0' * 1000}Z"
    hit = {"stream": "messages", "record_key": "m1", "connection_id": "c", "emitted_at": ever, "authored_at": ever}
    page = decode_page({"data": [hit], "meta": {"as_of": ever}})

    assert (page.hits[0].emitted_at, page.hits[0].authored_at, page.as_of) == ("", None, None)


def test_a_hit_that_names_no_record_is_the_servers_fault() -> None:
    with pytest.raises(SourceUnavailable):
        decode_page({"data": [{"stream": "messages"}]})

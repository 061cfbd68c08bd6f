"""Which hit a page of them opens first."""

from dataclasses import replace

from pdpp_server.evidence.handles import mint
from pdpp_server.evidence.search import search_next, search_text
from pdpp_server.model.queries import SearchQuery
from pdpp_server.model.records import Excerpt, Recall, SearchPage
from tests.requirements import requirement
from tests.unit.evidence.entries import hit, match

QUERY = SearchQuery("third", brief=True)
MATCH = hit("24", match("What made you get a third?"), actor="Joanna")
BESIDE = hit("25", Excerpt("text", "Turtles bring me joy.", 0, (), 4000), actor="Nate", beside=MATCH.id)
PAGE = SearchPage((BESIDE, MATCH), None, Recall(True, 1, True, 1), narrows=True)
IDS = [mint(each.id) for each in PAGE.hits]


@requirement("mcp.search.first-fetch-id")
def test_what_is_opened_first_is_a_match_though_what_stands_beside_it_may_be_ranked_above() -> None:
    text = search_text(PAGE, QUERY, IDS).text

    assert text.split("\n")[0].endswith(f"first_fetch_id={IDS[1]}")
    assert text.split("\n")[-1].startswith(f'next: query_records {{"stream":"messages","around":"{IDS[1]}"}}')
    assert [call.arguments for call in search_next(PAGE, QUERY, IDS)] == [{"stream": "messages", "around": IDS[1]}]


def test_of_nothing_but_records_beside_a_match_the_first_is_opened() -> None:
    alone = replace(PAGE, hits=(BESIDE,))
    assert f"first_fetch_id={IDS[0]}" in search_text(alone, QUERY, IDS[:1]).text


@requirement("mcp.search.next-step")
def test_a_weak_hit_is_not_the_step_to_take_because_it_is_long() -> None:
    short = [hit(str(n), match("a walrus", (2, 8))) for n in range(4)]
    page = replace(PAGE, hits=(*short, hit("long", match("the walrus", (4, 10), total=9000))))
    ids = [mint(each.id) for each in page.hits]

    text = search_text(page, QUERY, ids).text

    assert "(+8990 more)" in text
    assert text.split("\n")[-1].startswith(f'next: fetch {{"id":"{ids[0]}"}}')
    assert [call.arguments for call in search_next(page, QUERY, ids)] == [{"id": ids[0]}]

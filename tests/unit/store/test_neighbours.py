"""What stands beside a match in time is lifted by it, as far as the grant shows it."""

from typing import Any

import pytest

from pdpp_server.mcp.tools.search import SEARCH
from pdpp_server.model.queries import SearchQuery
from pdpp_server.model.records import Hit, SearchPage
from pdpp_server.store.records import neighbours
from tests.requirements import requirement
from tests.worlds.chat import WORK, message
from tests.worlds.told import told
from tests.worlds.world import World

TALK = [
    ("t0", "Good morning, all.", "08:58"),
    ("t1", "Where shall we go?", "08:59"),
    ("t2", "To the alpenglow hut, I would say.", "09:00"),
    ("t3", "Only if it has soup.", "09:01"),
    ("t4", "It does.", "09:02"),
    ("t5", "Fine with me.", "09:03"),
]


def say(world: World, *turns: tuple[str, str, str], **more: Any) -> None:
    world.deliver(
        WORK,
        [message(key, text=text, author="Ada", sent_at=f"2026-07-01T{time}:00Z", **more) for key, text, time in turns],
    )


def found(world: World, words: str = "alpenglow", **more: Any) -> SearchPage:
    return world.reader.search(SearchQuery(words, **more)).value


def by_key(page: SearchPage) -> dict[str, Hit]:
    return {hit.id.key: hit for hit in page.hits}


@requirement("rs.search.passage")
def test_two_records_on_either_side_of_a_match_get_a_half_and_a_quarter_of_its_score(world: World) -> None:
    say(world, *TALK)

    hits = by_key(found(world))

    assert next(iter(hits)) == "t2" and {*hits} == {"t0", "t1", "t2", "t3", "t4"}
    whole = hits["t2"].score
    assert whole is not None
    assert [hits[key].score for key in ("t1", "t3", "t0", "t4")] == [whole / 2, whole / 2, whole / 4, whole / 4]


def test_a_megabyte_of_question_marks_is_looked_at_once(world: World) -> None:
    """Looked at anew from each of them it would take hours, in which no deadline is heard."""
    marks = "?" * 1_000_000
    say(world, ("t0", f"Alpenglow{marks}a", "08:58"), ("t1", "To the alpenglow hut.", "08:59"))

    assert by_key(found(world)).keys() == {"t0", "t1"}


@requirement("rs.search.passage")
@pytest.mark.parametrize(("asked", "share"), [("Who knows the alpenglow hut? :)", 0.9), ("The alpenglow hut.", 0.5)])
def test_what_is_said_after_a_question_is_lifted_as_its_answer(world: World, asked: str, share: float) -> None:
    say(world, ("t0", "Good morning.", "08:58"), ("t1", asked, "08:59"), ("t2", "Ask in the village.", "09:00"))

    hits = by_key(found(world))

    whole = hits["t1"].score
    assert whole is not None
    assert (hits["t2"].score, hits["t0"].score) == (pytest.approx(share * whole), whole / 2)


@requirement("rs.search.passage")
def test_a_hit_beside_a_match_shows_a_passage_and_counts_as_no_match(world: World) -> None:
    say(world, *TALK)

    page = found(world)
    beside = by_key(page)["t3"]

    assert (page.recall.matches, page.recall.beside, page.recall.complete) == (1, 4, True)
    assert (beside.matched_fields, beside.excerpts[0].provenance) == ([], "passage")
    assert beside.excerpts[0].text == "Only if it has soup."


@requirement("rs.search.passage")
def test_both_channels_of_the_tool_say_that_a_passage_is_no_match(world: World) -> None:
    say(world, *TALK)

    result = told(SEARCH.call(world.reader, {"query": "alpenglow", "limit": 5}))
    first, *others = result.structured["data"]["data"]

    assert first["evidence"][0]["marks"] and "provenance" not in first["evidence"][0]
    assert {hit["evidence"][0]["provenance"] for hit in others} == {"passage"}
    assert not any("matched_fields" in hit or "marks" in hit["evidence"][0] for hit in others)
    assert {hit["beside"] for hit in others} == {"t2"}
    assert result.text.count("(beside the hit ") == 4
    assert result.text.startswith("search: 1 match and 4 beside them, best first. ")


@requirement("rs.search.passage")
@pytest.mark.parametrize("limit", [1, 2, 3, 4])
def test_no_match_is_skipped_where_what_stands_beside_another_is_worth_as_much(world: World, limit: int) -> None:
    say(world, ("a", "A narwhal.", "09:00"), ("beside", "I see.", "09:01"), ("b", "A narwhal.", "09:02"))
    say(world, ("c", "A narwhal.", "12:00"), ("d", "A narwhal.", "14:00"), ("e", "A narwhal.", "16:00"))
    matches, cursor = list[str](), None
    while True:
        page = found(world, "narwhal", limit=limit, cursor=cursor, lean=True)
        matches += [hit.id.key for hit in page.hits if not hit.beside]
        if (cursor := page.next_cursor) is None:
            break

    assert sorted(matches) == ["a", "b", "c", "d", "e"]


@requirement("rs.search.passage")
def test_pages_of_one_hit_give_matches_and_neighbours_in_the_same_order(world: World) -> None:
    say(world, *TALK)
    whole = [hit.id.key for hit in found(world).hits]
    paged, cursor = list[str](), None
    while True:
        page = found(world, limit=1, cursor=cursor)
        paged += [hit.id.key for hit in page.hits]
        if (cursor := page.next_cursor) is None:
            break

    assert paged == whole


@pytest.mark.parametrize(
    ("far", "title"), [("10:30", None), ("09:01", "Another talk")], ids=["after a silence", "in another talk"]
)
def test_what_is_no_part_of_the_same_talk_is_no_neighbour(world: World, far: str, title: str | None) -> None:
    say(world, TALK[2])
    say(world, ("far", "Only if it has soup.", far), subject=title)

    assert {*by_key(found(world))} == {"t2"}


def test_a_word_that_must_not_occur_leaves_only_matches(world: World) -> None:
    say(world, *TALK)

    assert {*by_key(found(world, "alpenglow -soup"))} == {"t2"}


@pytest.mark.parametrize(
    "narrowed",
    [
        {"time_range": {"since": "2026-07-01T09:00:00Z"}},
        {"fields": ["id", "text", "author", "subject"]},
        {"resources": ["t1", "t2", "t3"]},
    ],
    ids=["time", "hidden time", "named records"],
)
@requirement("grants.worlds.ranking")
def test_neighbours_are_inside_the_grant(world: World, narrowed: dict[str, Any]) -> None:
    say(world, *TALK)
    reader = world.reader_of(world.grant(world.both("messages", **narrowed)))

    hits = {hit.id.key for hit in reader.search(SearchQuery("alpenglow")).value.hits}

    assert hits == ({"t2", "t3", "t4"} if "time_range" in narrowed else {"t2"})


def test_records_that_tie_with_one_left_out_lift_nobody(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    say(world, ("a", "alpenglow", "09:00"), ("b", "nothing", "09:01"))
    say(world, ("c", "alpenglow", "12:00"), ("d", "nothing", "12:01"))
    monkeypatch.setattr(neighbours, "SOURCES", 1)

    assert {*by_key(found(world))} == {"a", "c"}

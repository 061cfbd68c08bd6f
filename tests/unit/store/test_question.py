"""A search reads the question: its dates, its names, and which talk it is about; inside the grant only."""

from copy import deepcopy
from datetime import UTC, datetime
from typing import Any

import pytest

from pdpp_server.model.queries import SearchQuery
from pdpp_server.model.records import SearchPage
from pdpp_server.wire.declarations import decode_declaration
from pdpp_server.wire.grants import decode_selection
from tests.engine.beneath import lines_in
from tests.requirements import requirement
from tests.worlds.chat import DOCUMENT, detail, message
from tests.worlds.world import World

ALL = ["id", "subject", "text", "author", "sent_at"]
SPOKEN: dict[str, Any] = deepcopy(DOCUMENT)
SPOKEN["source"]["id"] = "https://registry.pdpp.dev/connectors/spoken"
SPOKEN["streams"][0]["query"]["search"]["lexical_fields"] = ["text", "author"]


def talked(world: World, account: str, *turns: tuple[str, str, str, str]) -> str:
    """What was said, each with key, author, time and text, in a source whose authors are searched; its connection."""
    writer = world.owner.writer(decode_declaration(SPOKEN), account)
    writer.deliver([message(key, author=who, sent_at=at, text=text) for key, who, at, text in turns])
    return writer.connection_id


def granted(world: World, *connections: str, fields: list[str] = ALL) -> str:
    stream = {"name": "messages", "fields": fields, "instance_ids": list(connections)}
    details = {**detail(stream), "source": SPOKEN["source"]}
    return world.owner.create_grant(decode_selection([details]), "Agent", None).token


def said(world: World, *turns: tuple[str, str, str, str], fields: list[str] = ALL) -> str:
    """A token for a talk of which there is no other."""
    return granted(world, talked(world, "Talk", *turns), fields=fields)


def page(world: World, token: str, text: str, **more: Any) -> SearchPage:
    return world.reader_of(token).search(SearchQuery(text, **more)).value


def keys(world: World, token: str, text: str, **more: Any) -> list[str]:
    return [hit.id.key for hit in page(world, token, text, **more).hits if hit.matched_fields]


LAKE = [
    (f"d{month}", "Ada", f"2022-{month:02}-16T09:00:00Z", "We swam in the lake.") for month in (3, 6, 7, 9)
]  # the newest comes first where nothing else tells them apart


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("lake", "d9"),
        ("lake in July 2022", "d7"),
        ("lake on 16 March", "d3"),
        ("lake between June and July 2022", "d7"),
        ('lake "July 2022"', "d9"),
        ("lake 7/3/2022", "d9"),
        ("lake in July 2021", "d9"),
    ],
)
@requirement("rs.search.dates")
def test_a_date_in_the_question_lifts_what_is_of_that_time_and_excludes_nothing(
    world: World, question: str, first: str
) -> None:
    token = said(world, *LAKE)

    found = keys(world, token, question)

    assert found[0] == first
    assert {*found} == {"d3", "d6", "d7", "d9"}


@requirement("rs.search.dates")
def test_a_date_lifts_nothing_where_the_grant_hides_the_time(world: World) -> None:
    hidden = said(world, *LAKE, fields=["id", "text"])

    plain, dated = (keys(world, hidden, text) for text in ("lake", "lake in July 2022"))

    assert dated == plain
    assert len({hit.score for hit in page(world, hidden, "lake in July 2022").hits}) == 1


@requirement("rs.search.dates")
def test_the_words_of_a_date_are_found_too_but_count_less_beside_others(world: World) -> None:
    token = said(
        world,
        ("lake", "Ada", "2020-01-01T09:00:00Z", "The lake."),
        ("july", "Ada", "2020-02-01T09:00:00Z", "In July!"),
    )

    assert keys(world, token, "lake in July 2022") == ["lake", "july"]
    assert keys(world, token, "July 2022") == ["july"]


@requirement("rs.search.dates")
def test_relative_dates_count_from_the_request_for_the_first_page(world: World) -> None:
    token = said(world, *((f"k{n}", "Ada", f"2026-{n:02}-05T09:00:00Z", "The lake.") for n in (7, 8, 9)))
    world.clock.moment = datetime(2026, 9, 30, 23, 59, tzinfo=UTC)
    first = page(world, token, "lake last month", limit=1)
    whole = [hit.id.key for hit in page(world, token, "lake last month").hits]
    world.clock.moment = datetime(2026, 10, 1, 0, 1, tzinfo=UTC)

    rest = page(world, token, "lake last month", limit=2, cursor=first.next_cursor)

    assert whole == ["k8", "k9", "k7"]
    assert [hit.id.key for hit in (*first.hits, *rest.hits)] == whole
    assert keys(world, token, "lake last month")[0] == "k9"


@requirement("rs.search.names")
def test_a_name_in_the_question_is_who_spoke_before_it_is_a_word_of_the_text(world: World) -> None:
    turns = [
        *((f"a{n}", "Ada", f"2026-01-{n:02}T09:00:00Z", "Nothing new.") for n in range(1, 9)),
        ("by", "Ada", "2026-02-01T09:00:00Z", "I swam in the lake."),
        ("to", "Ben", "2026-03-01T09:00:00Z", "Ada, is the lake cold?"),
    ]
    token = said(world, *turns)

    assert keys(world, token, "Ada's lake")[:2] == ["by", "to"]
    assert "to" in keys(world, token, "Ada")


@requirement("rs.search.names")
def test_a_word_of_a_senders_name_that_others_write_more_often_stays_a_word(world: World) -> None:
    turns = [
        ("from", "Support", "2026-01-01T09:00:00Z", "Your lake ticket."),
        *((f"s{n}", "Ben", f"2026-02-{n:02}T09:00:00Z", "I need support.") for n in range(1, 4)),
        ("both", "Ben", "2026-03-01T09:00:00Z", "Support at the lake."),
    ]
    token = said(world, *turns)
    scores = {hit.id.key: hit.score for hit in page(world, token, "support lake").hits if hit.matched_fields}

    assert abs((scores["from"] or 0) - (scores["both"] or 0)) < 0.2 * (scores["both"] or 0)


@requirement("rs.search.talks")
def test_of_two_equal_matches_the_one_in_a_talk_with_more_of_them_comes_first(world: World) -> None:
    turns = [
        ("one", "Ada", "2026-02-01T09:00:00Z", "The lake is wide."),
        ("two", "Ben", "2026-01-01T09:00:00Z", "The lake is deep."),
        ("again", "Ben", "2026-01-01T20:00:00Z", "Well, the lake."),
    ]

    with_many = granted(world, talked(world, "Many", *turns))
    with_one = granted(world, talked(world, "One", *turns[:2]))

    assert keys(world, with_many, "lake")[-1] == "one"
    assert keys(world, with_one, "lake") == ["one", "two"]


@requirement("rs.search.sources")
def test_what_another_source_holds_does_not_change_the_order_inside_a_source(world: World) -> None:
    own = [
        ("a", "Ada", "2026-01-01T09:00:00Z", "The tournament was long."),
        ("b", "Ada", "2026-01-03T09:00:00Z", "The lake was cold."),
        *((f"n{n}", "Ada", f"2026-02-{n:02}T09:00:00Z", "The lake again.") for n in range(1, 9)),
    ]
    others = [(f"x{n}", "Ben", f"2026-03-{n:02}T09:00:00Z", "A tournament.") for n in range(1, 29)]
    one, two = talked(world, "One", *own), talked(world, "Two", *others)

    alone = keys(world, granted(world, one), "tournament lake", limit=100)
    both = page(world, granted(world, one, two), "tournament lake", limit=100)

    assert both.hits[0].id.key == alone[0] == "a"  # where a tournament is rare, though it is common elsewhere
    assert [hit.id.key for hit in both.hits if hit.id.connection_id == one and hit.matched_fields] == alone


@requirement("rs.search.words-ranked")
def test_possessives_are_their_words_and_contractions_of_no_topic_are_left_out(world: World) -> None:
    token = said(world, ("k", "Ada", "2026-01-01T09:00:00Z", "The neighbour has it."))

    assert keys(world, token, "What's the neighbour's key? Isn't it there? Who'd know, and won't they?") == ["k"]
    told = [word for word, _ in page(world, token, "What's the neighbour's, won't it?", lean=True).recall.words]
    assert told == ["neighbour"]


@requirement("rs.search.read-as")
def test_what_was_understood_is_said_in_a_few_words(world: World) -> None:
    turns = [(f"a{n}", "Ada", f"2022-07-{n:02}T09:00:00Z", "We swam in the lake.") for n in range(1, 5)]
    token = said(world, *turns)

    (told,) = page(world, token, "Did Ada swim in the lake in July 2022?").warnings

    assert told.message == "ranked higher: time 2022-07-01 to 2022-07-31; Ada as who wrote"
    assert page(world, token, "lake").warnings == ()
    assert page(world, granted(world, *page(world, token, "lake").hits[0].id[:1], fields=["id", "text"]),
                "lake in July 2022").warnings == ()  # fmt: skip


@pytest.mark.parametrize("typed", ["tournamant", "tournment", "tournaament", "toutnament", "tuornament"])
@requirement("rs.search.suggestions")
def test_for_a_mistyped_word_a_visible_one_is_suggested_and_not_put_in_its_place(world: World, typed: str) -> None:
    token = said(world, ("a", "Ada", "2026-01-01T09:00:00Z", "The tournament is over."))

    found = page(world, token, typed)
    (told,) = found.warnings

    assert not found.hits
    assert told.detail == {"typed": typed, "word": "tournament"} and told.message.endswith("tournament in 1 record")


@requirement("rs.search.suggestions")
def test_nothing_hidden_is_suggested(world: World) -> None:
    turns = [
        ("a", "Ada", "2026-01-01T09:00:00Z", "The tournament is over."),
        ("b", "Ada", "2026-02-01T09:00:00Z", "No."),
    ]
    connection = talked(world, "Talk", *turns)
    stream = {"name": "messages", "instance_ids": [connection], "time_range": {"since": "2026-01-15T00:00:00Z"}}
    details = {**detail(stream), "source": SPOKEN["source"]}
    token = world.owner.create_grant(decode_selection([details]), "Agent", None).token

    assert page(world, token, "tournamant").warnings == ()


@requirement("rs.search.suggestions")
def test_a_suggestion_is_logged_as_told_of_the_streams_in_which_it_stands(world: World) -> None:
    connection = talked(world, "Talk", ("a", "Ada", "2026-01-01T09:00:00Z", "The tournament is over."))

    page(world, granted(world, connection), "tournamant")

    line = lines_in(world.home)[-1].content
    assert line["connections"] == [connection] and line["streams"] == ["messages"] and "text" in line["fields"]


@pytest.mark.parametrize(
    "typed",
    [
        '"lake',
        'the "lake',
        "lake AND (NEAR",
        "lake 🏞️",
        "湖",
        "ทะเลสาบ",
        "بحيرة",
        "lake " * 200,
        "{a}:b ^lake* OR",
        "-",
        "'s",
    ],
)
@requirement("rs.search.any-text")
def test_everything_typed_is_a_search(world: World, typed: str) -> None:
    token = said(world, ("a", "Ada", "2026-01-01T09:00:00Z", "The lake. 湖 ทะเลสาบ بحيرة"))

    assert [hit.id.key for hit in page(world, token, typed[:1000]).hits] == ["a"]

"""Which of too many matches are scored: no more than the limit, and chosen by what a reader sees."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pdpp_server.model.queries import Condition, SearchQuery
from pdpp_server.store.engines.sqlite import beginnings
from pdpp_server.store.engines.sqlite.ranking import length_of
from pdpp_server.store.engines.sqlite.words import SqliteWords
from pdpp_server.store.records import candidates, filters
from tests.requirements import requirement
from tests.worlds.chat import FAMILY, WORK, deletion, message
from tests.worlds.world import Clock, World, build

LIMIT = 10
TIMELESS = ["id", "subject", "text", "author"]


def found(world: World, token: str, query: str) -> Sequence[str]:
    return [hit.id.key for hit in world.reader_of(token).search(SearchQuery(query, ("messages",), limit=50)).value.hits]


@pytest.mark.parametrize("query", ["meeting", "meeting moon", "meeting moon walrus3", "meeting -walrus1"])
@pytest.mark.parametrize("fields", [None, TIMELESS], ids=["with its time", "without"])
@requirement("store.search.candidates")
def test_no_more_records_are_scored_than_the_limit_says(
    world: World, monkeypatch: pytest.MonkeyPatch, query: str, fields: list[str] | None
) -> None:
    monkeypatch.setattr(candidates, "CANDIDATES", LIMIT)
    sent = [
        message(f"n{i}", text=f"meeting moon walrus{i % 9}", sent_at=f"2026-07-{i + 1:02}T12:00:00Z") for i in range(25)
    ]
    world.deliver(WORK, sent)
    token = world.grant(world.both("messages", **({"fields": fields} if fields else {})))

    recall = world.reader_of(token).search(SearchQuery(query, ("messages",), limit=50)).value.recall

    assert recall is not None and recall.ranked is not None
    assert recall.ranked <= LIMIT
    assert not recall.complete


@requirement("store.search.candidates")
def test_a_hidden_time_does_not_choose_what_is_scored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "CANDIDATES", LIMIT)
    answers: list[Sequence[str]] = []
    for name, times in {"one": range(28), "other": range(27, -1, -1)}.items():
        (tmp_path / name).mkdir()
        world = build(tmp_path / name, Clock())
        sent = [
            message(f"n{i}", text="a meeting " + "and more " * (i % 4), sent_at=f"2026-07-{at + 1:02}T12:00:00Z")
            for i, at in enumerate(times)
        ]
        world.deliver(WORK, sent)
        granted = {"name": "messages", "instance_ids": [world.work], "fields": TIMELESS}
        answers.append(found(world, world.grant(granted), "meeting"))
        world.services.close()

    assert answers[0] == answers[1]
    assert len(answers[0]) == LIMIT
    assert {*answers[0]} == {*sorted(f"n{i}" for i in range(28))[-LIMIT:]}  # the last by their keys


@requirement("store.search.candidates")
def test_where_the_time_is_hidden_those_that_hold_both_words_are_the_last_by_their_keys_too(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(candidates, "CANDIDATES", LIMIT)
    monkeypatch.setattr(candidates, "BY_KEY", 4)
    texts = ("meeting moon", "meeting", "moon")
    sent = [message(f"n{i}", text=texts[i % 3], sent_at=f"2026-07-{28 - i:02}T12:00:00Z") for i in range(25)]
    world.deliver(WORK, sent)
    granted = {"name": "messages", "instance_ids": [world.work], "fields": TIMELESS}

    hits = found(world, world.grant(granted), "meeting moon")

    both = sorted(f"n{i}" for i in range(0, 25, 3))
    assert {*hits[:4]} == {*both[-4:]}


@requirement("store.search.candidates")
def test_a_count_is_made_anew_when_a_record_comes_or_goes(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "CANDIDATES", LIMIT)
    world.deliver(WORK, [message(f"n{i}", text="meeting", sent_at="2026-07-02T12:00:00Z") for i in range(15)])
    counted: list[int | None] = []
    for change in (None, message("n15", text="meeting", sent_at="2026-07-02T12:00:00Z"), deletion("n3"), None):
        if change is not None:
            world.deliver(WORK, [change])
        recall = world.reader.search(SearchQuery("meeting", ("messages",))).value.recall
        counted.append(recall.matches if recall else None)

    assert counted == [16, 17, 16, 16]


@requirement("store.search.candidates")
def test_a_word_that_stood_nowhere_is_found_when_it_comes_and_no_longer_when_it_goes(world: World) -> None:
    token = world.grant({"name": "messages", "instance_ids": [world.work]})
    changes = (message("n1", text="a pangolin", sent_at="2026-07-02T12:00:00Z"), deletion("n1"))

    hits = [[*found(world, token, "pangolin")]]
    for change in changes:
        world.deliver(WORK, [change])
        hits.append([*found(world, token, "pangolin")])

    assert hits == [[], ["n1"], []]


@pytest.mark.parametrize(
    ("sizes", "slots", "words"),
    [
        (b"\x05\x07\x00", (0, 1), 12),
        (b"\x05\x07\x00", (1,), 7),
        (b"\x81\x00\x07", (0, 1), 135),
        (b"\x81\x00\x07", (1,), 7),
    ],
)
def test_the_sizes_of_columns_are_read_as_fts5_keeps_them(sizes: bytes, slots: tuple[int, ...], words: int) -> None:
    assert length_of(sizes, slots) == words


@requirement("store.search.candidates")
def test_of_a_common_word_the_newest_few_are_scored_and_of_two_those_that_hold_both(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(candidates, "CANDIDATES", LIMIT)
    monkeypatch.setattr(candidates, "COMMON", 4)
    monkeypatch.setattr(candidates, "OF_EACH", 1)
    texts = {day: "meeting moon" if day < 3 else ("meeting", "moon")[day % 2] for day in range(1, 26)}
    sent = [message(f"n{day}", text=text, sent_at=f"2026-07-{day:02}T12:00:00Z") for day, text in texts.items()]
    world.deliver(WORK, sent)
    token = world.grant({"name": "messages", "instance_ids": [world.work]})

    assert sorted(found(world, token, "moon")) == ["n19", "n21", "n23", "n25"]
    assert {"n1", "n2"} < {*found(world, token, "meeting moon")}


@pytest.mark.parametrize("fields", [None, TIMELESS], ids=["with its time", "without"])
@requirement("store.search.fullest")
def test_of_a_common_word_also_those_are_scored_that_hold_it_often_however_old_they_are(
    world: World, monkeypatch: pytest.MonkeyPatch, fields: list[str] | None
) -> None:
    monkeypatch.setattr(candidates, "CANDIDATES", LIMIT)
    monkeypatch.setattr(candidates, "COMMON", 4)
    monkeypatch.setattr(candidates, "OF_EACH", 1)
    monkeypatch.setattr(candidates, "FULLEST", 2)
    times = {1: 5, 2: 4, 3: 2, 4: 2}
    sent = [
        message(f"n{day:02}", text="meeting " * times.get(day, 1), sent_at=f"2026-07-{day:02}T12:00:00Z")
        for day in range(1, 26)
    ]
    world.deliver(WORK, sent)
    granted = {"name": "messages", "instance_ids": [world.work], **({"fields": fields} if fields else {})}
    token = world.grant(granted)

    assert sorted(found(world, token, "meeting")) == ["n01", "n02", "n22", "n23", "n24", "n25"]
    world.deliver(WORK, [deletion("n02")])
    assert sorted(found(world, token, "meeting")) == ["n01", "n22", "n23", "n24", "n25"]  # of two as full neither
    assert found(world, token, "meeting")[0] == "n01"


@pytest.mark.parametrize("fields", [None, TIMELESS], ids=["with its time", "without"])
@requirement("store.search.fullest")
def test_where_more_hold_a_word_than_are_counted_only_the_newest_are_asked_how_often(
    world: World, monkeypatch: pytest.MonkeyPatch, fields: list[str] | None
) -> None:
    """Nobody is asked where a hidden time would choose whom."""
    monkeypatch.setattr(candidates, "CANDIDATES", LIMIT)
    monkeypatch.setattr(candidates, "COUNTED", 20)
    monkeypatch.setattr(candidates, "COMMON", 4)
    monkeypatch.setattr(candidates, "OF_EACH", 1)
    sent = [
        message(f"n{day:02}", text="meeting " * (3 if day in (5, 6) else 1), sent_at=f"2026-07-{day:02}T12:00:00Z")
        for day in range(1, 26)
    ]
    world.deliver(WORK, sent)
    granted = {"name": "messages", "instance_ids": [world.work], **({"fields": fields} if fields else {})}

    hits = found(world, world.grant(granted), "meeting")

    assert sorted(hits) == [*([] if fields else ["n06"]), "n22", "n23", "n24", "n25"]


@requirement("store.search.candidates")
def test_the_newest_of_more_words_than_are_told_apart_are_noted_anew_when_a_record_comes_or_goes(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(candidates, "CANDIDATES", LIMIT)
    monkeypatch.setattr(candidates, "COMMON", 4)
    monkeypatch.setattr(candidates, "OF_EACH", 1)
    monkeypatch.setattr(beginnings, "WORDS", 3)
    sent = [message(f"n{i}", text=f"alpen{i}x", sent_at=f"2026-07-{i:02}T12:00:00Z") for i in range(11, 26)]
    world.deliver(WORK, sent)
    token = world.grant({"name": "messages", "instance_ids": [world.work]})

    hits = [sorted(found(world, token, "alpen*")) for _ in range(2)]
    for change in (message("n26", text="alpen26x", sent_at="2026-07-26T12:00:00Z"), deletion("n24")):
        world.deliver(WORK, [change])
        hits.append(sorted(found(world, token, "alpen*")))

    newest = ["n22", "n23", "n24", "n25"]
    assert hits == [newest, newest, ["n23", "n24", "n25", "n26"], ["n22", "n23", "n25", "n26"]]


@pytest.mark.parametrize(
    ("each", "most", "times"),
    [([1, 1, 1], 0, 2), ([1, 2, 2], 2, 2), ([1, 2, 3], 1, 3), ([1, 2, 3], 0, 4), ([], 0, 2)],
)
def test_how_often_is_often_is_said_by_those_that_are_noted(each: list[int], most: int, times: int) -> None:
    assert candidates._often(each, most) == times  # pyright: ignore[reportPrivateUsage]


@requirement("store.search.candidates")
@pytest.mark.parametrize("limit", [LIMIT, 1000], ids=["more than are scored", "all of them"])
def test_many_records_that_a_filter_leaves_are_found_as_if_each_was_looked_at(
    world: World, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    monkeypatch.setattr(candidates, "CANDIDATES", limit)
    sent = [
        message(
            f"n{i}", text="meeting " * (1 + i % 3), author="Mia" if i % 2 else "Tom", sent_at="2026-07-02T12:00:00Z"
        )
        for i in range(30)
    ]
    world.deliver(WORK, sent)
    query = SearchQuery("meeting moon", ("messages",), limit=50, conditions=(Condition("author", "eq", "Mia"),))
    each = [hit.id.key for hit in world.reader.search(query).value.hits]

    monkeypatch.setattr(filters, "FEW_OF_A_FILTER", 0)
    page = world.reader.search(query).value
    many = [hit.id.key for hit in page.hits]

    assert page.recall is not None and page.recall.complete == (limit > LIMIT)
    assert many == [key for key in each if key in many]
    assert len(many) == (15 if limit > LIMIT else LIMIT)


@requirement("store.search.candidates")
def test_a_rare_word_is_followed_to_every_record_beside_one_that_is_not_wanted(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(candidates, "CANDIDATES", LIMIT)
    world.deliver(WORK, [message(f"n{i}", text="alpenglow moon" if i == 5 else "alpenglow") for i in range(6)])

    page = world.reader.search(SearchQuery("alpenglow -moon", ("messages",), limit=50)).value

    assert {hit.id.key for hit in page.hits} >= {f"n{i}" for i in range(5)}
    assert page.recall is not None and page.recall.complete


@requirement("store.search.candidates")
def test_a_word_that_stands_nowhere_changes_no_score_in_any_source(world: World) -> None:
    for connection in (FAMILY, WORK):
        world.deliver(connection, [message("n1", text="walrus and moon"), message("n2", text="only the moon")])
    everything = world.both("messages"), world.both("channels")  # side by side: asked for at once
    reader = world.reader_of(world.grant(*everything))

    def scores(query: str) -> list[tuple[str, str, float | None]]:
        hits = reader.search(SearchQuery(query, limit=50)).value.hits
        return [(hit.id.connection_id, hit.id.key, hit.score) for hit in hits]

    assert scores("zebrafish walrus moon") == scores("walrus moon")
    assert len(scores("walrus moon")) >= 4


@pytest.mark.sqlite("spies on its index")
def test_a_word_of_one_source_is_counted_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "CANDIDATES", LIMIT)
    world.deliver(WORK, [message(f"n{i}", text="alpenglow") for i in range(LIMIT + 5)])
    made: list[int] = []
    count = SqliteWords._count  # pyright: ignore[reportPrivateUsage]

    def spied(self: SqliteWords, where: Any, any_of: Any, most: int) -> int:
        made.append(most)
        return count(self, where, any_of, most)

    monkeypatch.setattr(SqliteWords, "_count", spied)
    asked = SearchQuery("alpenglow", ("messages",), connection_id=world.work)
    page = world.reader.search(asked).value

    assert page.recall is not None and not page.recall.complete and page.recall.matches == LIMIT + 5
    assert made == [candidates.COUNTED]


@requirement("store.search.candidates")
def test_where_the_time_is_hidden_the_last_by_their_keys_are_chosen_anew_when_the_stream_changes(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(candidates, "CANDIDATES", LIMIT)
    monkeypatch.setattr(candidates, "BY_KEY", 2)
    world.deliver(WORK, [message(f"n{i}", text="alpenglow") for i in range(10, 30)])
    token = world.grant(world.both("messages", fields=["id", "text"]))

    hits = [sorted(found(world, token, "alpenglow")) for _ in range(2)]
    for change in (message("n30", text="alpenglow"), deletion("n30")):
        world.deliver(WORK, [change])
        hits.append(sorted(found(world, token, "alpenglow")))

    assert hits == [["n28", "n29"], ["n28", "n29"], ["n29", "n30"], ["n28", "n29"]]

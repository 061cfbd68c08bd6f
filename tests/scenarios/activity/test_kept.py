"""The days of the log: each is closed into a root, and kept as long as its owner says."""

from contextlib import closing
from datetime import timedelta
from typing import Any

import pytest

from pdpp_server.errors import DisclosureLogUnavailable
from pdpp_server.model.activity import Segment
from pdpp_server.model.queries import FetchQuery, SearchQuery
from pdpp_server.model.times import iso
from pdpp_server.store import keeping
from pdpp_server.store.keeping import keep_for, kept_days, let_go_of_old
from pdpp_server.store.log import LogLine
from pdpp_server.store.opened import open_database
from tests.engine.beneath import cut_log
from tests.requirements import requirement
from tests.worlds.world import World


def read(world: World, words: str = "lease") -> None:
    assert world.reader.search(SearchQuery(words)).value is not None


def after(world: World, days: float) -> None:
    world.clock.moment += timedelta(days=days)


def states(world: World, *seen: Segment) -> list[str]:
    return [verdict.state for verdict in world.services.database.activity.verify(seen)]


def written(world: World) -> list[LogLine]:
    """Every line of the log, segment by segment."""
    with world.services.database.activity.segments() as segments:
        return [line for lines in segments.values() for line in lines()]


def headers(world: World) -> list[Any]:
    return [line.content for line in written(world) if line.n == 0]


@requirement("log.day.root")
def test_the_first_line_of_a_day_is_the_root_of_the_day_before(world: World) -> None:
    read(world)
    read(world)
    after(world, 3)
    read(world)
    read(world)
    after(world, 1)
    read(world)

    first, second, third = headers(world)
    named = [each["digest"] for header in (second, third) for each in header["closes"]]
    lines = written(world)
    assert "closes" not in first
    assert [each["n"] for each in second["closes"]] == [2]
    assert named == [lines[2].digest, lines[5].digest]
    assert states(world) == ["intact", "intact", "intact"]


@requirement("log.day.root")
@pytest.mark.parametrize("process", ["another", "the same"])
def test_a_root_betrays_a_day_that_is_taken_away_or_cut(process: str, world: World) -> None:
    read(world)
    read(world)
    after(world, 1)
    if process == "another":
        world.services.database.log.close()
    read(world)

    cut_last_of_first_day(world)
    assert states(world) == ["truncated", "intact"]

    world.services.database.activity.remove([str(headers(world)[0]["segment"])])
    assert states(world) == ["missing", "intact"]


@requirement("log.failure.closed")
def test_a_segment_that_is_taken_away_under_its_process_is_noticed_before_the_next_answer(world: World) -> None:
    read(world)
    world.services.database.activity.remove([str(headers(world)[0]["segment"])])

    with pytest.raises(DisclosureLogUnavailable):
        read(world)
    read(world)

    assert sorted(states(world)) == ["intact", "missing"]


@requirement("log.day.beside")
def test_a_segment_of_today_that_is_taken_away_is_missed_as_soon_as_another_process_has_begun(world: World) -> None:
    read(world)
    read_elsewhere(world)
    read_elsewhere(world)
    assert states(world) == ["intact", "intact", "intact"]

    for header in headers(world):
        if "beside" not in header or len(header["beside"]) < 2:  # all but the last that began
            world.services.database.activity.remove([header["segment"]])

    assert sorted(states(world)) == ["intact", "missing", "missing"]


@requirement("log.day.beside")
def test_what_a_segment_lost_of_its_end_is_missed_as_soon_as_another_process_has_begun(world: World) -> None:
    read(world)
    read(world)
    read_elsewhere(world)

    cut_last_of_first_day(world)

    assert sorted(states(world)) == ["intact", "truncated"]


def read_elsewhere(world: World) -> None:
    """A line by another process, which then ends."""
    (last, *_) = world.owner.activity()
    after(world, 1 / 86400)
    with closing(open_database(world.home)) as database:
        database.log.append(last._replace(at=iso(world.clock())))


def cut_last_of_first_day(world: World) -> None:
    cut_log(world.home, str(headers(world)[0]["segment"]), kept=2)


@requirement("log.day.root")
def test_whoever_wrote_a_root_down_sees_that_everything_before_was_written_anew(world: World) -> None:
    read(world)
    after(world, 1)
    read(world)
    header = [line for line in written(world) if line.n == 0][-1]
    seen = Segment(str(header.content["segment"]), 0, header.digest)

    assert states(world, seen) == ["intact", "intact"]
    assert states(world, Segment(seen.id, 0, "0" * 64)) == ["intact", "edited"]


@requirement("log.day.kept")
def test_everything_is_kept_until_the_owner_says_otherwise(world: World) -> None:
    read(world)
    after(world, 4000)
    read(world)

    assert kept_days(world.services.database.activity) is None
    assert len(world.owner.activity()) == 2


@requirement("log.day.kept")
def test_what_is_older_goes_with_the_first_read_of_a_day(world: World) -> None:
    keep_for(world.services.database, 100, iso(world.clock()))
    read(world, "older")
    after(world, 60)
    read(world, "newer")
    after(world, 41)
    read(world, "newest")

    asked = world.owner.asked(world.owner.activity())
    assert sorted(each.words or "" for each in asked.values()) == ["newer", "newest"]
    assert len(world.services.database.asked.every()) == 2
    assert {*states(world)} == {"let_go", "intact"}


@requirement("log.day.kept")
def test_of_what_was_let_go_nothing_is_left_but_the_note(world: World) -> None:
    assert world.reader.fetch(FetchQuery("messages", "m1", world.work)).value
    read(world, "walrus")
    client = world.owner.activity()[0].client_id
    request = world.owner.activity()[0].request_id
    old = len(written(world))
    after(world, 200)
    read(world)

    went = keep_for(world.services.database, 100, iso(world.clock()))

    assert went == old == 3  # two reads and their header, as `verify` counts them
    assert [ask.request_id for ask in world.services.database.asked.every()] == [world.owner.activity()[0].request_id]
    assert world.owner.activity(request_id=request) == []
    assert len(world.owner.activity(record=f"{world.work}/messages:m1")) == 1
    assert len(world.owner.activity(client_id=client)) == 1
    assert request.encode() not in b"".join(line.raw for line in written(world))
    assert len(world.owner.activity_days()) == 1


@requirement("log.day.kept")
def test_the_last_word_counts_and_for_ever_is_one(world: World) -> None:
    database = world.services.database
    for days in (100, 400, None):
        after(world, 0.001)
        keep_for(database, days, iso(world.clock()))
        assert kept_days(database.activity) == days
    read(world)
    after(world, 1000)

    assert let_go_of_old(database, iso(world.clock())) == 0
    assert len(world.owner.activity()) == 1


@requirement("log.day.kept")
def test_the_day_that_is_just_old_enough_stays(world: World) -> None:
    keep_for(world.services.database, 100, iso(world.clock()))
    read(world)
    after(world, 100)

    assert let_go_of_old(world.services.database, iso(world.clock())) == 0

    after(world, 1)
    assert let_go_of_old(world.services.database, iso(world.clock())) == 2


@requirement("log.day.kept")
def test_whoever_is_killed_after_the_note_goes_on_the_next_time(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    database = world.services.database
    read(world)
    after(world, 200)
    with monkeypatch.context() as patch:
        patch.setattr(database.activity, "remove", killed)
        with pytest.raises(KeyboardInterrupt):
            keep_for(database, 100, iso(world.clock()))
    assert {*states(world)} == {"intact"}

    assert let_go_of_old(database, iso(world.clock())) == 2
    assert sorted({*states(world)}) == ["intact", "let_go"]


def killed(_: object) -> None:
    raise KeyboardInterrupt


@requirement("log.day.kept")
def test_a_read_does_not_fail_for_what_cannot_be_let_go(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    keep_for(world.services.database, 100, iso(world.clock()))
    read(world)
    after(world, 200)

    def full(_: object) -> None:
        raise OSError("full")

    monkeypatch.setattr(world.services.database.activity, "remove", full)
    read(world)

    assert len(world.owner.activity()) == 2


@requirement("log.day.kept")
def test_many_segments_go_in_several_notes(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "AT_ONCE", 2)
    for _ in range(5):
        read(world)
        after(world, 1)
    after(world, 200)

    keep_for(world.services.database, 100, iso(world.clock()))

    assert states(world).count("let_go") == 5
    assert world.owner.activity() == []


@requirement("log.day.kept")
@pytest.mark.parametrize("days", [0, 7, -1, 10**9, "400", 1.5, [100], True])
def test_a_note_that_nobody_could_have_written_lets_nothing_go(days: object, world: World) -> None:
    database = world.services.database
    read(world)
    after(world, 300)
    keeping._note(database.activity, iso(world.clock()), keep_days=days)  # pyright: ignore[reportPrivateUsage]

    assert let_go_of_old(database, iso(world.clock())) == 0
    assert len(world.owner.activity()) == 1


@requirement("log.day.kept")
def test_a_note_cannot_be_taken_away_unseen(world: World) -> None:
    database = world.services.database
    keep_for(database, 100, iso(world.clock()))
    keep_for(database, 200, iso(world.clock()))
    with database.activity.segments() as segments:
        notes = {line.content["note"]: id for id, lines in segments.items() for line in lines()}

    database.activity.remove([notes[1]])

    assert sorted(states(world)) == ["intact", "missing"]


@pytest.mark.sqlite("A note in a file can be half")
@requirement("log.day.kept")
def test_a_note_that_is_torn_or_somebody_elses_is_none(world: World) -> None:
    for number, content in enumerate((b"", b"half", b"{}\n", b'{"n":0,"prev":"x","note":"y"}\n')):
        path = world.home / "activity" / f"20200101T00000{number}-0-00112233.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)

    assert world.owner.activity_kept_days is None
    assert world.owner.activity_root() is None
    keep_for(world.services.database, 100, iso(world.clock()))
    assert world.owner.activity_kept_days == 100

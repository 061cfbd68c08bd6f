"""Blocks of meaning are found by the records that they span, and records by what they mean and who said it."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from pdpp_server.grants.permitted import Scope
from pdpp_server.meaning.blocks import BLOCK_BITS, entries_to_bytes
from pdpp_server.model.queries import SearchQuery
from pdpp_server.store.engines.meanings import SEEN_BYTES, KeptMeanings
from pdpp_server.store.engines.sqlite.db import SqliteDatabase
from pdpp_server.store.records.meanings import OF_OTHERS, Near, Nearness, similarities
from pdpp_server.store.records.scope import reaches
from pdpp_server.store.upkeep.meanings import extent
from pdpp_server.wire.declarations import decode_declaration
from tests.worlds.chat import DOCUMENT, WORK, message
from tests.worlds.meant import meant
from tests.worlds.world import World

DIMENSIONS = 8
SECOND = 1 << BLOCK_BITS  # the first record of the second block


def test_of_a_range_every_block_is_found_up_to_that_of_its_last_record(home: Path) -> None:
    database = SqliteDatabase(home / "pdpp.sqlite")
    kept = [(rid, b"", entries_to_bytes(rid, [], [], DIMENSIONS)) for rid in (5, SECOND)]
    with database.writing() as writer:
        writer.meanings.put(DIMENSIONS, kept)

    with database.reading() as reading:
        found = [[number for number, _ in reading.meanings.blocks(0, end)] for end in (SECOND, SECOND + 1)]

    assert found == [[0], [0, 1]]
    database.close()


def test_a_record_is_found_by_its_meaning(world: World) -> None:
    told = meant(world)
    told.deliver(message("n1", text="a ship"))
    told.catch_up()

    hits = told.reader.search(SearchQuery("boat", ("messages",), mode="semantic")).value.hits

    assert hits[0].id.key == "n1" and hits[0].excerpts[0].text == "a ship"


class Counting:
    """What a grant sees, of a given size; and how often it was looked at."""

    def __init__(self, size: int) -> None:
        self.size, self.looks = size, 0

    def __call__(self) -> "Counting":
        self.looks += 1
        return self


NO_TABLES: Any = None


def test_what_a_grant_sees_is_looked_at_once_until_somebody_writes() -> None:
    state = [1]
    kept = KeptMeanings(NO_TABLES, NO_TABLES, lambda: state[-1])
    ours, theirs = Counting(10), Counting(10)

    assert [kept.seen("ours", ours) for _ in range(3)] == [ours] * 3
    kept.seen("theirs", theirs)
    assert (ours.looks, theirs.looks) == (1, 1)

    state.append(2)
    kept.seen("ours", ours)
    assert ours.looks == 2


def test_no_more_is_kept_than_there_is_room_for() -> None:
    kept = KeptMeanings(NO_TABLES, NO_TABLES, lambda: 1)
    large, other, too_large = Counting(SEEN_BYTES), Counting(1), Counting(SEEN_BYTES + 1)

    for whose, seen in [("large", large), ("large", large), ("other", other), ("large", large)]:
        kept.seen(whose, seen)
    assert (large.looks, other.looks) == (2, 1)
    for _ in range(2):
        kept.seen("too large", too_large)
    assert too_large.looks == 2


def test_where_no_state_is_known_nothing_is_kept() -> None:
    seen = Counting(1)

    for _ in range(2):
        KeptMeanings(NO_TABLES, NO_TABLES).seen("ours", seen)

    assert seen.looks == 2


@pytest.mark.sqlite("counts what one connection reads")
def test_a_second_question_by_the_same_grant_reads_no_block_and_one_by_another_reads_its_own(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = meant(world)
    told.deliver(message("n1", text="a ship"))
    told.catch_up()
    read: list[tuple[int, int]] = []
    blocks = KeptMeanings.blocks

    def counted(self: KeptMeanings, low: int, high: int) -> list[tuple[int, bytes]]:
        read.append((low, high))
        return blocks(self, low, high)

    monkeypatch.setattr(KeptMeanings, "blocks", counted)

    def reads(token: str) -> int:
        before = len(read)
        found = world.reader_of(token).search(SearchQuery("boat", ("messages",), mode="semantic")).value
        assert found.hits[0].id.key == "n1"
        return len(read) - before

    other = world.grant(world.both("messages"))
    each = reads(told.token)
    assert each > 0
    assert [reads(told.token), reads(other), reads(told.token), reads(other)] == [0, each, 0, 0]
    told.deliver(message("n2", text="a hound"))
    assert reads(told.token) == each


def test_what_others_said_than_who_is_named_counts_less(world: World) -> None:
    document: dict[str, Any] = deepcopy(DOCUMENT) | {"declaration_version": "2"}
    document["streams"][0]["query"]["search"]["lexical_fields"] = ["text", "author"]
    declaration = decode_declaration(document)
    said = [message(f"of-{who}", text="a hound", author=who) for who in ("Ada", "Ben")]
    world.owner.writer(declaration, WORK).deliver(said)
    stream = declaration.streams["messages"]
    scope = Scope("g", stream, (world.work,), frozenset(stream.fields), granted=frozenset(stream.fields))

    with world.services.database.reading() as reading:
        reached = reaches(reading, scope)
        sid = reached[0].place.sid
        rids = dict(reading.rows("select key, rid from records where sid = ?", (sid,)))
        near = Nearness({rids[key]: Near(0.8, "text", 0, 7) for key in ("of-Ada", "of-Ben")})
        similar = similarities(reading, reached, near, reading.tokenizer.query("Ada").wanted)

    assert similar == {rids["of-Ada"]: 0.8, rids["of-Ben"]: 0.8 * OF_OTHERS}


def test_what_meaning_takes_is_the_bytes_of_passages_and_of_blocks(world: World) -> None:
    told = meant(world)
    told.deliver(message("n1", text="a ship"), message("n2", text="a boat"))
    told.catch_up()

    with world.services.database.reading() as reading:
        passages = reading.one("select sum(length(passages)) from meanings")
        blocks = reading.one("select sum(length(lines)) from meaning_blocks")
        found = extent(reading, reading.meanings.model())

    assert found.size == passages + blocks

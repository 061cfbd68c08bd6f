"""A filter is answered by indexes alone, and gives what a look at every record gives."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pdpp_server.grants.permitted import Scope
from pdpp_server.model.queries import Condition
from pdpp_server.model.times import instant, iso_micros
from pdpp_server.store.engines.tables import Tables
from pdpp_server.store.records import filters
from pdpp_server.store.records.conditions import passing
from pdpp_server.store.records.count import count, span
from pdpp_server.store.records.ingest import INDEXED_CHARS
from pdpp_server.store.records.reach import IndexedRange, Reach
from pdpp_server.store.records.scope import reaches
from tests.requirements import requirement
from tests.worlds.chat import DECLARATION, WORK, message
from tests.worlds.world import Clock, World, build

LONG = "x" * INDEXED_CHARS
NAMES = ["Ada", LONG + "a", LONG + "b"]
TIMES = ["2026-07-01T23:59:59.999999Z", "2026-07-02T00:00:00Z", "2026-07-02T12:00:00Z", "1799-05-05T00:00:00Z", "never"]
NOON, MIDNIGHT = instant("2026-07-02T12:00:00Z"), instant("2026-07-02T00:00:00Z")
CONDITIONS = [
    *(Condition("sent_at", how, at) for how in ("gte", "gt", "lte", "lt", "eq") for at in TIMES[:4]),
    *(Condition("likes", how, "2") for how in ("gte", "gt", "lte", "lt", "eq")),
    *(Condition("author", "eq", name) for name in ("Ada", LONG + "a", LONG[:-1], LONG)),
]
STREAM = DECLARATION.streams["messages"]
SOME = frozenset({"f1", "f2", "f7", "f11", "f46", "none"})


@pytest.fixture(scope="module")
def filled() -> Iterator[World]:
    with TemporaryDirectory() as folder:
        world = build(Path(folder), Clock())
        sent = [
            message(f"f{i}", text=f"a meeting {i}", sent_at=TIMES[i % 5], likes=i % 4, author=NAMES[i % 3])
            for i in range(60)
        ]
        world.deliver(WORK, sent)
        yield world
        world.services.close()


@pytest.mark.parametrize("few", [0, 10_000], ids=["by index", "by records"])
@given(
    st.lists(st.sampled_from(CONDITIONS), min_size=1, max_size=3),
    st.sampled_from([(None, None), (MIDNIGHT, None), (None, NOON), (MIDNIGHT, NOON)]),
    st.sampled_from([None, SOME]),
)
@settings(max_examples=150, deadline=None)
@requirement("store.search.filters-by-index")
def test_an_index_gives_what_a_look_at_every_record_gives(
    filled: World,
    few: int,
    conditions: list[Condition],
    time: tuple[int | None, int | None],
    resources: frozenset[str] | None,
) -> None:
    everything = frozenset(STREAM.fields)
    scope = Scope("g", STREAM, (filled.work,), everything, *time, resources, everything)
    asked = tuple(conditions)
    with filled.services.database.reading() as reading, pytest.MonkeyPatch.context() as patched:
        patched.setattr(filters, "FEW_OF_A_FILTER", few)
        (reach,) = reaches(reading, scope)
        looked_at = list(passing(reading, reach, asked))
        left = filters.left_of(reading, reach, asked)
        visible = sorted(row[0] for row in reading.records.visible(left))
        counted, told = count(reading, reach, asked), span(reading, [reach], asked)

    times = sorted(at for row in looked_at if isinstance(at := instant(row.data.get("sent_at")), int))
    assert visible == sorted(row.rid for row in looked_at)
    assert counted == told.total == len(looked_at)
    assert (told.earliest_at, told.latest_at) == (
        (iso_micros(times[0]), iso_micros(times[-1])) if times else (None, None)
    )


@requirement("store.search.filters-by-index")
def test_whole_values_are_counted_without_a_look_at_a_record(filled: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(filters, "passing")
    everything = frozenset(STREAM.fields)
    scope = Scope("g", STREAM, (filled.work,), everything, None, None, None, everything)

    with filled.services.database.reading() as reading:
        (reach,) = reaches(reading, scope)

        asked = (Condition("likes", "gte", "2"),)
        looked_at = list(passing(reading, reach, asked))

        assert filters.passing_count(reading, reach, asked) == len(looked_at) > 10


@pytest.mark.sqlite("keeps what was counted, which that engine does alone")
def test_a_count_is_made_once_for_a_grant_until_the_stream_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = build(tmp_path, Clock())
    made: list[Reach] = []
    make = Tables.passing_count

    def heard(tables: Tables, reach: Reach, bounds: IndexedRange, *also: IndexedRange) -> int:
        made.append(reach)
        return make(tables, reach, bounds, *also)

    monkeypatch.setattr(Tables, "passing_count", heard)

    def counted(grant: str, likes: str) -> int:
        everything = frozenset(STREAM.fields)
        scope = Scope(grant, STREAM, (world.work,), everything, None, None, None, everything)
        with world.services.database.reading() as reading:
            (reach,) = reaches(reading, scope)
            return count(reading, reach, (Condition("likes", "eq", likes),))

    world.deliver(WORK, [message(f"f{i}", text="a meeting", likes=90 + i % 2) for i in range(6)])
    assert [counted("g", "90"), counted("g", "90"), len(made)] == [3, 3, 1]
    assert [counted("another", "90"), len(made)] == [3, 2]
    assert [counted("g", "91"), len(made)] == [3, 3]

    world.deliver(WORK, [message("f0", text="a meeting", likes=91)])
    assert [counted("g", "90"), counted("g", "91")] == [2, 4]
    world.services.close()

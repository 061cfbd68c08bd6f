"""What stands around a record, held against plain sorting of the same records: by its talk, its days, its key."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pdpp_server.errors import InvalidCursor, NotFound
from pdpp_server.model.ingest import Incoming
from pdpp_server.model.queries import RecordsQuery
from pdpp_server.model.records import RecordPage
from pdpp_server.model.times import instant
from pdpp_server.owner.desk import Owner
from pdpp_server.port.local import LocalReader
from pdpp_server.reads.services import Services, open_services
from pdpp_server.store.records import around
from pdpp_server.wire.declarations import decode_declaration
from pdpp_server.wire.grants import DETAIL_TYPE, decode_selection
from tests.requirements import requirement
from tests.worlds.told import ToldReader
from tests.worlds.world import Clock

SOURCE = "https://registry.pdpp.dev/connectors/talks"
LONG = "t" * 200
EVERYTHING = 2000  # at most so many records of a talk are gathered and sorted
Data = dict[str, Any]


def stream(name: str, cursor_field: str) -> Data:
    return {
        "name": name,
        "semantics": "mutable_state",
        "schema": {
            "type": "object",
            "required": ["id"],
            "properties": {
                "id": {"type": "string"},
                "room": {"type": ["string", "null"], "x_pdpp_role": "primary-title"},
                "thread": {"type": ["string", "null"], "x_pdpp_role": "thread"},
                "who": {"type": "string", "x_pdpp_role": "actor"},
                "text": {"type": "string", "x_pdpp_role": "primary-body"},
                "at": {"type": ["string", "null"], "format": "date-time"},
                "number": {"type": ["integer", "null"]},
            },
        },
        "primary_key": ["id"],
        "cursor_field": cursor_field,
        "consent_time_field": "at",
        "selection": {"fields": True, "resources": True},
        "query": {},
    }


DECLARATION = decode_declaration(
    {
        "protocol_version": "0.1.0",
        "source": {"kind": "connector", "id": SOURCE},
        "declaration_version": "1",
        "publisher": {"id": "https://registry.pdpp.dev/"},
        "display": {"name": "Talks"},
        "streams": [stream("spoken", "at"), stream("numbered", "number")],
    }
)


class Hall:
    """A server of one connection, filled anew for each example."""

    def __init__(self, home: Path) -> None:
        self.services: Services = open_services(home, now=Clock(datetime(2026, 3, 1, tzinfo=UTC)))
        self.owner = Owner(self.services, home)
        self.writer = self.owner.writer(DECLARATION, "hall")
        self.held: set[tuple[str, str]] = set()

    def fill(self, stream: str, records: dict[str, Data]) -> None:
        gone = [Incoming("test", place, key, None, None) for place, key in self.held]
        fresh = [Incoming("test", stream, key, {**data, "id": key}, None) for key, data in records.items()]
        self.held = {(stream, key) for key in records}
        assert self.writer.deliver([*gone, *fresh]).rejected == ()

    def reader(self, stream: str, **narrowing: Any) -> ToldReader:
        selected = {"name": stream, "instance_ids": [self.writer.connection_id], **narrowing}
        detail = {"type": DETAIL_TYPE, "source": {"id": SOURCE}, "purpose_code": "https://pdpp.dev/purpose/assistance"}
        details = [{**detail, "access_mode": "continuous", "streams": [selected]}]
        issued = self.owner.create_grant(decode_selection(details), "Agent", None)
        return ToldReader(LocalReader(self.services, issued.token))


@pytest.fixture(scope="module")
def hall() -> Iterator[Hall]:
    with TemporaryDirectory() as folder:
        made = Hall(Path(folder) / "home")
        yield made
        made.services.close()


moments = st.builds(
    "{}-02-{:02}T{:02}:00:00Z".format, st.sampled_from(["1700", "2026"]), st.integers(1, 5), st.integers(0, 3)
)
talks = st.sampled_from([None, "", "a", "b", LONG, LONG + "x"])
records_of = st.dictionaries(
    st.one_of(st.text("xyz", min_size=1, max_size=2), st.sampled_from(["k" * 150 + "1", "k" * 150 + "2", "é/ü"])),
    st.fixed_dictionaries(
        {},
        optional={"at": moments, "number": st.integers(-3, 3), "thread": talks, "room": talks},
    ),
    min_size=1,
    max_size=25,
)


def order(name: str, item: tuple[str, Data]) -> tuple[Any, ...]:
    key, data = item
    value = instant(data.get("at")) if name == "spoken" else data.get("number")
    return value is None, value or 0, key


def talk(name: str, records: dict[str, Data], key: str) -> list[str]:
    """The keys of the talk of that record, oldest first."""
    common = "thread" if records[key].get("thread") else "room" if name == "spoken" else None
    named = records[key].get(common) if common else None
    kept = {other: data for other, data in records.items() if not named or data.get(str(common)) == named}
    return [other for other, _ in sorted(kept.items(), key=lambda item: order(name, item))]


def nearest(line: list[str], key: str, limit: int) -> list[str]:
    """With half of the others before it, the odd one too, filled from the other side at an end."""
    here = line.index(key)
    before, after = line[:here], line[here + 1 :]
    earlier = min(len(before), max(limit // 2, limit - 1 - len(after)))
    later = min(len(after), limit - 1 - earlier)
    return [*before[len(before) - earlier :], key, *after[:later]]


def keys(page: RecordPage) -> list[str]:
    return [entry.id.key for entry in page.records]


def followed(reader: ToldReader, query: RecordsQuery) -> list[str]:
    """The page and all that its cursors lead to, oldest first."""
    page = reader.query_records(query).value
    assert page.around
    found, earlier, later = keys(page), page.around.earlier_cursor, page.around.later_cursor
    while earlier:
        page = reader.query_records(replace(query, cursor=earlier)).value
        assert page.around and page.around.later_cursor is None and len(earlier) <= 160
        found, earlier = [*keys(page), *found], page.around.earlier_cursor
    while later:
        page = reader.query_records(replace(query, cursor=later)).value
        assert page.around and page.around.earlier_cursor is None and len(later) <= 160
        found, later = [*found, *keys(page)], page.around.later_cursor
    return found


@pytest.mark.parametrize("gathered", [EVERYTHING, 2, -1], ids=["gathered", "some days walked", "walked"])
@pytest.mark.parametrize("name", ["spoken", "numbered"])
@requirement("rs.around.neighbours", "rs.around.talk", "rs.around.cursors")
@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(records_of, st.data(), st.integers(1, 6))
def test_a_record_stands_among_the_nearest_of_its_talk(
    hall: Hall, gathered: int, name: str, records: dict[str, Data], data: st.DataObject, limit: int
) -> None:
    hall.fill(name, records)
    key = data.draw(st.sampled_from(sorted(records)))
    query = RecordsQuery(name, around=key, limit=limit, count=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(around, "GATHERED", gathered)

        page = hall.reader(name).query_records(query).value
        everything = followed(hall.reader(name), query) if limit == 1 else []

    line = talk(name, records, key)
    assert keys(page) == nearest(line, key, limit)
    assert page.count == len(line)
    assert page.around
    assert (page.around.earlier_cursor is not None) == (keys(page)[0] != line[0])
    assert (page.around.later_cursor is not None) == (keys(page)[-1] != line[-1])
    assert not everything or everything == line


@pytest.mark.parametrize("gathered", [EVERYTHING, -1], ids=["gathered", "walked"])
@requirement("rs.around.cursors")
@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(records_of, st.data(), st.integers(2, 5))
def test_cursors_lead_through_the_whole_talk(
    hall: Hall, gathered: int, records: dict[str, Data], data: st.DataObject, limit: int
) -> None:
    hall.fill("spoken", records)
    key = data.draw(st.sampled_from(sorted(records)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(around, "GATHERED", gathered)

        found = followed(hall.reader("spoken"), RecordsQuery("spoken", around=key, limit=limit))

    assert found == talk("spoken", records, key)


@pytest.mark.parametrize("gathered", [EVERYTHING, -1], ids=["gathered", "walked"])
@requirement("rs.around.hidden")
@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(records_of, st.data(), st.integers(1, 5))
def test_neighbours_are_those_that_the_grant_shows(
    hall: Hall, gathered: int, records: dict[str, Data], data: st.DataObject, limit: int
) -> None:
    since, until = "2026-02-02T01:00:00Z", "2026-02-04T02:00:00Z"
    hall.fill("spoken", records)
    key = data.draw(st.sampled_from(sorted(records)))
    reader = hall.reader("spoken", time_range={"since": since, "until": until})
    shown = {name: told for name, told in records.items() if since <= (told.get("at") or "") < until}
    query = RecordsQuery("spoken", around=key, limit=limit)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(around, "GATHERED", gathered)

        if key not in shown:
            with pytest.raises(NotFound):
                reader.query_records(query)
            return
        assert keys(reader.query_records(query).value) == nearest(talk("spoken", shown, key), key, limit)


@requirement("rs.around.hidden")
@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(records_of, st.data(), st.integers(1, 4))
def test_of_named_records_the_nearest_are_named_ones(
    hall: Hall, records: dict[str, Data], data: st.DataObject, limit: int
) -> None:
    hall.fill("spoken", records)
    named = data.draw(st.sets(st.sampled_from(sorted(records)), min_size=1))
    key = data.draw(st.sampled_from(sorted(named)))
    shown = {name: told for name, told in records.items() if name in named}

    found = followed(hall.reader("spoken", resources=sorted(named)), RecordsQuery("spoken", around=key, limit=limit))

    assert found == talk("spoken", shown, key)


SAID = {
    "m1": {"at": "2026-02-01T00:00:00Z", "thread": "a", "room": "hut"},
    "m2": {"at": "2026-02-02T00:00:00Z", "thread": "b", "room": "hut"},
    "m3": {"at": "2026-02-03T00:00:00Z", "thread": "a", "room": "lake"},
    "m4": {"at": "2026-02-04T00:00:00Z", "room": "lake"},
    "k0": {"at": "2026-02-05T00:00:00Z", "thread": "a", "room": "hut"},
}


@pytest.mark.parametrize(
    ("fields", "around_m1"),
    [
        (["at", "thread", "room"], ["m1", "m3", "k0"]),
        (["at", "room"], ["m1", "m2", "k0"]),
        (["at"], ["m1", "m2", "m3", "m4", "k0"]),
        (["thread", "room"], ["k0", "m1", "m3"]),
        (["room"], ["k0", "m1", "m2", "m3", "m4"]),
    ],
    ids=lambda value: " ".join(value),
)
@requirement("rs.around.talk", "rs.around.hidden")
def test_a_talk_is_bounded_by_what_is_granted_alone(hall: Hall, fields: list[str], around_m1: list[str]) -> None:
    hall.fill("spoken", SAID)

    page = hall.reader("spoken", fields=["id", *fields]).query_records(RecordsQuery("spoken", around="m1")).value

    assert keys(page) == around_m1


@requirement("rs.around.cursors")
def test_a_cursor_of_neighbours_goes_on_with_the_same_neighbours_only(hall: Hall) -> None:
    hall.fill("spoken", SAID)
    reader = hall.reader("spoken")
    query = RecordsQuery("spoken", around="m1", limit=1)
    page = reader.query_records(query).value
    assert page.around and page.around.later_cursor
    later = page.around.later_cursor
    plain = reader.query_records(RecordsQuery("spoken", limit=1)).value.next_cursor
    others = [
        (reader, replace(query, around="m2", cursor=later)),
        (reader, replace(query, around=None, cursor=later)),
        (reader, replace(query, cursor=plain)),
        (reader, replace(query, cursor="e" + later[1:])),
        (reader, replace(query, cursor=later, fields=("thread",))),
        (hall.reader("spoken"), replace(query, cursor=later)),
    ]

    for asker, asked in others:
        with pytest.raises(InvalidCursor):
            asker.query_records(asked)

    assert keys(reader.query_records(replace(query, cursor=later)).value) == ["m3"]


def crowded(days: dict[int, int]) -> dict[str, Data]:
    """So many records of one talk on each of these days of February."""
    return {
        f"d{day}-{number:02}": {"at": f"2026-02-{day:02}T00:{number:02}:00Z", "thread": "hut"}
        for day, many in days.items()
        for number in range(many)
    }


@pytest.mark.parametrize("gathered", [EVERYTHING, 5], ids=["gathered", "walked"])
@pytest.mark.parametrize("key", ["d1-00", "d2-07", "d3-00"])
@requirement("rs.around.neighbours")
def test_a_day_that_no_chunk_holds_is_passed_through_from_either_side(
    hall: Hall, monkeypatch: pytest.MonkeyPatch, key: str, gathered: int
) -> None:
    records = crowded({1: 1, 2: 20, 3: 1})
    hall.fill("spoken", records)
    monkeypatch.setattr(around, "GATHERED", gathered)
    monkeypatch.setattr(around, "CHUNK_MAX", 4)

    assert followed(hall.reader("spoken"), RecordsQuery("spoken", around=key, limit=2)) == sorted(records)


@requirement("rs.around.cursors")
def test_of_a_page_of_later_ones_that_has_no_room_the_nearest_stay(hall: Hall) -> None:
    hall.fill("spoken", crowded({1: 6}))
    reader, query = hall.reader("spoken"), RecordsQuery("spoken", around="d1-00", limit=3)
    first = reader.query_records(query).value
    assert first.around

    later = reader.query_records(replace(query, cursor=first.around.later_cursor)).value

    assert keys(later) == ["d1-03", "d1-04", "d1-05"]
    assert keys(later.nearest(1)) == ["d1-03"]

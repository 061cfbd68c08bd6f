"""Pages of a stream, held against plain sorting and plain comparing of the same records."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pdpp_server.errors import InvalidCursor
from pdpp_server.model.ingest import Incoming
from pdpp_server.model.queries import Condition, RecordsQuery
from pdpp_server.model.records import Record
from pdpp_server.model.times import instant
from pdpp_server.owner.desk import Owner
from pdpp_server.port.local import LocalReader
from pdpp_server.reads.services import Services, open_services
from pdpp_server.store.records import query_records
from pdpp_server.wire.declarations import decode_declaration
from pdpp_server.wire.grants import DETAIL_TYPE, decode_selection
from tests.requirements import requirement
from tests.worlds.chat import WORK, message
from tests.worlds.told import ToldReader
from tests.worlds.world import Clock, World

SOURCE = "https://registry.pdpp.dev/connectors/shelf"
NAMES = ("north", "south", "west")
ORDERED = {
    "moments": {"type": ["string", "null"], "format": "date-time"},
    "numbers": {"type": ["number", "null"]},
    "words": {"type": ["string", "null"]},
}
LONG = "w" * 200


def stream(name: str) -> dict[str, Any]:
    """Ordered by a field `by` of the type that its name tells."""
    return {
        "name": name,
        "semantics": "mutable_state",
        "schema": {
            "type": "object",
            "required": ["id"],
            "properties": {
                "id": {"type": "string"},
                "by": ORDERED[name],
                "size": {"type": ["integer", "null"]},
                "flag": {"type": ["boolean", "null"]},
                "seen_at": {"type": ["string", "null"], "format": "date-time"},
            },
        },
        "primary_key": ["id"],
        "cursor_field": "by",
        "consent_time_field": "seen_at",
        "selection": {"fields": True, "resources": True},
        "query": {"range_filters": {"size": ["gte", "gt", "lte", "lt"], "seen_at": ["gte", "lt"]}},
    }


DECLARATION = decode_declaration(
    {
        "protocol_version": "0.1.0",
        "source": {"kind": "connector", "id": SOURCE},
        "declaration_version": "1",
        "publisher": {"id": "https://registry.pdpp.dev/"},
        "display": {"name": "Shelf"},
        "streams": [stream(name) for name in ORDERED],
    }
)

days = st.integers(1, 28).map(lambda day: f"2026-02-{day:02}T00:00:00Z")
values = {
    "moments": days,
    "numbers": st.one_of(st.integers(-5, 5), st.sampled_from([0.5, -0.5, 1e300, 2**63 + 5])),
    "words": st.sampled_from(["", "a", "ab", "é", "🦊", LONG, LONG + "x", LONG + "y"]),
}
keys = st.one_of(
    st.sampled_from(["a", "b", "k" * 150 + "1", "k" * 150 + "2", "é/ü", '["x"]', "🦊"]), st.text("xyz", min_size=1)
)


@st.composite
def shelves(draw: st.DrawFn) -> tuple[str, dict[tuple[str, str], dict[str, Any]]]:
    """A stream, and records by connection name and key."""
    name = draw(st.sampled_from(sorted(ORDERED)))
    record = st.fixed_dictionaries(
        {"by": st.one_of(st.none(), values[name])},
        optional={"size": st.integers(0, 6), "flag": st.booleans(), "seen_at": days},
    )
    found: Any = draw(st.dictionaries(st.tuples(st.sampled_from(NAMES), keys), record, max_size=25))
    return name, found


conditions = st.lists(
    st.one_of(
        st.builds(
            Condition, st.just("size"), st.sampled_from(["eq", "gte", "gt", "lte", "lt"]), st.sampled_from("0246")
        ),
        st.builds(Condition, st.just("flag"), st.just("eq"), st.sampled_from(["true", "false"])),
        st.builds(Condition, st.just("seen_at"), st.sampled_from(["eq", "gte", "lt"]), days),
    ),
    max_size=3,
).map(tuple)


class Shelf:
    """A server of three connections, filled anew for each example."""

    def __init__(self, home: Path) -> None:
        self.services: Services = open_services(home, now=Clock(datetime(2026, 3, 1, tzinfo=UTC)))
        self.owner = Owner(self.services, home)
        self.writers = {name: self.owner.writer(DECLARATION, name) for name in NAMES}
        self.ids = {name: writer.connection_id for name, writer in self.writers.items()}
        self.held: set[tuple[str, str, str]] = set()

    def fill(self, stream: str, records: dict[tuple[str, str], dict[str, Any]]) -> None:
        gone = [(name, Incoming("test", place, key, None, None)) for place, name, key in self.held]
        fresh = [(name, Incoming("test", stream, key, _told(key, data), None)) for (name, key), data in records.items()]
        self.held = {(stream, name, key) for name, key in records}
        for name, writer in self.writers.items():
            receipt = writer.deliver([incoming for owner, incoming in (*gone, *fresh) if owner == name])
            assert receipt.rejected == ()

    def reader(self, stream: str, **narrowing: Any) -> ToldReader:
        selected = {"name": stream, "instance_ids": list(self.ids.values()), **narrowing}
        detail = {"type": DETAIL_TYPE, "source": {"id": SOURCE}, "purpose_code": "https://pdpp.dev/purpose/assistance"}
        details = [{**detail, "access_mode": "continuous", "streams": [selected]}]
        return ToldReader(
            LocalReader(self.services, self.owner.create_grant(decode_selection(details), "Agent", None).token)
        )


def _told(key: str, data: dict[str, Any]) -> dict[str, Any]:
    return {field: value for field, value in data.items() if value is not None} | {"id": key}


@pytest.fixture(scope="module")
def shelf() -> Iterator[Shelf]:
    with TemporaryDirectory() as folder:
        made = Shelf(Path(folder) / "home")
        yield made
        made.services.close()


def followed(reader: ToldReader, query: RecordsQuery) -> list[Record]:
    """Every record of every page."""
    found: list[Record] = []
    cursor = None
    while True:
        page = reader.query_records(replace(query, cursor=cursor)).value
        assert len(page.records) <= query.limit
        found += [record for record in page.records if isinstance(record, Record)]
        cursor = page.next_cursor
        if cursor is None:
            return found
        assert len(cursor) <= 160
        assert len(page.records) == query.limit


def comparable(value: Any) -> Any:
    return instant(value) if isinstance(value, str) and value.startswith("2026-") else value


def holds(data: dict[str, Any], condition: Condition) -> bool:
    value = comparable(data.get(condition.field))
    if value is None:
        return False
    literal: Any = {"true": True, "false": False}.get(condition.value) if condition.field == "flag" else None
    if literal is None:
        literal = instant(condition.value) if condition.field == "seen_at" else int(condition.value)
    compared = {"eq": value == literal, "gte": value >= literal, "gt": value > literal}
    return compared.get(condition.comparison, value <= literal if condition.comparison == "lte" else value < literal)


def expected(
    shelf: Shelf, records: dict[tuple[str, str], dict[str, Any]], query: RecordsQuery
) -> list[tuple[str, str]]:
    """Connection and key, as plain Python sorts them. The index knows the first 128 characters of a word."""
    kept = {
        (shelf.ids[name], key): data
        for (name, key), data in records.items()
        if all(holds(data, condition) for condition in query.conditions)
    }

    def order(item: tuple[str, str]) -> tuple[Any, ...]:
        value = comparable(kept[item].get("by"))
        return (value[:128] if isinstance(value, str) else value, *item)

    present = sorted((item for item in kept if kept[item].get("by") is not None), key=order)
    absent = sorted(item for item in kept if kept[item].get("by") is None)
    return present + absent if query.ascending else present[::-1] + absent[::-1]


@requirement("rs.records.order", "rs.records.nulls-last", "rs.records.fan-in", "rs.records.filters", "rs.records.page")
@settings(deadline=None, max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(shelves(), conditions, st.booleans(), st.integers(1, 7))
def test_pages_give_every_record_that_passes_once_and_in_order(
    shelf: Shelf,
    made: tuple[str, dict[tuple[str, str], dict[str, Any]]],
    filters: tuple[Condition, ...],
    ascending: bool,
    limit: int,
) -> None:
    name, records = made
    shelf.fill(name, records)
    query = RecordsQuery(name, conditions=filters, ascending=ascending, limit=limit, count=True)

    found = followed(shelf.reader(name), query)

    wanted = expected(shelf, records, query)
    assert [(record.id.connection_id, record.id.key) for record in found] == wanted
    assert shelf.reader(name).query_records(query).value.count == len(wanted)


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(shelves(), st.booleans(), st.integers(1, 5), st.sets(keys, min_size=1, max_size=4))
def test_a_grant_of_some_records_pages_over_those(
    shelf: Shelf, made: tuple[str, dict[tuple[str, str], dict[str, Any]]], ascending: bool, limit: int, named: set[str]
) -> None:
    name, records = made
    shelf.fill(name, records)
    query = RecordsQuery(name, ascending=ascending, limit=limit)

    found = followed(shelf.reader(name, resources=sorted(named)), query)

    granted = {item: data for item, data in records.items() if item[1] in named}
    assert [(record.id.connection_id, record.id.key) for record in found] == expected(shelf, granted, query)


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(shelves(), st.booleans(), st.integers(1, 5), conditions)
def test_a_grant_of_some_days_pages_and_counts_over_those(
    shelf: Shelf,
    made: tuple[str, dict[tuple[str, str], dict[str, Any]]],
    ascending: bool,
    limit: int,
    filters: tuple[Condition, ...],
) -> None:
    name, records = made
    shelf.fill(name, records)
    since, until = "2026-02-08T00:00:00Z", "2026-02-20T00:00:00Z"
    query = RecordsQuery(name, ascending=ascending, limit=limit, conditions=filters, count=True, window=True)
    reader = shelf.reader(name, time_range={"since": since, "until": until})

    found = followed(reader, query)

    shown = {item: data for item, data in records.items() if since <= (data.get("seen_at") or "") < until}
    wanted = expected(shelf, shown, query)
    assert [(record.id.connection_id, record.id.key) for record in found] == wanted
    page = reader.query_records(query).value
    assert page.count == len(wanted)
    assert page.span is not None
    times = [shown[item]["seen_at"] for item in shown if (shelf.ids[item[0]], item[1]) in wanted]
    assert (page.span.earliest_at or "")[:19] == min(times, default="")[:19]
    assert (page.span.latest_at or "")[:19] == max(times, default="")[:19]


def ranked(shelf: Shelf, records: dict[tuple[str, str], dict[str, Any]], query: RecordsQuery) -> list[tuple[str, str]]:
    """By the field, and where that is the same in the order of the stream."""
    line = expected(shelf, records, query)
    names = {shelf.ids[name]: name for name in NAMES}
    found = {item: comparable(records[names[item[0]], item[1]].get(str(query.sort))) for item in line}
    present = [item for item in line if found[item] is not None]
    present.sort(key=lambda item: found[item], reverse=not query.ascending)  # equal ones stay as they stand
    return present + [item for item in line if found[item] is None]


@pytest.mark.parametrize("gathered", [2000, 1, -1], ids=["gathered", "some ties walked", "walked"])
@requirement("rs.records.sort", "rs.records.nulls-last", "rs.records.fan-in")
@settings(deadline=None, max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    shelves(),
    conditions,
    st.booleans(),
    st.integers(1, 7),
    st.sampled_from(["size", "seen_at"]),
    st.sampled_from([{}, {"time_range": {"since": "2026-02-08T00:00:00Z"}}, {"resources": ["a", "b", "x", "🦊"]}]),
)
def test_any_field_with_a_range_sorts_and_ties_are_in_the_order_of_the_stream(
    shelf: Shelf,
    gathered: int,
    made: tuple[str, dict[tuple[str, str], dict[str, Any]]],
    filters: tuple[Condition, ...],
    ascending: bool,
    limit: int,
    sort: str,
    narrowing: dict[str, Any],
) -> None:
    name, records = made
    shelf.fill(name, records)
    query = RecordsQuery(name, conditions=filters, ascending=ascending, limit=limit, sort=sort)
    since, keys = narrowing.get("time_range", {}).get("since", ""), narrowing.get("resources")
    shown = {
        (place, key): data
        for (place, key), data in records.items()
        if (data.get("seen_at") or "") >= since and (keys is None or key in keys)
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(query_records, "GATHERED", gathered)

        found = followed(shelf.reader(name, **narrowing), query)

    assert [(record.id.connection_id, record.id.key) for record in found] == ranked(shelf, shown, query)


def test_a_hidden_cursor_field_orders_nothing(shelf: Shelf) -> None:
    records = {("north", "a"): {"by": 3}, ("north", "b"): {"by": 1}, ("north", "c"): {"by": 2}}
    shelf.fill("numbers", records)
    reader = shelf.reader("numbers", fields=["id", "size"])

    found = followed(reader, RecordsQuery("numbers", ascending=True, limit=2))

    assert [record.id.key for record in found] == ["a", "b", "c"]


def test_a_cursor_goes_on_where_it_stood_when_its_record_is_gone(shelf: Shelf) -> None:
    records = {("north", key): {"by": 1} for key in "abcd"}
    shelf.fill("numbers", records)
    reader = shelf.reader("numbers")
    first = reader.query_records(RecordsQuery("numbers", ascending=True, limit=2)).value

    shelf.writers["north"].deliver([Incoming("test", "numbers", "b", None, None)])
    second = reader.query_records(RecordsQuery("numbers", ascending=True, limit=2, cursor=first.next_cursor)).value

    assert [record.id.key for record in second.records] == ["c", "d"]


@pytest.mark.parametrize(
    "other",
    [
        {"ascending": False},
        {"conditions": (Condition("size", "gte", "1"),)},
        {"fields": ("id",)},
        {"stream": "words"},
    ],
)
def test_a_cursor_of_another_query_is_refused(shelf: Shelf, other: dict[str, Any]) -> None:
    shelf.fill("numbers", {("north", key): {"by": 1} for key in "abcd"})
    token_reader = shelf.reader("numbers")
    query = RecordsQuery("numbers", ascending=True, limit=2)
    cursor = token_reader.query_records(query).value.next_cursor

    with pytest.raises(InvalidCursor if "stream" not in other else Exception):
        token_reader.query_records(replace(query, **other, cursor=cursor))
    with pytest.raises(InvalidCursor):
        shelf.reader("numbers").query_records(replace(query, cursor=cursor))


@pytest.mark.parametrize("ascending", [True, False])
def test_values_are_followed_one_after_the_other_past_those_that_do_not_pass(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, ascending: bool
) -> None:
    records = {("north", f"k{size:02}"): {"by": 1, "size": size, "flag": 0 < size < 11} for size in range(12)}
    shelf.fill("numbers", records)
    monkeypatch.setattr(query_records, "GATHERED", -1)
    passing = (Condition("flag", "eq", "true"),)
    query = RecordsQuery("numbers", conditions=passing, sort="size", ascending=ascending, limit=2)

    found = [record.data["size"] for record in followed(shelf.reader("numbers"), query)]

    assert found == sorted(range(1, 11), reverse=not ascending)


def test_what_passes_is_found_behind_many_that_do_not(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    records = {("north", f"k{number:03}"): {"by": number, "flag": number > 515} for number in range(520)}
    shelf.fill("numbers", records)
    monkeypatch.setattr(query_records, "GATHERED", -1)
    query = RecordsQuery("numbers", conditions=(Condition("flag", "eq", "true"),), ascending=True, limit=100)

    assert [record.id.key for record in followed(shelf.reader("numbers"), query)] == ["k516", "k517", "k518", "k519"]


def test_a_cursor_finds_its_record_among_keys_that_begin_alike(shelf: Shelf) -> None:
    records = {("north", "k" * 150 + str(number)): {"by": 1} for number in range(8)}
    shelf.fill("numbers", records)
    reader, query = shelf.reader("numbers"), RecordsQuery("numbers", ascending=True, limit=1)
    found: list[str] = []

    for _ in records:
        page = reader.query_records(query).value
        found += [record.id.key for record in page.records]
        query = replace(query, cursor=page.next_cursor)

    assert found == sorted(key for _, key in records)


def test_the_newest_before_a_moment_are_walked_to(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    times = [f"2031-07-0{day}T12:00:00Z" for day in range(1, 6)]
    world.deliver(WORK, [message(f"n{number}", sent_at=at) for number, at in enumerate(times)])
    monkeypatch.setattr(query_records, "GATHERED", -1)
    before = (Condition("sent_at", "gte", times[0]), Condition("sent_at", "lt", times[3]))

    page = world.reader.query_records(RecordsQuery("messages", conditions=before)).value

    assert [record.id.key for record in page.records] == ["n2", "n1", "n0"]

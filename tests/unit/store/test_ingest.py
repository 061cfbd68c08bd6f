"""Records are checked, stored once, kept in versions, and findable in the same transaction."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import orjson
import pytest

from pdpp_server.errors import NotFound
from pdpp_server.evidence.handles import mint, parse
from pdpp_server.model.ingest import Incoming, Receipt
from pdpp_server.model.queries import FetchQuery, SearchQuery
from pdpp_server.model.sources import Declaration
from pdpp_server.store.engines.postgres.index import PostgresIndex
from pdpp_server.store.engines.sqlite.index import SqliteIndex
from pdpp_server.wire.declarations import decode_declaration
from tests.engine.beneath import bytes_of, is_postgres
from tests.requirements import requirement
from tests.worlds import chat
from tests.worlds.chat import WORK, channel, deletion, message
from tests.worlds.world import World

NEVER_STORED = "no such key"


def stored(world: World, key: str, stream: str = "messages", connection: str | None = None) -> tuple[Any, ...] | None:
    """rid, version, at, deleted_at and data of a record's row."""
    with world.services.database.reading() as reading:
        place = reading.layout.place(connection or world.work, stream)
        assert place
        asked = "select rid, version, at, deleted_at, data from records where sid = ? and key = ?"
        return reading.one(asked, (place.sid, key))


def history(world: World, key: str) -> list[tuple[Any, ...]]:
    with world.services.database.reading() as reading:
        place = reading.layout.place(world.work, "messages")
        assert place
        asked = "select version, until, data from history where sid = ? and key = ? order by version"
        return reading.rows(asked, (place.sid, key))


def stream_row(world: World, stream: str = "messages") -> tuple[int, int]:
    """The number of the last change anywhere, and how many records the work account's stream has."""
    with world.services.database.reading() as reading:
        place = reading.layout.place(world.work, stream)
        assert place
        return reading.one("select clock.version, live from clock, streams where sid = ?", (place.sid,))


def found(world: World, words: str) -> list[str]:
    return [hit.id.key for hit in world.reader.search(SearchQuery(words)).value.hits]


def deliver(world: World, *records: Incoming) -> Receipt:
    return world.deliver(WORK, records)


def incoming(key: Any, data: dict[str, Any] | None, stream: str = "messages") -> Incoming:
    return Incoming("here", stream, key, data, chat.EMITTED_AT)


@requirement("store.keys.canonical")
def test_a_compound_key_is_the_short_list_of_its_strings(world: World) -> None:
    deliver(world, channel('a "b", c', 7, "Quotes"))

    assert stored(world, '["a \\"b\\", c","7"]', "channels") is not None


@requirement("store.keys.canonical")
def test_a_compound_key_may_be_given_as_list_or_as_its_string(world: World) -> None:
    data = {"team": "legal", "number": 9, "topic": "One"}

    receipt = deliver(
        world,
        incoming(("legal", "9"), data, "channels"),
        incoming('["legal","9"]', data, "channels"),
        incoming('[ "legal", 9 ]', data, "channels"),
        incoming(None, data, "channels"),
    )

    assert (receipt.accepted, receipt.unchanged, receipt.rejected) == (1, 3, ())


@pytest.mark.parametrize(
    "key", ["legal", '["legal"]', '["legal","9","x"]', '["legal",null]', '{"a":1}', '["legal",true]']
)
@requirement("store.keys.identity")
def test_a_compound_key_has_all_its_parts(key: str, world: World) -> None:
    receipt = deliver(world, incoming(key, {"team": "legal", "number": 9}, "channels"))

    assert [rejection.code for rejection in receipt.rejected] == ["invalid_record_identity"]


@requirement("store.keys.identity")
def test_a_key_that_its_data_contradicts_is_rejected(world: World) -> None:
    receipt = deliver(
        world, incoming("m8", {"id": "m9"}), incoming(("legal", "1"), {"team": "legal", "number": 2}, "channels")
    )

    assert [rejection.code for rejection in receipt.rejected] == ["invalid_record_identity"] * 2
    assert stored(world, "m8") is stored(world, "m9") is None


@pytest.mark.parametrize(
    "key",
    [
        "a/b",
        "..a",
        "a%2Fb",
        "%",
        '"quoted"',
        "'",
        "emoji 🦭",
        "京都",
        "a b",
        "a:b:c",
        "[1]",
        "<x>",
        "a\tb",
        "é" * 60,
        "`;,|",
    ],
)
@requirement("store.keys.reachable")
def test_every_key_that_is_accepted_can_be_fetched_by_its_handle(key: str, world: World) -> None:
    receipt = deliver(world, message(key, text="Here it is."))
    hit = world.reader.search(SearchQuery('"here it is"')).value.hits[0]

    id = parse(mint(hit.id))
    record = world.reader.fetch(FetchQuery(id.stream, id.key, id.connection_id)).value

    assert receipt.accepted == 1
    assert record.data["id"] == key


@pytest.mark.parametrize("key", ["", ".", "..", "a/..", "../a", "a/./b", "a\\..", "x" * 500, "é" * 300, "%" * 200])
@requirement("store.keys.reachable")
def test_a_key_that_no_handle_could_name_is_rejected(key: str, world: World) -> None:
    receipt = deliver(world, message(key))

    assert [rejection.code for rejection in receipt.rejected] == ["invalid_record_identity"]


def loose_notes(*primary_key: str) -> Declaration:
    """A source whose records need not repeat their key in their data."""
    stream: dict[str, Any] = {
        "name": "notes",
        "semantics": "mutable_state",
        "schema": {"type": "object", "properties": {name: {"type": "string"} for name in (*primary_key, "text")}},
        "primary_key": list(primary_key),
        "selection": {"fields": True, "resources": True},
    }
    source = {"kind": "connector", "id": "https://registry.pdpp.dev/connectors/notes"}
    return chat.decode_declaration({**chat.DOCUMENT, "source": source, "streams": [stream]})


@requirement("store.keys.reachable")
def test_a_nul_is_accepted_in_no_key_and_no_value(world: World) -> None:
    notes = world.owner.writer(loose_notes("id"), "Notes")

    receipt = notes.deliver([incoming("a\0b", {"text": "x"}, "notes")])
    receipt += deliver(world, message("m9", text="a\0b"), message("m8", reactions={"\0": 1}))

    assert [r.code for r in receipt.rejected] == ["invalid_record_identity", "invalid_record", "invalid_record"]


@pytest.mark.parametrize("key", ['["a",null]', '["a",true]', '["a",["b"]]', '["a",1.5]'])
@requirement("store.keys.identity", "store.keys.canonical")
def test_the_parts_of_a_key_are_strings_or_whole_numbers(key: str, world: World) -> None:
    notes = world.owner.writer(loose_notes("id", "part"), "Notes")

    receipt = notes.deliver([incoming(key, {"text": "x"}, "notes"), incoming('["a",7]', {"text": "x"}, "notes")])

    assert [r.code for r in receipt.rejected] == ["invalid_record_identity"]
    assert stored(world, '["a","7"]', "notes", notes.connection_id) is not None


@requirement("store.ingest.validated")
def test_a_record_that_breaks_its_schema_is_rejected_without_its_value_in_the_reason(world: World) -> None:
    receipt = deliver(world, message("m9", likes="a secret"), message("m8", text="Fine."))

    (rejection,) = receipt.rejected
    assert (rejection.place, rejection.code) == ("test:m9", "invalid_record")
    assert "likes" in rejection.reason
    assert "secret" not in rejection.reason
    assert receipt.accepted == 1


@requirement("store.ingest.validated")
def test_names_that_are_not_declared_are_words_of_the_record_too(world: World) -> None:
    document = deepcopy(chat.DOCUMENT)
    document["declaration_version"] = "2"
    schema = document["streams"][0]["schema"]
    schema["additionalProperties"] = schema["properties"]["reactions"]["additionalProperties"] = {"type": "integer"}
    writer = world.owner.writer(decode_declaration(document), WORK)

    receipt = writer.deliver([message("m8", reactions={"a secret": "x"}), message("m9", **{"a secret": "x"})])

    assert [rejection.reason for rejection in receipt.rejected] == [
        "reactions does not fit the declared `type`",
        "the record does not fit the declared `type`",
    ]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ({"reactions": orjson.loads('{"a":' * 150 + "1" + "}" * 150)}, "deeper"),
        ({"text": "x" * (17 << 20)}, "larger than 16 MiB"),
        ({"emitted": 1, "text": 5}, "text"),
    ],
    ids=["depth", "size", "type"],
)
@requirement("store.ingest.validated")
def test_a_record_that_is_too_much_is_rejected(data: dict[str, Any], reason: str, world: World) -> None:
    (rejection,) = deliver(world, message("m9", **data)).rejected

    assert rejection.code == "invalid_record"
    assert reason in rejection.reason


@pytest.mark.parametrize("emitted_at", ["yesterday", "2026-13-01", f"2026-01-01T00:00:00.{'0' * 1000}Z", ""])
@requirement("store.ingest.validated")
def test_a_time_that_is_none_is_rejected(emitted_at: str, world: World) -> None:
    receipt = deliver(world, Incoming("here", "messages", "m9", {"id": "m9"}, emitted_at))

    assert receipt.accepted == (emitted_at == "")  # none was given: it is now


@requirement("store.ingest.validated")
def test_whole_numbers_of_64_bits_are_kept_and_indexed(world: World) -> None:
    receipt = deliver(world, message("big", likes=2**64 - 1), message("small", likes=-(2**63)))

    assert receipt.accepted == 2
    assert world.reader.fetch(FetchQuery("messages", "big", world.work)).value.data["likes"] == 2**64 - 1


@requirement("store.ingest.idempotent")
def test_the_same_data_in_another_order_changes_nothing(world: World) -> None:
    data: dict[str, Any] = {"id": "m9", "text": "Hello", "reactions": {"a": 1, "b": [1, 2]}}
    deliver(world, incoming("m9", data))
    before = stream_row(world), stored(world, "m9")
    turned = {"reactions": {"b": [1, 2], "a": 1}, "text": "Hello", "id": "m9"}

    receipt = deliver(world, incoming("m9", turned))

    assert (receipt.accepted, receipt.unchanged) == (0, 1)
    assert (stream_row(world), stored(world, "m9")) == before


@requirement("store.ingest.append-only")
def test_an_append_only_record_is_never_replaced(world: World) -> None:
    receipt = deliver(world, channel("legal", 1, "Something else"), channel("legal", 1, "Everything about the lease"))

    assert (receipt.accepted, receipt.unchanged) == (0, 1)
    assert [(rejection.code, rejection.place) for rejection in receipt.rejected] == [("invalid_record", "test:channel")]
    record = world.reader.fetch(FetchQuery("channels", '["legal","1"]', world.work)).value
    assert record.data["topic"] == "Everything about the lease"


@requirement("store.versions.monotonic", "store.versions.history")
def test_each_change_takes_the_next_version_and_leaves_the_one_before_in_history(world: World) -> None:
    first, _ = stream_row(world)

    deliver(world, message("m9", text="one"))
    deliver(world, message("m9", text="one"))
    deliver(world, message("m9", text="two"), message("m8", text="other"))
    deliver(world, deletion("m9"))

    assert stream_row(world)[0] == first + 4
    assert [row[:2] for row in history(world, "m9")] == [(first + 1, first + 2), (first + 2, first + 4)]
    row = stored(world, "m9")
    assert row
    assert row[1] == first + 4


@requirement("store.versions.history")
def test_an_update_keeps_the_data_of_the_version_before(world: World) -> None:
    deliver(world, message("m9", text="one"))
    deliver(world, message("m9", text="two"))

    ((_, _, data),) = history(world, "m9")
    assert orjson.loads(data)["text"] == "one"


@requirement("store.deletes.tombstone")
def test_a_deletion_leaves_a_tombstone_with_its_time_and_no_data(world: World) -> None:
    deliver(world, message("m9", text="one"))
    deliver(world, message("m9", text="two"))
    version, live = stream_row(world)

    receipt = deliver(world, deletion("m9"), deletion("m9"), deletion(NEVER_STORED))

    row = stored(world, "m9")
    assert row
    assert (receipt.accepted, receipt.unchanged) == (1, 2)
    assert row[1:] == (version + 1, None, "2026-11-15T12:00:00.000Z", None)
    assert stream_row(world) == (version + 1, live - 1)
    assert [data for *_, data in history(world, "m9")] == [None, None]
    with pytest.raises(NotFound):
        world.reader.fetch(FetchQuery("messages", "m9", world.work))


@requirement("store.deletes.tombstone", "store.index.same-transaction")
@pytest.mark.parametrize("day", ["2026-03-01T10:00:00Z", "2026-09-01T10:00:00Z"], ids=["same day", "another day"])
def test_a_deleted_record_can_come_back(day: str, world: World) -> None:
    deliver(world, deletion("m1"))
    assert "m1" not in found(world, "draft")

    receipt = deliver(world, message("m1", text="The draft is back.", sent_at=day))

    assert receipt.accepted == 1
    assert found(world, "draft") == ["m1"]
    row = stored(world, "m1")
    assert row
    assert row[3] is None


@requirement("store.ingest.idempotent")
def test_the_same_key_twice_in_one_batch_ends_as_the_last(world: World) -> None:
    version, live = stream_row(world)

    receipt = deliver(
        world,
        message("m9", text="walnut"),
        message("m9", text="walnut"),
        deletion("m9"),
        message("m9", text="hazel"),
        message("m9", text="acorn", sent_at="2026-08-01T00:00:00Z"),
    )

    assert (receipt.accepted, receipt.unchanged) == (4, 1)
    assert stream_row(world) == (version + 4, live + 1)
    assert found(world, "walnut hazel acorn") == ["m9"]


@requirement("store.index.same-transaction")
def test_a_record_that_moves_to_another_day_is_found_once_and_by_its_new_words_only(world: World) -> None:
    before = stored(world, "m1")

    deliver(world, message("m1", text="Moved to June.", sent_at="2026-06-01T09:00:00Z"))

    after = stored(world, "m1")
    assert before
    assert after
    assert after[0] > before[0]
    assert found(world, "june") == ["m1"]
    assert "m1" not in [
        hit.id.key for hit in world.reader.search(SearchQuery("draft", connection_id=world.work)).value.hits
    ]


@requirement("store.index.same-transaction")
def test_an_acknowledged_record_is_found_at_once_and_a_changed_one_not_by_its_old_words(world: World) -> None:
    deliver(world, message("m9", subject="Alpenglow", text="first"))
    assert found(world, "alpenglow") == ["m9"]

    deliver(world, message("m9", subject="Driftwood", text="first"))

    assert found(world, "alpenglow") == []
    assert found(world, "driftwood") == ["m9"]


@requirement("store.index.same-transaction")
def test_a_record_that_changes_on_its_day_stays_where_it_lies(world: World) -> None:
    deliver(world, message("n1", text="First.", sent_at="2026-07-02T23:00:00Z"))
    before = stored(world, "n1")

    deliver(world, message("n2", text="Between.", sent_at="2026-07-02T22:00:00Z"))
    deliver(world, message("n1", text="Second.", sent_at="2026-07-02T01:00:00Z"))
    after = stored(world, "n1")

    assert before and after
    assert after[0] == before[0]
    assert "Second." in after[4]


def test_a_record_without_a_time_stays_where_it_came_when_it_changes(world: World) -> None:
    document: dict[str, Any] = deepcopy(chat.DOCUMENT) | {"declaration_version": "2"}
    document["streams"][1]["semantics"] = "mutable_state"
    writer = world.owner.writer(decode_declaration(document), WORK)
    first = channel("legal", 9, "One")._replace(emitted_at="2026-03-01T08:00:00Z")
    second = channel("legal", 9, "Two")._replace(emitted_at="2026-05-01T08:00:00Z")

    writer.deliver([first])
    before = stored(world, '["legal","9"]', "channels")
    writer.deliver([second])
    after = stored(world, '["legal","9"]', "channels")

    assert before and after and "Two" in after[4]
    assert (after[0], after[2]) == (before[0], before[2])


class Crash(Exception):
    pass


@pytest.mark.parametrize("step", ["drop_words", "add_words", "add_values", "add_positions"])
@requirement("store.ingest.atomic")
def test_a_failure_in_the_middle_of_a_batch_leaves_nothing(
    step: str, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = _everything(world)
    index = PostgresIndex if is_postgres() else SqliteIndex
    done = getattr(index, step)

    def broken_off(*given: Any) -> None:
        done(*given)
        raise Crash

    monkeypatch.setattr(index, step, broken_off)

    with pytest.raises(Crash):
        deliver(world, message("m1", text="Changed."), message("m9", text="New.", likes=1), deletion("m2"))
    monkeypatch.undo()

    assert _everything(world) == before
    assert deliver(world, message("m9", text="Alpenglow.")).accepted == 1
    assert found(world, "alpenglow") == ["m9"]


@requirement("store.ingest.atomic")
def test_a_batch_whose_source_breaks_off_leaves_nothing(world: World) -> None:
    def breaking() -> Iterator[Incoming]:
        yield message("m9", text="New.")
        raise Crash

    with pytest.raises(Crash):
        world.deliver(WORK, breaking())

    assert stored(world, "m9") is None


def _everything(world: World) -> list[Any]:
    with world.services.database.reading() as reading:
        tables = [
            reading.rows(f"select * from {table} order by 1, 2, 3")
            for table in ("records", "history", "field_values", "positions", "streams")
        ]
    return [*tables, *[found(world, word) for word in ("lease", "changed", "new", "key")]]


@requirement("store.erasure.index")
def test_the_words_of_a_deleted_record_stand_in_no_byte_of_the_database(world: World) -> None:
    secret, title = "qwertyzxcvb", "plokijuhyg"
    deliver(world, message("m9", text=f"The {secret} is here.", subject=title), message("m8", text=f"{secret} too"))
    deliver(world, message("m8", text="Other words."))
    deliver(world, deletion("m9"), deletion("m8"))

    world.services.database.truncate_wal()

    raw = bytes_of(world.home)
    assert secret.encode() not in raw
    assert title.encode() not in raw
    assert b"walrus" in raw  # it is the right file

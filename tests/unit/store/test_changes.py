"""Whoever applies the change feed has what a full read would show, whatever happened in between."""

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from pdpp_server.errors import CursorExpired, InvalidCursor
from pdpp_server.grants.permitted import Permitted, Scope
from pdpp_server.model.grants import Holder
from pdpp_server.model.ingest import Incoming
from pdpp_server.model.queries import RecordsQuery
from pdpp_server.model.records import Record, Tombstone
from pdpp_server.model.times import instant, iso
from pdpp_server.owner.writer import Writer
from pdpp_server.reads.services import Services, open_services
from pdpp_server.store.records import changes as module
from pdpp_server.store.records.changes import Changed, ChangeSpan, changes, open_session
from pdpp_server.store.records.scope import shows
from pdpp_server.store.upkeep.history import prune
from tests.requirements import requirement
from tests.worlds.chat import DECLARATION, EMITTED_AT, FAMILY, WORK, deletion, message
from tests.worlds.world import NOW, World, close

MESSAGES = DECLARATION.streams["messages"]
SHOWN = frozenset({"id", "subject", "sent_at", "reactions"})
BEFORE, MARCH, APRIL = "2026-02-28T23:00:00Z", "2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z"
IN_MARCH = "2026-03-05T09:00:00Z"

Key = tuple[str, str]  # connection id, key of the record
Data = dict[str, Any]


def permitted(*connections: str, **narrowing: Any) -> Permitted[RecordsQuery]:
    scope = Scope("grt", MESSAGES, connections, SHOWN, **narrowing)
    return Permitted(RecordsQuery("messages"), (scope,), Holder("client", "cli", (), {}))


def march(*connections: str) -> Permitted[RecordsQuery]:
    return permitted(*connections, since=instant(MARCH), until=instant(APRIL))


def page(services: Services, asked: Permitted[RecordsQuery], session: ChangeSpan, limit: int = 100) -> Changed:
    with services.database.reading() as reading:
        return changes(reading, asked, session, limit)


def session_since(services: Services, since: int) -> ChangeSpan:
    with services.database.reading() as reading:
        return open_session(reading, since)


def text_of(data: Mapping[str, Any]) -> bytes:
    """So that 1 and true are different."""
    return orjson.dumps(data, option=orjson.OPT_SORT_KEYS)


class Reader:
    """One client: what it holds, and what it must hold when its session ends."""

    def __init__(self, services: Services, asked: Permitted[RecordsQuery]) -> None:
        self.services, self.asked = services, asked
        self.held: dict[Key, bytes] = {}
        self.bookmark = 0
        self.session: ChangeSpan | None = None
        self.erased: set[Key] = set()  # since the session began

    def begin(self, records: Mapping[Key, Data]) -> ChangeSpan:
        self.held_before, self.seen = dict(self.held), set[Key]()
        self.erased_before, self.erased = self.erased, set()
        self.expected = {key: text for key, data in records.items() if (text := self.visible(key, data))}
        return session_since(self.services, self.bookmark)

    def visible(self, key: Key, data: Data) -> bytes | None:
        (scope,) = self.asked.scopes
        if key[0] in scope.connections and shows(scope, key[1], instant(data.get("sent_at"))):
            return text_of({name: value for name, value in data.items() if name in scope.fields})
        return None

    def read(self, records: Mapping[Key, Data], limit: int) -> None:
        session = self.session or self.begin(records)
        try:
            changed = page(self.services, self.asked, session, limit)
        except CursorExpired:
            assert self.bookmark or self.session, "the first page from the beginning always works"
            self.held, self.bookmark, self.session = {}, 0, None
            return
        versions = [change.version for change in changed.changes]
        assert versions == sorted(set(versions)) and len(versions) <= limit
        assert all(session.after < version <= session.horizon for version in versions)
        for change in changed.changes:
            self.apply(change.entry)
        if changed.has_more:
            self.session = session._replace(after=versions[-1])
            assert page(self.services, self.asked, self.session, 1).changes, "more was promised"
        else:
            self.end(session.horizon)

    def apply(self, entry: Record | Tombstone) -> None:
        key = (entry.id.connection_id, entry.id.key)
        assert key not in self.seen, "one entry for each record"
        self.seen.add(key)
        was_erased = key in self.erased | self.erased_before
        if isinstance(entry, Tombstone):
            assert key in self.held_before or was_erased
            self.held.pop(key, None)
        else:
            assert self.held_before.get(key) != text_of(entry.data) or was_erased, "nothing visible changed"
            self.held[key] = text_of(entry.data)

    def end(self, horizon: int) -> None:
        """What was erased while the session went on cannot be shown any more; the next session tells of it."""
        held = {key: text for key, text in self.held.items() if key not in self.erased}
        assert held == {key: text for key, text in self.expected.items() if key not in self.erased}
        self.bookmark, self.session = horizon, None


KEYS = st.sampled_from(["a", "b", "c", "d"])
ACCOUNTS = st.sampled_from([WORK, FAMILY])
TIMES = st.sampled_from([BEFORE, MARCH, IN_MARCH, "2026-03-31T23:59:59Z", APRIL, "2026-04-01T09:00:00Z", None])
VALUES = st.fixed_dictionaries(
    {"sent_at": TIMES},
    optional={
        "subject": st.sampled_from(["Lease", "Lunch"]),
        "reactions": st.sampled_from([{"n": 1}, {"n": 1.0}, {"n": True}]),
        "author": st.sampled_from(["Ada", "Ben"]),  # hidden
    },
)


class Feed(RuleBasedStateMachine):
    """Writes, deletions, pruning and three readers of different grants, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        self.services = open_services(Path(self.folder.name), now=lambda: NOW)
        self.writers = {name: Writer(self.services, DECLARATION, name) for name in (WORK, FAMILY)}
        both = [writer.connection_id for writer in self.writers.values()]
        grants = [permitted(*both), march(*both), permitted(both[0], resources=frozenset({"a", "b"}))]
        self.readers = [Reader(self.services, asked) for asked in grants]
        self.records: dict[Key, Data] = {}

    @rule(account=ACCOUNTS, key=KEYS, values=VALUES)
    def write(self, account: str, key: str, values: Data) -> None:
        data = {"id": key} | {name: value for name, value in values.items() if value is not None}
        self.deliver(account, Incoming("here", "messages", None, data, EMITTED_AT))
        self.records[self.writers[account].connection_id, key] = data

    @rule(account=ACCOUNTS, key=KEYS)
    def delete(self, account: str, key: str) -> None:
        self.deliver(account, deletion(key))
        place = (self.writers[account].connection_id, key)
        if self.records.pop(place, None):
            for reader in self.readers:
                reader.erased.add(place)

    def deliver(self, account: str, incoming: Incoming) -> None:
        assert not self.writers[account].deliver([incoming]).rejected

    @rule(which=st.integers(0, 2), limit=st.integers(1, 5))
    def read(self, which: int, limit: int) -> None:
        self.readers[which].read(self.records, limit)

    @rule(keep=st.integers(5, 20))
    def prune(self, keep: int) -> None:
        with self.services.database.writing() as writer:
            prune(writer, keep)

    @invariant()
    def the_clock_is_the_newest_version(self) -> None:
        with self.services.database.reading() as reading:
            newest = reading.one("select max(version) from records") or 0
            assert reading.one("select version from clock") == newest

    def teardown(self) -> None:
        close(self.services)
        self.folder.cleanup()


@requirement("store.changes.converge")
def test_whoever_applies_the_feed_has_what_a_full_read_would_show() -> None:
    run_state_machine_as_test(Feed, settings=settings(max_examples=60, stateful_step_count=40, deadline=None))


# One thing at a time ----------------------------------------------------------------------------------------------


def entries(world: World, asked: Permitted[RecordsQuery], session: ChangeSpan) -> list[Record | Tombstone]:
    return [change.entry for change in page(world.services, asked, session).changes]


def deliver(world: World, *records: Incoming) -> None:
    assert not world.deliver(WORK, records).rejected


def emitted(incoming: Incoming, at: str) -> Incoming:
    return incoming._replace(emitted_at=at)


def bookmark(world: World) -> int:
    return session_since(world.services, 0).horizon


def test_a_tombstone_of_a_deletion_tells_when_it_was_deleted_and_emitted(world: World) -> None:
    since = bookmark(world)
    deliver(world, emitted(deletion("m1"), "2026-11-15T08:00:00Z"))

    (gone,) = entries(world, permitted(world.work), session_since(world.services, since))

    assert isinstance(gone, Tombstone)
    assert (gone.emitted_at, gone.deleted_at) == ("2026-11-15T08:00:00Z", iso(NOW))


def test_what_happens_to_a_record_after_it_left_the_window_is_not_told(world: World) -> None:
    since = bookmark(world)
    deliver(world, emitted(message("m1", sent_at=APRIL), "2026-11-15T08:00:00Z"))
    deliver(world, emitted(message("m1", sent_at=APRIL, likes=4), "2026-11-15T09:00:00Z"))
    deliver(world, emitted(deletion("m1"), "2026-11-15T10:00:00Z"))

    (gone,) = entries(world, march(world.work), session_since(world.services, since))

    assert isinstance(gone, Tombstone)
    assert (gone.emitted_at, gone.deleted_at) == ("2026-11-15T08:00:00Z", "2026-11-15T08:00:00Z")


def test_a_record_changed_after_the_first_page_is_shown_as_it_was_then(world: World) -> None:
    session = session_since(world.services, 0)
    deliver(world, emitted(message("m1", subject="Later", sent_at=IN_MARCH), "2026-11-15T08:00:00Z"))

    shown = {entry.id.key: entry for entry in entries(world, permitted(world.work), session)}

    assert isinstance(first := shown["m1"], Record)
    assert (first.data["subject"], first.emitted_at) == ("Lease draft", EMITTED_AT)


def test_a_record_erased_after_the_first_page_is_told_of_in_the_next_session(world: World) -> None:
    since = bookmark(world)
    deliver(world, message("m1", subject="New", sent_at=IN_MARCH))
    session = session_since(world.services, since)
    deliver(world, deletion("m1"))

    assert entries(world, permitted(world.work), session) == []
    (gone,) = entries(world, permitted(world.work), session_since(world.services, session.horizon))
    assert isinstance(gone, Tombstone)


def test_one_and_true_are_different_values(world: World) -> None:
    deliver(world, message("m1", reactions={"seen": 1}))
    since = bookmark(world)
    deliver(world, message("m1", reactions={"seen": True}))

    assert len(entries(world, permitted(world.work), session_since(world.services, since))) == 1


def test_a_bookmark_from_the_future_is_no_bookmark_of_this_store(world: World) -> None:
    with pytest.raises(InvalidCursor):
        page(world.services, permitted(world.work), session_since(world.services, bookmark(world) + 1))


def changed_three_times(world: World) -> int:
    """A bookmark, and three changes of one record behind it."""
    since = bookmark(world)
    for subject in ("one", "two", "three"):
        deliver(world, message("m1", subject=subject, sent_at=IN_MARCH))
    return since


def pruned(world: World, keep: int) -> int:
    """How many superseded versions are left."""
    with world.services.database.writing() as writer:
        prune(writer, keep)
        return writer.one("select count(*) from history")


@requirement("store.changes.retention")
def test_history_is_kept_for_the_last_changes_and_bookmarks_within_them_stay_good(world: World) -> None:
    since = changed_three_times(world)

    assert [pruned(world, keep) for keep in (0, 3, 2)] == [3, 3, 2]

    with pytest.raises(CursorExpired):
        entries(world, permitted(world.work), session_since(world.services, since))
    (changed,) = entries(world, permitted(world.work), session_since(world.services, since + 1))
    assert isinstance(changed, Record) and changed.data["subject"] == "three"
    assert entries(world, permitted(world.family), session_since(world.services, since)) == []


@requirement("store.changes.retention")
def test_a_session_from_the_beginning_ends_when_its_horizon_is_pruned(world: World) -> None:
    session = session_since(world.services, 0)
    changed_three_times(world)
    pruned(world, 1)

    with pytest.raises(CursorExpired):
        entries(world, permitted(world.work), session)
    assert len(entries(world, permitted(world.work), session_since(world.services, 0))) == 5


@requirement("store.changes.retention")
def test_an_import_prunes_by_the_limit_of_the_server(world: World) -> None:
    world.services.change_history_limit = 1
    changed_three_times(world)

    world.owner.writer(DECLARATION, WORK).finish("chat.ndjson", [])

    with world.services.database.reading() as reading:
        assert reading.one("select count(*) from history") == 1


STATEMENTS = (
    *(module._PRESENT_IN_RANGE, module._PRESENT_OF_KEYS, module._PAST_ANYWHERE, module._PAST_OF_KEYS),
    module._STATES,
)


@pytest.mark.sqlite("reads the plans of SQLite")
@pytest.mark.parametrize("statement", STATEMENTS)
def test_no_statement_of_the_feed_walks_a_whole_table_or_stream(world: World, statement: str) -> None:
    values = {
        "sid": 1,
        "since": 1,
        "edge": 1,
        "horizon": 9,
        "chunk": 10,
        "low": 0,
        "high": 1,
        "keys": "[]",
        "key": "m1",
    }

    with world.services.database.reading() as reading:
        plan = reading.rows("explain query plan " + statement, values)

    steps = [str(step) for *_, step in plan]
    assert not any(step.startswith("SCAN") and "json_each" not in step for step in steps)
    assert not any(step.endswith("(sid=?)") for step in steps)

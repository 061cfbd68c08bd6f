"""Writes, erasures, grants, revocations, reads, crashes, in any order: every read equals the model."""

import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from pdpp_server.errors import CursorExpired, GrantRevoked, InvalidCursor, NotFound
from pdpp_server.model.ingest import Incoming, Target
from pdpp_server.model.queries import (
    BEGINNING,
    AggregateQuery,
    FetchQuery,
    RecordsQuery,
    SchemaQuery,
    SearchQuery,
)
from pdpp_server.model.records import Record, RecordPage
from pdpp_server.owner.desk import Owner
from pdpp_server.port.local import LocalReader
from pdpp_server.reads.deletes import delete_records
from pdpp_server.reads.services import Call, Services, open_services
from pdpp_server.store.records.ingest import deliver, desks
from pdpp_server.wire.grants import decode_selection
from tests.crash.agree import disagreements
from tests.crash.agree_postgres import disagreements_in_share
from tests.engine.beneath import is_postgres
from tests.model.plain import DECLARATION, STREAM, Data, Following, Grant, Name, Paging, details
from tests.requirements import requirement
from tests.worlds.beneath import connection_of
from tests.worlds.chat import EMITTED_AT, FAMILY, WORK, deletion
from tests.worlds.told import ToldReader
from tests.worlds.world import NOW, close

BOUNDED = settings(
    max_examples=60,
    stateful_step_count=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
LONG = settings(BOUNDED, max_examples=600, stateful_step_count=80, derandomize=False)
IN_MEMORY = "/dev/shm"  # waiting for a disk would be most of the time, and a copy of files shows the same there
GRANTS_MAX = 4
WORDS = ["lease", "walrus", "lunch", "kyoto"]
FIELDS = ["subject", "text", "sent_at", "likes", "author"]

ACCOUNTS = st.sampled_from([WORK, FAMILY])
KEYS = st.sampled_from([*"abcdefghij", "k/l", "ü"])
TIMES = st.sampled_from(
    [
        "2026-02-28T23:59:59Z",
        "2026-03-01T00:00:00Z",
        "2026-03-05T09:00:00Z",
        "2026-03-05T18:00:00+02:00",
        "2026-04-01T00:00:00Z",
    ]
)
TEXTS = st.lists(st.sampled_from(WORDS), max_size=3).map(" ".join)
DATA = st.fixed_dictionaries(
    {},
    optional={"sent_at": TIMES, "subject": TEXTS, "text": TEXTS, "likes": st.integers(0, 2), "author": st.just("Ada")},
)
BATCHES = st.lists(st.tuples(KEYS, DATA), min_size=1, max_size=5)
WINDOWS = st.sampled_from(
    [
        (None, None),
        (None, None),
        ("2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z"),
        ("2026-03-05T07:00:00Z", None),
        (None, "2026-03-05T12:00:00Z"),
    ]
)
LIMITS = st.integers(1, 6)
ANY = st.integers(0, 100)


class Home(RuleBasedStateMachine):
    """The real home, and `records` beside it."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory(dir=IN_MEMORY if Path(IN_MEMORY).is_dir() else None)
        self.lives = 0
        self.records: dict[Name, Data] = {}
        self.ids: dict[str, str] = {}
        self.grants: list[Grant] = []
        self.revoked: list[Grant] = []
        self.paging: list[Paging] = []
        self.following: list[Following] = []
        self.open(self.home)

    @property
    def home(self) -> Path:
        return Path(self.folder.name) / f"life{self.lives}"

    def open(self, home: Path) -> None:
        self.services: Services = open_services(home, now=lambda: NOW)
        self.owner = Owner(self.services, home)

    def reader(self, grant: Grant) -> ToldReader:
        return ToldReader(LocalReader(self.services, grant.token))

    # writing

    @initialize(batch=st.lists(st.tuples(KEYS, DATA), min_size=8, max_size=16))
    def begin(self, batch: list[tuple[str, Data]]) -> None:
        for account in (WORK, FAMILY):
            self.ingest(account, batch)
        self.grant("all", {*FIELDS}, (None, None))
        self.grant("first", {"subject", "sent_at"}, ("2026-03-01T00:00:00Z", None))

    @rule(account=ACCOUNTS, batch=BATCHES)
    def ingest(self, account: str, batch: list[tuple[str, Data]]) -> None:
        writer = self.owner.writer(DECLARATION, account)
        self.ids[account] = writer.connection_id
        receipt = writer.deliver([_incoming(key, data) for key, data in batch])
        before = dict(self.records)
        for key, data in batch:
            self.records[writer.connection_id, key] = {"id": key, **data}
        assert not receipt.rejected
        assert receipt.accepted + receipt.unchanged == len(batch)
        if receipt.accepted == 0:
            assert self.records == before
        self.changed()

    @rule(account=ACCOUNTS)
    def ingest_the_same_again(self, account: str) -> None:
        mine = {key: data for (id, key), data in self.records.items() if id == self.ids.get(account)}
        if mine:
            receipt = self.owner.writer(DECLARATION, account).deliver(
                [_incoming(key, data) for key, data in mine.items()]
            )
            assert (receipt.accepted, receipt.unchanged) == (0, len(mine))

    @rule(account=ACCOUNTS, keys=st.lists(KEYS, min_size=1, max_size=3))
    def delete(self, account: str, keys: list[str]) -> None:
        if account in self.ids:
            self.owner.writer(DECLARATION, account).deliver([deletion(key) for key in keys])
            for key in keys:
                self.records.pop((self.ids[account], key), None)
            self.changed()

    @rule(account=ACCOUNTS, with_its_connection=st.booleans())
    def erase(self, account: str, with_its_connection: bool) -> None:
        if with_its_connection and len(self.ids) > 1:
            self.owner.remove_source(self.ids[account])
            self.forget(self.ids.pop(account))
        elif account in self.ids:
            token, _ = self.owner.owner_token(days=1)
            delete_records(self.services, Call(token, "req_test"), Target("chat", self.ids[account]), STREAM)
            self.forget(self.ids[account])

    def forget(self, connection_id: str) -> None:
        self.records = {name: data for name, data in self.records.items() if name[0] != connection_id}
        for client in self.following:
            client.may_expire |= connection_id in client.grant.connections
        for client in self.paging:
            client.may_be_lost |= connection_id in client.grant.connections
        self.changed()

    def changed(self) -> None:
        for client in self.paging:
            client.look_again(self.records)

    # grants

    @precondition(lambda self: len(self.grants) < GRANTS_MAX)
    @rule(which=st.sampled_from(["first", "last", "all"]), fields=st.sets(st.sampled_from(FIELDS)), window=WINDOWS)
    def grant(self, which: str, fields: set[str], window: tuple[str | None, str | None]) -> None:
        ids = tuple(self.ids.values())
        chosen = {"first": ids[:1], "last": ids[-1:], "all": ids}[which]
        issued = self.owner.create_grant(decode_selection([details(chosen, {"id", *fields}, *window)]), "Agent", None)
        grant = Grant(issued.grant_id, issued.token, chosen, frozenset({"id", *fields}), *window)
        self.grants.append(grant)
        self.following.append(Following(grant))

    @precondition(lambda self: self.grants)
    @rule(which=ANY)
    def revoke(self, which: int) -> None:
        grant = self.grants.pop(which % len(self.grants))
        self.owner.revoke(grant.grant_id)
        self.revoked.append(grant)
        self.paging = [client for client in self.paging if client.grant is not grant]
        self.following = [client for client in self.following if client.grant is not grant]

    # reading

    @rule(ascending=st.booleans(), limit=LIMITS)
    def read_all_pages(self, ascending: bool, limit: int) -> None:
        for grant in self.grants:
            read = self.read_to_the_end(grant, RecordsQuery(STREAM, ascending=ascending, limit=limit))
            assert list(read) == grant.in_order(self.records, ascending=ascending)
            assert read == grant.of(self.records)

    def read_to_the_end(self, grant: Grant, query: RecordsQuery) -> dict[Name, Data]:
        page = self.reader(grant).query_records(query).value
        if page.next_cursor is None:
            return _shown(page)
        return _shown(page) | self.read_to_the_end(grant, replace(query, cursor=page.next_cursor))

    @precondition(lambda self: self.grants and len(self.paging) < 4)
    @rule(which=ANY, ascending=st.booleans(), limit=LIMITS)
    def begin_paging(self, which: int, ascending: bool, limit: int) -> None:
        grant = self.grants[which % len(self.grants)]
        shown = grant.of(self.records)
        client = Paging(grant, ascending, {name: grant.order(name, data) for name, data in shown.items()})
        self.paging.append(client)
        self.turn(client, limit)

    @precondition(lambda self: self.paging)
    @rule(which=ANY, limit=LIMITS)
    def next_page(self, which: int, limit: int) -> None:
        self.turn(self.paging[which % len(self.paging)], limit)

    def turn(self, client: Paging, limit: int) -> None:
        query = RecordsQuery(STREAM, ascending=client.ascending, limit=limit, cursor=client.cursor)
        try:
            page = self.reader(client.grant).query_records(query).value
        except InvalidCursor:
            assert client.may_be_lost
            self.paging.remove(client)
            return
        shown = _shown(page)
        everything = client.grant.in_order(self.records, ascending=client.ascending)
        places = [everything.index(name) for name in shown]
        assert places == list(range(places[0], places[0] + len(places))) if places else True
        client.seen += shown
        client.cursor = page.next_cursor
        if page.next_cursor is None:
            client.require_each_once()
            self.paging.remove(client)

    @rule(word=st.sampled_from(WORDS))
    def search(self, word: str) -> None:
        for grant in self.grants:
            hits = self.reader(grant).search(SearchQuery(word, limit=100)).value.hits
            assert len(hits) == len({hit.id for hit in hits})
            matched = {(hit.id.connection_id, hit.id.key) for hit in hits if hit.matched_fields}
            assert matched == grant.matching(self.records, word)
            assert {(hit.id.connection_id, hit.id.key) for hit in hits} <= grant.of(self.records).keys()

    @rule(key=KEYS)
    def fetch(self, key: str) -> None:
        for grant in self.grants:
            shown = grant.of(self.records)
            for connection_id in grant.connections:
                query = FetchQuery(STREAM, key, connection_id)
                if (connection_id, key) in shown:
                    assert self.reader(grant).fetch(query).value.data == shown[connection_id, key]
                else:
                    with pytest.raises(NotFound):
                        self.reader(grant).fetch(query)

    @precondition(lambda self: self.following)
    @rule(which=ANY, limit=LIMITS)
    def follow(self, which: int, limit: int) -> None:
        self.hear(self.following[which % len(self.following)], limit)

    @rule(limit=LIMITS)
    def catch_up(self, limit: int) -> None:
        """To the end of the session that is open, then through one that sees this very moment."""
        for client in self.following:
            for _ in range(3):
                while not self.hear(client, limit):
                    pass
            assert client.held == client.grant.of(self.records)

    def hear(self, client: Following, limit: int) -> bool:
        """One page of what changed; whether it was the last."""
        since = None if client.cursor else client.bookmark or BEGINNING
        query = RecordsQuery(STREAM, changes_since=since, cursor=client.cursor, limit=limit)
        try:
            page = self.reader(client.grant).query_records(query).value
        except CursorExpired:
            assert client.may_expire
            client.begin_again()
            return False
        for entry in page.records:
            name = (entry.id.connection_id, entry.id.key)
            if isinstance(entry, Record):
                client.held[name] = entry.data
            else:
                client.held.pop(name, None)
        client.cursor = page.next_cursor
        if page.next_cursor is None:
            client.bookmark = page.next_changes_since
        return page.next_cursor is None

    # crashes

    @rule(
        how=st.sampled_from(["politely", "between transactions", "in a transaction"]), account=ACCOUNTS, batch=BATCHES
    )
    def end(self, how: str, account: str, batch: list[tuple[str, Data]]) -> None:
        """What a killed process leaves is its files, or what it committed; nothing is closed or folded."""
        if how == "politely":
            close(self.services)
            self.open(self.home)
        elif how == "in a transaction" and account in self.ids:
            self.wake_up_from(self.left_behind_while_writing(account, batch))
        else:
            self.wake_up_from(self.left_behind())

    def left_behind_while_writing(self, account: str, batch: list[tuple[str, Data]]) -> Path:
        database = self.services.database
        try:
            with database.writing() as writer:
                place = database.layouts.of(writer).connections[self.ids[account]]
                desk = desks(DECLARATION, place)[STREAM]
                deliver(writer, desk, [_incoming(key, data) for key, data in batch], "2026-11-15T12:00:00.000Z")
                if not is_postgres():
                    connection_of(writer).cache_flush()  # or a transaction this small would leave nothing behind
                raise _Killed(self.left_behind())
        except _Killed as killed:
            return killed.copy

    def left_behind(self) -> Path:
        if is_postgres():
            return self.home  # where nothing is missed; what was not committed went with the connection
        copy = Path(self.folder.name) / f"life{self.lives + 1}"
        shutil.copytree(self.home, copy)
        return copy

    def wake_up_from(self, copy: Path) -> None:
        close(self.services)
        if copy != self.home:
            shutil.rmtree(self.home)
            self.lives += 1
        assert disagreements_in(copy) == []
        self.open(copy)

    # always

    @invariant()
    def every_count_is_the_models(self) -> None:
        for grant in self.grants:
            shown = grant.of(self.records)
            assert self.counted_by_schema(grant) == Counter(name[0] for name in shown)
            page = self.reader(grant).query_records(RecordsQuery(STREAM, count=True, limit=1)).value
            assert page.count == len(shown)
            assert self.counted_in_all(grant) == len(shown)
            if "likes" in grant.fields:
                assert self.counted_by(grant, group_by="likes") == Counter(data.get("likes") for data in shown.values())
            if "sent_at" in grant.fields:
                by_day = self.counted_by(grant, group_by_time="sent_at", granularity="month")
                assert by_day.total() == len(shown)

    def counted_by_schema(self, grant: Grant) -> Counter[str]:
        entries = self.reader(grant).schema(SchemaQuery()).value.entries
        return Counter({h.origin.connection_id: h.records for entry in entries for h in entry.holdings if h.records})

    def counted_in_all(self, grant: Grant) -> object:
        return self.reader(grant).aggregate(AggregateQuery(STREAM)).value.value

    def counted_by(self, grant: Grant, **by: Any) -> Counter[Any]:
        found = self.reader(grant).aggregate(AggregateQuery(STREAM, limit=100, **by)).value
        assert found.groups is not None and found.other_count == 0
        return Counter({group.key: group.count for group in found.groups})

    @invariant()
    def a_revoked_grant_reads_nothing(self) -> None:
        for grant in self.revoked[-2:]:
            reader = self.reader(grant)
            for ask in (
                lambda reader=reader: reader.schema(SchemaQuery()),
                lambda reader=reader: reader.query_records(RecordsQuery(STREAM)),
                lambda reader=reader: reader.search(SearchQuery("lease")),
            ):
                with pytest.raises(GrantRevoked):
                    ask()

    def teardown(self) -> None:
        close(self.services)
        found = disagreements_in(self.home)
        self.folder.cleanup()
        assert found == []


def disagreements_in(home: Path) -> list[str]:
    return disagreements_in_share(home) if is_postgres() else disagreements(home / "pdpp.sqlite")


class _Killed(Exception):
    def __init__(self, copy: Path) -> None:
        super().__init__(copy)
        self.copy = copy


def _incoming(key: str, data: Data) -> Incoming:
    return Incoming("here", STREAM, None, {"id": key, **data}, EMITTED_AT)


def _shown(page: RecordPage) -> dict[Name, Data]:
    return {
        (record.id.connection_id, record.id.key): record.data for record in page.records if isinstance(record, Record)
    }


@requirement("store.model.any-order")
def test_a_home_shows_what_the_model_shows_whatever_was_done() -> None:
    run_state_machine_as_test(Home, settings=BOUNDED)


@pytest.mark.soak
@requirement("store.model.any-order")
def test_a_home_shows_what_the_model_shows_for_a_long_time() -> None:
    run_state_machine_as_test(Home, settings=LONG)

"""Somebody who asks all the time, somebody else who writes, and one who has just begun: do both read the same?"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from datetime import timedelta
from itertools import chain, islice
from pathlib import Path
from random import Random
from typing import Any, cast

import apsw
import pytest
from starlette.testclient import TestClient

from pdpp_server.errors import NotFound, PdppError
from pdpp_server.model.ingest import Target
from pdpp_server.model.queries import RecordsQuery, SearchQuery
from pdpp_server.model.sources import Source
from pdpp_server.model.times import iso
from pdpp_server.owner.changes import selection_of
from pdpp_server.owner.desk import Owner
from pdpp_server.owner.meaning import MeaningDesk
from pdpp_server.owner.own_reader import OwnReader
from pdpp_server.port.local import LocalReader
from pdpp_server.reads.deletes import delete_record, delete_records
from pdpp_server.reads.services import Call, Services, open_services
from pdpp_server.store.opened import open_database
from pdpp_server.store.records import runs
from pdpp_server.store.records.ingest import desk_of
from pdpp_server.store.upkeep.history import prune
from pdpp_server.store.upkeep.rebuild import rebuild_words
from pdpp_server.store.upkeep.recount import recount
from pdpp_server.wire.declarations import decode_declaration
from pdpp_server.wire.grants import decode_selection
from tests.engine.beneath import is_postgres, rows_in
from tests.two_worlds.ask import DOORS, Asked, Side, Tooled, calls
from tests.two_worlds.plan import Arrival, Json, Plan, plan
from tests.worlds.lives import PATIENCE
from tests.worlds.meant import put_model
from tests.worlds.told import ToldReader
from tests.worlds.world import Clock, close

FIRST, BATCH = 12, 4  # arrivals before the first question; and at once, afterwards
ASKED_EACH, PAGES = 6, 2  # questions after each write; pages of each
READERS_MAX = 5
ROLES = (None, "primary-title", "primary-body", "actor", "secondary")
DAMAGE = (
    "update streams set live = live + 1",
    "update days set live = live + 1",
    "delete from words_docsize where id % 2 = 0",
    "delete from field_values where rid % 2 = 0",
    "delete from positions where rid % 2 = 0",
)
Write = Callable[["Home"], None]


class AnotherAnswer(AssertionError):
    """What was asked before shows."""


class Home:
    """One home: `reading` stays open, `writing` is as another process; both on one clock."""

    def __init__(self, seed: int, folder: Path, *, is_heavy: bool = False) -> None:
        self.made: Plan = plan(seed, is_heavy=is_heavy)
        self.folder, self.random, self.clock = folder, Random(seed), Clock()
        self.document: Json = deepcopy(self.made.document)
        self.versions = 0
        folder.mkdir(parents=True, exist_ok=True)
        put_model(folder)
        self.reading, self.writing = self.open(), self.open()
        self.tokens: list[str] = []
        self.grants: list[str] = []
        lives = (*self.made.lives, *self.made.afterwards)
        self.arrivals: Iterator[Arrival] = chain.from_iterable(life.arrivals for life in lives)
        self.names = sorted({name for life in lives for name in life.connections})
        self.asked: list[tuple[str, str, Asked]] = []
        self.tally: Counter[str] = Counter()

    def open(self) -> Services:
        """However busy the machine is, no read takes too long."""
        database = open_database(self.folder, read_seconds=PATIENCE)
        return open_services(self.folder, now=self.clock, keep_asked=False, database=database)

    def close(self) -> None:
        close(self.reading)
        close(self.writing)

    @property
    def owner(self) -> Owner:
        return Owner(self.writing, self.folder)

    @property
    def declaration(self) -> Any:
        return decode_declaration(self.document)

    def ids(self) -> dict[str, str]:
        return {source.name or "": source.connection_id for source in self.owner.sources()}

    # asking

    def compare(self, where: str) -> None:
        """The same questions, new ones and such as were asked before, of the one who stays and of one who comes new."""
        for token, door, query in [*self._questions()]:
            self._compare_pages(f"{where}: {token[:6]} by {door}", token, door, query)

    def _questions(self) -> Iterator[tuple[str, str, Asked]]:
        new = [query for query in calls(self.made, self.random, ASKED_EACH * 2) if isinstance(query, Tooled)]
        for query in self.random.sample(new, min(ASKED_EACH, len(new))):
            self.asked.append((self.random.choice(self.tokens), self.random.choice(("port", "tool")), query))
            yield self.asked[-1]
        for _ in range(ASKED_EACH):
            yield self.random.choice(self.asked[-60:])

    def _compare_pages(self, where: str, token: str, door: str, query: Asked) -> None:
        for _ in range(PAGES):
            new = self.open()
            try:
                told, cursor = self.ask(self.reading, token, door, query)
                expected, _ = self.ask(new, token, door, query)
            finally:
                close(new)
            if told != expected:
                raise AnotherAnswer(f"{where}: {query}\n{told!r}\n{expected!r}")
            self._count(query, told)
            if cursor is None or not isinstance(query, SearchQuery | RecordsQuery):
                return
            query = replace(query, cursor=cursor)

    def ask(self, services: Services, token: str, door: str, query: Asked) -> tuple[bytes, str | None]:
        """The first token is the owner's own, which agents are never given."""
        reader = (OwnReader if token == self.tokens[0] else LocalReader)(services, token)
        return DOORS[door](Side(self.folder, services, ToldReader(reader), cast("TestClient", None), {}), query)

    def _count(self, query: Asked, told: bytes) -> None:
        self.tally["compared"] += 1
        self.tally["refused"] += b"error" in told[:40] or told.startswith(b"('")
        self.tally["hits"] += isinstance(query, SearchQuery) and (b"<mark>" in told or b"score=" in told)
        self.tally[type(query).__name__] += 1


# Writes -----------------------------------------------------------------------------------------------------------


def deliver(home: Home) -> None:
    """What arrives next: records that are new, changed or deleted; visible ones and others."""
    for arrival in islice(home.arrivals, BATCH):
        writer = home.owner.writer(home.declaration, arrival.connection)
        if arrival.run:
            writer.finish_import(("export",), [], complete=arrival.run.complete)
        else:
            writer.deliver(event.incoming() for event in arrival.events)


def edit(home: Home) -> None:
    """Records take the values of others."""
    one, other = home.random.choice(home.made.visible), home.random.choice(home.made.visible)
    assert one.data is not None
    same = {name: one.data[name] for name in home.made.streams[one.stream].key}
    told = replace(one, data={**one.data, **(other.data or {}), **same} if one.stream == other.stream else one.data)
    home.owner.writer(home.declaration, one.connection).deliver([told.incoming()])


def delete(home: Home) -> None:
    event = home.random.choice(home.made.visible)
    if target := _target(home, event.connection):
        delete_record(home.writing, _call(home), target, event.stream, event.key_text)


def erase_stream(home: Home) -> None:
    if target := _target(home, home.random.choice(home.names)):
        delete_records(home.writing, _call(home), target, home.random.choice(sorted(home.made.streams)))


def remove_source(home: Home) -> None:
    ids = home.ids()
    if len(ids) > 1:
        home.owner.remove_source(ids[home.random.choice(sorted(ids))])


def rename_source(home: Home) -> None:
    """There and back, as names are how the test finds them."""
    name, id = home.random.choice(sorted(home.ids().items()))
    home.owner.rename_source(id, "for a while")
    home.compare("while a source is renamed")
    home.owner.rename_source(id, name)


def remove_and_bring_back(home: Home) -> None:
    """A newer export has some records no longer; then the owner takes that back."""
    name, id = home.random.choice(sorted(home.ids().items()))
    stream = home.random.choice(sorted(home.made.streams))
    writer = home.owner.writer(home.declaration, name)
    run = writer.begin_run("export")
    mark = writer.open_collection(run, "all", None)
    with home.writing.database.write(iso(home.clock())) as write:
        desk = desk_of(home.declaration, write.layout.connections[id], stream)
        found = write.rows("select key from records where sid = ? and data is not null order by key", (desk.place.sid,))
        runs.remove_keys(write, desk, mark, [key for (key,) in found[::2]], write.now)
    home.compare("while a run has removed something")
    with suppress(NotFound):
        home.owner.undo_import(run)


def declare_anew(home: Home) -> None:
    """Other roles, other fields in which words and meaning are looked for, other ranges, one more field."""
    home.versions += 1
    home.document["declaration_version"] = f"{home.made.seed}.{home.versions}"
    for stream in home.document["streams"]:
        _declare_anew(home.random, stream)
    for name in home.random.sample(sorted(home.ids()), home.random.randint(1, len(home.ids()))):
        home.owner.writer(home.declaration, name)


def _declare_anew(random: Random, stream: Json) -> None:
    properties = stream["schema"]["properties"]
    properties.setdefault(f"more{random.randint(0, 2)}", {"type": "string"})
    texts = [name for name, schema in properties.items() if schema == {"type": "string"} | _role_in(schema)]
    texts = [name for name in texts if name not in stream["primary_key"]]
    for name in texts:
        properties[name].pop("x_pdpp_role", None)
        if role := random.choice(ROLES):
            properties[name]["x_pdpp_role"] = role
    for fields in ("lexical_fields", "semantic_fields"):
        stream["query"]["search"][fields] = random.sample(texts, random.randint(1, len(texts)))
    ranges = stream["query"]["range_filters"]
    for name in random.sample(sorted(ranges), len(ranges) // 2):
        ranges[name] = random.choice((["gte"], ["gte", "lt"], ["gt", "lte"]))


def _role_in(schema: Json) -> Json:
    return {name: role for name, role in schema.items() if name == "x_pdpp_role"}


def grant(home: Home) -> None:
    """By the declaration of now; of one client or, as a package, in two parts."""
    if len(home.tokens) >= READERS_MAX:
        return
    details = [_detail(home) for _ in range(home.random.choice((1, 1, 1, 2)))]
    issued = home.owner.create_grant(decode_selection(details), "Agent", None)
    home.tokens.append(issued.token)
    home.grants.append(issued.grant_id)


def _detail(home: Home) -> Json:
    random, ids = home.random, list(home.ids().values())
    streams: list[Json] = []
    for stream in random.sample(home.document["streams"], random.randint(1, len(home.document["streams"]))):
        fields = sorted(stream["schema"]["properties"])
        told = random.choice((fields, random.sample(fields, random.randint(1, len(fields)))))
        connections = random.sample(ids, random.randint(1, len(ids)))
        selection: Json = {"name": stream["name"], "instance_ids": connections, "fields": told}
        if "consent_time_field" in stream and random.random() < 0.5:
            day = random.randint(1, 25)
            selection["time_range"] = {"since": f"2026-03-{day:02}T07:00:00Z", "until": f"2026-03-{day + 5:02}"}
        if random.random() < 0.2 and home.made.streams[stream["name"]].connections:
            keys = {event.key for event in home.made.visible if event.stream == stream["name"]}
            selection["resources"] = [key[0] if len(key) == 1 else list(key) for key in sorted(keys)[::2]]
        streams.append(selection)
    return {**home.made.detail(dict.fromkeys(home.names, "")), "streams": streams}


def revoke(home: Home) -> None:
    """The token stays, and is refused."""
    if home.grants:
        home.owner.revoke(home.grants.pop(0))


def narrow(home: Home) -> None:
    """To fewer connections or days: its client keeps its token."""
    if not home.grants:
        return
    rows = home.owner.grant(home.random.choice(home.grants))
    kept = {row.grant.grant_id: selection_of(row.grant) for row in rows}
    first = rows[0].grant.grant_id
    streams = tuple(replace(one, fields=one.fields and one.fields[:2]) for one in kept[first].streams)
    kept[first] = replace(kept[first], streams=streams[: home.random.randint(1, len(streams))])
    with suppress(PdppError):
        home.owner.change_grant(rows[0].package_id or first, None, kept)


def forget_a_token(home: Home) -> None:
    if len(home.tokens) > READERS_MAX - 2:
        home.tokens.pop(home.random.randrange(1, len(home.tokens)))


def wait(home: Home) -> None:
    home.clock.moment += timedelta(days=home.random.choice((1, 20, 200)))


def index_meanings(home: Home) -> None:
    MeaningDesk(home.writing.database, home.folder).catch_up(lambda _: None)


def forget_history(home: Home) -> None:
    with home.writing.database.writing() as writer:
        prune(writer, home.random.choice((1, 20)))


def damage_and_mend(home: Home) -> None:
    """Questions are asked meanwhile; what they were told then must not outlive the mending."""
    for statement in DAMAGE:
        rows_in(home.folder, statement)
    for token, _, query in home.random.sample(home.asked, min(40, len(home.asked))):
        home.ask(home.reading, token, "port", query)
    for mend in (recount, rebuild_words):
        with home.writing.database.writing() as writer:
            mend(writer)


def break_off(home: Home) -> None:
    """Questions are stopped in the middle, each after another statement; some of them are asked again afterwards."""
    reading = home.reading.database.reading()
    for token, _, query in home.random.sample(home.asked, min(40, len(home.asked))):
        left = iter(range(home.random.randint(3, 60), 0, -1))

        def stopped(ask: Any, left: Iterator[int] = left) -> Any:
            def answer(*asked: Any) -> Any:
                if next(left, 0) == 0:
                    raise apsw.InterruptError("interrupted")
                return ask(*asked)

            return answer

        with pytest.MonkeyPatch.context() as patch:
            for name in ("rows", "one", "each"):
                patch.setattr(reading, name, stopped(getattr(reading, name)), raising=False)
            home.ask(home.reading, token, "port", query)


WRITES: tuple[Write, ...] = (
    *(deliver, deliver, deliver, deliver, edit, edit, delete, delete, grant, grant),
    *(erase_stream, remove_source, rename_source, remove_and_bring_back, declare_anew, narrow, revoke, forget_a_token),
    *(wait, index_meanings, forget_history, damage_and_mend, break_off),
)
OF_SQLITE: frozenset[Write] = frozenset((break_off, damage_and_mend))


def _call(home: Home) -> Call:
    return Call(home.owner.owner_token(days=1000)[0], "req_test")


def _target(home: Home, connection: str) -> Target | None:
    id = home.ids().get(connection)
    key = Source(home.document["source"]["kind"], home.document["source"]["id"]).connector_key
    return None if id is None else Target(key, id)


def compared(seed: int, folder: Path, writes: int, *, is_heavy: bool = False) -> Counter[str]:
    """Writes of any kind, and questions after each; what was compared.

    Raises:
        AnotherAnswer: with the seed, the write before it, the question and both answers.
    """
    home = Home(seed, folder, is_heavy=is_heavy)
    try:
        for _ in range(FIRST // BATCH):
            deliver(home)
        home.tokens.append(home.owner.owner_token(days=1000)[0])
        grant(home)
        possible = [write for write in WRITES if not (is_postgres() and write in OF_SQLITE)]
        for number in range(writes):
            write = home.random.choice(possible)
            write(home)
            home.tally[write.__name__] += 1
            home.compare(f"seed {seed}, write {number}, {write.__name__}")
        return home.tally
    finally:
        home.close()

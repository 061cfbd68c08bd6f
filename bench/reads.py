"""Every read of the resource server through its door, beside the bare statement that gives the same rows."""

import threading
from collections.abc import Callable, Iterator
from itertools import count, islice
from time import perf_counter
from typing import Any

import orjson

from bench.cases import Stdio
from bench.clock import side_by_side, timed, timing
from bench.world import BLOB_BYTES, World, open_writer, records
from pdpp_server.model.ingest import Incoming
from pdpp_server.model.queries import AggregateQuery, BlobQuery, RecordsQuery, WindowQuery
from pdpp_server.reads import aggregate, blobs, query_records, read_record_field
from pdpp_server.reads.services import Call
from tests.worlds.beneath import connection_of
from tests.worlds.told import told

Numbers = dict[str, float]

_PAGE = """
select r.key, r.emitted_at, r.data from positions p cross join records r on r.rid = p.rid
where p.fid = :fid and (p.value, p.key) < (:value, :key) order by p.value desc, p.key desc limit 25
"""
_BEFORE, _AFTER = (
    f"""
    select r.key, r.emitted_at, r.data from positions p cross join records r on r.rid = p.rid
    where p.fid = :fid and (p.value, p.key) {beyond} (:value, :key) order by p.value {order}, p.key {order} limit 5
    """
    for beyond, order in (("<", "desc"), (">", "asc"))
)
_RANKED = """
select r.key, r.emitted_at, r.data from field_values i cross join records r on r.rid = i.rid
where i.fid = ? and i.value > ? order by i.value limit 25
"""
_CHANGES = "select key, emitted_at, data from records where sid = 1 and version > ? order by version limit 25"
_WINDOW = """
select substr(data ->> '$.text', ?, 200), length(data ->> '$.text') from records where sid = 1 and key = ?
"""
_MONTHS = "select strftime('%Y-%m', value / 1000000, 'unixepoch'), count(*) from positions where fid = ? group by 1"


class Reads:
    """One client of a world, and a connection of its own for the floors."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.call = Call(world.token, "req_bench")
        self.bare: Any = connection_of(world.services.database.reading())
        self.fid: int = self.bare.execute("select fid from fields where name = 'sent_at'").get

    def ratio(self, name: str, ours: Callable[[], object], floor: Callable[[], object], *, each: int = 50) -> Numbers:
        mine, bare = side_by_side(ours, floor, rounds=20, each=each)
        return {f"{name}_ratio": mine.p50 / bare.p50, f"{name}_us": mine.p50 * 1e6, f"bare_{name}_us": bare.p50 * 1e6}

    def page(self) -> Numbers:
        """25 records from somewhere in the middle, by cursor."""
        services = self.world.services
        cursors: list[str | None] = [None]
        for _ in range(40):
            asked = RecordsQuery("messages", limit=100, cursor=cursors[-1])
            page = told(query_records.serve(services, self.call, asked))
            cursors.append(page.next_cursor)
        places = self.bare.execute(f"select value, key from positions where fid = {self.fid} limit 4000").fetchall()
        turn = count()

        def ours() -> None:
            asked = RecordsQuery("messages", cursor=cursors[next(turn) % 40])
            told(query_records.serve(services, self.call, asked))

        def floor() -> None:
            value, key = places[next(turn) * 97 % 4000]
            values = {"fid": self.fid, "value": value, "key": key}
            for _, _, data in self.bare.execute(_PAGE, values).fetchall():
                orjson.loads(data)

        return self.ratio("page", ours, floor)

    def around(self) -> Numbers:
        """A message among ten others of its room, beside ten messages of the stream."""
        turn = count()
        places = self.bare.execute(f"select value, key from positions where fid = {self.fid} limit 4000").fetchall()

        def ours() -> None:
            key = f"m{next(turn) * 7919 % self.world.count}"
            told(query_records.serve(self.world.services, self.call, RecordsQuery("messages", around=key, limit=11)))

        def floor() -> None:
            value, key = places[next(turn) * 97 % 4000]
            for statement in (_BEFORE, _AFTER):
                asked = {"fid": self.fid, "value": value, "key": key}
                for _, _, data in self.bare.execute(statement, asked).fetchall():
                    orjson.loads(data)

        return self.ratio("around", ours, floor)

    def ranked(self) -> Numbers:
        """25 payments from somewhere among the largest, by cursor."""
        services, turn = self.world.services, count()
        cursors: list[str | None] = [None]
        for _ in range(10):
            asked = RecordsQuery("payments", sort="amount", limit=100, cursor=cursors[-1])
            cursors.append(told(query_records.serve(services, self.call, asked)).next_cursor)
        fid = self.bare.execute("select fid from fields where name = 'amount'").get

        def ours() -> None:
            asked = RecordsQuery("payments", sort="amount", cursor=cursors[next(turn) % 10])
            told(query_records.serve(services, self.call, asked))

        def floor() -> None:
            for _, _, data in self.bare.execute(_RANKED, (fid, 100 * (next(turn) % 80))).fetchall():
                orjson.loads(data)

        return self.ratio("ranked", ours, floor)

    def changes(self) -> Numbers:
        """25 changes from somewhere in the middle of a session from the beginning."""
        services, turn = self.world.services, count()
        cursors: list[str | None] = []
        asked = RecordsQuery("messages", changes_since="beginning", limit=100)
        for _ in range(40):
            page = told(query_records.serve(services, self.call, asked))
            cursors.append(page.next_cursor)
            asked = RecordsQuery("messages", cursor=page.next_cursor, limit=100)

        def ours() -> None:
            asked = RecordsQuery("messages", cursor=cursors[next(turn) % 40])
            told(query_records.serve(services, self.call, asked))

        def floor() -> None:
            for _, _, data in self.bare.execute(_CHANGES, (next(turn) * 97 % 4000,)).fetchall():
                orjson.loads(data)

        return self.ratio("changes", ours, floor)

    def window(self) -> Numbers:
        services, turn = self.world.services, count()

        def key() -> str:
            return f"m{next(turn) * 7919 % self.world.count}"

        def ours() -> None:
            asked = WindowQuery("messages", key(), "text", offset=50, limit=200)
            told(read_record_field.serve(services, self.call, asked))

        def floor() -> None:
            self.bare.execute(_WINDOW, (51, key())).fetchall()

        return self.ratio("window", ours, floor, each=100)

    def blob(self) -> Numbers:
        """Where the bytes are and that they may be read, then the bytes, beside the bytes alone."""
        services = self.world.services
        (path,) = services.database.blobs.strays(())

        def ours() -> None:
            opened = told(blobs.serve(services, self.call, BlobQuery(self.world.blob_id)))
            assert opened.file is not None
            with opened.file as file:
                assert len(file.read()) == BLOB_BYTES

        return self.ratio("blob", ours, path.read_bytes)

    def months(self) -> Numbers:
        """All months of the whole stream."""
        asked = AggregateQuery("messages", group_by_time="sent_at", granularity="month", limit=100)

        def ours() -> None:
            told(aggregate.serve(self.world.services, self.call, asked))

        return self.ratio("months", ours, lambda: self.bare.execute(_MONTHS, (self.fid,)).fetchall(), each=1)


def reads(world: World) -> Iterator[Numbers]:
    asked = Reads(world)
    for measure in (asked.page, asked.around, asked.ranked, asked.changes, asked.window, asked.blob, asked.months):
        yield measure()


def ingest_while_reading(world: World) -> Numbers:
    """What each gives up for the other: an import beside an agent that never stops, a fetch beside an import."""
    writer = open_writer(world.services, world.home)
    fresh = (
        Incoming(str(i), "messages", None, {**record, "id": f"new{i}"}, None)
        for i, record in enumerate(records(40_000, seed=11))
    )
    agent, turn, stop = Stdio(world.home, world.token), count(), threading.Event()
    agent.start()

    def read() -> None:
        agent.call("fetch", {"id": f"{world.connection_id}/messages:m{next(turn) * 7919 % world.count}"})

    def deliver(batches: int) -> float:
        start = perf_counter()
        for _ in range(batches):
            writer.deliver(list(islice(fresh, 1000)))
        return batches * 1000 / (perf_counter() - start)

    taken: list[float] = []

    def keep_reading() -> None:
        while not stop.is_set():
            taken.extend(timed(read, 10))

    idle = timing(timed(read, 2000)).p50
    alone = deliver(15)
    reader = threading.Thread(target=keep_reading)
    reader.start()
    beside = deliver(15)
    stop.set()
    reader.join()
    agent.close()
    return {"ingest_beside_reads_share": beside / alone, "read_beside_ingest_ratio": timing(taken).p50 / idle}

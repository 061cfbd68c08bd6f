"""Each measured number and the floor it is held against."""

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from http.client import HTTPConnection
from itertools import islice
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

import apsw
import orjson

from bench.clock import side_by_side, timed, timing
from bench.world import EVERYWHERE, World, now, open_writer, records
from pdpp_server.mcp.surface import INSTRUCTIONS, TOOLS
from pdpp_server.model.ingest import Incoming
from pdpp_server.model.queries import FetchQuery, SearchQuery
from pdpp_server.port.local import LocalReader
from pdpp_server.reads import fetch, search
from pdpp_server.reads.services import Call, open_services
from tests.worlds.beneath import connection_of
from tests.worlds.told import told

Numbers = dict[str, Any]
_POINT = "select data, emitted_at, at from records where sid = 1 and key = ?"
PDPP = str(Path(sys.executable).with_name("pdpp"))


def ingest(count: int) -> Numbers:
    """Validated, indexed, durable records a second beside a bare batched insert of the same bytes with FTS5."""
    stream = enumerate(records(count), start=1)
    ours = floor = 0.0
    with tempfile.TemporaryDirectory(prefix="pdpp-bench-") as folder:
        services = open_services(Path(folder) / "home", now=now)
        writer = open_writer(services, Path(folder) / "home")
        bare = bare_database(Path(folder) / "bare.sqlite")
        while batch := list(islice(stream, 1000)):  # batch by batch, so that a slow moment falls on both
            incoming = [Incoming(str(i), "messages", None, record, None) for i, record in batch]
            lines = [(i, orjson.dumps(record, option=orjson.OPT_SORT_KEYS).decode(), record) for i, record in batch]
            start = perf_counter()
            writer.deliver(incoming)
            middle = perf_counter()
            bare_insert(bare, lines)
            ours, floor = ours + middle - start, floor + perf_counter() - middle
        bare.close()
        services.close()
    return {
        "ingest_share": floor / ours,
        "ingest_records_per_second": count / ours,
        "ingest_floor_per_second": count / floor,
    }


def bare_database(path: Path) -> apsw.Connection:
    db = apsw.Connection(str(path))
    db.execute("pragma journal_mode = wal; pragma synchronous = normal; pragma secure_delete = on").fetchall()
    db.execute("create table r(rid integer primary key, key text unique, data text)")
    db.execute("create virtual table f using fts5(a, b, content='', tokenize='porter unicode61 remove_diacritics 2')")
    return db


def bare_insert(db: apsw.Connection, lines: list[tuple[int, str, dict[str, str]]]) -> None:
    with db:
        db.executemany("insert into r values(?, ?, ?)", ((i, record["id"], data) for i, data, record in lines))
        db.executemany(
            "insert into f(rowid, a, b) values(?, ?, ?)",
            ((i, record["subject"], record["text"]) for i, _, record in lines),
        )


def point_read(world: World) -> Numbers:
    """A read through the door (token, permit, read, log) beside the bare statement."""
    connection = connection_of(world.services.database.reading())
    keys = [f"m{i * 7919 % world.count}" for i in range(200)]
    turn = iter(range(10**9))

    def ours() -> None:
        asked = FetchQuery("messages", keys[next(turn) % 200])
        told(fetch.serve(world.services, Call(world.token, "req_bench"), asked))

    def floor() -> None:
        orjson.loads(connection.execute(_POINT, (keys[next(turn) % 200],)).get[0])

    mine, bare = side_by_side(ours, floor, rounds=40, each=100)
    return {"serve_fetch_ratio": mine.p50 / bare.p50, "serve_fetch_us": mine.p50 * 1e6, "bare_fetch_us": bare.p50 * 1e6}


@contextmanager
def _bare_index(world: World) -> Generator[apsw.Connection]:
    """The same texts in a plain FTS5 table that keeps them, so that highlight() works."""
    with tempfile.TemporaryDirectory(prefix="pdpp-bench-") as folder:
        db = apsw.Connection(str(Path(folder) / "bare.sqlite"))
        db.execute("create virtual table f using fts5(a, b, tokenize='porter unicode61 remove_diacritics 2')")
        with db:
            db.executemany(
                "insert into f(rowid, a, b) values(?, ?, ?)",
                ((i, record["subject"], record["text"]) for i, record in enumerate(records(world.count), start=1)),
            )
        yield db
        db.close()


def search_overhead(world: World) -> Numbers:
    """`search` through the tool beside the bare FTS5 statement with highlight() of the same rows, rare terms."""
    tool = next(tool for tool in TOOLS if tool.name == "search")
    reader = LocalReader(world.services, world.token)
    terms = [" ".join(f"rare{(i * 37 + k) % (world.count // 10)}" for k in range(3)) for i in range(40)]
    turn = iter(range(10**9))
    bare = """select highlight(f, 0, char(2), char(3)), highlight(f, 1, char(2), char(3)), rowid
              from f where f match ? order by rank limit 25"""
    with _bare_index(world) as db:

        def ours() -> None:
            told(tool.call(reader, {"query": terms[next(turn) % 40], "limit": 25}))

        def floor() -> None:
            db.execute(bare, (" OR ".join(terms[next(turn) % 40].split()),)).fetchall()

        mine, low = side_by_side(ours, floor, rounds=20, each=20)
    return {"search_overhead": mine.p50 / low.p50, "search_rare_us": mine.p50 * 1e6, "bare_search_us": low.p50 * 1e6}


def worst_search(world: World) -> float:
    """p95 in seconds of a search for the one word that stands in a third of all records."""
    query = SearchQuery(EVERYWHERE, limit=10)
    call = Call(world.token, "req_bench")
    told(search.serve(world.services, call, query))
    return timing(timed(lambda: told(search.serve(world.services, call, query)), 40)).p95


def listing() -> Numbers:
    front = json.loads(Path(sys.modules["pdpp_server.mcp"].__path__[0], "front.json").read_text(encoding="utf-8"))
    tools = front["handshake"]["tools/list"]
    return {
        "tools_list_bytes": len(json.dumps(tools, ensure_ascii=False, separators=(",", ":")).encode()),
        "instructions_bytes": len(INSTRUCTIONS.encode()),
    }


class Stdio:
    """One `pdpp mcp` process, spoken to by hand."""

    def __init__(self, home: Path, token: str, pdpp: str = PDPP) -> None:
        environ = {**os.environ, "PDPP_HOME": str(home), "PDPP_ACCESS_TOKEN": token}
        environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its bytecode
        self._process = subprocess.Popen(
            [pdpp, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ, stderr=subprocess.DEVNULL
        )
        self._number = 0

    def ask(self, method: str, params: dict[str, Any]) -> bytes:
        assert self._process.stdin and self._process.stdout
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        self._process.stdin.write(orjson.dumps(message) + b"\n")
        self._process.stdin.flush()
        return self._process.stdout.readline()

    def start(self) -> None:
        client = {"name": "bench", "version": "0"}
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})

    def call(self, tool: str, arguments: dict[str, Any]) -> bytes:
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def rss_mb(self) -> float:
        return rss_mb(self._process.pid)

    def cpu(self) -> float:
        """Processor time of all its threads so far, to the microsecond; of none that has ended."""
        nanoseconds = 0
        for thread in Path(f"/proc/{self._process.pid}/task").iterdir():
            with suppress(FileNotFoundError):  # it ended between two looks
                nanoseconds += int((thread / "schedstat").read_text().split()[0])
        return nanoseconds / 1e9

    def close(self) -> None:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(10)


def cold_start(world: World) -> Numbers:
    """From starting `pdpp mcp` to the answer of tools/list, and on to the first call, beside a bare Python."""

    def bare() -> None:
        subprocess.run([sys.executable, "-c", "pass"], check=True)

    listed: list[float] = []
    called: list[float] = []

    def ours() -> None:
        begin = perf_counter()
        stdio = Stdio(world.home, world.token)
        stdio.start()
        stdio.ask("tools/list", {})
        listed.append(perf_counter() - begin)
        stdio.call("fetch", {"id": f"{world.connection_id}/messages:m1"})
        called.append(perf_counter() - begin)
        stdio.close()

    _, floor = side_by_side(ours, bare, rounds=4, each=5)
    return {
        "cold_start_ratio": timing(listed).p50 / floor.p50,
        "first_call_ratio": timing(called).p50 / floor.p50,
        "bare_python_ms": floor.p50 * 1e3,
    }


_ECHO = """
import sys, apsw
db = apsw.Connection(sys.argv[1])
db.execute("pragma cache_size = -32000")
for line in sys.stdin.buffer:
    data = db.execute("select data from records where sid = 1 and key = ?", (line.strip().decode(),)).get
    sys.stdout.buffer.write(data.encode() + b"\\n")
    sys.stdout.buffer.flush()
"""


def stdio_fetch(world: World) -> Numbers:
    """`fetch` over stdio, log on, beside the same point read and one JSON line over a bare pipe."""
    stdio = Stdio(world.home, world.token)
    stdio.start()
    echo = subprocess.Popen(
        [sys.executable, "-c", _ECHO, str(world.home / "pdpp.sqlite")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert echo.stdin and echo.stdout
    pipe_in, pipe_out = echo.stdin, echo.stdout
    turn = iter(range(10**9))

    def ours() -> None:
        answer = stdio.call("fetch", {"id": f"{world.connection_id}/messages:m{next(turn) * 7919 % world.count}"})
        assert b'"isError":true' not in answer

    def floor() -> None:
        pipe_in.write(b"m%d\n" % (next(turn) * 7919 % world.count))
        pipe_in.flush()
        pipe_out.readline()

    mine, low = side_by_side(ours, floor, rounds=30, each=100)
    for _ in range(7000):
        ours()
    rss = stdio.rss_mb()
    stdio.close()
    pipe_in.close()
    pipe_out.close()
    echo.wait(10)
    return {
        "stdio_fetch_ratio": mine.p50 / low.p50,
        "stdio_fetch_us": mine.p50 * 1e6,
        "bare_pipe_us": low.p50 * 1e6,
        "stdio_rss_mb": rss,
    }


def serve_memory(world: World, calls: int = 10_000, settled: int = 1000) -> Numbers:
    """Resident memory of `pdpp serve` after many reads over one connection, and how much of it came late.

    What comes late is measured on the same few records again and again: the database's cache is full of them by then.
    """
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    environ = {**os.environ, "PDPP_HOME": str(world.home)}
    server = subprocess.Popen(
        [PDPP, "serve", "--port", str(port)], env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        _until_healthy(port)
        client = HTTPConnection("127.0.0.1", port)
        _read_records(client, world, range(settled))
        early = rss_mb(server.pid)
        _read_records(client, world, (i % settled for i in range(settled, calls)))
        growth = rss_mb(server.pid) - early
        _read_records(client, world, range(calls))
        client.close()
        return {"rss_mb": rss_mb(server.pid), "rss_growth_mb": growth}
    finally:
        server.terminate()
        server.wait(10)


def _read_records(client: HTTPConnection, world: World, numbers: Iterable[int]) -> None:
    """One record for each number, and a search for every hundredth."""
    for i in numbers:
        path = f"/v1/streams/messages/records/m{i * 7919 % world.count}"
        if i % 100 == 0:
            path = f"/v1/search?q=rare{i % (world.count // 10)}"
        client.request("GET", path, headers={"Authorization": f"Bearer {world.token}"})
        answer = client.getresponse()
        answer.read()
        assert answer.status == 200, answer.status


def _until_healthy(port: int) -> None:
    deadline = perf_counter() + 20
    while perf_counter() < deadline:
        try:
            client = HTTPConnection("127.0.0.1", port, timeout=2)
            client.request("GET", "/healthz")
            client.getresponse().read()
        except OSError:
            sleep(0.05)
        else:
            return
    raise TimeoutError("pdpp serve did not start")


def rss_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(status.split("VmRSS:")[1].split()[0]) / 1024

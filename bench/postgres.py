"""PostgreSQL beside SQLite in one run, and how it grows: with records of one owner, owners beside it, and processes.

`python -m bench.postgres [--records 1000 10000] [--owners 100 1000] [--grown 10 100]` prints the tables of
docs/scale.md. Everything is a ratio of two things that took turns: processor time of this process and of the database
together, since on a machine that others use whoever waits for another process waits far longer; one p95 is of time that
passed.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

import psycopg

from bench.clock import side_by_side
from bench.world import SOURCE, VOCABULARY, fill, now
from pdpp_server.model.queries import FetchQuery, RecordsQuery, SearchQuery
from pdpp_server.owner.desk import Owner
from pdpp_server.port.local import LocalReader
from pdpp_server.reads.services import open_services
from pdpp_server.settings import Settings
from pdpp_server.store.engine import Database
from pdpp_server.store.opened import open_owners
from pdpp_server.wire.grants import decode_selection
from tests.worlds.postgres import Cluster, cluster
from tests.worlds.told import ToldReader

ROUNDS, EACH = 8, 25
FETCHES, CONNECTIONS = 500, 8  # of one turn of a server, and to it
FILLER_RECORDS = 40  # of each owner who is only there
GRANTED = {
    "type": "https://pdpp.dev/data-access",
    "source": {"id": SOURCE},
    "purpose_code": "https://pdpp.dev/purpose/agent_context",
    "access_mode": "continuous",
    "streams": [{"name": "messages"}],
}
COPIED = (
    "counters declarations connections layout clock streams fields records history field_values positions words days "
    "newest_changes"
).split()
_COLUMNS = """
select string_agg(quote_ident(column_name), ', ') from information_schema.columns
where table_schema = 'public' and table_name = %s and column_name <> 'owner'
"""
_COPY = """
insert into {table}(owner, {columns}) select g, {columns} from {table}, generate_series(%s, %s) g where owner = %s
"""
BESIDE = 64  # numbers of records on a day: more than one copy has there, and few enough for all copies
_GROWN = Path(__file__).with_name("grown.sql")
_NUMBER = "select owner from owners where name = %s"
FIRST_FILLER = 1_000_000

Ask = Callable[[], object]
Clock = Callable[[], float]


class Spent:
    """Processor time of this process, but for looking, and of every process of the database so far, of those that ended
    too; to the microsecond, so that one question can be measured."""

    def __init__(self, started: Cluster) -> None:
        self._server = (started.folder / "data" / "postmaster.pid").read_text().split()[0]
        self._nanoseconds: dict[str, int] = {}
        self._looking = 0.0

    def __call__(self) -> float:
        begun = process_time()
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):  # it has ended meanwhile
                if stat.read_text().rpartition(")")[2].split()[1] == self._server:
                    on_processor = stat.with_name("schedstat").read_text().split()[0]
                    self._nanoseconds[stat.parent.name] = int(on_processor)
        ended = process_time()
        self._looking += ended - begun
        return ended - self._looking + sum(self._nanoseconds.values()) / 1e9


class Served:
    """A `pdpp serve`: where it listens, and the processor time of all processes that answer there."""

    def __init__(self, server: subprocess.Popen[str]) -> None:
        assert server.stdout is not None
        first = server.stdout.readline()  # "Serving HOME at http://127.0.0.1:PORT"
        self.port = int(first.rstrip().rpartition(":")[2])
        self._pid = server.pid

    def cpu(self) -> float:
        ticks = 0
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):  # it has ended meanwhile
                fields = stat.read_text().rpartition(")")[2].split()
                if self._pid in (int(stat.parent.name), int(fields[1])):
                    ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")


@contextmanager
def serving(url: str, home: Path, workers: int) -> Generator[Served, None, None]:
    words = ["serve", "--port", "0", "--no-log", "--workers", str(workers)]
    environ = {**os.environ, "PDPP_DATABASE_URL": url, "PDPP_HOME": str(home), "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-m", "pdpp_server.cli.main", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environ) as server:
        try:
            yield Served(server)
        finally:
            server.terminate()


class Side:
    """One home, filled, and what a client asks of it; every answer has its line in the log."""

    def __init__(self, home: Path, count: int, cpu: Clock, database: Database | None = None) -> None:
        services = open_services(home, now=now, database=database)
        begun = cpu()
        self._connection_id, _ = fill(services, home, count)
        self.ingest_seconds = cpu() - begun
        self._count, self._random = count, random.Random(3)
        self._copies = 1
        self.token = Owner(services, home).create_grant(decode_selection([GRANTED]), "bench", None).token
        self._reader = ToldReader(LocalReader(services, self.token))

    @property
    def asks(self) -> dict[str, Ask]:
        return {"fetch": self.fetch, "page": self.page, "search": self.search}

    def grow(self, copies: int) -> None:
        """So many times as much; `grown` made it."""
        self._copies = copies

    @property
    def _of_copy(self) -> str:
        copy = self._random.randrange(self._copies)
        return f"x{copy}" if copy else ""

    def fetch(self) -> object:
        key = f"m{self._random.randrange(self._count)}{self._of_copy}"
        return self._reader.fetch(FetchQuery("messages", key, self._connection_id)).value

    def page(self) -> object:
        query = RecordsQuery("messages", connection_id=self._connection_id, limit=10)
        return self._reader.query_records(query).value

    def search(self) -> object:
        rare, common = f"rare{self._random.randrange(self._count // 10)}", self._random.choice(VOCABULARY[200:400])
        rare += self._of_copy
        return self._reader.search(SearchQuery(f"{rare} {common}", limit=10)).value

    def fetch_over(self, port: int) -> None:
        """One turn over HTTP, one fetch after the other, each over the next of a few connections."""
        bearer = {"Authorization": f"Bearer {self.token}"}
        with ExitStack() as stack:
            made = [stack.enter_context(closing(HTTPConnection("127.0.0.1", port))) for _ in range(CONNECTIONS)]
            for number in range(FETCHES):
                connection, key = made[number % CONNECTIONS], f"m{self._random.randrange(self._count)}"
                path = f"/v1/streams/messages/records/{key}?connection_id={self._connection_id}"
                connection.request("GET", path, headers=bearer)
                response = connection.getresponse()
                assert response.read() and response.status == 200, response.status


@contextmanager
def share(url: str, name: str) -> Generator[Database, None, None]:
    """Of a new owner in that database."""
    with tempfile.TemporaryDirectory(prefix="pdpp-bench-") as home:
        owners = open_owners(Settings(home=Path(home), database_url=url))
        added = owners.add(name)
        assert added is not None
        yield owners.database(added.number)
        owners.close()


@contextmanager
def operating(started: Cluster, url: str) -> Generator[psycopg.Connection[tuple[Any, ...]], None, None]:
    """Whoever may look past row security, and counts the rows in the end."""
    database = url.partition("@/")[2].partition("?")[0]
    with psycopg.connect(f"host={started.folder} dbname={database} user=postgres", autocommit=True) as operator:
        yield operator
        operator.execute("analyze")


def grown(started: Cluster, url: str, copies: int) -> None:
    """All messages there so many times, made in the database itself."""
    with operating(started, url) as operator:
        operator.execute(_GROWN.read_text().format(copies=copies, beside=BESIDE).encode())


def add_owners(started: Cluster, url: str, first: int, last: int) -> None:
    """Made in the database itself, out of one small owner."""
    with operating(started, url) as operator:
        (number,) = operator.execute(_NUMBER, ["filler"]).fetchall()[0]
        for table in COPIED:
            (columns,) = operator.execute(_COLUMNS, [table]).fetchall()[0]
            copied = _COPY.format(table=table, columns=columns)
            operator.execute(copied.encode(), [FIRST_FILLER + first, FIRST_FILLER + last - 1, number])


def beside_sqlite(started: Cluster, count: int) -> None:
    cpu = Spent(started)
    with tempfile.TemporaryDirectory(prefix="pdpp-bench-") as folder, share(started.fresh(), "mine") as database:
        here, there = Side(Path(folder) / "here", count, cpu), Side(Path(folder) / "there", count, cpu, database)
        ratios = [cost_ratio(there.asks[name], here.asks[name], cpu) for name in here.asks]
    told = " | ".join(f"{ratio:.1f} ({cost * 1000:.1f} ms)" for ratio, cost in ratios)
    print(f"| {count:,} | {told} | {here.ingest_seconds / there.ingest_seconds:.2f} |", flush=True)


def beside_owners(started: Cluster, count: int, steps: Sequence[int]) -> None:
    alone, crowded, cpu = started.fresh(), started.fresh(), Spent(started)
    with (
        tempfile.TemporaryDirectory(prefix="pdpp-bench-") as folder,
        share(alone, "mine") as mine_alone,
        share(crowded, "mine") as mine_among,
        share(crowded, "filler") as filler,
    ):
        Side(Path(folder) / "filler", FILLER_RECORDS, cpu, filler)
        without = Side(Path(folder) / "alone", count, cpu, mine_alone)
        among = Side(Path(folder) / "among", count, cpu, mine_among)
        there = 0
        for owners in steps:
            add_owners(started, crowded, there, owners)
            there = owners
            costs = [cost_ratio(among.asks[name], without.asks[name], cpu)[0] for name in without.asks]
            slowest = [
                side_by_side(among.search, without.search, rounds=ROUNDS, each=EACH, clock=clock)
                for clock in (cpu, perf_counter)
            ]
            told = " | ".join(f"{cost:.2f}" for cost in (*costs, *(theirs.p95 / ours.p95 for theirs, ours in slowest)))
            print(f"| {owners:,} | {told} |", flush=True)


def by_growth(started: Cluster, count: int, steps: Sequence[int]) -> None:
    urls, cpu = [started.fresh() for _ in (1, *steps)], Spent(started)
    with tempfile.TemporaryDirectory(prefix="pdpp-bench-") as folder, ExitStack() as stack:
        shares = [stack.enter_context(share(url, "mine")) for url in urls]
        first, *others = (Side(Path(folder) / str(n), count, cpu, mine) for n, mine in enumerate(shares))
        for copies, url, side in zip(steps, urls[1:], others, strict=True):
            grown(started, url, copies)
            side.grow(copies)
            costs = [cost_ratio(side.asks[name], first.asks[name], cpu) for name in first.asks]
            told = " | ".join(f"{ratio:.2f} ({cost * 1000:.1f} ms)" for ratio, cost in costs)
            print(f"| {count * copies:,} | {told} |", flush=True)


def by_processes(started: Cluster, count: int) -> None:
    """What a fetch costs the servers, not the database, over as many connections to two processes and to one."""
    url, cpu = started.fresh(), Spent(started)
    with share(url, "mine") as database, ExitStack() as running:
        mine = Side(database.path / "mine", count, cpu, database)
        servers = [running.enter_context(serving(url, database.path, workers)) for workers in (2, 1)]
        for server in servers:  # until every process has met the token
            mine.fetch_over(server.port)
        total = [0.0, 0.0]
        for _ in range(ROUNDS):
            for number, server in enumerate(servers):
                begun = server.cpu()
                mine.fetch_over(server.port)
                total[number] += server.cpu() - begun
    two, one = total
    print(f"| {count:,} | {two / one:.2f} | {one * 1000 / (ROUNDS * FETCHES):.2f} ms |", flush=True)


def cost_ratio(there: Ask, here: Ask, cpu: Clock) -> tuple[float, float]:
    """How much dearer the first is, and what one of it costs in seconds: the medians of turns, after one of each in
    which statements are planned that every later one finds."""
    told: tuple[list[float], list[float]] = ([], [])
    for turn in range(1 + ROUNDS):
        for costs, ask in zip(told, (there, here), strict=True):
            begun = cpu()
            for _ in range(EACH):
                ask()
            if turn:
                costs.append((cpu() - begun) / EACH)
    dearer, cheaper = map(median, told)
    return dearer / cheaper, dearer


def main() -> None:
    asked = argparse.ArgumentParser(prog="python -m bench.postgres")
    asked.add_argument("--records", type=int, nargs="*", default=[1_000, 10_000])
    asked.add_argument("--owners", type=int, nargs="*", default=[100, 1_000])
    asked.add_argument("--grown", type=int, nargs="*", default=[], help="how many times as much, made in the database")
    told = asked.parse_args()
    with cluster() as started:
        print("| records of one owner | fetch ÷ SQLite | page ÷ | search ÷ | ingest, share of SQLite's |")
        print("|---|---|---|---|---|", flush=True)
        for count in told.records:
            beside_sqlite(started, count)
        if told.owners:
            print("\n| other owners | fetch with ÷ without | page | search | search p95 | by time that passed |")
            print("|---|---|---|---|---|---|", flush=True)
            beside_owners(started, told.records[-1], told.owners)
        if told.grown:
            print(f"\n| records of one owner | fetch ÷ that with {told.records[-1]:,} | page | search |")
            print("|---|---|---|---|", flush=True)
            by_growth(started, told.records[-1], told.grown)
        print("\n| records | fetch, two processes ÷ one | one |")
        print("|---|---|---|", flush=True)
        by_processes(started, told.records[0])


if __name__ == "__main__":
    main()

"""kill -9 of the database and of servers, under load: what was acknowledged is there, and what was read is logged."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.client import HTTPConnection, HTTPException
from itertools import count
from pathlib import Path
from threading import Event, Thread
from time import sleep

import orjson
import psycopg
import pytest

from tests.conftest import kept_at, kept_in
from tests.crash.killing import ROOT, SECONDS
from tests.requirements import requirement
from tests.scenarios.cli.test_workers import children, eventually
from tests.worlds import chat
from tests.worlds.postgres import Cluster, cluster, standby
from tests.worlds.world import Clock, World, build, close

PAUSE_SECONDS = 0.3  # of load between two kills


class Load:
    """One who delivers and one who reads, each again and again; what they were answered with 200 is remembered."""

    def __init__(self, world: World, port: int) -> None:
        self._world, self._port = world, port
        self._numbers, self._stopping = count(), Event()
        self.delivered: list[str] = []
        self.read: list[str] = []
        self._threads = [Thread(target=self._again_and_again, args=(one,)) for one in (self._deliver, self._read)]

    @contextmanager
    def going_on(self) -> Generator[None, None, None]:
        for thread in self._threads:
            thread.start()
        try:
            yield
        finally:
            self._stopping.set()
            for thread in self._threads:
                thread.join()

    def _again_and_again(self, ask: Callable[[], None]) -> None:
        while not self._stopping.is_set():
            try:
                ask()
            except (OSError, HTTPException):  # whoever should have answered was killed
                sleep(0.02)

    def _deliver(self) -> None:
        key = f"k{next(self._numbers)}"
        line = {"data": {"id": key, "subject": "under fire", "text": f"words {key}"}, "emitted_at": chat.EMITTED_AT}
        path = f"/v1/ingest/messages?connector_id=chat&connection_id={self._world.work}"
        if self._answered("POST", path, self._world.owner_token, orjson.dumps(line) + b"\n", key):
            self.delivered.append(key)

    def _read(self) -> None:
        request_id = f"read-{next(self._numbers)}"
        if self._answered("GET", "/v1/search?q=lease", self._world.token, b"", request_id):
            self.read.append(request_id)

    def _answered(self, method: str, path: str, token: str, body: bytes, request_id: str) -> bool:
        asking = HTTPConnection("127.0.0.1", self._port, timeout=SECONDS)
        kind = "application/x-ndjson"
        headers = {"Authorization": f"Bearer {token}", "Request-Id": request_id, "Content-Type": kind}
        try:
            asking.request(method, path, body, headers)
            response = asking.getresponse()
            response.read()
            return response.status == 200
        finally:
            asking.close()


@contextmanager
def serving(home: Path) -> Generator[tuple[int, int], None, None]:
    """The process that starts the others, and the port."""
    command = [sys.executable, "-m", "pdpp_server.cli.main", "serve", "--port", "0", "--workers", "2", "--no-log"]
    environ = {**os.environ, "PDPP_HOME": str(home), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environ, cwd=ROOT
    )
    try:
        assert process.stdout
        found = re.search(r"http://[^/ ]*:(\d+)", process.stdout.readline())
        assert found
        yield process.pid, int(found[1])
    finally:
        process.terminate()
        process.communicate(timeout=SECONDS)


def kill_all(started: Cluster, parent: int, kills: int, load: Load) -> None:
    """The database and a server in turn, each under load."""
    for number in range(kills):
        before = len(load.delivered), len(load.read)
        assert eventually(lambda before=before: len(load.delivered) > before[0] and len(load.read) > before[1])
        sleep(PAUSE_SECONDS * (number % 3) / 2)
        if number % 2:
            os.kill(children(parent)[0], signal.SIGKILL)
        else:
            started.postmaster.kill()


@pytest.mark.parametrize("kills", [4, pytest.param(100, marks=pytest.mark.soak)])
@requirement("store.engines.killed")
def test_nothing_that_was_acknowledged_is_lost_when_the_database_or_a_server_is_killed(
    tmp_path: Path, kills: int
) -> None:
    with cluster() as started, kept_in(started):
        world = build(tmp_path / "home", Clock(datetime.now(UTC)))
        with serving(world.home) as (parent, port):
            load = Load(world, port)
            with load.going_on():
                kill_all(started, parent, kills, load)
                before = len(load.delivered)
                assert eventually(lambda: len(load.delivered) > before)
        require_nothing_lost(world, load)
        close(world.services)

    assert len(load.delivered) > kills


@requirement("store.engines.promoted")
def test_nothing_that_was_acknowledged_is_lost_when_a_standby_takes_over(tmp_path: Path) -> None:
    with cluster() as first, standby(first) as second:
        either = f"host={first.folder},{second.folder} dbname=pdpp user=pdpp target_session_attrs=read-write"
        with kept_at(either):
            world = build(tmp_path / "home", Clock(datetime.now(UTC)))
            with serving(world.home) as (_, port):
                load = Load(world, port)
                with load.going_on():
                    assert eventually(lambda: len(load.delivered) > 5 and len(load.read) > 5)
                    assert is_followed(first)
                    first.postmaster.end()
                    promote(second)
                    before = len(load.delivered), len(load.read)
                    assert eventually(lambda: len(load.delivered) > before[0] + 5 and len(load.read) > before[1] + 5)
            require_nothing_lost(world, load)
            close(world.services)


def is_followed(first: Cluster) -> bool:
    """Whether nothing is acknowledged before the other has it, and that one is there."""
    with psycopg.connect(first.operator_url) as operator:
        row = operator.execute("select sync_state from pg_stat_replication").fetchone()
    return row == ("sync",)


def promote(second: Cluster) -> None:
    with psycopg.connect(second.operator_url, autocommit=True) as operator:
        operator.execute("alter system reset synchronous_standby_names")  # the one that it copied: nobody follows it
        operator.execute("select pg_reload_conf(), pg_promote()")


def require_nothing_lost(world: World, load: Load) -> None:
    with world.services.database.reading() as reading:
        kept = {key for (key,) in reading.rows("select key from records")}
        logged = {name for (name,) in reading.rows("select name from names where kind = 'request'")}
    verdicts = world.services.database.activity.verify()

    assert [key for key in load.delivered if key not in kept] == []
    assert [request_id for request_id in load.read if request_id not in logged] == []
    assert all(verdict.is_sound for verdict in verdicts)

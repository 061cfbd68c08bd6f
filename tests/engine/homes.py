"""Homes of the tests that are owners in one PostgreSQL database, in this process and in those that it starts."""

import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

from pdpp_server.store import opened
from pdpp_server.store.consent.tokens import KIND, token_row
from pdpp_server.store.digests import token_digest
from pdpp_server.store.engine import Database
from pdpp_server.store.engines.postgres.db import PostgresDatabase
from pdpp_server.store.engines.postgres.pool import Pools
from pdpp_server.store.engines.sqlite import peek
from tests.engine.sitecustomize import VARIABLE

_HERE = Path(__file__).parent
DEADLINE = 5.0
PATIENCE = 120.0  # of a test that says nothing of a deadline: others may use the machine

SetAttribute = Callable[[Any, str, Any], None]
SetVariable = Callable[[str, str], None]


def owner_of(home: Path) -> int:
    """The same number in every process, and another for each folder."""
    return int.from_bytes(sha256(str(home.absolute()).encode()).digest()[:7])


def open_home(url: str, home: Path, **settings: Any) -> PostgresDatabase:
    return PostgresDatabase(Pools(url), home, owner=owner_of(home), **settings)


def keep_homes_in(url: str, set_attribute: SetAttribute) -> None:
    """Whoever opens the database of a home, here or in a process started from here, gets that owner's share."""

    def opening(path: Path, *, read_seconds: float = DEADLINE, log_sync: str = "normal") -> Database:
        del log_sync  # a commit there is as durable as the database
        return open_home(url, path.parent, read_seconds=PATIENCE if read_seconds == DEADLINE else read_seconds)

    def kind_of(home: str, token: str) -> str | None:
        database = open_home(url, Path(home))
        try:
            with database.reading() as reading:
                row = token_row(reading, token_digest(token))
                return None if row is None else row[KIND]
        finally:
            database.close()

    set_attribute(opened, "SqliteDatabase", opening)
    set_attribute(opened, "kind_in_home", kind_of)
    set_attribute(peek, "token_kind", kind_of)


def tell_processes(url: str, set_variable: SetVariable) -> None:
    """Python looks for `sitecustomize` as it starts, so that a process needs to know nothing of tests."""
    set_variable(VARIABLE, url)
    set_variable("PYTHONPATH", os.pathsep.join([str(_HERE), str(_HERE.parents[1]), os.environ.get("PYTHONPATH", "")]))


def told_processes() -> dict[str, str]:
    """The same once more, for a program that starts others without what it was told itself."""
    return {name: os.environ[name] for name in (VARIABLE, "PYTHONPATH")} if VARIABLE in os.environ else {}

"""An engine that lacks something is told by its name: what `store/engine.py` lists, each engine has."""

import inspect
import re
from typing import Protocol

import pytest

from pdpp_server.store import engine
from pdpp_server.store.blob_files import BlobFiles
from pdpp_server.store.engines.meanings import KeptMeanings, TableMeanings
from pdpp_server.store.engines.postgres.blobs import PostgresBlobs
from pdpp_server.store.engines.postgres.db import PostgresDatabase, PostgresReading, PostgresWrite
from pdpp_server.store.engines.postgres.index import PostgresIndex
from pdpp_server.store.engines.postgres.session import PostgresWriting
from pdpp_server.store.engines.postgres.tables import PostgresTables
from pdpp_server.store.engines.postgres.words import PostgresWords
from pdpp_server.store.engines.sqlite.db import SqliteDatabase, SqliteReading, SqliteWrite
from pdpp_server.store.engines.sqlite.index import SqliteIndex
from pdpp_server.store.engines.sqlite.session import SqliteWriting
from pdpp_server.store.engines.sqlite.tables import SqliteTables
from pdpp_server.store.engines.sqlite.words import SqliteWords
from tools.tree import PACKAGE

FOLDERS = {path.parent.name for path in (PACKAGE / "store" / "engines").glob("*/__init__.py")}
ATTRIBUTE = re.compile(r"self\.(\w+)")
ANSWERED: dict[type, tuple[type, ...]] = {
    engine.Records: (SqliteTables, PostgresTables),
    engine.Words: (SqliteWords, PostgresWords),
    engine.Meanings: (KeptMeanings,),
    engine.MeaningIndex: (TableMeanings,),
    engine.Index: (SqliteIndex, PostgresIndex),
    engine.Blobs: (BlobFiles, PostgresBlobs),
    engine.Reading: (SqliteReading, PostgresReading),
    engine.Writing: (SqliteWriting, PostgresWriting),
    engine.Write: (SqliteWrite, PostgresWrite),
    engine.Database: (SqliteDatabase, PostgresDatabase),
}


def listed(protocol: type) -> set[str]:
    """What it asks for, by name, with what it takes over from others."""
    asked = {name for kind in protocol.__mro__[:-1] if kind is not Protocol for name in vars(kind)}
    return {name for name in asked if not name.startswith("_")}


def provided(kind: type) -> set[str]:
    """What its classes define, and what they keep in themselves."""
    sources = [inspect.getsource(each) for each in kind.__mro__ if each.__module__.startswith(engine.__package__ or "")]
    kept = {name for source in sources for name in ATTRIBUTE.findall(source)}
    return set(dir(kind)) | kept


@pytest.mark.parametrize(
    ("protocol", "kind"),
    [(protocol, kind) for protocol, kinds in ANSWERED.items() for kind in kinds],
    ids=lambda each: each.__name__,
)
def test_an_engine_has_everything_that_is_listed(protocol: type, kind: type) -> None:
    assert listed(protocol) - provided(kind) == set()


def test_every_part_of_the_list_is_looked_for() -> None:
    parts = {each for each in vars(engine).values() if isinstance(each, type) and each.__module__ == engine.__name__}
    assert parts == set(ANSWERED)


def test_every_engine_is_looked_at() -> None:
    assert {kind.__module__.split(".")[-2] for kind in ANSWERED[engine.Database]} == FOLDERS

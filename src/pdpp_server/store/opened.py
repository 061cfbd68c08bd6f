"""An owner's database, opened with the engine that it has; the one place that names an engine."""

from pathlib import Path

from pdpp_server.errors import ServerTrouble
from pdpp_server.settings import Settings
from pdpp_server.store.consent.tokens import KIND, token_row
from pdpp_server.store.digests import token_digest
from pdpp_server.store.engine import Database
from pdpp_server.store.engines.sqlite.db import SqliteDatabase
from pdpp_server.store.engines.sqlite.peek import token_kind as kind_in_home

DATABASE_FILE = "pdpp.sqlite"
THE_OWNER = 1  # where a database has one owner


def open_database(home: Path, *, read_seconds: float = 5.0, log_sync: str = "normal") -> Database:
    """The database of a home that is a folder."""
    return SqliteDatabase(home / DATABASE_FILE, read_seconds=read_seconds, log_sync=log_sync)


def database_of(settings: Settings, *, read_seconds: float | None = None) -> Database:
    """The one that the settings name."""
    seconds = settings.read_deadline_ms / 1000 if read_seconds is None else read_seconds
    if settings.database_url is None:
        return open_database(settings.home, read_seconds=seconds, log_sync=settings.log_sync)
    try:
        from pdpp_server.store.engines.postgres.db import PostgresDatabase  # noqa: PLC0415 - an extra, dear to import
        from pdpp_server.store.engines.postgres.pool import Pools  # noqa: PLC0415
    except ModuleNotFoundError as missing:
        raise ServerTrouble(
            f"PDPP_DATABASE_URL needs {missing.name}, which is not installed.",
            remedy="pip install 'pdpp-server[postgres]'",
        ) from missing
    return PostgresDatabase(
        Pools(settings.database_url, settings.database_connections),
        settings.home,
        owner=THE_OWNER,
        read_seconds=seconds,
        write_seconds=settings.database_write_ms / 1000,
        key_file=settings.key_file,
    )


def token_kind(settings: Settings, token: str) -> str | None:
    """`owner`, `client` or `mcp_package`; None where nobody here knows the token.

    Raises:
        OSError: the database of the home cannot be read.
    """
    if settings.database_url is None:
        return kind_in_home(str(settings.home), token)
    database = database_of(settings)
    try:
        with database.reading() as reading:
            row = token_row(reading, token_digest(token))
            return None if row is None else row[KIND]
    finally:
        database.close()

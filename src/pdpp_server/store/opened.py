"""An owner's database, opened with the engine that it has; the one place that names an engine."""

from pathlib import Path

from pdpp_server.errors import NotFound, ServerTrouble
from pdpp_server.model.owners import OwnerRow, typed_name
from pdpp_server.settings import Settings
from pdpp_server.store.consent.tokens import KIND, token_row
from pdpp_server.store.digests import token_digest
from pdpp_server.store.engine import Database
from pdpp_server.store.engines.sqlite.db import SqliteDatabase
from pdpp_server.store.engines.sqlite.peek import token_kind as kind_in_home
from pdpp_server.store.owners import Owners

DATABASE_FILE = "pdpp.sqlite"
FIRST_NAME = "owner"  # of whoever comes first, until there are more


def open_database(home: Path, *, read_seconds: float = 5.0, log_sync: str = "normal") -> Database:
    """The database of a home that is a folder."""
    return SqliteDatabase(home / DATABASE_FILE, read_seconds=read_seconds, log_sync=log_sync)


def database_of(settings: Settings, *, read_seconds: float | None = None) -> Database:
    """The one that the settings name; of many owners, the share of the one whom they name.

    Raises:
        NotFound: there is no owner of that name.
        ServerTrouble: there are several, and none is named.
    """
    seconds = settings.read_deadline_ms / 1000 if read_seconds is None else read_seconds
    if settings.database_url is None:
        return open_database(settings.home, read_seconds=seconds, log_sync=settings.log_sync)
    owners = open_owners(settings, read_seconds=seconds)
    try:
        return owners.database(chosen_owner(owners, settings.owner).number, alone=True)
    except BaseException:
        owners.close()
        raise


def open_owners(settings: Settings, *, read_seconds: float | None = None) -> Owners:
    """Everybody who has a share of the database.

    Raises:
        ServerTrouble: it is the folder of one owner, or what it needs is not installed.
    """
    if settings.database_url is None:
        raise ServerTrouble(
            "This home is a folder of one owner, and needs no names.",
            remedy="Many owners share a PostgreSQL database: name it in PDPP_DATABASE_URL.",
        )
    try:
        from pdpp_server.store.engines.postgres.db import Limits  # noqa: PLC0415
        from pdpp_server.store.engines.postgres.owners import PostgresOwners  # noqa: PLC0415
        from pdpp_server.store.engines.postgres.pool import Pools  # noqa: PLC0415
    except ModuleNotFoundError as missing:
        raise ServerTrouble(
            f"PDPP_DATABASE_URL needs {missing.name}, which is not installed.",
            remedy="pip install 'pdpp-server[postgres]'",
        ) from missing
    return PostgresOwners(
        Pools(settings.database_url, settings.database_connections),
        settings.home,
        read_seconds=settings.read_deadline_ms / 1000 if read_seconds is None else read_seconds,
        write_seconds=settings.database_write_ms / 1000,
        key_file=settings.key_file,
        limits=Limits(settings.owner_records, settings.owner_bytes, settings.owner_connections),
    )


def chosen_owner(owners: Owners, name: str | None) -> OwnerRow:
    """The named one, else the only one; the first comes by being asked for."""
    if name is not None:
        found = owners.named(typed_name(name))
        if found is None:
            raise NotFound(f"This database has no owner called {name}.", remedy="`pdpp owners list` says who there is.")
        return found
    everybody = owners.every()
    if len(everybody) > 1:
        raise ServerTrouble(
            f"This database has {len(everybody)} owners.", remedy="Say whose share you mean: PDPP_OWNER=NAME."
        )
    first = everybody[0] if everybody else owners.add(FIRST_NAME) or owners.named(FIRST_NAME)
    assert first is not None
    return first


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

"""A connection to PostgreSQL, or why there is none; whatever is said of it, its password is not."""

from typing import Any

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from pdpp_server.errors import DatabaseUnavailable, ServerTrouble
from pdpp_server.store.engines.postgres.connection import PostgresConnection

OLDEST = 15
CONNECT_SECONDS = 5
PATIENCE = {"connect_timeout": CONNECT_SECONDS, "tcp_user_timeout": 10_000}  # unless the address says otherwise
_IS_ABOVE_ROW_SECURITY = "select rolsuper or rolbypassrls from pg_roles where rolname = current_user"
_HOW_IT_IS_WRITTEN = (
    "Write it as postgresql://USER@HOST/DATABASE; a password may stand in a file that PGPASSFILE names."
)
_GOES_ON = "then the server goes on by itself."
_TROUBLES: tuple[tuple[tuple[type[psycopg.Error], ...], str, str], ...] = (
    (
        (errors.ReadOnlySqlTransaction,),
        "The database takes no writes: it is read-only, or a standby.",
        "PDPP_DATABASE_URL must lead to the primary; of several hosts, name all, and target_session_attrs=read-write.",
    ),
    (
        (errors.DiskFull,),
        "The disk of the database is full.",
        f"The operator must give it room; {_GOES_ON}",
    ),
    (
        (errors.InsufficientPrivilege,),
        "The role of PDPP_DATABASE_URL has no right to that in the database.",
        f"Connect as the role that made the tables, or give it rights to them; {_GOES_ON}",
    ),
    (
        (errors.UndefinedTable, errors.UndefinedColumn, errors.UndefinedFunction, errors.InvalidSchemaName),
        "The tables of the database are not those that this version of pdpp-server knows.",
        "Restore the database from a backup, or start this server again, which brings an older schema up to date.",
    ),
    (
        (errors.TooManyConnections,),
        "The database takes no more connections.",
        "Lower PDPP_DATABASE_CONNECTIONS of its servers, or raise max_connections there.",
    ),
    (
        (errors.QueryCanceled, errors.LockNotAvailable),
        "The database took longer than PDPP_DATABASE_WRITE_MS for a statement.",
        "Try again: nothing is stored twice.",
    ),
    (
        (psycopg.OperationalError, psycopg.InterfaceError),
        "The connection to the database was lost.",
        DatabaseUnavailable.remedy,
    ),
)
NOT_NOW: tuple[type[psycopg.Error], ...] = tuple(kind for kinds, _, _ in _TROUBLES for kind in kinds)


def unavailable(error: psycopg.Error) -> DatabaseUnavailable:
    """Why the database cannot be used, of an error of those in `NOT_NOW`."""
    message, remedy = next((message, remedy) for kinds, message, remedy in _TROUBLES if isinstance(error, kinds))
    return DatabaseUnavailable(message, remedy=remedy)


def connect(url: str) -> PostgresConnection:
    """What the address says of TLS, hosts and times is for libpq, all of it.

    Raises:
        DatabaseUnavailable: there is none at the moment.
        ServerTrouble: it never will be usable.
    """
    try:
        asked = conninfo_to_dict(url)
    except psycopg.ProgrammingError:  # which repeats what it was given
        raise ServerTrouble("PDPP_DATABASE_URL names no database.", remedy=_HOW_IT_IS_WRITTEN) from None
    try:
        said = make_conninfo("", **{**PATIENCE, **asked, "client_encoding": "UTF8"})
        connection = PostgresConnection.connect(said, autocommit=True, cursor_factory=psycopg.ClientCursor)
    except psycopg.OperationalError as error:
        raise DatabaseUnavailable(f"The database cannot be reached ({_reason(error, asked)}).") from None
    try:
        _require_usable(connection)
    except ServerTrouble:
        connection.close()
        raise
    except psycopg.OperationalError as error:
        connection.close()
        raise unavailable(error) from error
    return connection


def _require_usable(connection: PostgresConnection) -> None:
    major = connection.info.server_version // 10_000
    if major < OLDEST:
        raise ServerTrouble(f"The database is PostgreSQL {major}.", remedy=f"PostgreSQL {OLDEST} or newer is needed.")
    row = connection.execute(_IS_ABOVE_ROW_SECURITY).fetchone()
    if row is not None and row[0]:
        raise ServerTrouble(
            "The role of PDPP_DATABASE_URL is a superuser or may bypass row security, which would then protect nobody.",
            remedy="Make a role of its own for the server, with a database that it owns.",
        )


def _reason(error: psycopg.OperationalError, asked: dict[str, Any]) -> str:
    """The first line of what libpq says."""
    said = str(error).strip().partition("\n")[0]
    password = str(asked.get("password") or "")
    return said.replace(password, "...") if password else said

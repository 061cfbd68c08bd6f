"""A connection to PostgreSQL, or why there is none; whatever is said of it, its password is not."""

from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from pdpp_server.errors import DatabaseUnavailable, ServerTrouble
from pdpp_server.store.engines.postgres.connection import PostgresConnection
from pdpp_server.store.engines.postgres.troubles import refuse

OLDEST = 15
CONNECT_SECONDS = 5
PATIENCE = {"connect_timeout": CONNECT_SECONDS, "tcp_user_timeout": 10_000}  # unless the address says otherwise
_IS_ABOVE_ROW_SECURITY = "select rolsuper or rolbypassrls from pg_roles where rolname = current_user"
_HOW_IT_IS_WRITTEN = (
    "Write it as postgresql://USER@HOST/DATABASE; a password may stand in a file that PGPASSFILE names."
)

_AN_AT = "its host or name holds an @; in a password it is written %40, and a / there %2F"


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
    except psycopg.Error as error:
        connection.close()
        refuse(error)
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
    """The first line of what libpq says. A password with an `@` ends there for it, and its rest names the host."""
    if any("@" in str(asked.get(name) or "") for name in ("host", "dbname")):
        return _AN_AT
    said = str(error).strip().partition("\n")[0]
    password = str(asked.get("password") or "")
    return said.replace(password, "...") if password else said

"""Why PostgreSQL did not do what it was asked, by its SQLSTATE: it is in trouble, or the asking is a bug of ours."""

from typing import NamedTuple, Never

import psycopg

from pdpp_server.errors import DatabaseUnavailable


class DatabaseTrouble(NamedTuple):
    message: str
    remedy: str = DatabaseUnavailable.remedy
    retry_after_seconds: int = DatabaseUnavailable.retry_after_seconds  # 0 where it would be the same again


_GOES_ON = "then the server goes on by itself."
_LOST = DatabaseTrouble("The connection to the database was lost.")
_RESTARTING = DatabaseTrouble("The database is shutting down, or starting.")
_OTHER_TABLES = DatabaseTrouble(
    "The tables of the database are not those that this version of pdpp-server knows.",
    "Restore the database from a backup, or start this server again, which brings an older schema up to date.",
)
_IN_THE_WAY = DatabaseTrouble("Another transaction was in the way.", "Try again: nothing is stored twice.")
_DAMAGED = DatabaseTrouble(
    "The database cannot read or write its own files.",
    "The operator must look into the log of the database; a backup may have to be restored.",
    0,
)
# By the whole SQLSTATE or by the class that it begins with. What is not here is a bug: a wrong statement, a value that
# does not fit, a constraint that we should have kept.
_TROUBLES = {
    "08": _LOST,
    "25P03": _LOST,
    "25P04": _LOST,
    "57P05": _LOST,
    "57P01": _RESTARTING,
    "57P02": _RESTARTING,
    "57P03": _RESTARTING,
    "57P04": DatabaseTrouble("The database was dropped.", "PDPP_DATABASE_URL must lead to one that is there."),
    "57014": DatabaseTrouble(
        "The database ended the statement: it took too long, or somebody there ended it.",
        "Try again: nothing is stored twice. PDPP_DATABASE_WRITE_MS says how long a statement that writes may take.",
    ),
    "55P03": DatabaseTrouble("Something in the database stays locked by others.", _IN_THE_WAY.remedy),
    "55006": _IN_THE_WAY,
    "40": _IN_THE_WAY,
    "25006": DatabaseTrouble(
        "The database takes no writes: it is read-only, or a standby.",
        "PDPP_DATABASE_URL must lead to the primary; of several hosts, name all, and target_session_attrs=read-write.",
    ),
    "53": DatabaseTrouble(
        "The database lacks what it needs for that.", f"The operator must look into its log; {_GOES_ON}"
    ),
    "53100": DatabaseTrouble("The disk of the database is full.", f"The operator must give it room; {_GOES_ON}"),
    "53200": DatabaseTrouble(
        "The database has too little memory for that.", f"The operator must give it more; {_GOES_ON}"
    ),
    "53300": DatabaseTrouble(
        "The database takes no more connections.",
        "Lower PDPP_DATABASE_CONNECTIONS of its servers, or raise max_connections there.",
    ),
    "53400": DatabaseTrouble(
        "The database was told to take no more than that.",
        "The operator must raise its limit, such as temp_file_limit; its log says which.",
        0,
    ),
    "42501": DatabaseTrouble(
        "The role of PDPP_DATABASE_URL has no right to that in the database.",
        f"Connect as the role that made the tables, or give it rights to them; {_GOES_ON}",
    ),
    "28": DatabaseTrouble("The database does not let this role in.", f"The operator must let it in; {_GOES_ON}"),
    "42P01": _OTHER_TABLES,
    "3F000": _OTHER_TABLES,
    "54": DatabaseTrouble(
        "That is larger than what PostgreSQL has room for in one place.",
        "Make it smaller: it would be refused again.",
        0,
    ),
    "58": _DAMAGED,
    "XX001": _DAMAGED,
    "XX002": _DAMAGED,
}


def is_lost(error: psycopg.Error) -> bool:
    """Whether it is of the connection alone: on another one the same may be asked again."""
    return _trouble_of(error) in (_LOST, _RESTARTING)


def trouble(error: psycopg.Error) -> DatabaseUnavailable | None:
    """As a refusal; None where it is a bug."""
    found = _trouble_of(error)
    if found is None:
        return None
    refusal = DatabaseUnavailable(found.message, remedy=found.remedy)
    refusal.retry_after_seconds = found.retry_after_seconds
    return refusal


def refuse(error: psycopg.Error) -> Never:
    """Raises: DatabaseUnavailable, or the error itself where it is a bug."""
    refusal = trouble(error)
    if refusal is None:
        raise error
    raise refusal from error


def _trouble_of(error: psycopg.Error) -> DatabaseTrouble | None:
    state = error.sqlstate
    if state is None:  # said by libpq, or by psycopg
        return _LOST if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError) else None
    return _TROUBLES.get(state) or _TROUBLES.get(state[:2])

"""What a statement gives, all of it at once: a cursor left open would pin its snapshot."""

from typing import Any

import apsw

from pdpp_server.store.session import Values


def rows(connection: apsw.Connection, statement: str, values: Values = ()) -> list[Any]:
    return connection.execute(statement, values).fetchall()


def one(connection: apsw.Connection, statement: str, values: Values = ()) -> Any:
    """The first row, or its only column; None where there is none."""
    return connection.execute(statement, values).get

"""One question before anything else is loaded: the kind of a token."""

import errno
import os

import apsw

from pdpp_server.store.digests import token_digest


def token_kind(home: str, token: str) -> str | None:
    """`owner`, `client` or `mcp_package`; None where this home does not know the token.

    Raises:
        OSError: its database cannot be read.
    """
    path = os.path.join(home, "pdpp.sqlite")  # noqa: PTH118 - pathlib would double the start-up time
    if not os.path.exists(path):  # noqa: PTH110
        return None
    try:
        return _kind(path, token)
    except apsw.SQLError:  # a database without our tables knows no token
        return None
    except apsw.Error as error:
        raise OSError(errno.EIO, f"The database cannot be read ({error})", path) from error


def _kind(path: str, token: str) -> str | None:
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        connection.set_busy_timeout(5000)
        return connection.execute("select kind from tokens where digest = ?", (token_digest(token),)).get
    finally:
        connection.close()

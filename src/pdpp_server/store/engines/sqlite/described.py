"""The tables of a home as they are laid out, for whoever copies all of them."""

from pdpp_server.store.moving import PlainTable
from pdpp_server.store.session import Session

_TABLES = "select name from sqlite_schema where type = 'table' order by rowid"
_COLUMNS = "select name, type, pk from pragma_table_info(?) order by cid"
_MADE_ANEW = frozenset({"words", "field_values", "positions", "layout", "clock"})  # by whoever brings the records
_ITS_OWN = frozenset({"sqlite_sequence", "traces", "released_blobs"})  # what SQLite needs beside them
_IN_ORDER_OF_COMING = frozenset({"grants"})
_WHOSE = "owner"  # named by whoever writes


def plain_tables(session: Session) -> list[PlainTable]:
    """In the order in which they were made, so that what a row refers to comes before it."""
    names = [name for (name,) in session.rows(_TABLES) if name.partition("_")[0] != "words"]
    return [_described(session, name) for name in names if name not in _MADE_ANEW | _ITS_OWN]


def _described(session: Session, name: str) -> PlainTable:
    columns: list[str] = []
    keys: list[tuple[int, str]] = []
    for column, kind, place in session.rows(_COLUMNS, (name,)):
        if column == _WHOSE:
            continue
        columns.append(column)
        if place:
            ordered = f"{column} collate binary" if kind.lower() == "text" else column
            keys.append((place, ordered))
    order = "rowid" if name in _IN_ORDER_OF_COMING else ", ".join(ordered for _, ordered in sorted(keys))
    return PlainTable(name, tuple(columns), order)

"""The unused room of pages, zeroed: SQLite erases a row where it is, and leaves copies where it once was."""

import apsw

from pdpp_server.store.engines.sqlite.rows import one, rows

_TRACES_LEFT = "update traces set are_left = 1 where not are_left"
_NO_TRACES_LEFT = "update traces set are_left = 0"
_ARE_TRACES_LEFT = "select are_left from traces"
_PAGE_SIZE = "pragma page_size"
_TREE_PAGES = "select pageno from dbstat where pagetype <> 'overflow' and unused > 0 order by pageno"
_FILE_HEADER_BYTES = 100
_LEAF_KINDS, _INNER_KINDS = {10, 13}, {2, 5}


def note_erasure(writer: apsw.Connection) -> None:
    """In the transaction that erases, so that whoever comes after a crash finishes it."""
    writer.execute(_TRACES_LEFT)


def are_traces_left(reader: apsw.Connection) -> bool:
    return bool(one(reader, _ARE_TRACES_LEFT))


def scrub(writer: apsw.Connection) -> None:
    """Zero what lies between the cell pointers and the cells of every tree page, in the file itself.

    Nobody may write meanwhile, and no newer page may wait in the log: the caller holds the writer's lock on a database
    whose log is empty. Whoever reads is not disturbed, for nobody looks into the unused room of a page. The file is
    opened by way of SQLite: closing it in any other way would take its locks off.
    """
    size: int = one(writer, _PAGE_SIZE)
    file = apsw.VFSFile("", writer.db_filename("main"), [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READWRITE, 0])
    try:
        for (number,) in rows(writer, _TREE_PAGES):
            start = (number - 1) * size
            page = file.xRead(size, start)
            low, high = unused_room(page, is_first=number == 1)
            if page[low:high].strip(b"\0"):
                file.xWrite(bytes(high - low), start + low)
        file.xSync(apsw.SQLITE_SYNC_FULL)
    finally:
        file.xClose()
    writer.execute("pragma shrink_memory")  # or pages that the writer remembers would be written as they were
    writer.execute(_NO_TRACES_LEFT)  # with this change all others read their pages anew


def unused_room(page: bytes, *, is_first: bool) -> tuple[int, int]:
    """Where the cell pointers of a tree page end, and where its cells begin (file format of SQLite, section 1.6)."""
    start = _FILE_HEADER_BYTES if is_first else 0
    kind, cells = page[start], int.from_bytes(page[start + 3 : start + 5], "big")
    assert kind in _LEAF_KINDS | _INNER_KINDS
    low = start + (8 if kind in _LEAF_KINDS else 12) + 2 * cells
    high = int.from_bytes(page[start + 5 : start + 7], "big") or 65_536
    assert low <= high <= len(page)
    return low, high

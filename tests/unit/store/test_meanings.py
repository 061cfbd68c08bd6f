"""Blocks of meaning are found by the records that they span."""

from pathlib import Path

from pdpp_server.meaning.blocks import BLOCK_BITS, entries_to_bytes
from pdpp_server.store.engines.sqlite.db import SqliteDatabase

DIMENSIONS = 8
SECOND = 1 << BLOCK_BITS  # the first record of the second block


def test_of_a_range_every_block_is_found_up_to_that_of_its_last_record(home: Path) -> None:
    database = SqliteDatabase(home / "pdpp.sqlite")
    kept = [(rid, b"", entries_to_bytes(rid, [], [], DIMENSIONS)) for rid in (5, SECOND)]
    with database.writing() as writer:
        writer.meanings.put(DIMENSIONS, kept)

    with database.reading() as reading:
        found = [[number for number, _ in reading.meanings.blocks(0, end)] for end in (SECOND, SECOND + 1)]

    assert found == [[0], [0, 1]]
    database.close()

"""What a statement gives, all at once."""

import apsw

from pdpp_server.store.engines.sqlite.rows import one, rows

FEW = "select * from (values (1, 'a'), (2, 'b')) where column1 >= ?"


def test_all_rows_come_at_once_and_the_first_alone_or_its_only_column() -> None:
    connection = apsw.Connection(":memory:")
    assert rows(connection, FEW, (1,)) == [(1, "a"), (2, "b")]
    assert rows(connection, FEW, (3,)) == []
    assert one(connection, FEW, (2,)) == (2, "b")
    assert one(connection, "select 7") == 7
    assert one(connection, FEW, (3,)) is None

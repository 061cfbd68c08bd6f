"""A connection, by what the rest of the store asks of it."""

import apsw
import pytest

from pdpp_server.store.engines.sqlite.session import SqliteSession

COUNT = "with recursive n(i) as (select 1 union all select i + 1 from n where i < :most) select i from n"


@pytest.fixture
def session() -> SqliteSession:
    return SqliteSession(apsw.Connection(":memory:"))


def test_a_row_can_be_asked_for_while_others_are_gone_through(session: SqliteSession) -> None:
    asked = [session.one("select :i * 2", {"i": i}) for (i,) in session.each(COUNT, {"most": 3})]
    assert asked == [2, 4, 6]


def test_a_question_that_fails_leaves_the_next_one_alone(session: SqliteSession) -> None:
    for faulty in ("select nothing", "select abs(-9223372036854775808)"):
        with pytest.raises(apsw.SQLError):
            session.one(faulty)
        assert session.one("select 1, 'a'") == (1, "a")
    assert session.one("select 1 where 0") is None


def test_what_was_asked_for_holds_no_snapshot(session: SqliteSession) -> None:
    session.one(COUNT, {"most": 3})
    session.connection.execute("begin; create table t(a); commit")
    assert session.one("select count(*) from t") == 0
    assert not session.connection.in_transaction

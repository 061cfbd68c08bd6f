"""Several questions in one message to PostgreSQL: what they give, what is planned, and what is left after trouble."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg.pq import TransactionStatus

from pdpp_server.store.engines.postgres import connection as asked_of
from pdpp_server.store.engines.postgres.connecting import connect
from pdpp_server.store.engines.postgres.connection import PostgresConnection
from pdpp_server.store.engines.postgres.joined import joined
from pdpp_server.store.engines.postgres.session import asking
from tests.worlds.postgres import Cluster

PLANS = "select count(*) from pg_prepared_statements"


@pytest.fixture
def connection(postgres: Cluster) -> Iterator[PostgresConnection]:
    with connect(postgres.url) as opened:
        yield opened


def answered(connection: PostgresConnection, statement: str, *values: Any) -> Any:
    ((row,),) = connection.ask(asking(statement, values))
    return row[0]


def test_each_question_has_its_rows(connection: PostgresConnection) -> None:
    told = connection.ask(
        asking("begin"),
        asking("select n from generate_series(1, ?) n", (3,)),
        asking("select 1 where 5 % 2 = :none or :text = ':text'", {"none": 0, "text": "é?"}),
        asking("rollback"),
    )

    assert told == [[], [(1,), (2,), (3,)], [], []]


def test_questions_that_are_joined_have_their_own_rows(connection: PostgresConnection) -> None:
    row, none = "select n, n * 2, ?, n from (values(?)) given(n)", "select 1, ? where false"
    empty = "select cast(null as text), cast(null as text)"
    together = joined([(row, ("a", 3)), (none, ("b",)), (empty, ()), (row, ("?", 4))])

    for _ in range(2):
        told = connection.ask_joined(asking("select 7"), together)
        assert told == [[(7,)], [(3, 6, "a", 3)], [], [(None, None)], [(4, 8, "?", 4)]]


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("text", ""),
        ("text", "naïve 🦭"),
        ("bigint", 0),
        ("bigint", -(2**63)),
        ("bigint", 2**63 - 1),
        ("numeric", 2**70),
        ("bytea", b""),
        ("bytea", b"\0\xff"),
        ("float8", 1.5),
        ("text[]", ["a", "\\b"]),
    ],
)
def test_a_value_comes_back_as_it_was_said(connection: PostgresConnection, kind: str, value: object) -> None:
    assert answered(connection, f"select cast(? as {kind})", value) == value


def test_whether_something_is_true_is_a_number(connection: PostgresConnection) -> None:
    assert answered(connection, "select ? + 1", True) == 2


def test_a_text_with_nul_is_never_cut_off_there(connection: PostgresConnection) -> None:
    with pytest.raises(psycopg.DataError):
        answered(connection, "select cast(? as text)", "no\0thing")
    assert answered(connection, "select 1") == 1


def test_a_question_is_planned_once_however_long_its_numbers_are(connection: PostgresConnection) -> None:
    before = answered(connection, PLANS)

    for number in (1, 70_000, 2**40):
        assert answered(connection, "select ? * 2", number) == number * 2
    assert answered(connection, PLANS) == before + 1


def test_a_connection_keeps_no_more_plans_than_it_may(
    connection: PostgresConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asked_of, "PLANS_MAX", 3)

    for _ in range(2):
        for number in range(6):
            assert answered(connection, f"select {number}") == number
    assert answered(connection, PLANS) == 3


def test_after_a_question_that_fails_none_is_answered_and_others_can_be_asked(connection: PostgresConnection) -> None:
    wrong = asking("select 1 / ?", (0,))

    for _ in range(2):
        with pytest.raises(psycopg.errors.DivisionByZero):
            connection.ask(asking("begin"), asking("select 2"), wrong, asking("select 3"))
        assert connection.info.transaction_status == TransactionStatus.INERROR
        connection.ask(asking("rollback"))
    assert connection.ask(asking("select 2"), asking("select 3")) == [[(2,)], [(3,)]]


def test_a_connection_that_is_lost_in_the_middle_is_closed(connection: PostgresConnection) -> None:
    ended = asking("select pg_terminate_backend(pg_backend_pid())")

    with pytest.raises(psycopg.OperationalError):
        connection.ask(asking("select 1"), ended, asking("select 2"))
    assert connection.closed
    with pytest.raises(psycopg.OperationalError):
        connection.ask(asking("select 1"))


def test_a_connection_whose_plans_were_dropped_is_as_good_as_lost(connection: PostgresConnection) -> None:
    assert answered(connection, "select 1") == 1
    connection.execute("deallocate all")

    with pytest.raises(psycopg.OperationalError):
        answered(connection, "select 1")
    assert connection.closed


def test_without_a_transaction_all_of_them_are_one(connection: PostgresConnection) -> None:
    connection.execute("create temporary table kept(n bigint unique deferrable initially deferred)")
    add = asking("insert into kept values(?)", (1,))

    with pytest.raises(psycopg.errors.UniqueViolation):  # noticed in the end
        connection.ask(add, asking("select 1"), add)
    assert answered(connection, "select count(*) from kept") == 0
    connection.ask(add, asking("select 1"))
    assert answered(connection, "select count(*) from kept") == 1


def test_a_long_text_is_sent_while_a_long_answer_comes(connection: PostgresConnection) -> None:
    text = "walrus " * 500_000
    echo = asking("select cast(? as text)", (text,))

    assert connection.ask(echo, echo, echo) == [[(text,)]] * 3

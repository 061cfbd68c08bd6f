"""The second wall: whatever a statement says, no row is there of an owner whom the transaction did not name."""

from collections.abc import Iterator

import psycopg
import pytest

from tests.requirements import requirement
from tests.scenarios.owners.town import Town
from tests.worlds.postgres import Cluster

STRANGER = "pdpp_stranger"  # may do everything with the tables, and neither owns them nor stands above row security
MADE_THEM = "pdpp"
_TABLES = "select tablename from pg_tables where schemaname = 'public' and tablename <> 'schema_version' order by 1"
FAULTS = [
    "alter table {table} disable row level security",
    "drop policy one_owner on {table}; create policy one_owner on {table} using (true)",
    "create policy another on {table} using (true)",
]


@pytest.fixture
def operator(town: Town, postgres: Cluster) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    """Above row security, so that what is hidden can be counted; what is tried is tried in another role."""
    name = str(town.settings.database_url).partition("@/")[2].partition("?")[0]
    url = f"host={postgres.folder} dbname={name} user=postgres"
    with psycopg.connect(url) as connection:
        connection.execute(
            f"do $$ begin create role {STRANGER} login; exception when duplicate_object then null; end $$".encode()
        )
        connection.execute(
            f"grant select, insert, update, delete on all tables in schema public to {STRANGER}".encode()
        )
        connection.commit()
        yield connection


def tables(operator: psycopg.Connection[tuple[object, ...]]) -> list[str]:
    return [str(name) for (name,) in operator.execute(_TABLES).fetchall()]


def seen_of_others(operator: psycopg.Connection[tuple[object, ...]], role: str, named: int) -> dict[str, int]:
    """In which tables that role sees, or could change, rows of owners whom it did not name."""
    found: dict[str, int] = {}
    for table in tables(operator):
        with operator.transaction(force_rollback=True):
            operator.execute(f"set local role {role}".encode())
            operator.execute("select set_config('pdpp.owner', %s, true)", [str(named)])
            seen = operator.execute(f"select count(*) from {table} where owner <> {named}".encode()).fetchone()
            changed = operator.execute(f"update {table} set owner = owner where owner <> {named}".encode()).rowcount
            assert seen is not None
            if seen[0] or changed:
                found[table] = max(int(str(seen[0])), changed)
    return found


@requirement("store.owners.row-security", "store.engines.one-owner")
@pytest.mark.parametrize("role", [STRANGER, MADE_THEM])
def test_no_row_of_another_owner_is_seen_or_changed(
    town: Town, operator: psycopg.Connection[tuple[object, ...]], role: str
) -> None:
    ada, bob = town["ada"].number, town["bob"].number
    of_bob = [
        t for t in tables(operator) if operator.execute(f"select 1 from {t} where owner = {bob}".encode()).fetchone()
    ]
    assert len(of_bob) > 15, of_bob

    assert seen_of_others(operator, role, ada) == {}
    with operator.transaction(force_rollback=True):
        operator.execute(f"set local role {role}".encode())
        with pytest.raises((psycopg.errors.UndefinedObject, psycopg.errors.InvalidTextRepresentation)):
            operator.execute("select count(*) from records")  # who names nobody


@requirement("store.owners.row-security")
@pytest.mark.parametrize("role", [STRANGER, MADE_THEM])
def test_no_row_can_be_put_to_another_owner(
    town: Town, operator: psycopg.Connection[tuple[object, ...]], role: str
) -> None:
    ada, bob = town["ada"].number, town["bob"].number
    for statement in (
        f"insert into days(owner, sid, day, live) values({bob}, 1, 1, 1)",
        f"update tokens set owner = {bob}",
        f"insert into ways_in(digest, owner) values('x', {bob})",
    ):
        with operator.transaction(force_rollback=True):
            operator.execute(f"set local role {role}".encode())
            operator.execute("select set_config('pdpp.owner', %s, true)", [str(ada)])
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                operator.execute(statement.encode())


@requirement("store.owners.row-security")
def test_every_table_is_forced(town: Town, operator: psycopg.Connection[tuple[object, ...]]) -> None:
    del town
    rows = operator.execute(
        "select relname, relrowsecurity, relforcerowsecurity from pg_class where relkind = 'r' "
        "and relnamespace = 'public'::regnamespace and relname <> 'schema_version'"
    ).fetchall()
    assert [row for row in rows if row[1:] != (True, True)] == []


@requirement("store.owners.row-security")
@pytest.mark.parametrize("table", ["records", "tokens", "disclosures", "keys", "ways_in"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_policy_that_is_dropped_or_opened_is_noticed(
    town: Town, operator: psycopg.Connection[tuple[object, ...]], fault: str, table: str
) -> None:
    ada, bob = town["ada"], town["bob"]
    bob.services.database.keys.kept("cursors.key")
    with bob.services.database.writing() as writing:
        writing.run("insert into segments(id, header) values('s', 'h')")
        writing.run("insert into disclosures(segment, n, at, records, line) select segment, 1, '', 0, '' from segments")
    with operator.transaction(force_rollback=True):
        operator.execute(fault.format(table=table).encode())
        assert seen_of_others(operator, STRANGER, ada.number).keys() == {table}

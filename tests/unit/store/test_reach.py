"""A scope as a range of rids, to the last rid; and the same question of one record."""

from types import SimpleNamespace
from typing import cast

import apsw
import pytest

from pdpp_server.grants.permitted import Scope
from pdpp_server.model.sources import Origin
from pdpp_server.model.times import DAY_MICROS
from pdpp_server.store.engine import Reading
from pdpp_server.store.engines.sqlite.session import SqliteSession
from pdpp_server.store.engines.sqlite.tables import SqliteTables
from pdpp_server.store.layout import MAX_DAY, ConnectionPlace, Layout, StreamPlace, day_of, first_rid
from pdpp_server.store.records.reach import FEW, Reach, named
from pdpp_server.store.records.scope import reaches, shows
from tests.requirements import requirement
from tests.worlds.chat import DECLARATION

SID = 5
ORIGIN = Origin("cin", "chat", "cin")
PLACE = StreamPlace(SID, {}, {}, None, {})
LAYOUT = Layout(
    1, {"cin": ConnectionPlace(1, ORIGIN, 1, {"messages": PLACE}, frozenset({"messages"}))}, {"cin": ORIGIN}
)
SCOPE = Scope("g", DECLARATION.streams["messages"], ("cin",), frozenset({"id"}))
LATER, LAST = 20_000 * DAY_MICROS + 7, 20_010 * DAY_MICROS + 9  # neither lies at the edge of a day
FIRST_DAY, LAST_DAY = day_of(LATER), day_of(LAST)


def standing(connection: apsw.Connection) -> Reading:
    """No more of a reading than a reach needs: the table, and where things lie."""
    session = SqliteSession(connection)
    return cast("Reading", SimpleNamespace(layout=LAYOUT, records=SqliteTables(connection, session)))


def narrowing(reach: Reach, rid: str) -> str:
    return standing(apsw.Connection(":memory:")).records.narrowing(reach, rid)


def reach_of(scope: Scope, *rids: int) -> Reach:
    """Over a table of records that all are named m1, without a time."""
    connection = apsw.Connection(":memory:")
    connection.execute("create table records (rid integer primary key, sid, key, at, data)")
    connection.executemany("insert into records values (?, 5, 'm1', null, '')", [(rid,) for rid in rids])
    (found,) = reaches(standing(connection), scope)
    return found


@requirement("grants.permit.connections")
def test_without_bounds_a_reach_is_its_stream_and_nothing_beside_it() -> None:
    reach = reach_of(SCOPE)

    assert reach.values == {"low": first_rid(SID), "high": first_rid(SID + 1)}
    assert (reach.is_whole, reach.is_few, reach.rids, reach.origin) == (True, False, None, ORIGIN)
    assert narrowing(reach, "r.rid") == "r.rid >= :low and r.rid < :high"


@requirement("grants.permit.time")
def test_a_day_inside_the_bounds_needs_no_look_and_those_at_the_edges_do() -> None:
    reach = reach_of(SCOPE._replace(since=LATER, until=LAST))

    assert reach.values == {
        "low": first_rid(SID, FIRST_DAY),
        "inner_low": first_rid(SID, FIRST_DAY + 1),
        "inner_high": first_rid(SID, LAST_DAY),
        "high": first_rid(SID, LAST_DAY + 1),
        "since": LATER,
        "until": LAST,
    }
    assert (reach.is_whole, reach.is_few) == (False, False)


@requirement("grants.permit.time")
def test_a_bound_that_is_not_given_lies_beyond_every_time() -> None:
    ending, beginning = reach_of(SCOPE._replace(until=LAST)).values, reach_of(SCOPE._replace(since=LATER)).values

    assert (ending["low"], ending["inner_low"], ending["since"]) == (first_rid(SID), first_rid(SID, 1), -(2**62))
    assert (beginning["inner_high"], beginning["until"]) == (first_rid(SID, MAX_DAY), 2**62)
    assert beginning["high"] == first_rid(SID + 1)


@requirement("grants.permit.resources")
def test_named_records_are_a_reach_of_their_own() -> None:
    reach = reach_of(SCOPE._replace(resources=frozenset({"m1"})), 9, 3, 4)

    assert reach.rids == (3, 4, 9)
    assert reach.values == {"low": 3, "high": 10, "rids": "[3,4,9]"}
    assert (reach.is_whole, reach.is_few) == (False, True)
    assert reach_of(SCOPE._replace(resources=frozenset({"m2"})), 9).rids == ()
    assert reach_of(SCOPE._replace(resources=frozenset()), 9).values == {"low": 0, "high": 0, "rids": "[]"}
    assert reach_of(SCOPE._replace(resources=frozenset({"m1"}), since=LATER), 9).rids == ()


@pytest.mark.parametrize(("count", "is_few"), [(1, True), (FEW - 1, True), (FEW, True), (FEW + 1, False)])
def test_few_are_looked_up_one_by_one_and_many_are_passed_over(count: int, is_few: bool) -> None:
    reach = named(reach_of(SCOPE), range(count))

    assert FEW == 2000
    assert reach.is_few == is_few
    assert (":low" not in narrowing(reach, "rid")) == is_few


def test_a_connection_without_the_stream_is_passed_over() -> None:
    nowhere = SCOPE._replace(connections=("cin_gone", "cin"))

    assert [reach.place for reach in reaches(standing(apsw.Connection(":memory:")), nowhere)] == [PLACE]


@pytest.mark.parametrize(
    ("bounds", "key", "at", "is_shown"),
    [
        ({}, "m1", None, True),
        ({}, "m1", 5, True),
        ({"resources": frozenset({"m1"})}, "m1", None, True),
        ({"resources": frozenset({"m1"})}, "m2", None, False),
        ({"resources": frozenset[str]()}, "m1", 5, False),
        ({"since": 5}, "m1", 5, True),
        ({"since": 5}, "m1", 6, True),
        ({"since": 5}, "m1", 4, False),
        ({"since": 5}, "m1", None, False),
        ({"until": 5}, "m1", 4, True),
        ({"until": 5}, "m1", 3, True),
        ({"until": 5}, "m1", 5, False),
        ({"until": 5}, "m1", 6, False),
        ({"until": 5}, "m1", None, False),
        ({"since": 3, "until": 5}, "m1", 4, True),
        ({"since": 3, "until": 5}, "m1", 2, False),
        ({"since": 3, "until": 5}, "m1", 5, False),
        ({"since": 1000, "until": 5000}, "m1", int("1000"), True),
        ({"since": 3, "until": 5, "resources": frozenset({"m1"})}, "m1", 5, False),
        ({"since": 3, "until": 5, "resources": frozenset({"m1"})}, "m2", 4, False),
    ],
)
@requirement("grants.permit.time")
def test_one_record_is_shown_by_its_name_and_time(
    bounds: dict[str, object], key: str, at: int | None, is_shown: bool
) -> None:
    assert shows(SCOPE._replace(**bounds), key, at) == is_shown

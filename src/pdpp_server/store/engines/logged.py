"""Disclosures in tables, as their owner asks for them: the same statements for every engine."""

from collections.abc import Iterator
from typing import Any, Unpack

import orjson

from pdpp_server.evidence.activity import PREVIEW_CLIENT
from pdpp_server.model.activity import ClientQuarter, Day, Disclosure
from pdpp_server.model.times import instant, iso_micros
from pdpp_server.store.activity import ActivityAsked
from pdpp_server.store.log import disclosure_of
from pdpp_server.store.session import Changing, Session

ADD_NAME = """
insert into names(kind, name, at, disclosure, records) values(:kind, :name, :at, :disclosure, :records)
on conflict do nothing
"""
_OF_SEGMENT = "select disclosure, line from disclosures where segment = :segment"
_FORGET_NAME = """
delete from names where kind = :kind and name = :name and at = :at and disclosure = :disclosure
"""
_FORGET_LINES = "delete from disclosures where segment = :segment"
_FORGET_SEGMENT = "delete from segments where segment = :segment"
RECENT = """
select d.line from disclosures d join segments s using (segment)
where d.at >= :since{also} order by d.at desc, s.id desc, d.n desc limit :limit
"""
RECENT_NAMED = """
select d.line from names k cross join disclosures d using (at, disclosure) join segments s using (segment)
where k.kind = :kind and k.name = :name and k.at >= :since{also}
order by k.at desc, s.id desc, d.n desc limit :limit
"""
ALSO_NAMED = """
    and exists(select 1 from names o
        where o.kind = '{kind}' and o.name = :{kind} and o.at = k.at and o.disclosure = k.disclosure)"""
_ALSO_BEFORE = " and d.at < :until"
_ALSO_OF_CONNECTION = """
    and exists(select 1 from json_each(cast({line} -> 'connections' as text)) each where each.value = :connection)"""
_OWN = "({line} ->> 'token_kind' = 'owner' or coalesce({line} ->> 'client_id', '') = :preview_client)"
_PER_DAY = """
select substr(at, 1, 10) as day, count(*), cast(sum(records) as bigint) from disclosures
group by substr(at, 1, 10) order by day desc
"""
_PER_DAY_OF_GRANT = """
select substr(at, 1, 10) as day, count(*), cast(sum(records) as bigint) from names
where kind = 'grant' and name = :grant_id group by substr(at, 1, 10) order by day desc
"""
_PER_CLIENT_QUARTER = """
select min(at) as first, name, count(*), cast(sum(records) as bigint) from names
where kind = 'client' and at >= :since
group by substr(at, 1, 13), cast(substr(at, 15, 2) as integer) / 15, name order by first desc, name
"""
_FIRST_READS = "select name, min(at) from names where kind = 'client' group by name"


class LoggedTables:
    """One snapshot of them. `line` is how an engine names the JSON of a disclosure `d`."""

    def __init__(self, session: Session, line: str) -> None:
        self._session, self._line = session, line

    def recent(self, *, limit: int = 50, **asked: Unpack[ActivityAsked]) -> list[Disclosure]:
        named = {
            "request": asked.get("request_id"),  # the rarest name first
            "record": asked.get("record"),
            "grant": asked.get("grant_id"),
            "client": asked.get("client_id"),
        }
        others = {kind: name for kind, name in named.items() if name is not None}
        bound: dict[str, Any] = {"since": _utc(asked.get("since")), "limit": limit}
        statement = RECENT
        if others:
            kind = next(iter(others))
            bound |= {"kind": kind, "name": others.pop(kind)}
            statement = RECENT_NAMED
        also = "".join(ALSO_NAMED.format(kind=kind) for kind in others) + self._narrowing(asked, bound)
        rows = self._session.rows(statement.format(also=also), {**bound, **others})
        found = (disclosure_of(orjson.loads(line)) for (line,) in rows)
        return [disclosure for disclosure in found if disclosure]

    def _narrowing(self, asked: ActivityAsked, bound: dict[str, Any]) -> str:
        also = ""
        if until := asked.get("until"):
            also += _ALSO_BEFORE
            bound["until"] = _utc(until)
        if (connection_id := asked.get("connection_id")) is not None:
            also += _ALSO_OF_CONNECTION.format(line=self._line)
            bound["connection"] = connection_id
        if (own := asked.get("own")) is not None:
            also += f" and {'' if own else 'not '}{_OWN.format(line=self._line)}"
            bound["preview_client"] = PREVIEW_CLIENT
        return also

    def per_day(self, grant_id: str | None = None) -> list[Day]:
        if grant_id is None:
            rows = self._session.rows(_PER_DAY)
        else:
            rows = self._session.rows(_PER_DAY_OF_GRANT, {"grant_id": grant_id})
        return [Day(*row) for row in rows]

    def per_client_quarter(self, since: str) -> list[ClientQuarter]:
        return [ClientQuarter(*row) for row in self._session.rows(_PER_CLIENT_QUARTER, {"since": _utc(since)})]

    def first_reads(self) -> dict[str, str]:
        return dict(self._session.rows(_FIRST_READS))


def names_of(disclosure: Disclosure) -> Iterator[tuple[str, str]]:
    """Everything that a disclosure can be asked by: its request, client, grants and records."""
    yield "request", disclosure.request_id
    if disclosure.client_id is not None:
        yield "client", disclosure.client_id
    for grant_id in disclosure.grant_ids:
        yield "grant", grant_id
    for record in disclosure.records:
        yield "record", record


def forget_segment(writing: Changing, segment: int) -> None:
    """Its lines, and every name that they are listed under."""
    listed: list[dict[str, Any]] = []
    for number, line in writing.rows(_OF_SEGMENT, {"segment": segment}):
        disclosure = disclosure_of(orjson.loads(line))
        if disclosure is not None:
            shared = {"at": disclosure.at, "disclosure": number}
            listed += [{"kind": kind, "name": name, **shared} for kind, name in names_of(disclosure)]
    writing.run_many(_FORGET_NAME, listed)
    writing.run(_FORGET_LINES, {"segment": segment})
    writing.run(_FORGET_SEGMENT, {"segment": segment})


def _utc(since: str | None) -> str:
    """The time in the form in which lines hold it, so that they compare as text; no time is before every time."""
    if since is None:
        return ""
    micros = instant(since)
    if micros is None:
        raise ValueError("`since` names no time.")
    return iso_micros(micros)

"""Who may read what, since when; and the end of it."""

from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from pdpp_server.console.activity import LIMIT, Titles, days_of, said_of, titled, titles_shown
from pdpp_server.console.chart import chart
from pdpp_server.console.desks import Desks
from pdpp_server.console.page import Page
from pdpp_server.console.visit import Visit
from pdpp_server.errors import NotFound
from pdpp_server.evidence.grants import bounds_texts, granted_fields, purpose_words
from pdpp_server.evidence.handles import parse
from pdpp_server.evidence.said import say
from pdpp_server.importers.registry import IMPORTERS, declaration_of
from pdpp_server.model.activity import Disclosure
from pdpp_server.model.grants import Grant, StreamGrant
from pdpp_server.model.pending import Pending
from pdpp_server.model.queries import FetchQuery
from pdpp_server.model.records import RecordId
from pdpp_server.model.times import iso
from pdpp_server.owner.desk import GrantRow
from pdpp_server.wire.declarations import required_fields

UNUSED = timedelta(days=90)
_KEYS = frozenset(importer.key for importer in IMPORTERS)
STATES = {
    "active": say("active"),
    "changed": say("changed"),
    "expired": say("expired"),
    "revoked": say("revoked"),
}


class StreamGranted(NamedTuple):
    label: str
    detail: str | None
    fields: list[str]
    declared: int
    connections: list[str]
    bounds: list[str]


class GrantShown(NamedTuple):
    grant_id: str
    source: str
    state: str
    streams: list[StreamGranted]
    until: str | None


class GrantCard(NamedTuple):
    """One client's standing: a grant, or a package of several."""

    id: str
    name: str
    client_id: str
    state: str
    since: str
    until: str | None  # the last end, where its grants have several
    ends_apart: bool
    ended_at: str | None
    last_read: str | None
    purpose: str
    is_once: bool
    is_unused: bool  # it may read, and has not for long
    grants: list[GrantShown]
    says: str  # what it calls itself, where the owner calls it something else
    note: str
    changed_at: str | None

    @property
    def is_active(self) -> bool:
        return self.state == "active"


def show_all(desks: Desks, visit: Visit) -> Page:
    found = cards(desks)
    active = [card for card in found if card.is_active]
    ended = [card for card in found if not card.is_active]
    return Page("clients.html", {"active": active, "ended": ended})


def show(desks: Desks, visit: Visit) -> Page | Pending[Page]:
    grant_id = visit.named["grant_id"]
    card = card_of(desks, grant_id)
    found = desks.owner.activity_of(grant_id, own=False, limit=LIMIT)
    drawn = chart(desks, frozenset({card.client_id}))
    values = {"card": card, "is_cut": len(found) == LIMIT, "chart": drawn}
    return titled(desks, visit, found, partial(_page, desks, values, found))


def _page(desks: Desks, values: Mapping[str, object], found: list[Disclosure], titles: Titles) -> Page:
    words = {"days": days_of(desks, said_of(desks, found), found, titles)}
    return Page("client.html", {**values, **words}, shown=titles_shown(titles))


def end(desks: Desks, visit: Visit) -> Page:
    """Asks once; then the very next read is refused. Sent twice, it has ended all the same."""
    grant_id = visit.named["grant_id"]
    card = card_of(desks, grant_id)
    if visit.value("sure") != "yes":
        return Page("ending.html", {"card": card, "is_sure": False})
    desks.owner.revoke(grant_id)
    return Page("ending.html", {"card": card, "is_sure": True})


def why(desks: Desks, visit: Visit) -> Page:
    """Why a client could read a record: what was agreed to, and below it the words of the decision itself."""
    grant_id, handle = visit.named["grant_id"], visit.query.get("record", "")
    id = parse(handle)
    rows = rows_of(desks, grant_id)
    named = labels(desks)
    said = desks.owner.explain(grant_id, FetchQuery(id.stream, id.key, id.connection_id or None))
    said = [sentence.replace(id.connection_id, named.get(id.connection_id, id.connection_id)) for sentence in said]
    now = iso(desks.now())
    row, stream = _that_gives(rows, id) or (rows[0], None)
    values = {
        "name": row.name,
        "grant_id": grant_id,
        "since": row.grant.issued_at,
        "until": row.grant.expires_at,
        "purpose": _purpose(row.grant),
        "state": STATES[row.state.word(now)],
        "is_active": row.word(now) == "active",
        "source": named.get(id.connection_id, id.connection_id),
        "service": service_of(row.grant, services(desks)),
        "stream": stream_shown(stream, named) if stream else None,
        "hidden": [name for name in stream.declared.fields if name not in stream.fields] if stream else [],
        "handle": handle,
        "sentences": said,
    }
    return Page("why.html", values)


def _that_gives(rows: list[GrantRow], id: RecordId) -> tuple[GrantRow, StreamGrant] | None:
    """Of a package the grant that gives the stream of that record; None where none does any more."""
    given = [
        (row, stream)
        for row in rows
        for stream in row.grant.streams
        if stream.name == id.stream and id.connection_id in ("", *stream.connections)
    ]
    return given[0] if given else None


def _purpose(grant: Grant) -> str:
    return grant.purpose_description or purpose_words(grant.purpose_code)


def rows_of(desks: Desks, grant_id: str) -> list[GrantRow]:
    """Raises `NotFound` in words of the pages."""
    try:
        return desks.owner.grant(grant_id)
    except NotFound:
        raise NotFound(say("No app has such a grant here."), remedy=say("Clients shows who may read.")) from None


def card_of(desks: Desks, grant_id: str) -> GrantCard:
    """Raises `NotFound` in words of the pages."""
    return _card(desks, rows_of(desks, grant_id), labels(desks), services(desks))


def cards(desks: Desks) -> list[GrantCard]:
    """Newest first."""
    named, known = labels(desks), services(desks)
    rows = [row for row in desks.owner.grants() if row.successor is None]
    rows.sort(key=attrgetter("standing"))
    found = [_card(desks, list(group), named, known) for _, group in groupby(rows, key=attrgetter("standing"))]
    return sorted(found, key=lambda card: card.since, reverse=True)


def labels(desks: Desks) -> dict[str, str]:
    """Connection id to the owner's name for it."""
    return {source.connection_id: source.called for source in desks.owner.sources()}


def services(desks: Desks) -> dict[str, str]:
    """Source id to the name of the service."""
    return {each.source.id: each.name for each in desks.owner.declarations().values()}


def service_of(grant: Grant, known: Mapping[str, str]) -> str:
    """The name of its service; of one that was removed what its importer calls it."""
    key = grant.source.connector_key
    return known.get(grant.source.id) or (declaration_of(key).name if key in _KEYS else key)


def _shown(grant: Grant, state: str, named: Mapping[str, str], known: Mapping[str, str]) -> GrantShown:
    service = service_of(grant, known)
    streams = [stream_shown(stream, named) for stream in grant.streams]
    return GrantShown(grant.grant_id, service, state, streams, grant.expires_at)


def _card(desks: Desks, rows: list[GrantRow], named: Mapping[str, str], known: Mapping[str, str]) -> GrantCard:
    """Of a package whose grants ended one by one, the last that is alive counts."""
    now, first = iso(desks.now()), rows[0].grant
    ends = [row.grant.expires_at for row in rows if row.state.word(now) == "active"] or [first.expires_at]
    states = [STATES[row.state.word(now)] for row in rows]
    last = [read for row in rows for grant in (row.grant, *row.earlier) for read in _last_read(desks, grant)]
    since = min(grant.issued_at for row in rows for grant in (row.grant, *row.earlier))
    itself = first.client_name or first.client_id
    return GrantCard(
        id=rows[0].standing if len(rows) > 1 else first.grant_id,
        name=rows[0].name,
        client_id=first.client_id,
        state=STATES["active"] if "active" in states else states[0],
        since=since,
        until=None if None in ends else max(end for end in ends if end),
        ends_apart=len({*ends}) > 1,
        ended_at=max((row.state.revoked_at for row in rows if row.state.revoked_at), default=None),
        last_read=max((read.at for read in last), default=None),
        purpose=_purpose(first),
        is_once=first.access_mode == "single_use",
        is_unused=max([first.issued_at, *(read.at for read in last)]) < iso(desks.now() - UNUSED),
        grants=[_shown(row.grant, state, named, known) for row, state in zip(rows, states, strict=True)],
        says=itself if rows[0].called else "",
        note=rows[0].note or "",
        changed_at=max((row.grant.issued_at for row in rows if row.earlier), default=None),
    )


def _last_read(desks: Desks, grant: Grant) -> list[Disclosure]:
    """By the client itself: a preview is under the same grant, and no read of the client's."""
    return desks.owner.activity(grant_id=grant.grant_id, client_id=grant.client_id, limit=1)


def stream_shown(stream: StreamGrant, named: Mapping[str, str]) -> StreamGranted:
    """What the publisher says of the whole stream is not said of a part of it."""
    declared = stream.declared
    is_whole = declared.fields.keys() <= stream.fields
    view = next(
        (view.label for view in declared.views if required_fields(declared).union(view.fields) == stream.fields), None
    )
    return StreamGranted(
        declared.label or declared.name,
        (declared.detail or declared.description) if is_whole else view,
        granted_fields(stream),
        len(declared.fields),
        [named.get(connection, connection) for connection in stream.connections],
        bounds_texts(stream),
    )

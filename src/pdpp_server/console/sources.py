"""What has been brought in, how much, from when to when, how fresh, and what was rejected."""

from collections import Counter
from typing import NamedTuple

from pdpp_server.console.desks import Desks
from pdpp_server.console.following import followed, follows
from pdpp_server.console.page import Page
from pdpp_server.console.visit import Visit
from pdpp_server.errors import ConnectionNotFound
from pdpp_server.evidence.said import all_ours, say
from pdpp_server.model.sources import Declaration, StoredSource
from pdpp_server.model.times import iso, iso_micros


class StreamShown(NamedTuple):
    name: str
    label: str
    records: int
    earliest: str
    latest: str


class SourceShown(NamedTuple):
    connection_id: str
    name: str
    service: str
    updated_at: str
    rejected: int
    records: int
    streams: list[StreamShown]


def chosen_from(desks: Desks) -> list[tuple[str, str]]:
    """What a page is narrowed to: id and name of each source, with the service where two are called alike."""
    sources, declared = desks.owner.sources(), desks.owner.declarations()
    called = Counter(each.called for each in sources)
    services = {each.connection_id: declared[each.connection_id].name for each in sources if called[each.called] > 1}
    return [
        (each.connection_id, all_ours([each.called, services[each.connection_id]]))
        if each.connection_id in services
        else (each.connection_id, each.called)
        for each in sources
    ]


def show_all(desks: Desks, visit: Visit) -> Page:
    declared = desks.owner.declarations()
    shown = [_shown(source, declared[source.connection_id]) for source in desks.owner.sources()]
    return Page("sources.html", {"sources": shown, "followed": followed(desks), "follows": follows(desks)})


def show(desks: Desks, visit: Visit) -> Page:
    wanted = visit.named["connection_id"]
    return Page("source.html", {"source": _find(desks, wanted), "rejections": desks.owner.rejections(wanted)})


def show_removing(desks: Desks, visit: Visit) -> Page:
    """What goes, before it does."""
    found = _find(desks, visit.named["connection_id"])
    return Page("removing.html", {"source": found, "readers": _readers(desks, found), "is_removed": False})


def remove(desks: Desks, visit: Visit) -> Page:
    """Sent twice, it is removed all the same."""
    wanted = visit.named["connection_id"]
    try:
        found = _find(desks, wanted)
        desks.owner.remove_source(wanted)
    except ConnectionNotFound:
        found = None
    return Page("removing.html", {"source": found, "readers": [], "is_removed": True})


def _find(desks: Desks, wanted: str) -> SourceShown:
    found = next((source for source in desks.owner.sources() if source.connection_id == wanted), None)
    if found is None:
        raise ConnectionNotFound(
            say("There is no source {wanted!r}, or no longer.", wanted=wanted),
            remedy=say("Sources shows what is here."),
        )
    return _shown(found, desks.owner.declarations()[wanted])


def _readers(desks: Desks, source: SourceShown) -> list[str]:
    """Who may read something of it now."""
    now = iso(desks.now())
    live = [row for row in desks.owner.grants() if row.word(now) == "active"]
    named = [row.name for row in live if any(source.connection_id in each.connections for each in row.grant.streams)]
    return [*dict.fromkeys(named)]


def _shown(source: StoredSource, declaration: Declaration) -> SourceShown:
    return SourceShown(
        source.connection_id,
        source.called,
        declaration.name,
        source.updated_at,
        source.rejected,
        sum(stream.records for stream in source.streams),
        [
            StreamShown(
                stream.name,
                _label(declaration, stream.name),
                stream.records,
                _day(stream.earliest),
                _day(stream.latest),
            )
            for stream in source.streams
        ],
    )


def _label(declaration: Declaration, stream: str) -> str:
    """What the publisher calls it; a stream that is no longer declared has its name."""
    declared = declaration.streams.get(stream)
    return (declared.label if declared else None) or stream


def _day(micros: int | None) -> str:
    return "" if micros is None else iso_micros(micros)[:10]

"""What has been brought in, how much, from when to when, how fresh, and what was rejected."""

from typing import NamedTuple

from pdpp_server.console.desks import Desks
from pdpp_server.console.page import Page
from pdpp_server.console.visit import Visit
from pdpp_server.errors import ConnectionNotFound
from pdpp_server.model.sources import Declaration
from pdpp_server.model.times import iso_micros
from pdpp_server.owner.desk import StoredSource


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


def show_all(desks: Desks, visit: Visit) -> Page:
    declared = desks.owner.declarations()
    shown = [_shown(source, declared[source.connection_id]) for source in desks.owner.sources()]
    return Page("sources.html", {"sources": shown})


def show(desks: Desks, visit: Visit) -> Page:
    wanted = visit.named["connection_id"]
    found = next((source for source in desks.owner.sources() if source.connection_id == wanted), None)
    if found is None:
        raise ConnectionNotFound(f"There is no connection {wanted!r}.", remedy="`pdpp sources` shows them.")
    return Page(
        "source.html",
        {
            "source": _shown(found, desks.owner.declarations()[wanted]),
            "rejections": desks.owner.rejections(wanted),
        },
    )


def _shown(source: StoredSource, declaration: Declaration) -> SourceShown:
    return SourceShown(
        source.connection_id,
        source.name or source.connection_id,
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

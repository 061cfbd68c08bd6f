"""What can be granted: the declarations of now, and what each connection holds of their streams."""

from pdpp_server.errors import InvalidAuthorizationDetails
from pdpp_server.model.authorization import Offer
from pdpp_server.model.catalogue import Holding
from pdpp_server.model.sources import Declaration, StoredSource
from pdpp_server.model.times import iso_micros
from pdpp_server.store.consent.grants import current_declaration
from pdpp_server.store.engine import Reading
from pdpp_server.store.records.sources import list_sources

_SOURCES = "select distinct source_id from connections join declarations using(declaration) order by source_id"


def declaration_of(reading: Reading, source_id: str) -> Declaration:
    declaration = current_declaration(reading, source_id)
    if declaration is None:
        raise InvalidAuthorizationDetails(
            f"No connection of source {source_id[:80]!r} is here.",
            param="source",
            remedy="`pdpp sources` shows what there is.",
        )
    return declaration


def eligible(reading: Reading, declaration: Declaration) -> dict[str, tuple[str, ...]]:
    """Stream to the connections of that source which hold it."""
    of_source = [
        (connection_id, place)
        for connection_id, place in reading.layout.connections.items()
        if reading.layouts.declaration(reading, place.declaration).source.id == declaration.source.id
    ]
    return {
        name: tuple(connection_id for connection_id, place in of_source if name in place.streams)
        for name in declaration.streams
    }


def offers(reading: Reading) -> tuple[Offer, ...]:
    """Every source of which there is a connection."""
    stored = {source.connection_id: source for source in list_sources(reading)}
    declarations = [declaration_of(reading, source_id) for (source_id,) in reading.rows(_SOURCES)]
    return tuple(
        Offer(
            declaration,
            {
                stream: tuple(_holding(reading, stored[connection_id], stream) for connection_id in connection_ids)
                for stream, connection_ids in eligible(reading, declaration).items()
            },
        )
        for declaration in declarations
    )


def _holding(reading: Reading, source: StoredSource, stream: str) -> Holding:
    held = next(each for each in source.streams if each.name == stream)
    earliest, latest = (None if at is None else iso_micros(at)[:10] for at in (held.earliest, held.latest))
    origin = reading.layout.origins[source.connection_id]
    return Holding(origin, held.records, earliest, latest)

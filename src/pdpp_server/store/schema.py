"""Which streams and fields exist, and what can be asked of them."""

from pdpp_server.grants.permitted import Permitted
from pdpp_server.model.catalogue import Catalogue, Holding, StreamEntry
from pdpp_server.model.queries import SchemaQuery
from pdpp_server.model.times import iso_micros
from pdpp_server.store.db import Reading
from pdpp_server.store.rows import one
from pdpp_server.store.scope import Reach, reaches

_LIVE = "select live from streams where sid = :sid"
_COUNT = "select count(*) from records where {where} and data is not null"
_EDGE = "select at from records where {where} and at is not null and data is not null order by rid {order} limit 1"
_CAPTURED = "select updated_at from connections where connection_id = ?"


def schema(reading: Reading, permitted: Permitted[SchemaQuery]) -> Catalogue:
    holder = permitted.holder
    sources = {grant.grant_id: grant.source for grant in holder.grants}
    entries = [
        StreamEntry(
            sources[scope.grant_id],
            scope.stream,
            scope.fields,
            tuple(_holding(reading, reach) for reach in reaches(reading.connection, reading.layout, scope)),
            scope.grant_id,
        )
        for scope in permitted.scopes
    ]
    entries.sort(key=lambda entry: (entry.source.connector_key, entry.stream.name))
    return Catalogue(holder.kind, holder.client_id, holder.grant_ids, tuple(entries), holder.package_id)


def _holding(reading: Reading, reach: Reach) -> Holding:
    connection = reading.connection
    captured = one(connection, _CAPTURED, (reach.origin.connection_id,))
    where = reach.narrowing("records.rid")
    if reach.is_whole:
        count = one(connection, _LIVE, {"sid": reach.place.sid})
    else:
        count = one(connection, _COUNT.format(where=where), reach.values)
    if reach.scope.stream.order_field not in reach.scope.fields:
        return Holding(reach.origin, count, captured_at=captured)
    days = [
        iso_micros(at)[:10] if at is not None else None
        for order in ("asc", "desc")
        for at in [one(connection, _EDGE.format(where=where, order=order), reach.values)]
    ]
    return Holding(reach.origin, count, days[0], days[1], captured)

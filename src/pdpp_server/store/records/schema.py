"""Which streams and fields exist, and what can be asked of them."""

from pdpp_server.grants.permitted import Permitted
from pdpp_server.model.catalogue import CLIENT_QUERY_EXTENSIONS, Catalogue, Holding, StreamEntry
from pdpp_server.model.queries import SchemaQuery, StreamMetadataQuery, StreamsQuery
from pdpp_server.model.times import iso_micros
from pdpp_server.store.engine import Reading
from pdpp_server.store.records.count import count
from pdpp_server.store.records.freshness import newest_change
from pdpp_server.store.records.reach import Reach
from pdpp_server.store.records.scope import reaches

_EDGE = "select at from records where {where} and at is not null and data is not null order by rid {order} limit 1"
_REFRESHED = "select refreshed_on from streams where sid = ?"


def schema(reading: Reading, permitted: Permitted[SchemaQuery | StreamsQuery | StreamMetadataQuery]) -> Catalogue:
    holder = permitted.holder
    sources = {grant.grant_id: grant.source for grant in holder.grants}
    entries = [
        StreamEntry(
            sources[scope.grant_id],
            scope.stream,
            scope.fields,
            tuple(_holding(reading, reach) for reach in reaches(reading, scope)),
            scope.grant_id,
            expandable,
        )
        for scope, expandable in zip(permitted.scopes, permitted.expandable, strict=True)
    ]
    entries.sort(key=lambda entry: (entry.source.connector_key, entry.stream.name))
    told = (holder.kind, holder.client_id, holder.grant_ids, tuple(entries), holder.package_id)
    return Catalogue(*told, permitted.missing, () if permitted.core_strict else CLIENT_QUERY_EXTENSIONS)


def _holding(reading: Reading, reach: Reach) -> Holding:
    changed, refreshed = newest_change(reading, reach), reading.one(_REFRESHED, (reach.place.sid,))
    where = reading.records.narrowing(reach, "records.rid")
    records = count(reading, reach)
    if reach.scope.stream.order_field not in reach.scope.fields:
        return Holding(reach.origin, records, changed_at=changed, refreshed_on=refreshed)
    days = [
        iso_micros(at)[:10] if at is not None else None
        for order in ("asc", "desc")
        for at in [reading.one(_EDGE.format(where=where, order=order), reach.values)]
    ]
    return Holding(reach.origin, records, days[0], days[1], changed, refreshed)

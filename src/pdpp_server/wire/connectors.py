"""The list of connectors: each source that a bearer may see, its streams, and what can be asked of them."""

from pdpp_server.model.catalogue import Catalogue, StreamEntry
from pdpp_server.model.queries import StreamsQuery
from pdpp_server.model.times import newest
from pdpp_server.wire.envelope import Json, url
from pdpp_server.wire.params import ParameterRow, Params
from pdpp_server.wire.schema import AGGREGATES, by_source, encode_connector, freshness

PARAMETERS: tuple[ParameterRow, ...] = ()


def decode_query(params: Params) -> StreamsQuery:
    params.only(*PARAMETERS)
    return StreamsQuery()


def encode(catalogue: Catalogue) -> Json:
    """The one list without links and meta."""
    connectors = [
        {
            **encode_connector(source, entries),
            "streams": [_encode_stream(entry, catalogue.narrows) for entry in entries],
        }
        for source, entries in by_source(catalogue)
    ]
    return {"object": "list", "data": connectors}


def _encode_stream(entry: StreamEntry, narrows: bool) -> Json:
    return {
        "object": "stream",
        "name": entry.stream.name,
        "record_count": entry.records,
        "last_updated": newest(holding.changed_at for holding in entry.holdings),
        "freshness": freshness(entry.holdings),
        "capabilities": _encode_capabilities(entry, narrows),
    }


def _encode_capabilities(entry: StreamEntry, narrows: bool) -> Json:
    stream, connector = entry.stream, entry.source.connector_key
    aggregates = _aggregates(entry)
    has_scalar = any(stream.fields[name].is_scalar for name in entry.granted)
    has_range = any(name in entry.granted for name in stream.range_filters)
    return {
        "records": True,
        "stream_metadata": True,
        "changes_since": True,
        "exact_filters": narrows and has_scalar,
        "range_filters": narrows and has_range,
        "expand": any(expandable.usable for expandable in entry.expandable),
        "aggregate": aggregates,
        "records_url": url("streams", stream.name, "records", connector_id=connector),
        "metadata_url": url("streams", stream.name, connector_id=connector),
        "aggregate_url": url("streams", stream.name, "aggregate", connector_id=connector) if aggregates else None,
    }


def _aggregates(entry: StreamEntry) -> bool:
    """Whether there is anything that may be counted or grouped."""
    aggregations = entry.stream.aggregations
    return aggregations.count or any(entry.granted & {*getattr(aggregations, kind)} for kind in AGGREGATES)

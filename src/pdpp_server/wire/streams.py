"""The list of streams: one row for each stream of each connection."""

from collections.abc import Iterable

from pdpp_server.model.catalogue import Catalogue, Holding, StreamEntry
from pdpp_server.model.queries import StreamsQuery
from pdpp_server.model.records import Warned
from pdpp_server.wire.envelope import Json, finish
from pdpp_server.wire.params import Params
from pdpp_server.wire.queries import decode, rows
from pdpp_server.wire.records import encode_origin
from pdpp_server.wire.schema import encode_source, freshness

PARAMETERS = rows(StreamsQuery)


def decode_query(params: Params) -> StreamsQuery:
    return decode(StreamsQuery, params)


def encode(catalogue: Catalogue, links_self: str, warnings: Iterable[Warned] = ()) -> Json:
    rows = [
        {**_encode_row(entry, holding), **(encode_source(entry.source) if catalogue.token_kind == "owner" else {})}
        for entry in catalogue.entries
        for holding in entry.holdings
    ]
    body = finish({"object": "list", "has_more": False, "data": rows}, links_self, warnings)
    return {**body, "links": {"self": links_self, "next": None}}


def _encode_row(entry: StreamEntry, holding: Holding) -> Json:
    return {
        "object": "stream",
        "name": entry.stream.name,
        "record_count": holding.records,
        "last_updated": holding.changed_at,
        **encode_origin(holding.origin),
        "freshness": freshness((holding,)),
    }

"""The metadata of one stream."""

from collections.abc import Iterable

from pdpp_server.model.catalogue import Catalogue
from pdpp_server.model.queries import StreamMetadataQuery
from pdpp_server.model.records import Warned
from pdpp_server.wire.envelope import Json, finish
from pdpp_server.wire.params import Params
from pdpp_server.wire.queries import decode, rows
from pdpp_server.wire.schema import full_row

PARAMETERS = rows(StreamMetadataQuery)


def decode_query(params: Params, *, stream: str) -> StreamMetadataQuery:
    return decode(StreamMetadataQuery, params, stream=stream)


def encode(catalogue: Catalogue, links_self: str, warnings: Iterable[Warned] = ()) -> Json:
    """The row that the schema document has of it; its connections are in the list of streams."""
    (entry,) = catalogue.entries
    row = full_row(entry, catalogue.narrows)
    del row["granted_connections"]
    return finish(row, links_self, warnings)

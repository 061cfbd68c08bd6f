"""The metadata of one stream."""

from collections.abc import Iterable

from pdpp_server.model.catalogue import Catalogue
from pdpp_server.model.queries import StreamMetadataQuery
from pdpp_server.model.records import Warned
from pdpp_server.wire.envelope import Json, finish
from pdpp_server.wire.params import SELECTORS, Params
from pdpp_server.wire.schema import full_row

PARAMETERS = SELECTORS


def decode_query(params: Params, *, stream: str) -> StreamMetadataQuery:
    params.only(*PARAMETERS)
    return StreamMetadataQuery(stream, params.connection_id(), params.connector_key())


def encode(catalogue: Catalogue, links_self: str, warnings: Iterable[Warned] = ()) -> Json:
    """The row that the schema document has of it; its connections are in the list of streams."""
    (entry,) = catalogue.entries
    row = full_row(entry, catalogue.narrows)
    del row["granted_connections"]
    return finish(row, links_self, warnings)

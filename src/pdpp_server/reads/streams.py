"""Which streams there are, of which connections, how much they hold and since when."""

from pdpp_server.model.catalogue import Catalogue
from pdpp_server.model.pending import Pending
from pdpp_server.model.queries import StreamsQuery
from pdpp_server.reads.services import Call, Services
from pdpp_server.store.records.schema import schema


def serve(services: Services, call: Call, query: StreamsQuery, operation: str = "streams") -> Pending[Catalogue]:
    """The same read by source is logged as `connectors`."""
    with services.reading(call, operation) as read:
        permitted = read.permit(query)
        return read.pending(permitted, schema(read.store, permitted))

"""Which streams there are, of which connections, how much they hold and since when."""

from pdpp_server.model.catalogue import Catalogue
from pdpp_server.model.queries import StreamsQuery
from pdpp_server.reads.schema import disclosed
from pdpp_server.reads.services import Call, Services
from pdpp_server.store.streams import streams


def serve(services: Services, call: Call, query: StreamsQuery, operation: str = "streams") -> Catalogue:
    """The same read by source is logged as `connectors`."""
    with services.reading(call, operation) as read:
        permitted = read.permit(query)
        catalogue = streams(read.store, permitted)
        read.disclose(permitted, disclosed(catalogue))
        return catalogue

"""Which streams may be asked, and how."""

from pdpp_server.model.catalogue import Catalogue
from pdpp_server.model.queries import SchemaQuery
from pdpp_server.reads.disclosure import Disclosed
from pdpp_server.reads.services import Call, Services
from pdpp_server.store.schema import schema


def serve(services: Services, call: Call, query: SchemaQuery) -> Catalogue:
    with services.reading(call, "schema") as read:
        permitted = read.permit(query)
        catalogue = schema(read.store, permitted)
        read.disclose(permitted, disclosed(catalogue))
        return catalogue


def disclosed(catalogue: Catalogue) -> Disclosed:
    connections = {holding.origin.connection_id for entry in catalogue.entries for holding in entry.holdings}
    return Disclosed(tuple(sorted(connections)), tuple(sorted({entry.stream.name for entry in catalogue.entries})))

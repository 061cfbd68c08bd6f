"""Which streams may be asked, and how."""

from pdpp_server.model.catalogue import Catalogue
from pdpp_server.model.pending import Pending
from pdpp_server.model.queries import SchemaQuery
from pdpp_server.reads.search import modes
from pdpp_server.reads.services import Call, Services
from pdpp_server.store.records.schema import schema


def serve(services: Services, call: Call, query: SchemaQuery) -> Pending[Catalogue]:
    with services.reading(call, "schema") as read:
        permitted = read.permit(query)
        catalogue = schema(read.store, permitted)
        if "semantic" not in modes(services.meaning):
            catalogue = catalogue.by_words_alone()
        return read.pending(permitted, catalogue)

"""One record by its id."""

from pdpp_server.model.pending import Pending
from pdpp_server.model.queries import FetchQuery
from pdpp_server.model.records import Record
from pdpp_server.reads.services import Call, Services
from pdpp_server.store.records.fetch import fetch


def serve(services: Services, call: Call, query: FetchQuery) -> Pending[Record]:
    with services.reading(call, "fetch", query) as read:
        permitted = read.permit(query)
        return read.pending(permitted, fetch(read.store, permitted))

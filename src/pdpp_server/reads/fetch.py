"""One record by its id."""

from pdpp_server.evidence.handles import mint
from pdpp_server.model.queries import FetchQuery
from pdpp_server.model.records import Record
from pdpp_server.reads.disclosure import Disclosed, json_bytes
from pdpp_server.reads.services import Call, Services
from pdpp_server.store.fetch import fetch


def serve(services: Services, call: Call, query: FetchQuery) -> Record:
    with services.reading(call, "fetch") as read:
        permitted = read.permit(query)
        record = fetch(read.store, permitted)
        read.disclose(permitted, _disclosed(record))
        return record


def _disclosed(record: Record) -> Disclosed:
    name = record.id
    return Disclosed((name.connection_id,), (name.stream,), tuple(record.data), (mint(name),), json_bytes(record.data))

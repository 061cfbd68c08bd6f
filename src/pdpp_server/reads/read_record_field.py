"""One bounded window of one field."""

from pdpp_server.model.pending import Pending
from pdpp_server.model.queries import WindowQuery
from pdpp_server.model.text import FieldWindow
from pdpp_server.reads.services import Call, Services
from pdpp_server.store.records.read_record_field import read_record_field


def serve(services: Services, call: Call, query: WindowQuery) -> Pending[FieldWindow]:
    with services.reading(call, "read_record_field", query) as read:
        permitted = read.permit(query)
        return read.pending(permitted, read_record_field(read.store, permitted))

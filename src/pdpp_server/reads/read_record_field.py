"""One bounded window of one field."""

from pdpp_server.evidence.handles import mint
from pdpp_server.model.queries import WindowQuery
from pdpp_server.model.text import FieldWindow
from pdpp_server.reads.disclosure import Disclosed
from pdpp_server.reads.services import Call, Services
from pdpp_server.store.read_record_field import read_record_field


def serve(services: Services, call: Call, query: WindowQuery) -> FieldWindow:
    with services.reading(call, "read_record_field") as read:
        permitted = read.permit(query)
        window = read_record_field(read.store, permitted)
        read.disclose(permitted, _disclosed(window))
        return window


def _disclosed(window: FieldWindow) -> Disclosed:
    name = window.id
    size = len(window.text.encode())
    return Disclosed((name.connection_id,), (name.stream,), (window.field,), (mint(name),), size)

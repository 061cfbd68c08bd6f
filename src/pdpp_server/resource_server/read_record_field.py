"""GET /v1/streams/{stream}/records/{id}/field-window."""

from pdpp_server.reads import read_record_field as reads
from pdpp_server.reads.services import Services
from pdpp_server.resource_server.asked import Asked
from pdpp_server.wire import read_record_field as wire
from pdpp_server.wire.envelope import Json


def handle(services: Services, asked: Asked) -> Json:
    query = wire.decode_query(asked.params, stream=asked.stream, key=asked.key)
    window = reads.serve(services, asked.call, query)
    return wire.encode(window, asked.links_self, asked.params.warnings)

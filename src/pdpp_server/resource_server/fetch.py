"""GET /v1/streams/{stream}/records/{id}."""

from pdpp_server.reads import fetch as reads
from pdpp_server.reads.services import Services
from pdpp_server.resource_server.asked import Asked
from pdpp_server.wire import fetch as wire
from pdpp_server.wire.envelope import Json


def handle(services: Services, asked: Asked) -> Json:
    query = wire.decode_query(asked.params, stream=asked.stream, key=asked.key)
    record = reads.serve(services, asked.call, query)
    return wire.encode(record, asked.links_self, asked.params.warnings)

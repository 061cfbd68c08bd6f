"""GET /v1/streams/{stream}/aggregate."""

from pdpp_server.reads import aggregate as reads
from pdpp_server.reads.services import Services
from pdpp_server.resource_server.asked import Asked
from pdpp_server.wire import aggregate as wire
from pdpp_server.wire.envelope import Json


def handle(services: Services, asked: Asked) -> Json:
    query = wire.decode_query(asked.params, stream=asked.stream)
    aggregation = reads.serve(services, asked.call, query)
    return wire.encode(aggregation, asked.links_self, asked.params.warnings)

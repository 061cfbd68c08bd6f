"""GET /v1/streams/{stream}."""

from pdpp_server.reads import stream_metadata as reads
from pdpp_server.reads.services import Services
from pdpp_server.resource_server.asked import Asked
from pdpp_server.wire import stream_metadata as wire
from pdpp_server.wire.envelope import Json


def handle(services: Services, asked: Asked) -> Json:
    query = wire.decode_query(asked.params, stream=asked.stream)
    catalogue = reads.serve(services, asked.call, query)
    return wire.encode(catalogue, asked.links_self, asked.params.warnings)

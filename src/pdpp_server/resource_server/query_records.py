"""GET /v1/streams/{stream}/records."""

from pdpp_server.reads import query_records as reads
from pdpp_server.reads.services import Services
from pdpp_server.resource_server.asked import Asked
from pdpp_server.wire import query_records as wire
from pdpp_server.wire.envelope import Json


def handle(services: Services, asked: Asked) -> Json:
    query = wire.decode_query(asked.params, stream=asked.stream)
    page = reads.serve(services, asked.call, query)
    return wire.encode_page(page, asked.stream, asked.links_self, asked.params.warnings)

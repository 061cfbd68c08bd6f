"""GET /v1/search."""

from pdpp_server.reads import search as reads
from pdpp_server.reads.services import Services
from pdpp_server.resource_server.asked import Asked
from pdpp_server.wire import search as wire
from pdpp_server.wire.envelope import Json


def handle(services: Services, asked: Asked) -> Json:
    query = wire.decode_query(asked.params)
    page = reads.serve(services, asked.call, query)
    return wire.encode_page(page, asked.links_self, asked.params.warnings)

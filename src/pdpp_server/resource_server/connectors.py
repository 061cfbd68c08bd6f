"""GET /v1/connectors."""

from pdpp_server.reads import streams as reads
from pdpp_server.reads.services import Services
from pdpp_server.resource_server.asked import Asked
from pdpp_server.wire import connectors as wire
from pdpp_server.wire.envelope import Json


def handle(services: Services, asked: Asked) -> Json:
    query = wire.decode_query(asked.params)
    catalogue = reads.serve(services, asked.call, query, "connectors")
    return wire.encode(catalogue)

"""GET /v1/schema."""

from pdpp_server.reads import schema as reads
from pdpp_server.reads.services import Services
from pdpp_server.resource_server.asked import Asked
from pdpp_server.wire import schema as wire
from pdpp_server.wire.envelope import Json


def handle(services: Services, asked: Asked) -> Json:
    query = wire.decode_query(asked.params)
    catalogue = reads.serve(services, asked.call, query)
    encode = wire.encode_compact if wire.wants_compact(asked.params) else wire.encode_full
    return encode(catalogue, asked.links_self, asked.params.warnings)

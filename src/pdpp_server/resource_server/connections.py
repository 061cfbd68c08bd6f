"""POST /v1/connections."""

from pdpp_server.reads import connections as reads
from pdpp_server.reads.services import Services
from pdpp_server.resource_server.asked import AskedOverHttp
from pdpp_server.wire import connections as wire
from pdpp_server.wire.declarations import DOCUMENT_BYTES
from pdpp_server.wire.envelope import Json

BODY_BYTES_MAX = DOCUMENT_BYTES + 64 * 1024  # the longest declaration, and room for the name


def declare(services: Services, asked: AskedOverHttp) -> Json:
    declaration, name = wire.decode_wanted(asked.params, asked.body)
    return wire.encode(reads.declare(services, asked.call, declaration, name), declaration, name)

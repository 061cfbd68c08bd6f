"""GET and PUT /v1/state/{connector_id}."""

from pdpp_server.reads import state as reads
from pdpp_server.reads.services import Services
from pdpp_server.resource_server.asked import AskedOverHttp
from pdpp_server.wire import state as wire
from pdpp_server.wire.envelope import Json

BODY_BYTES_MAX = 1024 * 1024


def get(services: Services, asked: AskedOverHttp) -> Json:
    query = wire.decode_query(asked.params, asked.name)
    return wire.encode_state(reads.get_state(services, asked.call, query))


def put(services: Services, asked: AskedOverHttp) -> Json:
    query, cursors = wire.decode_query(asked.params, asked.name), wire.decode_cursors(asked.body)
    return wire.encode_state(reads.put_state(services, asked.call, query, cursors))

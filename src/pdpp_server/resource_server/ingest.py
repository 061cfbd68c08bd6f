"""POST /v1/ingest/{stream}."""

from pdpp_server.http.logs import log_delivery
from pdpp_server.reads import ingest as reads
from pdpp_server.reads.services import Services
from pdpp_server.resource_server.asked import AskedOverHttp
from pdpp_server.wire import ingest as wire
from pdpp_server.wire.envelope import Json

BODY_BYTES_MAX = 50 * 1024 * 1024


def handle(services: Services, asked: AskedOverHttp) -> Json:
    content_type = asked.headers.get("content-type", "")
    delivery = wire.decode_delivery(asked.params, asked.stream, content_type, asked.body)
    delivered = reads.serve(services, asked.call, delivery)
    log_delivery(asked.call.request_id, delivery.run_id, delivered)
    return wire.encode_delivered(delivered)

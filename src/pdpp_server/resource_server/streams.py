"""GET /v1/streams."""

from pdpp_server.evidence.shown import catalogue_shown
from pdpp_server.http.replies import Answered
from pdpp_server.model.pending import Pending
from pdpp_server.reads import streams as reads
from pdpp_server.reads.services import Services
from pdpp_server.resource_server.asked import AskedOverHttp
from pdpp_server.wire import streams as wire


def handle(services: Services, asked: AskedOverHttp) -> Pending[Answered]:
    query = wire.decode_query(asked.params)
    warned = asked.params.warnings
    return reads.serve(services, asked.call, query).shaped(
        lambda catalogue: Answered(wire.encode(catalogue, asked.links_self, warned), catalogue_shown(catalogue))
    )

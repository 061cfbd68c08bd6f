"""GET /v1/streams/{stream}/aggregate."""

from pdpp_server.evidence.shown import aggregation_shown
from pdpp_server.http.replies import Answered
from pdpp_server.model.pending import Pending
from pdpp_server.reads import aggregate as reads
from pdpp_server.reads.services import Services
from pdpp_server.resource_server.asked import AskedOverHttp
from pdpp_server.wire import aggregate as wire


def handle(services: Services, asked: AskedOverHttp) -> Pending[Answered]:
    query = wire.decode_query(asked.params, stream=asked.stream)
    warned = asked.params.warnings
    return reads.serve(services, asked.call, query).shaped(
        lambda found: Answered(wire.encode(found, asked.links_self, warned), aggregation_shown(found))
    )

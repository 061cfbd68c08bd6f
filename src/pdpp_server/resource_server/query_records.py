"""GET /v1/streams/{stream}/records."""

from pdpp_server.evidence.shown import page_shown
from pdpp_server.http.replies import Answered
from pdpp_server.model.pending import Pending
from pdpp_server.reads import query_records as reads
from pdpp_server.reads.services import Services
from pdpp_server.resource_server.asked import AskedOverHttp
from pdpp_server.wire import query_records as wire


def handle(services: Services, asked: AskedOverHttp) -> Pending[Answered]:
    query = wire.decode_query(asked.params, stream=asked.stream)
    warned = asked.params.warnings
    return reads.serve(services, asked.call, query).shaped(
        lambda page: Answered(wire.encode_page(page, asked.stream, asked.links_self, warned), page_shown(page))
    )

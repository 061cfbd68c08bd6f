"""GET /v1/search."""

from pdpp_server.evidence.shown import hits_shown
from pdpp_server.http.replies import Answered
from pdpp_server.model.pending import Pending
from pdpp_server.reads import search as reads
from pdpp_server.reads.services import Services
from pdpp_server.resource_server.asked import Asked
from pdpp_server.wire import search as wire


def handle(services: Services, asked: Asked) -> Pending[Answered]:
    query = wire.decode_query(asked.params)
    return reads.serve(services, asked.call, query).shaped(
        lambda page: Answered(wire.encode_page(page, asked.links_self, asked.params.warnings), hits_shown(page.hits))
    )

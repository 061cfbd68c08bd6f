"""GET /v1/streams/{stream}/records/{id}/field-window."""

from pdpp_server.evidence.shown import shown_of, window_shown
from pdpp_server.http.replies import Answered
from pdpp_server.model.pending import Pending
from pdpp_server.reads import read_record_field as reads
from pdpp_server.reads.services import Services
from pdpp_server.resource_server.asked import AskedOverHttp
from pdpp_server.wire import read_record_field as wire


def handle(services: Services, asked: AskedOverHttp) -> Pending[Answered]:
    query = wire.decode_query(asked.params, stream=asked.stream, key=asked.key)
    return reads.serve(services, asked.call, query).shaped(
        lambda window: Answered(
            wire.encode(window, asked.links_self, asked.params.warnings), window_shown(window), shown_of((window.id,))
        )
    )

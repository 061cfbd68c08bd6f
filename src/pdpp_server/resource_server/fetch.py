"""GET /v1/streams/{stream}/records/{id}."""

from pdpp_server.evidence.shown import record_shown, shown_of
from pdpp_server.http.replies import Answered
from pdpp_server.model.pending import Pending
from pdpp_server.reads import fetch as reads
from pdpp_server.reads.services import Services
from pdpp_server.resource_server.asked import AskedOverHttp
from pdpp_server.wire import fetch as wire


def handle(services: Services, asked: AskedOverHttp) -> Pending[Answered]:
    query = wire.decode_query(asked.params, stream=asked.stream, key=asked.key)
    return reads.serve(services, asked.call, query).shaped(
        lambda record: Answered(
            wire.encode(record, asked.links_self, asked.params.warnings), record_shown(record), shown_of((record.id,))
        )
    )

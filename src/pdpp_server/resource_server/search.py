"""GET /v1/search."""

from collections.abc import Iterable

from pdpp_server.evidence.binary import hits_without_bytes
from pdpp_server.evidence.lean import lean_page
from pdpp_server.evidence.remarks import recall_says
from pdpp_server.evidence.shown import hits_shown, lean_shown
from pdpp_server.http.replies import Answered
from pdpp_server.model.activity import together
from pdpp_server.model.pending import Pending
from pdpp_server.model.queries import SearchQuery
from pdpp_server.model.records import SearchPage, Warned
from pdpp_server.reads import search as reads
from pdpp_server.reads.services import Services
from pdpp_server.resource_server.asked import AskedOverHttp
from pdpp_server.wire import search as wire


def handle(services: Services, asked: AskedOverHttp) -> Pending[Answered]:
    """A client may prefer the lean form, in which the tools show what was found, or all that they make it of."""
    lean, brief, whole = wire.decode_preference(asked.headers.getlist(wire.PREFER))
    query = wire.decode_query(asked.params, lean=lean, brief=brief)
    found = reads.serve(services, asked.call, query)
    warnings = asked.params.warnings
    if whole:
        return found.shaped(lambda page: _whole(page, asked.links_self, warnings))
    if lean:
        return found.shaped(lambda page: _lean(lean_page(hits_without_bytes(page)), query, warnings))
    return found.shaped(
        lambda page: Answered(wire.encode_page(page, asked.links_self, warnings), hits_shown(page.hits))
    )


def _lean(page: SearchPage, query: SearchQuery, warnings: Iterable[Warned]) -> Answered:
    body = wire.encode_lean(page, recall_says(page, query), warnings)
    return Answered(body, lean_shown(page.hits))


def _whole(page: SearchPage, links_self: str, warnings: Iterable[Warned]) -> Answered:
    body = wire.encode_page(page, links_self, warnings, whole=True)
    return Answered(body, together(hits_shown(page.hits), lean_shown(page.hits)))

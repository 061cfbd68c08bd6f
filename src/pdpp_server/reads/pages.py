"""First pages of several streams, in one read with one line."""

from collections.abc import Iterable

from pdpp_server.model.pending import Pending
from pdpp_server.model.queries import RecordsQuery, StreamsQuery
from pdpp_server.model.records import RecordPage
from pdpp_server.reads.services import Call, Read, Services
from pdpp_server.store.records.query_records import query_records


def serve(services: Services, call: Call, queries: Iterable[RecordsQuery]) -> Pending[list[RecordPage]]:
    """In the order of the queries; `is_short` where a stream has more."""
    with services.reading(call, "timeline") as read:
        pages = [_page(read, query) for query in queries]
        return read.pending(read.permit(StreamsQuery()), pages)


def _page(read: Read, query: RecordsQuery) -> RecordPage:
    listed = query_records(read.store, read.permit(query), None)
    return RecordPage(listed.records, is_short=listed.has_more)

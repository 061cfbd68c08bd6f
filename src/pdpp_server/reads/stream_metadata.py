"""Everything that is declared of one stream."""

from pdpp_server.model.catalogue import Catalogue
from pdpp_server.model.pending import Pending
from pdpp_server.model.queries import StreamMetadataQuery
from pdpp_server.reads.services import Call, Services
from pdpp_server.store.records.stream_metadata import stream_metadata


def serve(services: Services, call: Call, query: StreamMetadataQuery) -> Pending[Catalogue]:
    with services.reading(call, "stream_metadata") as read:
        permitted = read.permit(query)
        return read.pending(permitted, stream_metadata(read.store, permitted))

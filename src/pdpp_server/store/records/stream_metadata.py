"""What each connection holds of one stream, where its source still has it."""

from pdpp_server.errors import StreamNotDeclared
from pdpp_server.grants.permitted import Permitted
from pdpp_server.model.catalogue import Catalogue
from pdpp_server.model.queries import StreamMetadataQuery
from pdpp_server.store.engine import Reading
from pdpp_server.store.records.schema import schema


def stream_metadata(reading: Reading, permitted: Permitted[StreamMetadataQuery]) -> Catalogue:
    """Raises StreamNotDeclared where the stream was granted and its source has it no longer."""
    catalogue = schema(reading, permitted)
    if not any(entry.holdings for entry in catalogue.entries):
        raise StreamNotDeclared(f"Its source no longer declares {permitted.query.stream!r}.", param="stream")
    return catalogue

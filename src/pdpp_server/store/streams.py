"""How much each connection holds of each stream, and when that last changed."""

from dataclasses import replace

from pdpp_server.errors import StreamNotDeclared
from pdpp_server.grants.permitted import Permitted
from pdpp_server.model.catalogue import Catalogue, Holding
from pdpp_server.model.queries import StreamMetadataQuery, StreamsQuery
from pdpp_server.store.changes import last_seen_change
from pdpp_server.store.db import Reading
from pdpp_server.store.schema import catalogue_of, holding
from pdpp_server.store.scope import Reach


def streams(reading: Reading, permitted: Permitted[StreamsQuery]) -> Catalogue:
    return catalogue_of(reading, permitted, _dated)


def stream_metadata(reading: Reading, permitted: Permitted[StreamMetadataQuery]) -> Catalogue:
    """Raises StreamNotDeclared where the stream was granted and its source has it no longer."""
    catalogue = catalogue_of(reading, permitted, holding)
    if not any(entry.holdings for entry in catalogue.entries):
        raise StreamNotDeclared(f"Its source no longer declares {permitted.query.stream!r}.", param="stream")
    return catalogue


def _dated(reading: Reading, reach: Reach) -> Holding:
    held = holding(reading, reach)
    if not held.records:
        return held
    return replace(held, last_updated=last_seen_change(reading, reach))

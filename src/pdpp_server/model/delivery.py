"""How far an export came on its way to a server elsewhere."""

from typing import NamedTuple

from pdpp_server.model.ingest import Finished


class DeliveredSoFar(NamedTuple):
    """Of one export, known by its fingerprint: so many of its records, from the first, are there with their blobs."""

    fingerprint: str
    records: int = 0
    rejected: tuple[int, ...] = ()  # which of them that server refused, by their number from 0
    finished: Finished | None = None

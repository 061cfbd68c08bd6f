"""What several records are called, in one read with one line."""

from collections.abc import Iterable
from typing import NamedTuple

from pdpp_server.errors import PdppError
from pdpp_server.evidence.handles import mint
from pdpp_server.evidence.samples import sample_of
from pdpp_server.evidence.shown import one_shown
from pdpp_server.model.activity import Shown
from pdpp_server.model.pending import Pending
from pdpp_server.model.queries import FetchQuery, StreamsQuery
from pdpp_server.model.records import Record, RecordId
from pdpp_server.reads.services import Call, Read, Services
from pdpp_server.store.records.fetch import fetch


class Titled(NamedTuple):
    """A record by its handle, with what it is called; and what saying so shows of it."""

    handle: str
    title: str
    shown: Shown


def serve(services: Services, call: Call, ids: Iterable[RecordId]) -> Pending[dict[str, Titled]]:
    """By handle; what is gone, or was never there, has no title."""
    with services.reading(call, "titles") as read:
        found = [record for id in ids if (record := _found(read, id))]
        titled = {each.handle: each for each in map(_titled, found)}
        return read.pending(read.permit(StreamsQuery()), titled)


def _found(read: Read, id: RecordId) -> Record | None:
    try:
        return fetch(read.store, read.permit(FetchQuery(id.stream, id.key, id.connection_id)))
    except PdppError:
        return None


def _titled(record: Record) -> Titled:
    handle, sample = mint(record.id), sample_of(record)
    return Titled(handle, sample.text, one_shown(record.id, handle, sample.fields))

"""What a client would see: the ordinary reads, under grants that nobody holds yet."""

import secrets

from pdpp_server.evidence.samples import sample_of
from pdpp_server.evidence.shown import catalogue_shown, shown_of
from pdpp_server.model.authorization import Glimpse
from pdpp_server.model.catalogue import StreamEntry
from pdpp_server.model.grants import Grant
from pdpp_server.model.pending import Leaving
from pdpp_server.model.queries import RecordsQuery, StreamsQuery
from pdpp_server.model.records import Record, RecordPage
from pdpp_server.reads import query_records, streams
from pdpp_server.reads.bearers import MCP_KINDS
from pdpp_server.reads.services import Call, Services

TITLES = 3
DAY_CHARS = len("2026-11-15")


def preview(services: Services, grants: tuple[Grant, ...]) -> tuple[Glimpse, ...]:
    """Nothing of it is kept but its lines in the log, which name the owner's preview as the reader."""
    return tuple(glimpse for grant in grants for glimpse in _glimpses(services, grant))


def _glimpses(services: Services, grant: Grant) -> list[Glimpse]:
    call = Call(None, f"req_{secrets.token_hex(8)}", MCP_KINDS, reviewed=(grant,))
    catalogue = streams.serve(services, call, StreamsQuery()).leave(
        lambda catalogue: Leaving(catalogue, catalogue_shown(catalogue), 0)
    )
    return [_glimpse(services, call, entry) for entry in catalogue.entries]


def _glimpse(services: Services, call: Call, entry: StreamEntry) -> Glimpse:
    page = query_records.serve(services, call, RecordsQuery(entry.stream.name, limit=TITLES))
    records = entry.records or 0
    return Glimpse(entry.source, entry.stream.name, records, page.leave(_titles))


def _titles(page: RecordPage) -> Leaving[tuple[str, ...]]:
    """Of each record nothing is shown but what it is called, whose it is and how much."""
    records = [record for record in page.records if isinstance(record, Record)]
    samples = [sample_of(record) for record in records]
    titles, fields = [sample.text for sample in samples], [name for sample in samples for name in sample.fields]
    if len({*titles}) < len(titles):
        titles = list(map(_dated, titles, records))
        fields += [record.time_field for record in records if record.time_field]
    shown = shown_of([record.id for record in records], fields)
    size = sum(len(title.encode()) for title in titles)
    return Leaving(tuple(titles), shown, size)


def _dated(sample: str, record: Record) -> str:
    """Of three that are called alike, the days tell them apart."""
    return f"{sample} · {record.authored_at[:DAY_CHARS]}" if record.authored_at else sample

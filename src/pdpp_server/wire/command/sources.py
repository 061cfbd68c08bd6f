"""Sources as the owner's command prints them: what each brought, what was rejected, and which are followed."""

from collections.abc import Iterable

from pdpp_server.model.ingest import Finished, Rejection
from pdpp_server.model.live import LiveSource
from pdpp_server.model.sources import StoredSource
from pdpp_server.model.times import iso_micros
from pdpp_server.wire.envelope import Json


def encode_sources(connections: Iterable[Json], live: list[Json]) -> Json:
    """Who follows nothing is told of nothing that is followed."""
    document: Json = {"connections": list(connections)}
    return {**document, "live": live} if live else document


def encode_source(source: StoredSource, last_import: Finished | None) -> Json:
    return {
        "connection_id": source.connection_id,
        "name": source.name,
        "connector_key": source.connector_key,
        "updated_at": source.updated_at,
        "rejected": source.rejected,
        "last_import": None if last_import is None else last_import._asdict(),
        "streams": [
            encode_extent(stream.name, stream.records, stream.earliest, stream.latest) for stream in source.streams
        ],
    }


def encode_extent(stream: str, records: int, earliest: int | None, latest: int | None) -> Json:
    """How much of a stream there is, and from when to when."""
    return {"name": stream, "records": records, "earliest": _time(earliest), "latest": _time(latest)}


def _time(micros: int | None) -> str | None:
    return None if micros is None else iso_micros(micros)


def encode_rejected(connection_id: str, rejections: Iterable[Rejection]) -> Json:
    return {"connection_id": connection_id, "rejected": [rejection._asdict() for rejection in rejections]}


def encode_removed(connection_id: str, records: int) -> Json:
    return {"connection_id": connection_id, "records": records}


def encode_renamed(connection_id: str, name: str) -> Json:
    return {"connection_id": connection_id, "name": name}


def encode_live(source: LiveSource) -> Json:
    return {
        "name": source.name,
        "kind": source.kind,
        "settings": dict(source.settings),
        "succeeded_at": source.succeeded_at,
        "tried_at": source.tried_at,
        "next_at": source.next_at,
        "failures": source.failures,
        "trouble": source.trouble,
        "said": source.said,
        "withheld": source.withheld,
    }


def encode_stopped(name: str) -> Json:
    return {"name": name}

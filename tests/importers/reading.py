"""What an importer makes of bytes, without any file."""

import io
from zoneinfo import ZoneInfo

from pdpp_server.importers.source import File, Files, Importer, Outcome
from pdpp_server.model.ingest import Incoming, Rejection
from pdpp_server.wire.envelope import Json

ZONE = ZoneInfo("Europe/Berlin")


def files_of(*contents: bytes) -> Files:
    return Files("export", {f"export {n}": file_of(f"export {n}", data) for n, data in enumerate(contents, 1)}, ZONE)


def read(importer: Importer, *contents: bytes) -> list[Outcome]:
    return [outcome for account in importer.recognise(files_of(*contents)) for outcome in importer.read(account)]


def records(importer: Importer, stream: str, *contents: bytes) -> list[Json]:
    read_ = (outcome for outcome in read(importer, *contents) if isinstance(outcome, Incoming))
    return [dict(incoming.data or {}) for incoming in read_ if incoming.stream == stream]


def rejections(importer: Importer, *contents: bytes) -> list[tuple[str, str]]:
    return [(one.place, one.reason) for one in read(importer, *contents) if isinstance(one, Rejection)]


def file_of(name: str, data: bytes) -> File:
    return File(name, len(data), lambda: io.BufferedReader(io.BytesIO(data)))  # pyright: ignore[reportArgumentType]

"""Exports of several files, by name, without any folder."""

from collections.abc import Mapping
from pathlib import Path

from pdpp_server.importers.files import open_files
from pdpp_server.importers.source import Files, Importer, Outcome
from pdpp_server.model.ingest import Incoming, Rejection
from pdpp_server.wire.envelope import Json
from tests.importers.reading import ZONE, file_of
from tools.expected import sample_of

HERE = Path(__file__).parent


def export_of(contents: Mapping[str, bytes], name: str = "export", mapping: bytes | None = None) -> Files:
    return Files(name, {one: file_of(one, data) for one, data in sorted(contents.items())}, ZONE, mapping)


def read_export(importer: Importer, files: Files) -> list[Outcome]:
    return [outcome for account in importer.recognise(files) for outcome in importer.read(account)]


def records_of(outcomes: list[Outcome], stream: str) -> list[Json]:
    return [dict(one.data or {}) for one in outcomes if isinstance(one, Incoming) and one.stream == stream]


def reasons_of(outcomes: list[Outcome]) -> list[tuple[str, str]]:
    return [(one.place, one.reason) for one in outcomes if isinstance(one, Rejection)]


def sample(folder: str) -> Files:
    """The sample in that folder, wherever it lies there."""
    path, mapping = sample_of(HERE / folder)
    return open_files(path, ZONE, mapping)


def contents_of(files: Files) -> dict[str, bytes]:
    def content(name: str) -> bytes:
        with files.entries[name].open() as stream:
            return stream.read()

    return {name: content(name) for name in files.entries}

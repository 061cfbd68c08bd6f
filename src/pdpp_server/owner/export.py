"""Your data out again: NDJSON of every stream, its declaration and its blobs, in a folder that imports as it was."""

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from pdpp_server.errors import InvalidRequest, ServerTrouble
from pdpp_server.model.backup import ExportedBlob, ExportedConnection, ExportedStream, ExportReport, Remark
from pdpp_server.model.sources import Declaration
from pdpp_server.settings import Settings
from pdpp_server.store import files
from pdpp_server.store.blob_files import LostBlob
from pdpp_server.store.engine import Database, Reading
from pdpp_server.store.layout import ConnectionPlace
from pdpp_server.store.opened import database_of
from pdpp_server.store.records.blobs import stored_blob
from pdpp_server.store.upkeep.export import blobs_of, declaration_document, records_of
from pdpp_server.wire.export import encode_export, encode_line

EXPORT_FILE, README_FILE, BLOBS = "export.json", "README.txt", "blobs"
DEADLINE_SECONDS = 7 * 86_400.0
RECORDS_BETWEEN_NEWS = 1_000

_PLAIN = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}", re.ASCII)

ExportProgress = Callable[[int], None]  # records done


def export(
    settings: Settings, target: Path, *, connection_id: str | None, readme: str, progress: ExportProgress
) -> ExportReport:
    """One moment of one connection, or of all. The folder takes its name only when it is whole."""
    target = target.absolute()
    _require_free(settings.home, target)
    database = database_of(settings, read_seconds=DEADLINE_SECONDS)
    draft = files.draft_of(target)
    try:
        if draft.exists():
            shutil.rmtree(draft)  # an interrupted run left it
        files.private_folder(draft)
        with database.reading() as reading:
            run = _Export(database, reading, draft, progress)
            exported = run.write(connection_id)
        _write(draft / README_FILE, readme.encode())
        _write(draft / EXPORT_FILE, encode_export(exported))
        if target.is_dir():
            target.rmdir()
        draft.rename(target)
    except OSError as error:
        raise ServerTrouble(
            f"{target} could not be written ({error.strerror or error}).", remedy="Free space there, and try again."
        ) from error
    finally:
        database.close()
        shutil.rmtree(draft, ignore_errors=True)
    return ExportReport(exported, tuple(run.remarks))


class _Export:
    """One export into one folder, out of one moment of the database."""

    def __init__(self, database: Database, reading: Reading, folder: Path, progress: ExportProgress) -> None:
        self._database, self._reading, self._folder, self._progress = database, reading, folder, progress
        self._done = 0
        self.remarks: list[Remark] = []

    def write(self, connection_id: str | None) -> tuple[ExportedConnection, ...]:
        places = self._reading.layout.connections
        wanted = sorted(places) if connection_id is None else [connection_id]
        return tuple(self._write_connection(id, places[id]) for id in wanted)

    def _write_connection(self, connection_id: str, place: ConnectionPlace) -> ExportedConnection:
        declaration = self._reading.layouts.declaration(self._reading, place.declaration)
        folder = _file_name(connection_id, place.number)
        declared = f"{folder}/declaration.json"
        _write(self._folder / declared, declaration_document(self._reading, place))
        return ExportedConnection(
            connection_id,
            place.origin.name or connection_id,
            declared,
            tuple(self._write_streams(folder, place, declaration)),
            tuple(blob for blob in blobs_of(self._reading, place) if self._is_written(blob)),
        )

    def _write_streams(self, folder: str, place: ConnectionPlace, declaration: Declaration) -> Iterator[ExportedStream]:
        for number, name in enumerate(sorted(place.streams), start=1):
            file = f"{folder}/{_file_name(name, number)}.ndjson"
            stream = declaration.streams.get(name)
            is_compound = stream is not None and len(stream.primary_key) > 1
            records = self._write_records(file, name, place.streams[name].sid, is_compound=is_compound)
            if stream is None:
                self.remarks.append(Remark("stream_undeclared", file))
            yield ExportedStream(name, file, records, stream is not None)

    def _write_records(self, file: str, stream: str, sid: int, *, is_compound: bool) -> int:
        before = self._done
        with files.written_whole(self._folder / file) as lines:
            for record in records_of(self._reading, sid):
                lines.write(encode_line(stream, *record, is_compound=is_compound))
                self._done += 1
                if self._done % RECORDS_BETWEEN_NEWS == 0:
                    self._progress(self._done)
        return self._done - before

    def _is_written(self, blob: ExportedBlob) -> bool:
        """Once, however many records it belongs to; one that is lost or damaged here cannot be exported."""
        target = self._folder / BLOBS / blob.sha256
        if target.exists():
            return True
        with suppress(LostBlob):
            self._copy(blob.sha256, target)
            if files.digest(target).sha256 == blob.sha256:
                return True
        target.unlink(missing_ok=True)
        self.remarks.append(Remark("blob_lost", blob.sha256))
        return False

    def _copy(self, sha256: str, target: Path) -> None:
        kept = stored_blob(self._reading, sha256)
        with self._database.blobs.open(self._reading, kept) as source, files.written_whole(target) as copy:
            shutil.copyfileobj(source, copy)


def _require_free(home: Path, target: Path) -> None:
    if target.resolve().is_relative_to(home.resolve()):
        raise InvalidRequest(f"{target} lies inside {home}.", remedy="Choose a folder outside.")
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InvalidRequest(
            f"{target} is there already, and nothing in it is overwritten.", remedy="Choose a new folder."
        )


def _file_name(name: str, number: int) -> str:
    """The name itself where every disk takes it; two such names never differ in case alone."""
    return name if _PLAIN.fullmatch(name) else f"_{number}"


def _write(path: Path, raw: bytes) -> None:
    with files.written_whole(path) as file:
        file.write(raw)

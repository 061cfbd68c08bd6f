"""Who takes records: the store of this home, or a server elsewhere."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from pdpp_server.model.blobs import Blob
from pdpp_server.model.ingest import Finished, Incoming, Receipt, Rejection
from pdpp_server.model.runs import Covered, FoundCollection, Loss, Mark
from pdpp_server.model.sources import Declaration


class RecordTaker(Protocol):
    """One connection, open for records. What each of these does is said by `owner.writer.Writer`."""

    @property
    def declaration(self) -> Declaration: ...
    @property
    def connection_id(self) -> str: ...

    def begin_run(self, file: str) -> int: ...
    def open_collection(self, run: int, name: str, fingerprint: str | None) -> Mark: ...
    def deliver(
        self, batch: Iterable[Incoming], mark: Mark | None = None, still: Iterable[tuple[str, str]] = ()
    ) -> Receipt: ...
    def stored_one(self, stream: str, key: str) -> Mapping[str, Any]: ...
    def is_blob_kept(self, stream: str, key: str, blob: Blob) -> bool: ...
    def keep_blob(self, stream: str, key: str, data: bytes | Path, mime_type: str) -> Blob: ...
    def finish(self, file: str, rejections: Sequence[Rejection]) -> None: ...
    def finish_import(
        self,
        files: Iterable[str],
        rejections: Sequence[Rejection],
        *,
        fingerprint: str | None = None,
        finished: Finished | None = None,
        complete: Iterable[str] = (),
    ) -> None: ...

    # What a newer export removes.
    def found_of(self, run: int, covered: Mapping[int, Covered], fingerprint: str | None) -> list[FoundCollection]: ...
    def finish_run(
        self, run: int, found: Sequence[FoundCollection], fingerprint: str | None, losses: Iterable[Loss]
    ) -> int: ...
    def is_alone(self, stream: str, collection: int) -> bool: ...


class Recipient(Protocol):
    """Opens a connection for each account that is brought in."""

    def writer(self, declaration: Declaration, name: str) -> RecordTaker: ...
    def finished_import(self, declaration: Declaration, name: str, fingerprint: str) -> Finished | None: ...

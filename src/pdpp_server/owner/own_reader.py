"""The owner's own reads, for pages and command: the ordinary reads, by a token that never leaves this process."""

import secrets
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from threading import Lock

from pdpp_server.evidence.activity import PAGES_CLIENT
from pdpp_server.model.pending import Pending
from pdpp_server.model.queries import BlobQuery, RecordsQuery
from pdpp_server.model.records import RecordId, RecordPage
from pdpp_server.model.times import iso
from pdpp_server.port.local import LocalReader
from pdpp_server.reads import blobs, pages, titles
from pdpp_server.reads.bearers import OWNER_KINDS
from pdpp_server.reads.blobs import OpenedBlob
from pdpp_server.reads.services import Call, Services
from pdpp_server.reads.titles import Titled
from pdpp_server.store.consent.tokens import forget_ended, keep_token

TOKEN_LIFE, TOKEN_RENEWED = timedelta(hours=1), timedelta(minutes=5)


class OwnReader(LocalReader):
    """Everything there is, and each read is logged as one of the owner's. Agents are never given this one."""

    def pages(self, queries: Iterable[RecordsQuery]) -> Pending[list[RecordPage]]:
        """The first page of each, in one read."""
        return self._ask(pages.serve, queries)

    def titles(self, ids: Iterable[RecordId]) -> Pending[dict[str, Titled]]:
        """What those records are called, in one read."""
        return self._ask(titles.serve, ids)

    def read_blob(self, query: BlobQuery) -> Pending[OpenedBlob]:
        """Bytes that a record refers to; whoever gets them closes the file."""
        return self._ask(blobs.serve, query)

    def _call(self) -> Call:
        call = super()._call()
        return Call(call.bearer, call.request_id, OWNER_KINDS)


class OwnReads:
    """Gives a reader for one request; whether it is the owner's is settled before. `client_id` is what the log says."""

    def __init__(self, services: Services, public_url: str | None, client_id: str = PAGES_CLIENT) -> None:
        self._services, self._public_url, self._client_id = services, public_url, client_id
        self._lock = Lock()
        self._token, self._renewed_at = "", services.now()

    @property
    def now(self) -> Callable[[], datetime]:
        return self._services.now

    def reader(self, request_id: str | None = None) -> OwnReader:
        with self._lock:
            if not self._token or self.now() >= self._renewed_at:
                self._renew()
        return OwnReader(self._services, self._token, self._public_url, request_id)

    def _renew(self) -> None:
        now, token = self.now(), secrets.token_hex(32)
        with self._services.database.writing() as writer:
            forget_ended(writer, self._client_id, iso(now))
            keep_token(
                writer,
                token,
                kind="owner",
                now=iso(now),
                expires_at=iso(now + TOKEN_LIFE),
                client_id=self._client_id,
            )
        self._token, self._renewed_at = token, now + TOKEN_LIFE - TOKEN_RENEWED

"""A saved credential that is renewed in time, by one process at a time."""

import secrets
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TypeVar

from pdpp_server.errors import Unauthenticated
from pdpp_server.held import in_turn
from pdpp_server.model.aggregates import Aggregation
from pdpp_server.model.catalogue import Catalogue
from pdpp_server.model.pending import Pending
from pdpp_server.model.queries import AggregateQuery, FetchQuery, RecordsQuery, SchemaQuery, SearchQuery, WindowQuery
from pdpp_server.model.records import Record, RecordPage, SearchPage
from pdpp_server.model.text import FieldWindow
from pdpp_server.model.times import iso
from pdpp_server.port.credentials import Credential, CredentialError, read_credential, read_document, save
from pdpp_server.port.reader import Reader
from pdpp_server.wire.connect import Given
from pdpp_server.wire.credentials import Renewal, Saved, decode_renewal, encode_credential

EARLY = timedelta(seconds=60)

V = TypeVar("V")
Renew = Callable[[Renewal], Given]


def ends_at(given: Given, now: datetime) -> str | None:
    return None if given.expires_seconds is None else iso(now + timedelta(seconds=given.expires_seconds))


def keep(home: str, client: str, saved: Saved, given: Given, now: datetime) -> str:
    """The path of the file, which nobody but its owner can read."""
    return save(home, client, encode_credential(saved, given, expires_at=ends_at(given, now), now=iso(now)))


class Purse:
    """One client's credential. `renew` asks whoever gave it for the next one."""

    def __init__(self, home: str, credential: Credential, renew: Renew, now: Callable[[], datetime]) -> None:
        assert credential.client is not None
        self._home, self._client, self._renew, self._now = home, credential.client, renew, now
        self._credential = credential
        self._ended: str | None = None  # the refresh token that is known to be of no use

    def token(self) -> str:
        """One that is good for a while. Raises: Unauthenticated."""
        if self._credential.has_ended(iso(self._now() + EARLY)):
            self.renew()
        return self._credential.token

    def renew(self) -> None:
        """The next tokens are saved before they are used; where another process was quicker, its are used."""
        try:
            with in_turn(Path(self._home) / "clients" / f".{self._client}.lock"):
                self._renew_alone()
        except CredentialError as trouble:
            raise _refusal(str(trouble), "") from None

    def _renew_alone(self) -> None:
        now = self._now()
        found = read_credential(self._home, self._client, now=iso(now))
        if found.token == self._credential.token or found.has_ended(iso(now + EARLY)):
            self._ask_for_next(now)
            found = read_credential(self._home, self._client, now=iso(now))
        self._credential = found

    def _ask_for_next(self, now: datetime) -> None:
        renewal = decode_renewal(read_document(self._home, self._client))
        if renewal is None:
            raise _refusal(f"The credential of client {self._client!r} cannot be renewed.", "Connect it again.")
        if renewal.refresh_token == self._ended:
            raise self._has_ended(renewal)
        try:
            given = self._renew(renewal)
        except Unauthenticated:
            self._ended = renewal.refresh_token
            raise self._has_ended(renewal) from None
        refresh_token, grant_id = given.refresh_token or renewal.refresh_token, given.grant_id or renewal.grant_id
        lasting = Given(given.access_token, given.expires_seconds, refresh_token, grant_id)
        keep(self._home, self._client, renewal.saved, lasting, now)

    def _has_ended(self, renewal: Renewal) -> Unauthenticated:
        again = renewal.saved.provider_url if renewal.saved.token_endpoint else "CLIENT"
        remedy = f"The owner can connect it again: `pdpp connect {again} --client {self._client}`."
        return _refusal(f"The access of client {self._client!r} has ended.", remedy)


class RenewingReader:
    """Reads as `reader` does, which `use` tells the token; a token that is refused is renewed once."""

    def __init__(
        self, reader: Reader, purse: Purse, use: Callable[[str], None], close: Callable[[], None] = lambda: None
    ) -> None:
        self._reader, self._purse, self._use, self.close = reader, purse, use, close
        self._used: str | None = None

    @property
    def public_url(self) -> str | None:
        return self._reader.public_url

    def schema(self, query: SchemaQuery) -> Pending[Catalogue]:
        return self.asked(partial(self._reader.schema, query))

    def search(self, query: SearchQuery) -> Pending[SearchPage]:
        return self.asked(partial(self._reader.search, query))

    def query_records(self, query: RecordsQuery) -> Pending[RecordPage]:
        return self.asked(partial(self._reader.query_records, query))

    def aggregate(self, query: AggregateQuery) -> Pending[Aggregation]:
        return self.asked(partial(self._reader.aggregate, query))

    def fetch(self, query: FetchQuery) -> Pending[Record]:
        return self.asked(partial(self._reader.fetch, query))

    def read_record_field(self, query: WindowQuery) -> Pending[FieldWindow]:
        return self.asked(partial(self._reader.read_record_field, query))

    def asked(self, ask: Callable[[], V]) -> V:
        self._wear(self._purse.token())
        try:
            return ask()
        except Unauthenticated:
            self._purse.renew()
            self._wear(self._purse.token())
            return ask()

    def _wear(self, token: str) -> None:
        if token != self._used:
            self._use(token)
            self._used = token


def _refusal(message: str, remedy: str) -> Unauthenticated:
    refusal = Unauthenticated(message, remedy=remedy)
    refusal.request_id = f"req_{secrets.token_hex(8)}"
    return refusal

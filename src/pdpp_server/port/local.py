"""The reader for the server in this process: serve() called directly."""

import os
from collections.abc import Callable
from typing import TypeVar

from pdpp_server.errors import PdppError
from pdpp_server.model.aggregates import Aggregation
from pdpp_server.model.catalogue import Catalogue
from pdpp_server.model.grants import Holder
from pdpp_server.model.pending import Pending
from pdpp_server.model.queries import AggregateQuery, FetchQuery, RecordsQuery, SchemaQuery, SearchQuery, WindowQuery
from pdpp_server.model.records import Record, RecordPage, SearchPage
from pdpp_server.model.text import FieldWindow
from pdpp_server.reads import aggregate, fetch, query_records, read_record_field, schema, search
from pdpp_server.reads.bearers import MCP_AUDIENCE, MCP_KINDS, digest_of
from pdpp_server.reads.services import Call, Services
from pdpp_server.wire.introspection import Rights

Q = TypeVar("Q")
V = TypeVar("V")


class LocalReader:
    """One client's reads. Owner tokens are refused: this is the port that agents use.

    All of them have the request id that is given; without one, each has its own.
    """

    def __init__(
        self, services: Services, bearer: str, public_url: str | None = None, request_id: str | None = None
    ) -> None:
        self._services, self._request_id = services, request_id
        self.use(bearer)
        self._told: Rights | None = None
        self.is_settled = False
        self.public_url = public_url

    def use(self, bearer: str) -> None:
        """Reads with that token from now on."""
        self._bearer, self._digest = bearer, digest_of(bearer)

    def require_access(self) -> Holder:
        """Who may read here with this token, before anything is asked; every read settles it again.

        An authorization server elsewhere is asked about it once for each request.

        Raises:
            Unauthenticated: the token is nobody's, or has expired.
            PermissionDenied: it is the owner's, or no grant of it is alive.
        """
        if self._request_id is not None:
            self._told = self._services.introspected(self._call())
        holder = self._services.admit(self._call())
        self.is_settled = True
        return holder

    @property
    def is_remembered(self) -> bool:
        """Whether the token was good before: who asks can then be left to the read, and settled once."""
        return self._services.remembers(self._digest)

    def settle(self) -> None:
        """Who asks, where no read has settled that: as `require_access`."""
        self.require_access()

    def schema(self, query: SchemaQuery) -> Pending[Catalogue]:
        return self._ask(schema.serve, query)

    def search(self, query: SearchQuery) -> Pending[SearchPage]:
        return self._ask(search.serve, query)

    def query_records(self, query: RecordsQuery) -> Pending[RecordPage]:
        return self._ask(query_records.serve, query)

    def aggregate(self, query: AggregateQuery) -> Pending[Aggregation]:
        return self._ask(aggregate.serve, query)

    def fetch(self, query: FetchQuery) -> Pending[Record]:
        return self._ask(fetch.serve, query)

    def read_record_field(self, query: WindowQuery) -> Pending[FieldWindow]:
        return self._ask(read_record_field.serve, query)

    def _ask(self, serve: Callable[[Services, Call, Q], Pending[V]], query: Q) -> Pending[V]:
        call = self._call()
        try:
            pending = serve(self._services, call, query)
        except PdppError as refusal:
            refusal.request_id = call.request_id
            self.is_settled = self.is_settled or not refusal.is_of_token
            raise
        self.is_settled = True
        return pending

    def _call(self) -> Call:
        request_id = self._request_id or f"req_{os.urandom(8).hex()}"
        return Call(self._bearer, request_id, MCP_KINDS, MCP_AUDIENCE, (), self._told, self._digest)

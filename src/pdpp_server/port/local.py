"""The reader for the server in this process: serve() called directly."""

import secrets
from collections.abc import Callable
from typing import TypeVar

from pdpp_server.errors import PdppError
from pdpp_server.model.catalogue import Catalogue
from pdpp_server.model.queries import FetchQuery, SchemaQuery, SearchQuery, WindowQuery
from pdpp_server.model.records import Record, SearchPage
from pdpp_server.model.text import FieldWindow
from pdpp_server.port.reader import Answer
from pdpp_server.reads import fetch, read_record_field, schema, search
from pdpp_server.reads.services import MCP_KINDS, Call, Services

Q = TypeVar("Q")
V = TypeVar("V")


class LocalReader:
    """One client's reads. Owner tokens are refused: this is the port that agents use."""

    def __init__(self, services: Services, bearer: str, public_url: str | None = None) -> None:
        self._services, self._bearer = services, bearer
        self.public_url = public_url

    def schema(self, query: SchemaQuery) -> Answer[Catalogue]:
        return self._ask(schema.serve, query)

    def search(self, query: SearchQuery) -> Answer[SearchPage]:
        return self._ask(search.serve, query)

    def fetch(self, query: FetchQuery) -> Answer[Record]:
        return self._ask(fetch.serve, query)

    def read_record_field(self, query: WindowQuery) -> Answer[FieldWindow]:
        return self._ask(read_record_field.serve, query)

    def _ask(self, serve: Callable[[Services, Call, Q], V], query: Q) -> Answer[V]:
        call = Call(self._bearer, f"req_{secrets.token_hex(8)}", MCP_KINDS)
        try:
            return Answer(serve(self._services, call, query), call.request_id)
        except PdppError as refusal:
            refusal.request_id = call.request_id
            raise

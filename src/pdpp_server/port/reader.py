"""The reads, as a Protocol: queries in, values that are still pending out, refusals raised."""

from typing import Protocol

from pdpp_server.model.aggregates import Aggregation
from pdpp_server.model.catalogue import Catalogue
from pdpp_server.model.pending import Pending
from pdpp_server.model.queries import AggregateQuery, FetchQuery, RecordsQuery, SchemaQuery, SearchQuery, WindowQuery
from pdpp_server.model.records import Record, RecordPage, SearchPage
from pdpp_server.model.text import FieldWindow


class Reader(Protocol):
    """One caller's view of a server. Every method raises `PdppError` with its request id set."""

    @property
    def public_url(self) -> str | None:
        """The address under which a person can open records, if there is one."""
        ...

    def schema(self, query: SchemaQuery) -> Pending[Catalogue]: ...
    def search(self, query: SearchQuery) -> Pending[SearchPage]: ...
    def query_records(self, query: RecordsQuery) -> Pending[RecordPage]: ...
    def aggregate(self, query: AggregateQuery) -> Pending[Aggregation]: ...
    def fetch(self, query: FetchQuery) -> Pending[Record]: ...
    def read_record_field(self, query: WindowQuery) -> Pending[FieldWindow]: ...

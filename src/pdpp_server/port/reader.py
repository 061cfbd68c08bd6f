"""The reads, as a Protocol: queries in, values out, refusals raised."""

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from pdpp_server.model.aggregates import Aggregation
from pdpp_server.model.catalogue import Catalogue
from pdpp_server.model.queries import AggregateQuery, FetchQuery, RecordsQuery, SchemaQuery, SearchQuery, WindowQuery
from pdpp_server.model.records import Record, RecordPage, SearchPage
from pdpp_server.model.text import FieldWindow

Value_co = TypeVar("Value_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Answer(Generic[Value_co]):
    """A value and the request id under which it was disclosed."""

    value: Value_co
    request_id: str


class Reader(Protocol):
    """One caller's view of a server. Every method raises `PdppError` with its request id set."""

    @property
    def public_url(self) -> str | None:
        """The address under which a person can open records, if there is one."""
        ...

    def schema(self, query: SchemaQuery) -> Answer[Catalogue]: ...
    def search(self, query: SearchQuery) -> Answer[SearchPage]: ...
    def query_records(self, query: RecordsQuery) -> Answer[RecordPage]: ...
    def aggregate(self, query: AggregateQuery) -> Answer[Aggregation]: ...
    def fetch(self, query: FetchQuery) -> Answer[Record]: ...
    def read_record_field(self, query: WindowQuery) -> Answer[FieldWindow]: ...

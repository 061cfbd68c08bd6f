"""Reads as tests ask them: each value is taken whole, which is written down like any answer, and can be looked at."""

from functools import cached_property
from typing import Any, Generic, TypeVar

from pdpp_server.evidence.shown import (
    aggregation_shown,
    catalogue_shown,
    hits_shown,
    page_shown,
    record_shown,
    window_shown,
)
from pdpp_server.mcp.tool import ToolResult
from pdpp_server.model.activity import Shown, together
from pdpp_server.model.aggregates import Aggregation
from pdpp_server.model.catalogue import Catalogue
from pdpp_server.model.pending import Leaving, Pending
from pdpp_server.model.queries import AggregateQuery, FetchQuery, RecordsQuery, SchemaQuery, SearchQuery, WindowQuery
from pdpp_server.model.records import Record, RecordPage, SearchPage
from pdpp_server.model.text import FieldWindow
from pdpp_server.port.reader import Reader

V = TypeVar("V")
V_co = TypeVar("V_co", covariant=True)
SIZE = 1000  # nothing is written, so nothing has a size


class Told(Pending[V_co], Generic[V_co]):
    """A read that leaves whole when its value is asked for, with one line however often that is."""

    def __init__(self, pending: Pending[V_co]) -> None:
        super().__init__(pending._value, pending.request_id, pending._settle)  # pyright: ignore[reportPrivateUsage]

    @cached_property
    def value(self) -> V_co:
        return told(self)


class ToldReader:
    """Asks as `reader` does."""

    def __init__(self, reader: Reader) -> None:
        self.asked = reader

    @property
    def public_url(self) -> str | None:
        return self.asked.public_url

    def schema(self, query: SchemaQuery) -> Told[Catalogue]:
        return Told(self.asked.schema(query))

    def search(self, query: SearchQuery) -> Told[SearchPage]:
        return Told(self.asked.search(query))

    def query_records(self, query: RecordsQuery) -> Told[RecordPage]:
        return Told(self.asked.query_records(query))

    def aggregate(self, query: AggregateQuery) -> Told[Aggregation]:
        return Told(self.asked.aggregate(query))

    def fetch(self, query: FetchQuery) -> Told[Record]:
        return Told(self.asked.fetch(query))

    def read_record_field(self, query: WindowQuery) -> Told[FieldWindow]:
        return Told(self.asked.read_record_field(query))


def told(pending: Pending[V_co]) -> V_co:
    """The value of a read that was asked for below the port."""
    return pending.leave(_whole_value)


def _whole_value(value: V) -> Leaving[V]:
    return Leaving(value, whole(value), SIZE)


def whole(value: Any) -> Shown:
    match value:
        case Record():
            return record_shown(value)
        case RecordPage():
            return page_shown(value)
        case SearchPage():
            return hits_shown(value.hits)
        case FieldWindow():
            return window_shown(value)
        case Aggregation():
            return aggregation_shown(value)
        case Catalogue():
            return catalogue_shown(value, days=True)
        case ToolResult():
            return together(value.text_shows, value.structured_shows)
        case _:
            return value.shown

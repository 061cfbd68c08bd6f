"""One record."""

from collections.abc import Iterable, Mapping
from typing import Any

from pdpp_server.model.queries import FetchQuery
from pdpp_server.model.records import Record, Warned
from pdpp_server.wire import queries
from pdpp_server.wire.envelope import Json, finish, url
from pdpp_server.wire.params import Params
from pdpp_server.wire.records import decode_record, encode_record

PARAMETERS = queries.rows(FetchQuery)


def encode_query(query: FetchQuery) -> str:
    return url("streams", query.stream, "records", query.key, **queries.encode(query))


def decode_query(params: Params, *, stream: str, key: str) -> FetchQuery:
    return queries.decode(FetchQuery, params, stream=stream, key=key)


def encode(record: Record, links_self: str, warnings: Iterable[Warned] = ()) -> Json:
    return finish(encode_record(record), links_self, warnings)


def decode(body: Mapping[str, Any]) -> Record:
    return decode_record(body)

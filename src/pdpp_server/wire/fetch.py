"""One record."""

from collections.abc import Iterable, Mapping
from typing import Any

from pdpp_server.model.queries import FetchQuery
from pdpp_server.model.records import Record, Warned
from pdpp_server.wire.envelope import Json, finish, url
from pdpp_server.wire.expand import EXPAND, decode_expand, encode_expand
from pdpp_server.wire.params import FIELDS, SELECTORS, Params
from pdpp_server.wire.records import decode_record, encode_record

PARAMETERS = (*SELECTORS, FIELDS, *EXPAND)


def encode_query(query: FetchQuery) -> str:
    return url(
        "streams",
        query.stream,
        "records",
        query.key,
        connection_id=query.connection_id,
        connector_id=query.connector_key,
        fields=query.fields,
        **encode_expand(query.expand),
    )


def decode_query(params: Params, *, stream: str, key: str) -> FetchQuery:
    params.only(*PARAMETERS)
    fields = params.comma_separated("fields")
    return FetchQuery(stream, key, params.connection_id(), fields, params.connector_key(), decode_expand(params))


def encode(record: Record, links_self: str, warnings: Iterable[Warned] = ()) -> Json:
    return finish(encode_record(record), links_self, warnings)


def decode(body: Mapping[str, Any]) -> Record:
    return decode_record(body)

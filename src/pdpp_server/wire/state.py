"""Sync state: what a collector puts down, and gets again."""

from typing import Any

import orjson

from pdpp_server.errors import InvalidRequest
from pdpp_server.model.ingest import Target
from pdpp_server.model.sources import Source
from pdpp_server.model.state import Cursors, StateQuery, SyncState
from pdpp_server.wire.envelope import Json, is_object
from pdpp_server.wire.params import ALIAS_PARAMETER, CONNECTION_ID, ParameterRow, Params

PARAMETERS = (
    CONNECTION_ID,
    ALIAS_PARAMETER,
    ParameterRow("grant_id", "The state that belongs to this grant: an active, continuous one of the connector."),
)


def decode_query(params: Params, connector: str) -> StateQuery:
    """The path names the connector, by its key or its registry address."""
    params.only(*PARAMETERS)
    target = Target(Source("connector", connector).connector_key, params.connection_id())
    return StateQuery(target, params.text("grant_id") or None)


def decode_cursors(body: bytes) -> Cursors:
    try:
        document: Any = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise InvalidRequest("The body must be JSON.") from None
    if not (is_object(document) and document.keys() == {"state"} and is_object(document["state"])):
        raise InvalidRequest('The body must be {"state": {STREAM: CURSOR}} and nothing else.', param="state")
    cursors: Cursors = document["state"]
    if not all(is_object(cursor) for cursor in cursors.values()):
        raise InvalidRequest("The cursor of a stream must be an object.", param="state")
    return cursors


def encode_state(state: SyncState) -> Json:
    return {
        "object": "stream_state",
        "connector_id": state.origin.connector_key,
        "connector_instance_id": state.origin.connection_id,
        "grant_id": state.grant_id,
        "state": dict(state.cursors),
        "updated_at": state.updated_at,
    }

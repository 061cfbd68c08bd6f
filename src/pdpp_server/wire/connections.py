"""A connection that the owner's tool declares and names before it delivers, both directions."""

from typing import Any

import orjson

from pdpp_server.errors import InvalidRequest, SourceUnavailable
from pdpp_server.model.sources import Declaration
from pdpp_server.wire.declarations import decode_declaration
from pdpp_server.wire.envelope import Json, is_object
from pdpp_server.wire.params import Params

PATH = "/v1/connections"
NAME_CHARS = 255  # an export may call an account by a whole file name
_MEMBERS = {"declaration", "display_name"}


def decode_wanted(params: Params, body: bytes) -> tuple[Declaration, str]:
    """Raises: InvalidDeclaration, InvalidRequest."""
    params.only()
    try:
        document: Any = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise InvalidRequest("The body must be JSON.") from None
    if not (is_object(document) and document.keys() == _MEMBERS and is_object(document["declaration"])):
        raise InvalidRequest('The body must be {"declaration": {...}, "display_name": "..."} and nothing else.')
    name = document["display_name"]
    if not (isinstance(name, str) and name.strip() == name and 0 < len(name) <= NAME_CHARS and name.isprintable()):
        raise InvalidRequest(f"display_name has 1 to {NAME_CHARS} printable characters.", param="display_name")
    return decode_declaration(document["declaration"]), name


def encode_wanted(declaration: Declaration, name: str) -> Json:
    return {"declaration": declaration.document, "display_name": name}


def encode(connection_id: str, declaration: Declaration, name: str) -> Json:
    connector_key = declaration.source.connector_key
    return {
        "object": "connection",
        "connection_id": connection_id,
        "connector_key": connector_key,
        "display_name": name,
    }


def decode_id(body: Json) -> str:
    """Raises: SourceUnavailable."""
    match body:
        case {"connection_id": str(connection_id)} if connection_id:
            return connection_id
        case _:
            raise SourceUnavailable("it names no connection")

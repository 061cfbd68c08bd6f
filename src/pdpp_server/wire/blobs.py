"""Blobs: parameters, digests and ranges of their requests, and references to them inside records."""

import base64
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, cast
from urllib.parse import quote

from pdpp_server.errors import InvalidRequest, SourceUnavailable
from pdpp_server.model.blobs import ANY_BYTES, Blob, BlobDelivery, BlobPart, is_mime_type
from pdpp_server.model.queries import BlobQuery
from pdpp_server.model.streams import BLOB_REF, BLOB_ROLE
from pdpp_server.wire import queries
from pdpp_server.wire.envelope import Json
from pdpp_server.wire.params import TARGET, ParameterRow, Params

WHOLE_RECORD = "@record"
PARAMETERS = queries.rows(BlobQuery)
DELIVERY_PARAMETERS = (
    *TARGET,
    ParameterRow("stream", "The stream of the record that the blob belongs to.", required=True),
    ParameterRow("record_key", "The key of that record; it may arrive later than its blob.", required=True),
    ParameterRow("mime_type", "The type of the bytes; without it the Content-Type, else application/octet-stream."),
    ParameterRow("json_path", f"Where the record refers to it: {WHOLE_RECORD}, or a pointer such as /photo."),
)

_RANGE = re.compile(r"bytes=[ \t]*([0-9]{1,30})?-([0-9]{1,30})?[ \t]*", re.IGNORECASE)
_DIGEST = re.compile(r"[ \t]*([a-z*][a-z0-9_.*-]*)=:([A-Za-z0-9+/]*={0,2}):[ \t]*")
_FORM = "application/x-www-form-urlencoded"  # what a tool says of a body of which it was told nothing


def decode_query(params: Params, blob_id: str, part: BlobPart | None, *, headers_only: bool) -> BlobQuery:
    return queries.decode(BlobQuery, params, blob_id=blob_id, part=part, headers_only=headers_only)


def decode_delivery(params: Params, content_type: str | None) -> BlobDelivery:
    params.only(*DELIVERY_PARAMETERS)
    target = params.target()
    for name in ("stream", "record_key"):
        if not params.text(name):
            raise InvalidRequest(f"{name} is needed.", param=name)
    sent_as = None if content_type == _FORM else content_type
    mime_type = params.text("mime_type") or sent_as or ANY_BYTES
    if not is_mime_type(mime_type):
        raise InvalidRequest("mime_type must be a media type such as image/png.", param="mime_type")
    field = _decode_pointer(params.text("json_path") or WHOLE_RECORD)
    return BlobDelivery(target, params.text("stream") or "", params.text("record_key") or "", mime_type, field)


def _decode_pointer(path: str) -> str | None:
    """The field that a JSON pointer starts with; None for the record as a whole."""
    if path == WHOLE_RECORD:
        return None
    if not path.startswith("/"):
        raise InvalidRequest(f"json_path is {WHOLE_RECORD}, or a pointer that starts with /.", param="json_path")
    return path.split("/")[1].replace("~1", "/").replace("~0", "~")


def encode(blob: Blob) -> Json:
    return {"object": "blob", **encode_reference(blob)}


def encode_reference(blob: Blob) -> Json:
    """What a record holds of a blob that it refers to."""
    return {
        "blob_id": blob.blob_id,
        "sha256": blob.sha256,
        "size_bytes": blob.size,
        "mime_type": blob.mime_type,
    }


def decode(body: Json) -> Blob:
    """Raises: SourceUnavailable."""
    match body:
        case {"blob_id": str(blob_id), "size_bytes": int(size), "mime_type": str(mime_type)}:
            return Blob(blob_id, size, mime_type)
        case _:
            raise SourceUnavailable("it does not say which bytes it keeps")


# Headers ------------------------------------------------------------------------------------------------------------


def decode_range(header: str | None) -> BlobPart | None:
    """One range of bytes; None for all else, several ranges included: RFC 9110 lets a server send the whole instead."""
    asked = _RANGE.fullmatch(header or "")
    if not asked or not any(asked.groups()):
        return None
    first, last = (None if digits is None else int(digits) for digits in asked.groups())
    return None if first is not None and last is not None and last < first else BlobPart(first, last)


def decode_digests(header: str, name: str) -> dict[str, bytes]:
    """Algorithm to digest (RFC 9530); a member that is no digest is refused."""
    digests: dict[str, bytes] = {}
    for member in header.split(",") if header else ():
        found = _DIGEST.fullmatch(member)
        try:
            if not found:
                raise ValueError
            digests[found[1]] = base64.b64decode(found[2], validate=True)
        except ValueError:
            raise InvalidRequest(f"{name} must look like sha-256=:BASE64:.", param=name) from None
    return digests


# References inside records ------------------------------------------------------------------------------------------

Data = Mapping[str, Any]


class Reference(NamedTuple):
    """What a record says of bytes; whoever wrote it may have left out all but their name."""

    blob_id: str
    mime_type: str | None
    size: int | None


def decode_references(value: object) -> list[Reference]:
    """Those in a value: one, or a list of them."""
    return [_reference(item) for item in _objects_in(value) if isinstance(item.get("blob_id"), str)]


def has_address(value: object) -> bool:
    """Whether a value that refers to blobs says where they are, which only an answer may."""
    return any("fetch_url" in item for item in _objects_in(value))


def _objects_in(value: object) -> list[Data]:
    items = cast("list[object]", value) if isinstance(value, list) else [value]
    return [cast("Data", item) for item in items if isinstance(item, dict)]


def _reference(data: Data) -> Reference:
    told, size = data.get("mime_type"), data.get("size_bytes")
    mime_type = told if isinstance(told, str) and is_mime_type(told) else None
    return Reference(data["blob_id"], mime_type, size if isinstance(size, int) else None)


def with_addresses(data: Data, roles: Mapping[str, str] | None) -> Data:
    """The data with the address of each blob that it refers to."""
    return _changed(data, roles, lambda ref: {**ref, "fetch_url": f"/v1/blobs/{quote(ref['blob_id'], safe='')}"})


def without_addresses(data: Data, roles: Mapping[str, str] | None) -> Data:
    """The data as it was stored: an address is the answer's, not the record's."""
    return _changed(data, roles, lambda ref: {name: value for name, value in ref.items() if name != "fetch_url"})


def _changed(data: Data, roles: Mapping[str, str] | None, change: Callable[[Data], Data]) -> Data:
    """Where no roles are known, the name that the record model keeps for blobs is the only one that refers to them."""
    if roles is None:
        names = [BLOB_REF] if BLOB_REF in data else []
    else:
        names = [name for name, role in roles.items() if role == BLOB_ROLE and name in data]
    return {**data, **{name: _each(data[name], change) for name in names}} if names else data


def _each(value: object, change: Callable[[Data], Data]) -> object:
    """One reference, or a list of them."""
    if isinstance(value, list):
        return [_one(item, change) for item in cast("list[object]", value)]
    return _one(value, change)


def _one(value: object, change: Callable[[Data], Data]) -> object:
    match value:
        case {"blob_id": str()}:
            return change(cast("Data", value))
        case _:
            return value

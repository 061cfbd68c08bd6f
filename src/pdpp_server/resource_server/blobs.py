"""GET and HEAD /v1/blobs/{id}, and POST /v1/blobs."""

import hashlib
import re
from functools import partial

from starlette.datastructures import Headers
from starlette.responses import Response

from pdpp_server.errors import InvalidRequest
from pdpp_server.http.file_body import FileBody
from pdpp_server.http.replies import Answered
from pdpp_server.model.blobs import ID_PREFIX, BlobPart
from pdpp_server.model.pending import Pending
from pdpp_server.reads import blobs as reads
from pdpp_server.reads.blobs import OpenedBlob
from pdpp_server.reads.services import Services
from pdpp_server.resource_server.asked import AskedOverHttp
from pdpp_server.wire import blobs as wire
from pdpp_server.wire.envelope import Json
from pdpp_server.wire.params import Params

BLOB_BYTES_MAX = 50 * 1024 * 1024
SHOWN_IN_PLACE = frozenset(
    {"application/pdf", *(f"image/{kind}" for kind in "avif bmp gif jpeg png tiff webp x-icon".split())}
)
ALGORITHMS = {"sha-256": hashlib.sha256, "sha-512": hashlib.sha512}

_ETAG = re.compile(r'(?:W/)?("[^"]*")')


def handle(services: Services, asked: AskedOverHttp) -> Pending[Answered]:
    """Headers alone tell of a blob too: they have a line like its bytes."""
    is_known = _is_named(asked.headers.get("if-none-match"), _etag(asked.name))
    headers_only = is_known or asked.method == "HEAD"
    part = None if headers_only else _part(asked)
    query = wire.decode_query(asked.params, asked.name, part, headers_only=headers_only)
    return reads.serve(services, asked.call, query).shaped(partial(_answered, asked.params, is_known=is_known))


def _answered(params: Params, opened: OpenedBlob, *, is_known: bool) -> Answered:
    headers = _headers(opened) | _warned(params)
    if is_known:
        return Answered(Response(status_code=304, headers={"ETag": headers["ETag"]}), opened.shown)
    if opened.file is None:
        return Answered(Response(headers=headers), opened.shown)
    body = FileBody(opened.file, opened.places, 206 if opened.is_part else 200, headers)
    return Answered(body, opened.shown, size=len(opened.places), give_up=opened.file.close)


def keep(services: Services, asked: AskedOverHttp) -> Json:
    delivery = wire.decode_delivery(asked.params, asked.headers.get("content-type"))
    _check_digests(asked.headers, asked.body)
    return wire.encode(reads.keep(services, asked.call, delivery, asked.body))


def _headers(opened: OpenedBlob) -> dict[str, str]:
    """A browser shows only what cannot run, and even that in a sandbox: the bytes are a stranger's."""
    blob, places = opened.blob, opened.places
    headers = {
        "Content-Type": blob.mime_type,
        "Content-Length": str(len(places)),
        "Accept-Ranges": "bytes",
        "ETag": _etag(blob.blob_id),
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "default-src 'none'; sandbox",
    }
    if blob.mime_type.partition(";")[0].strip().lower() not in SHOWN_IN_PLACE:
        headers["Content-Disposition"] = "attachment"
    if opened.is_part:
        headers["Content-Range"] = f"bytes {places.start}-{places.stop - 1}/{blob.size}"
    return headers


def _warned(params: Params) -> dict[str, str]:
    """There is no JSON around raw bytes that could hold a warning."""
    told = ", ".join(f"{warned.code}: {warned.param}" for warned in params.warnings)
    return {"PDPP-Warning": told} if told else {}


def _etag(blob_id: str) -> str:
    """The digest: the same bytes for ever."""
    return f'"{blob_id.removeprefix(ID_PREFIX)}"'


def _is_named(if_none_match: str | None, etag: str) -> bool:
    """Whether the caller has these bytes already."""
    asked = (if_none_match or "").strip()
    return asked == "*" or etag in {found.group(1) for found in _ETAG.finditer(asked)}


def _part(asked: AskedOverHttp) -> BlobPart | None:
    """The range asked for, if the caller's copy, where it has one, is of these very bytes."""
    if_range = asked.headers.get("if-range")
    return wire.decode_range(asked.headers.get("range")) if if_range in (None, _etag(asked.name)) else None


def _check_digests(headers: Headers, body: bytes) -> None:
    """RFC 9530: digests by other algorithms than ours say nothing here."""
    for name in ("Content-Digest", "Repr-Digest"):
        for algorithm, digest in wire.decode_digests(headers.get(name, ""), name).items():
            if algorithm in ALGORITHMS and ALGORITHMS[algorithm](body).digest() != digest:
                raise InvalidRequest(f"The body does not have the {algorithm} of {name}.", param=name)

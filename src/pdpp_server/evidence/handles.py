"""Record handles: one unbroken token that names one record, and the record that it names."""

import base64
import binascii
import json
import re
from functools import lru_cache
from typing import Any
from urllib.parse import unquote_to_bytes

from pdpp_server.errors import InvalidRecordId
from pdpp_server.evidence.text import HIDDEN
from pdpp_server.model.records import RecordId

HANDLE_BYTES_MAX = 512
_URI = "pdpp://record/"
_URI_BYTES_MAX = 4096
_ENCODE = "A record key with `/` needs the whole id, connection_id/stream:record_key, with each `/` of the key as %2F."

_PLAIN = re.compile(r"[\w.~@+=$!*&#?^()-]+", re.ASCII)
_PLAIN_KEY = re.compile(r"[\w.~@+=$!*&#?^():-]+", re.ASCII)
_PLAIN_HANDLE = re.compile(rf"({_PLAIN.pattern})/({_PLAIN.pattern}):({_PLAIN_KEY.pattern})", re.ASCII)

# Our separators, what quotes or lists in text, the categories Cc, Cf and Z*, and all else that leaves no trace.
_ENCODED = f"/\\\\%\"'`\\[\\]{{}}<>;,|\\x00-\\x20\xa0\u1680\u2000-\u200a\u202f\u205f\u3000{HIDDEN}"
_ENCODED_IN_KEY = re.compile(f"[{_ENCODED}]")
_ENCODED_IN_NAME = re.compile(f"[:{_ENCODED}]")
_ENCODED_ASCII = {code: f"%{code:02X}" for code in (*range(0x21), *b"/\\%\"'`[]{}<>;,|", 0x7F)}
_DOTS = re.compile(r"(?:^|[/\\])\.\.?(?:$|[/\\])")


@lru_cache(maxsize=256)  # an answer says each of its handles several times
def mint(id: RecordId) -> str:
    """The handle of a record. Without a known connection it is the short `stream:key`, as it stands."""
    connection, stream, key = id
    if ":" not in stream and _PLAIN_HANDLE.fullmatch(plain := f"{connection}/{stream}:{key}"):
        return plain
    if not connection:
        return f"{stream}:{key}"
    names = (part if _PLAIN.fullmatch(part) else _ENCODED_IN_NAME.sub(_percent, part) for part in (connection, stream))
    encoded = key.translate(_ENCODED_ASCII) if key.isascii() else _ENCODED_IN_KEY.sub(_percent, key)
    return f"{'/'.join(names)}:{encoded}"


def parse(text: str) -> RecordId:
    """The record that a handle names; an empty connection where a short one leaves it open.

    Raises: InvalidRecordId.
    """
    plain = _PLAIN_HANDLE.fullmatch(text)
    if plain and len(text) <= HANDLE_BYTES_MAX:
        id = RecordId(*plain.groups())
        if "." not in text:  # as in nearly every one
            return id
    elif text.startswith(_URI):
        return _from_uri(text.removeprefix(_URI))
    else:
        id = _split(text)
    _check_parts(id)
    return id


def check_key(id: RecordId) -> None:
    """Refuse a record that no handle could name.

    Raises: InvalidRecordId.
    """
    _check_parts(id)
    try:
        size = len(mint(id).encode())
        "".join(id).encode()
    except UnicodeEncodeError:
        raise InvalidRecordId("The record key holds half a character (a lone surrogate).") from None
    if size > HANDLE_BYTES_MAX:
        raise InvalidRecordId(f"The handle would have {size} bytes; at most {HANDLE_BYTES_MAX} are possible.")


def mintable(id: RecordId) -> bool:
    try:
        check_key(id)
    except InvalidRecordId:
        return False
    return True


def _split(text: str) -> RecordId:
    if len(text.encode("utf-8", "surrogatepass")) > HANDLE_BYTES_MAX:
        raise InvalidRecordId(f"The id is longer than {HANDLE_BYTES_MAX} bytes.", param="id")
    connection, slash, rest = text.partition("/")
    stream, colon, key = (rest if slash else text).partition(":")
    if slash and ":" in connection:
        raise InvalidRecordId("The first `/` ends the connection, and a `:` stands in it.", param="id", remedy=_ENCODE)
    if not colon:
        raise InvalidRecordId("The id has no `:` between stream and record key.", param="id")
    if not slash:
        return RecordId("", stream, key)
    if not connection:
        raise InvalidRecordId("The id has an empty connection.", param="id")
    id = RecordId(_decoded(connection), _decoded(stream), _decoded(key))
    if mint(id) != text:
        raise InvalidRecordId("The id is not written as this server writes it.", param="id")
    return id


def unpacked(text: str) -> Any:
    """The JSON that the older addresses of records and windows carry in base64.

    Raises: InvalidRecordId.
    """
    try:
        if len(text) > _URI_BYTES_MAX:
            raise InvalidRecordId("The record address is too long.", param="id")
        padded = text + "=" * (-len(text) % 4)
        return json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (binascii.Error, ValueError, RecursionError):
        raise InvalidRecordId("The record address cannot be read.", param="id") from None


def _from_uri(rest: str) -> RecordId:
    if ":" in rest:
        return parse(rest)
    match unpacked(rest):
        case {"v": 1, "kind": "record", "connection_id": str(c), "stream": str(s), "record_id": str(k)} if c:
            id = RecordId(c, s, k)
            check_key(id)
            return id
        case _:
            raise InvalidRecordId("The record address names no record.", param="id")


def _check_parts(id: RecordId) -> None:
    connection, stream, key = id
    if not stream or not key:
        raise InvalidRecordId("The id has an empty stream or record key.", param="id")
    if any("." in part and _DOTS.search(part) for part in (connection, stream, key)):
        raise InvalidRecordId("The id holds a `.` or `..` path component.", param="id")


def _decoded(part: str) -> str:
    try:
        return unquote_to_bytes(part).decode() if "%" in part else part
    except (UnicodeDecodeError, UnicodeEncodeError):
        raise InvalidRecordId("The id holds a percent-encoding that is no text.", param="id") from None


def _percent(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found.group().encode("utf-8", "surrogatepass"))

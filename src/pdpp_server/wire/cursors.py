"""Opaque cursors: sealed, bound to the grant and the query they continue, padded."""

import base64
import binascii
import hashlib
import struct
from typing import Literal, NamedTuple

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from pdpp_server.errors import InvalidCursor

KEY_BYTES = 64
_SIZES = (32, 96)  # what is sealed has one of these lengths, so that a cursor tells nothing by its own: <= 160 bytes

_PLACE = struct.Struct(">BQBBQ")
_RANK, _RANK_BYTES = struct.Struct(">BB"), 16
_TEXT_VALUE_BYTES = 40  # of a text by which a page is ordered; the key gets what remains


Side = Literal["earlier", "later"]  # of a record, in the order of pages
CursorKind = (
    Side | Literal["search", "records", "changes", "bookmark"]
)  # the first letter stands before the sealed text


class Seal:
    """Authenticated encryption without a nonce: the same place of the same query always has the same cursor."""

    def __init__(self, key: bytes) -> None:
        self._siv = AESSIV(key)

    def seal(self, kind: CursorKind, plain: bytes, *, bound_to: bytes) -> str:
        padded = plain.ljust(next(size for size in _SIZES if len(plain) <= size), b"\0")
        return kind[0] + _text(self._siv.encrypt(padded, [kind.encode(), bound_to]))

    def open(self, kind: CursorKind, cursor: str, *, bound_to: bytes) -> bytes:
        """What was sealed, and padding behind it.

        Raises:
            InvalidCursor: this seal did not make it for this grant and query.
        """
        try:
            text = cursor[1:]
            sealed = base64.urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
            if not is_of(kind, cursor) or _text(sealed) != text:  # what is no base64 is skipped in silence
                raise ValueError
            return self._siv.decrypt(sealed, [kind.encode(), bound_to])
        except (InvalidTag, binascii.Error, ValueError):
            raise InvalidCursor("The cursor does not belong to this query under this grant.", param="cursor") from None


def is_of(kind: CursorKind, cursor: str) -> bool:
    """What a cursor says of itself, before anybody looks whether it is true."""
    return cursor.startswith(kind[0])


def _text(sealed: bytes) -> str:
    return base64.urlsafe_b64encode(sealed).rstrip(b"=").decode()


class Place(NamedTuple):
    """Where a page ended. Of a long text or key only the beginning fits; `digest` then tells which one it was."""

    value: int | float | str | bytes  # bytes: of a record without a value
    connection: int  # a digest of its id: cursors tell nothing of other connections, not even their number
    key: str
    digest: int = 0
    is_whole: bool = True

    def pack(self, room: int = _SIZES[-1]) -> bytes:
        kind, value = _packed(self.value)
        key = self.key.encode()
        kept_value = value[:_TEXT_VALUE_BYTES]
        kept_key = key[: room - _PLACE.size - len(kept_value)]
        is_whole = (kept_value, kept_key) == (value, key)
        head = _PLACE.pack(
            kind << 1 | is_whole, self.connection, len(kept_value), len(kept_key), digest_of(self.value, self.key)
        )
        return head + kept_value + kept_key

    @classmethod
    def unpack(cls, plain: bytes) -> "Place":
        flags, connection, value_bytes, key_bytes, digest = _PLACE.unpack_from(plain)
        start = _PLACE.size
        value, key = plain[start : start + value_bytes], plain[start + value_bytes :][:key_bytes]
        cut_key = key.decode("utf-8", "ignore")  # a character cut in two is left out: the beginning is shorter then
        return cls(_unpacked(flags >> 1, value), connection, cut_key, digest, bool(flags & 1))


class OrderedPlace(NamedTuple):
    """A place in the order of another field: the value there, and the place among those that have the same."""

    rank: int | float | str | bytes  # of a text the beginning: numbers and times can be ranged over, texts cannot
    place: Place

    def pack(self) -> bytes:
        kind, value = _packed(self.rank)
        kept = value[:_RANK_BYTES]
        head = _RANK.pack(kind, len(kept)) + kept
        return head + self.place.pack(_SIZES[-1] - len(head))

    @classmethod
    def unpack(cls, plain: bytes) -> "OrderedPlace":
        kind, size = _RANK.unpack_from(plain)
        start = _RANK.size
        place = Place.unpack(plain[start + size :])
        return cls(_unpacked(kind, plain[start : start + size]), place)


def connection_digest(connection_id: str) -> int:
    return int.from_bytes(hashlib.blake2b(connection_id.encode(), digest_size=8).digest())


def digest_of(value: int | float | str | bytes, key: str) -> int:
    return int.from_bytes(hashlib.blake2b(repr((value, key)).encode(), digest_size=8).digest())


_WHOLE, _REAL, _WORDS, _NOTHING = range(4)


def _packed(value: int | float | str | bytes) -> tuple[int, bytes]:
    match value:
        case int():
            return _WHOLE, struct.pack(">q", value)
        case float():
            return _REAL, struct.pack(">d", value)
        case str():
            return _WORDS, value.encode()
        case bytes():
            return _NOTHING, b""


def _unpacked(kind: int, packed: bytes) -> int | float | str | bytes:
    if kind == _WHOLE:
        return struct.unpack(">q", packed)[0]
    if kind == _REAL:
        return struct.unpack(">d", packed)[0]
    return packed.decode("utf-8", "ignore") if kind == _WORDS else b""

"""Opaque cursors: sealed, bound to the grant and the query they continue, padded."""

import base64
import binascii
import struct

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from pdpp_server.errors import InvalidCursor

KEY_BYTES = 64
_SEARCH = struct.Struct(">dqq")
_PADDED = 32


class Seal:
    """Authenticated encryption without a nonce: the same place of the same query always has the same cursor."""

    def __init__(self, key: bytes) -> None:
        self._siv = AESSIV(key)

    def seal(self, kind: str, score: float, at: int, digest: int, *, bound_to: bytes) -> str:
        plain = _SEARCH.pack(score, at, digest).ljust(_PADDED, b"\0")
        return _text(self._siv.encrypt(plain, [kind.encode(), bound_to]))

    def open(self, kind: str, cursor: str, *, bound_to: bytes) -> tuple[float, int, int]:
        """Raises InvalidCursor for anything that this seal did not make for this grant and query."""
        try:
            sealed = base64.urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4))
            if _text(sealed) != cursor:  # what is no base64 is skipped in silence
                raise ValueError
            plain = self._siv.decrypt(sealed, [kind.encode(), bound_to])
        except (InvalidTag, binascii.Error, ValueError):
            raise InvalidCursor("The cursor does not belong to this query under this grant.", param="cursor") from None
        return _SEARCH.unpack(plain[: _SEARCH.size])


def _text(sealed: bytes) -> str:
    return base64.urlsafe_b64encode(sealed).rstrip(b"=").decode()

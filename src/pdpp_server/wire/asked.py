"""What was asked, as it is kept: sealed with the key of its month, and bound to its request."""

import orjson
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from pdpp_server.model.activity import Asked


def seal_asked(asked: Asked, request_id: str, key: bytes) -> bytes:
    plain = {"words": asked.words, "filter": asked.conditions, "reach": asked.reach}
    return AESSIV(key).encrypt(orjson.dumps(plain), [request_id.encode()])


def open_asked(sealed: bytes, request_id: str, key: bytes) -> Asked | None:
    """None where that key did not seal it for that request."""
    try:
        said = orjson.loads(AESSIV(key).decrypt(sealed, [request_id.encode()]))
    except (InvalidTag, ValueError):
        return None
    conditions = tuple((field, comparison, value) for field, comparison, value in said["filter"])
    return Asked(said["words"], conditions, tuple(said["reach"]))

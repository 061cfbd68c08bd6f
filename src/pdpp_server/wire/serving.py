"""The mark that a running server leaves in its home: where it listens, both directions."""

from typing import NamedTuple

import orjson


class Served(NamedTuple):
    host: str
    port: int
    public_url: str | None


def encode_mark(served: Served, process: int) -> bytes:
    return orjson.dumps({**served._asdict(), "pid": process})


def decode_mark(text: bytes) -> Served | None:
    """None where it is not whole: who makes it may be writing it."""
    try:
        document = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    match document:
        case {"host": str(host), "port": int(port), "public_url": str() | None as public_url}:
            return Served(host, port, public_url)
        case _:
            return None

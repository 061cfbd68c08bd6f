"""Blobs: bytes that records refer to."""

import re
from dataclasses import dataclass

from pdpp_server.model.ingest import Target

ANY_BYTES = "application/octet-stream"
ID_PREFIX = "blob_"

_NAME = r"[A-Za-z0-9!#$&^_.+-]{1,127}"
_MIME_TYPE = re.compile(rf"{_NAME}/{_NAME}(?: ?; ?{_NAME}={_NAME}){{0,4}}")


@dataclass(frozen=True, slots=True)
class Blob:
    """`blob_id` tells the digest of the bytes and nothing else; `mime_type` is what was said of them."""

    blob_id: str
    size: int
    mime_type: str

    @property
    def sha256(self) -> str:
        return self.blob_id.removeprefix(ID_PREFIX)


@dataclass(frozen=True, slots=True)
class BlobDelivery:
    """What an owner says of bytes to keep: for which record, and in which of its fields, if that is known."""

    target: Target
    stream: str
    record_key: str
    mime_type: str
    field: str | None


@dataclass(frozen=True, slots=True)
class BlobPart:
    """Some bytes of a blob: from `first` to `last`, both included; without `first`, as many as `last` from the end."""

    first: int | None
    last: int | None

    def within(self, size: int) -> range | None:
        """The places of these bytes; None where a blob of that size has none of them."""
        if self.first is None:
            places = range(max(0, size - (self.last or 0)), size)
        else:
            places = range(self.first, size if self.last is None else min(self.last + 1, size))
        return places if places else None


def is_mime_type(text: str) -> bool:
    """Whether it can stand in a header as the type of a blob."""
    return _MIME_TYPE.fullmatch(text) is not None

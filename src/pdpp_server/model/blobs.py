"""Blobs: bytes that records refer to."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Blob:
    blob_id: str
    sha256: str
    size: int
    mime_type: str

"""Bytes that belong to a record: a picture is shown, all else is only handed over, and nothing of it can run."""

from functools import partial
from typing import NamedTuple

from pdpp_server.console.desks import Desks
from pdpp_server.console.page import Handed
from pdpp_server.console.visit import Visit
from pdpp_server.evidence.words import size_text
from pdpp_server.model.blobs import ANY_BYTES
from pdpp_server.model.pending import Pending
from pdpp_server.model.queries import BlobQuery
from pdpp_server.owner.own_reader import OpenedBlob
from pdpp_server.wire.blobs import Reference, decode_references

# What browsers draw and cannot be made to run; a drawing in SVG can.
PICTURES = frozenset({"image/avif", "image/gif", "image/jpeg", "image/png", "image/webp"})


class AttachmentShown(NamedTuple):
    blob_id: str
    kind: str
    size: str
    is_picture: bool


def hand_over(desks: Desks, visit: Visit) -> Pending[Handed]:
    query = BlobQuery(visit.named["blob_id"], headers_only=visit.method == "HEAD")
    return desks.reads.reader(visit.request_id).read_blob(query).shaped(partial(_handed, is_head=query.headers_only))


def _handed(opened: OpenedBlob, *, is_head: bool) -> Handed:
    """What a stranger says of its type counts for pictures only; they are drawn as such or not at all."""
    kind = _plain(opened.blob.mime_type)
    headers = {
        "Content-Type": kind if kind in PICTURES else ANY_BYTES,
        "Content-Length": str(opened.blob.size),
        "Content-Disposition": "inline" if kind in PICTURES else "attachment",
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "Cross-Origin-Resource-Policy": "same-origin",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "same-origin",
    }
    return Handed(None if is_head else opened.file, opened.blob.size, headers, opened.shown)


def attachments_of(value: object) -> list[AttachmentShown]:
    """The references in a value: one, or a list of them."""
    return [_shown(reference) for reference in decode_references(value)]


def _shown(reference: Reference) -> AttachmentShown:
    kind = _plain(reference.mime_type or ANY_BYTES)
    told = "" if reference.size is None else size_text(reference.size)
    return AttachmentShown(reference.blob_id, kind, told, kind in PICTURES)


def _plain(mime_type: str) -> str:
    return mime_type.partition(";")[0].strip().lower()

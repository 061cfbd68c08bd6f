"""What can be said of bytes without sending them."""

import re
from collections.abc import Mapping
from typing import Any, cast

from pdpp_server.evidence.text import clip_shown, quoted

BASE64_CHARS_MIN = 256
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/\-_]{4}|[\r\n])+(?:[A-Za-z0-9+/\-_]{2}==|[A-Za-z0-9+/\-_]{3}=)?[\r\n]*")
_DATA_URI = re.compile(r"data:[\w.+/-]{1,100}(?:;[\w=.+-]{1,100}){0,4};base64,", re.ASCII)
_PLAIN_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")  # any other name could be words, and words do not speak for us
_DIGITS, _CAPITALS, _SMALL = re.compile("[0-9]"), re.compile("[A-Z]"), re.compile("[a-z]")


def binary_text(value: object) -> str | None:
    """Type and size of a value that is bytes; None where it is none."""
    if isinstance(value, str):
        return _base64_text(value)
    if not isinstance(value, Mapping):
        return None
    blob = cast("Mapping[str, Any]", value)
    names = blob.get("blob_id") or blob.get("fetch_url")
    facts = blob.get("mime_type") or blob.get("sha256") or blob.get("size_bytes")
    return _blob_text(blob) if names and facts else None


def _blob_text(blob: Mapping[str, Any]) -> str:
    """The digest is left out where the name of the blob tells it already."""
    size, blob_id, sha256 = blob.get("size_bytes"), blob.get("blob_id"), blob.get("sha256")
    said = [
        "binary, not shown",
        _named("mime", blob.get("mime_type")),
        f"{size} bytes" if isinstance(size, int) else "",
        _named("sha256", None if sha256 and str(sha256) in str(blob_id) else sha256),
        f"REST only: GET /v1/blobs/{blob_id}" if isinstance(blob_id, str) and _PLAIN_ID.fullmatch(blob_id) else "",
    ]
    return ", ".join(part for part in said if part)


def _base64_text(text: str) -> str | None:
    """A long word of letters alone may be text; base64 of any length has digits and both cases."""
    found = _DATA_URI.match(text)
    looks_so = len(text) >= BASE64_CHARS_MIN and all(
        kind.search(text, 0, 4096) for kind in (_DIGITS, _CAPITALS, _SMALL)
    )
    if found or (looks_so and _BASE64.fullmatch(text)):
        return f"binary, not shown, base64, {len(text)} characters"
    return None


def _named(name: str, value: object) -> str:
    return f"{name} {quoted(clip_shown(value, 80))}" if isinstance(value, str) and value else ""

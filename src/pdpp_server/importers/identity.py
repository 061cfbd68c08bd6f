"""Names that stay the same from one export to the next: of records, and of accounts."""

import re
from hashlib import blake2b, sha256

KEY_CHARS = 160  # leaves room in a handle for the connection, the stream and what a source appends
NAME_CHARS = 255  # as long as the name of a file can be on disk; a zip may hold longer ones
_DIGEST_CHARS = 32

_PLAIN = re.compile(r"[\w.@+=$!*&#?^():~-]+", re.ASCII)  # what a handle shows as it is
_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]{1,5}\Z")
_COPY = re.compile(r"(?:[ _-]*(?:\([0-9]+\)|[0-9]{4}-?[01][0-9]-?[0-3][0-9].*))+\Z", re.DOTALL)


def record_key(text: str) -> str:
    """The text itself where it can stand in a handle as it is, else its digest."""
    return text if len(text) <= KEY_CHARS and _PLAIN.fullmatch(text) and text.strip(".") else digest(text)


def digest(*parts: str | bytes) -> str:
    """The same for the same parts, and for no others."""
    whole: list[bytes] = []
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
        whole += (b"%d:" % len(data), data)
    return sha256(b"".join(whole)).hexdigest()[:_DIGEST_CHARS]


def account_name(file_name: str) -> str:
    """The name of a file without its folder and ending, and without what tells one download from another."""
    stem = _EXTENSION.sub("", file_name.rpartition("/")[2][:NAME_CHARS])
    return _COPY.sub("", stem).strip() or stem.strip() or "export"


def short_hash(text: str) -> int:
    """Eight bytes that stand for a text in memory."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest())


class SeenRecords:
    """The records that were read so far, in a few bytes each."""

    def __init__(self) -> None:
        self._hashes: set[int] = set()

    def key(self, key: str, content: str) -> str | None:
        """The key for that content, with its digest where other content has the key; None for the same again."""
        same_key, same_record = short_hash(key), short_hash(f"{key} {content}")
        if same_record in self._hashes:
            return None
        is_taken = same_key in self._hashes
        self._hashes |= {same_key, same_record}
        return f"{key}~{content[:12]}" if is_taken else key

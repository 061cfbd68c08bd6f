"""What can be said of bytes without sending them."""

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from operator import is_not
from typing import Any, cast

from pdpp_server.evidence.budgets import BINARY_FACT_CHARS
from pdpp_server.evidence.text import clip, clip_shown, quoted
from pdpp_server.model.records import Excerpt, Expanded, Hit, Record, RecordPage, SearchPage

BASE64_CHARS_MIN = 512
_PIECE_CHARS = 24  # of a longer value: so many characters of the alphabet in a row are no words
_DEPTH_MAX = 64
_ALPHABET = r"[A-Za-z0-9+/\-_]"
# Nothing in them can be taken in two ways: a text of a megabyte of empty lines is looked at once.
_BASE64 = re.compile(rf"(?:{_ALPHABET}{{4}}|[\r\n])++(?:(?:{_ALPHABET}{{2}}==|{_ALPHABET}{{3}}=)[\r\n]*+)?")
_PIECE = re.compile(rf"[\r\n]*+{_ALPHABET}[A-Za-z0-9+/\-_\r\n]*+(?:={{1,2}}[\r\n]*+)?")
_DATA_URL = re.compile(r"data:(?=[\w;])([\w.+-]{1,60}/[\w.+-]{1,60})?((?:;[\w=.+-]{1,100}){0,4}),[!-~\r\n]*", re.ASCII)
_DATA = "data:"
_PLAIN_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")  # any other name could be words, and words do not speak for us
_KINDS = (re.compile("[0-9]"), re.compile("[A-Z]"), re.compile("[a-z]"))

_SINGLE = frozenset({str, int, float, bool, type(None)})

Declared = Mapping[str, Any] | str | None


class Binary(dict[str, Any]):
    """What stands in an answer where a record has bytes as text: their kind and size."""

    @property
    def text(self) -> str:
        kind = f"looks like {self['looks_like']}" if "looks_like" in self else "binary"
        media_type = _named("mime", self.get("media_type"))
        encoding = _plain_id(self.get("encoding"))
        said = [kind, "not shown", media_type, encoding, f"{self['size_chars']} characters"]
        return ", ".join(part for part in said if part)


def without_bytes(value: Any, declared: Declared = None, depth: int = 0) -> Any:
    """The value with `Binary` in place of what is bytes: declared so, a `data:` URL, or base64 and nothing else.

    `declared` is what the declaration says of this value, or of the members of it.
    """
    if isinstance(value, str):
        return value if (found := _bytes_in(value, declared)) is None else found
    if depth > _DEPTH_MAX or isinstance(value, Binary):
        return value
    if isinstance(value, list):
        return [without_bytes(item, declared, depth + 1) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        inner = cast("dict[str, Any]", value)
        told: Mapping[str, Any] = declared if isinstance(declared, Mapping) else {}
        return {name: without_bytes(each, told.get(name), depth + 1) for name, each in inner.items()}
    return value


def holds_bytes(value: Any, declared: Declared = None) -> bool:
    """Whether it is bytes, or has any inside."""
    return without_bytes(value, declared) != value


def record_without_bytes(record: Record) -> Record:
    if record.binary is not None or not _are_no_bytes(record.data.values()):
        record = _without_bytes(record)
    if not record.expanded:
        return record
    return record._replace(expanded={name: _group(group) for name, group in record.expanded.items()})


def _without_bytes(record: Record) -> Record:
    told = record.binary or {}
    changed: dict[str, Any] = {}
    for name, value in record.data.items():
        if isinstance(value, str) and name not in told and is_plain(value):
            continue
        without = without_bytes(value, told.get(name))
        if without is not value:
            changed[name] = without
    return record._replace(data={**record.data, **changed}) if changed else record


def _are_no_bytes(values: Collection[Any]) -> bool:
    """Whether one look at all of them tells so, as of nearly every record: base64 is long, and one word."""
    said = said_together(values)
    if said is None or _DATA in said:
        return False
    return len(said) < BASE64_CHARS_MIN or all(map(_is_short_or_words, map(str, values)))


def _is_short_or_words(text: str) -> bool:
    return len(text) < BASE64_CHARS_MIN or " " in text


def said_together(values: Collection[Any]) -> str | None:
    """What these values say in one text, for one look at all of them; None where one has parts."""
    return "".join(map(str, values)) if _SINGLE.issuperset(map(type, values)) else None


def _group(group: Expanded) -> Expanded:
    return replace(group, records=tuple(record_without_bytes(record) for record in group.records))


def page_without_bytes(page: RecordPage) -> RecordPage:
    """The page itself, where no record of it holds any."""
    records = tuple([record_without_bytes(each) if isinstance(each, Record) else each for each in page.records])
    is_changed = any(map(is_not, records, page.records))
    return replace(page, records=records) if is_changed else page


def hits_without_bytes(page: SearchPage) -> SearchPage:
    """A match inside of bytes is known, and not shown; a long word of the query may be bytes too, and is cut."""
    words = page.recall.words
    if any(len(word) > _PIECE_CHARS for word, _ in words):
        clipped = tuple([(clip(word, _PIECE_CHARS), count) for word, count in words])
        page = replace(page, recall=replace(page.recall, words=clipped))
    long = [excerpt for hit in page.hits for excerpt in hit.excerpts if excerpt.total_chars >= BASE64_CHARS_MIN]
    if any(_is_piece_of_bytes(excerpt) for excerpt in long):
        page = replace(page, hits=tuple([_hit(hit) for hit in page.hits]))
    return page


def _hit(hit: Hit) -> Hit:
    kept = tuple(excerpt for excerpt in hit.excerpts if not _is_piece_of_bytes(excerpt))
    return hit if len(kept) == len(hit.excerpts) else replace(hit, excerpts=kept)


def _is_piece_of_bytes(excerpt: Excerpt) -> bool:
    return is_piece_of_bytes(excerpt.text, excerpt.total_chars)


def is_piece_of_bytes(text: str, total_chars: int) -> bool:
    """Whether a part of a long value is a part of base64, as far as a part can tell."""
    is_long = total_chars >= BASE64_CHARS_MIN and len(text) >= _PIECE_CHARS
    return is_long and _has_all_kinds(text) and _PIECE.fullmatch(text) is not None


def binary_text(value: object) -> str | None:
    """Type and size of a value that is bytes, or that refers to a blob; None where it is none."""
    if isinstance(value, Binary):
        return value.text
    if isinstance(value, str):
        found = _bytes_in(value, None)
        return found.text if found else None
    if not isinstance(value, Mapping):
        return None
    blob = cast("Mapping[str, Any]", value)
    names = blob.get("blob_id") or blob.get("fetch_url")
    facts = blob.get("mime_type") or blob.get("sha256") or blob.get("size_bytes")
    return _blob_text(blob) if names and facts else None


def _blob_text(blob: Mapping[str, Any]) -> str:
    """The digest is left out where the name of the blob tells it already."""
    size, blob_id, sha256 = blob.get("size_bytes"), blob.get("blob_id"), blob.get("sha256")
    said = ["binary, not shown", _named("mime", blob.get("mime_type"))]
    if isinstance(size, int):
        said.append(f"{size} bytes")
    if str(sha256) not in str(blob_id):
        said.append(_named("sha256", sha256))
    if _plain_id(blob_id):
        said.append(f"REST only: GET /v1/blobs/{blob_id}")
    return ", ".join(part for part in said if part)


def _bytes_in(text: str, declared: Declared) -> Binary | None:
    """A long word of letters alone may be text; base64 of any length has digits and both cases."""
    if not isinstance(declared, str) and is_plain(text):
        return None
    size = len(text)
    if isinstance(declared, str) and text:
        media_type, _, encoding = declared.partition(";")
        named = {"encoding": encoding, "media_type": media_type}
        told = {name: said for name, said in named.items() if said}
        return Binary({"binary": True, **told, "size_chars": size})
    found = _DATA_URL.fullmatch(text) if text.startswith(_DATA) else None
    if found:
        encoding = "base64" if found[2].endswith(";base64") else "url"
        media_type = found[1] or "text/plain"
        return Binary({"binary": True, "encoding": encoding, "media_type": media_type, "size_chars": size})
    is_one_word = size >= BASE64_CHARS_MIN and " " not in text
    if is_one_word and _has_all_kinds(text) and _BASE64.fullmatch(text):
        return Binary({"binary": True, "looks_like": "base64", "size_chars": size})
    return None


def is_plain(text: str) -> bool:
    """Whether it is too short to be bytes by its looks."""
    return len(text) < BASE64_CHARS_MIN and not text.startswith(_DATA)


def are_plain(said: str) -> bool:
    """The same of several values, by what they say together."""
    return len(said) < BASE64_CHARS_MIN and _DATA not in said


def _has_all_kinds(text: str) -> bool:
    return all(kind.search(text, 0, 4096) for kind in _KINDS)


def _named(name: str, value: object) -> str:
    if not isinstance(value, str) or not value:
        return ""
    return f"{name} {quoted(clip_shown(value, BINARY_FACT_CHARS))}"


def _plain_id(value: object) -> str:
    """The name itself where it could not be taken for words; else nothing."""
    return value if isinstance(value, str) and _PLAIN_ID.fullmatch(value) else ""

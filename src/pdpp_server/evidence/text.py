"""Cutting and showing text without lying about it, and without letting it speak for us."""

import json
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable
from functools import lru_cache

import orjson

CUT = "…"
UNSEEN = "\ufffd"

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

# Written out, not asked of `unicodedata`: the same text must look the same under every Python. Category Cc, Cf, Cs, Zl
# and Zp, and the letters and marks that leave no trace on a screen (fillers, joiners, most variation selectors).
HIDDEN = (
    "\\x7f-\\x9f\\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    "\ud800-\udfff"
)
_HIDDEN_IN_A_LINE = re.compile(f"[\\x00-\\x1f{HIDDEN}]")
_HIDDEN_IN_LINES = re.compile(f"\\r(?!\\n)|[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f{HIDDEN}]")
_HIDDEN_LETTERS = re.compile(  # the part of it that Python calls printable
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0d\uffa0\U000e0100-\U000e0fff]"
)
_MARK = re.compile(r"<(/?mark)>", re.IGNORECASE)
_TOKEN = re.compile(r"[\w.@+~:/%-]*[\w.@+~/%-]")  # without a colon at its end: that is how our own lines begin
_UNBROKEN = re.compile(r'[^\s"]+')

_ZWJ = "\u200d"
_REGIONAL = re.compile("[\U0001f1e6-\U0001f1ff]*$")
_SKIN_TONES_AND_TAGS = re.compile("[\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]")
_LEADING_JAMO = re.compile("[\u1100-\u115f\ua960-\ua97c]")
_FOLLOWING_JAMO = re.compile("[\u1160-\u11ff\ud7b0-\ud7fb]")


def byte_len(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def visible(text: str) -> str:
    """One line: control, bidirectional, zero-width and other unseen characters are shown as \\uXXXX."""
    if text.isprintable() and (text.isascii() or not _HIDDEN_LETTERS.search(text)):
        return text
    return _HIDDEN_IN_A_LINE.sub(_escaped, text)


def visible_lines(text: str) -> str:
    """As `visible`, but line breaks and tabs keep their shape."""
    if text.isascii() and text.isprintable():
        return text
    return _HIDDEN_IN_LINES.sub(_escaped, text)


def seen_lines(text: str) -> str:
    """As `visible_lines`, but each unseen character is shown as one: offsets stay what they were."""
    if text.isascii() and text.isprintable():
        return text
    return _HIDDEN_IN_LINES.sub(UNSEEN, text)


def quoted(text: str) -> str:
    """A JSON string on one line: nothing inside can end it, and it decodes to exactly `text`."""
    return f'"{text}"' if is_quoted_as_it_is(text) else visible(_encode(text))


def is_quoted_as_it_is(text: str) -> bool:
    """Whether nothing in it has to be escaped for that."""
    is_visible = text.isprintable() and (text.isascii() or not _HIDDEN_LETTERS.search(text))
    return is_visible and '"' not in text and "\\" not in text


def compact_json(value: object) -> str:
    """JSON on one line, unseen characters escaped; it decodes to exactly `value`."""
    try:
        written = orjson.dumps(value)
        is_seen = written.isascii() and b"\x7f" not in written  # orjson has escaped all that lies before the letters
        return written.decode() if is_seen else visible(written.decode())
    except orjson.JSONEncodeError:  # half a surrogate pair, or a number beyond 64 bits, from a server elsewhere
        return visible(_encode(value))


@lru_cache(maxsize=1000)  # the names of the same few fields, again and again
def name_text(name: str) -> str:
    """A name as it is where it is one plain token, else quoted."""
    return name if _TOKEN.fullmatch(name) and visible(name) == name else quoted(name)


def handle_text(handle: str) -> str:
    """A handle as it is; quoted where it is the short one of a server elsewhere and no single token."""
    if handle.isascii() and handle.isprintable() and handle and " " not in handle and '"' not in handle:
        return handle
    return handle if _UNBROKEN.fullmatch(handle) and visible(handle) == handle else quoted(handle)


def number_of(number: int, noun: str) -> str:
    """`1 record`, `2 records`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def one_line(text: str) -> str:
    """Runs of whitespace become one space."""
    return " ".join(text.split())


def clip(text: str, limit: int) -> str:
    """At most `limit` code points; a cut is always marked and splits nothing that a reader sees as one character."""
    if len(text) <= limit:
        return text
    return text[: whole_characters(text, max(0, limit - len(CUT)))] + CUT


def clip_shown(text: str, limit: int) -> str:
    """One visible line of at most `limit` code points of the text itself, in which no mark is one of ours."""
    is_tidy = len(text) <= limit and "<" not in text and "  " not in text and text.strip(" ") == text
    if is_tidy and text.isascii() and text.isprintable():  # as most names and titles are
        return text
    start = text[: limit * 8]  # enough of a megabyte
    line = one_line(start) if len(start) == len(text) else one_line(start) + CUT
    shown = visible(clip(line, limit))
    return _MARK.sub(r"&lt;\1&gt;", shown) if "<" in shown else shown


def clip_bytes(text: str, limit: int) -> str:
    """One visible line of at most `limit` bytes; a cut is always marked."""
    start = text[:limit]
    if len(start) == len(text) and byte_len(visible(text)) <= limit:
        return visible(text)
    return visible(start[: longest_prefix(start, lambda prefix: byte_len(visible(prefix) + CUT) <= limit)]) + CUT


def whole_characters(text: str, length: int) -> int:
    """The longest prefix within `length` that ends between two characters as a reader sees them."""
    if text.isascii():
        return length - (text[max(0, length - 1) : length + 1] == "\r\n")
    while 0 < length < len(text) and _joined(text, length):
        length -= 1
    return length


def longest_prefix(text: str, fits: Callable[[str], bool]) -> int:
    """The length of the longest prefix that `fits`, ending between two visible characters."""
    if fits(text):
        return len(text)
    too_long = bisect_right(range(len(text) + 1), False, key=lambda length: not fits(text[:length]))
    length = whole_characters(text, max(0, too_long - 1))
    return length or min(1, len(text), max(0, too_long - 1))


def _joined(text: str, at: int) -> bool:
    """Whether the characters before and after `at` are seen as one (the common cases of Unicode annex 29)."""
    before, after = text[at - 1], text[at]
    if before.isascii() and after.isascii():
        return before == "\r" and after == "\n"
    if _ZWJ in (before, after) or unicodedata.category(after).startswith("M") or _SKIN_TONES_AND_TAGS.match(after):
        return True
    if _FOLLOWING_JAMO.match(after) or (_LEADING_JAMO.match(before) and _LEADING_JAMO.match(after)):
        return True
    return "\U0001f1e6" <= after <= "\U0001f1ff" and len(_flags_before(text, at)) % 2 == 1


def _flags_before(text: str, at: int) -> str:
    found = _REGIONAL.search(text, max(0, at - 4096), at)
    return found.group() if found else ""


def _escaped(found: re.Match[str]) -> str:
    units = found.group().encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))

"""Bytes to text, whatever they were said to be: a wrong or unknown charset costs characters, never the text."""

import codecs
import re
from functools import lru_cache

# Names that are not what they say: senders mean the wider set, or a name that Python does not know.
_MEANT = {
    "ascii": "utf-8",
    "iso8859-1": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc_kr": "cp949",
    "shift_jis": "cp932",
    "iso2022_jp": "iso2022_jp_ext",
}
_UNKNOWN_TO_PYTHON = {"ks_c_5601-1987": "cp949", "x-sjis": "cp932", "iso-8859-8-i": "iso8859-8", "x-gbk": "gb18030"}
_NO_CHARSETS = frozenset({"idna", "punycode", "raw-unicode-escape", "unicode-escape", "undefined", "mbcs", "oem"})
_LOST = "\ufffd"
_HALF_CHARACTERS = re.compile("[\ud800-\udfff]")
_NOTHING_IN_CP932 = re.compile("[\uf8f0-\uf8f3]")
_HEAD_BYTES = 2048
_NAME_CHARS = 40  # Python remembers each name that it was asked for, and a stranger writes what he likes
_PAGE_CHARSET = re.compile(rb"""<meta\s[^>]{0,200}?charset\s{0,5}=\s{0,5}["']?\s{0,5}([\w.:-]{1,40})""", re.IGNORECASE)
_PAIRS = re.compile(rb"(?<=\x1b\$[@B])[^\x1b\r\n]+")  # of Japanese in seven bits, until the next sign or line
_NO_PAIR = b"\x2f\x21"  # which stands for no character


def decoded(data: bytes | memoryview, charset: str | None = None) -> str:
    """The text, in the charset it claims, else as UTF-8, else as what most old mail is.

    A byte that cannot be read costs that byte: what is good around it tells which charset was meant.
    """
    data = bytes(data)
    if data.isascii() and charset is None:
        return data.decode("ascii")
    name = (charset or "utf-8").strip()
    claimed = _codec(name) if len(name) <= _NAME_CHARS else None
    for codec in (claimed, "utf-8"):
        if codec is None:
            continue
        try:
            return _whole(data.decode(codec), codec)
        except (UnicodeError, ValueError):
            mended = _mended(data, codec)
            if mended is not None:
                return mended
    return data.decode("cp1252", "replace")


def is_wide(start: bytes | memoryview) -> bool:
    """Whether a mark says that every character has two bytes, as some programs on Windows write it."""
    return bytes(start[:2]) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def marked_text(data: bytes, charset: str | None = None) -> str:
    """The text of a file, by the mark that it may begin with, else by the charset that it claims."""
    is_marked = data.startswith(codecs.BOM_UTF8)
    return decoded(data.removeprefix(codecs.BOM_UTF8), "utf-16" if is_wide(data) else None if is_marked else charset)


def charset_of_page(data: bytes) -> str | None:
    """What a page (HTML) says itself; nobody who could read that wrote two bytes for each character."""
    found = _PAGE_CHARSET.search(data[:_HEAD_BYTES])
    name = found[1].decode().lower() if found else ""
    return name if name and not name.startswith(("utf-16", "utf-32")) else None


def _mended(data: bytes, codec: str) -> str | None:
    """With one mark for what cannot be read; None where that is most of what is more than plain letters."""
    if codec.startswith("iso2022_jp"):
        data = _PAIRS.sub(lambda found: _paired(found[0]), data)
    try:
        text = _whole(data.decode(codec, "replace"), codec)
    except (UnicodeError, ValueError):
        return None
    lost = text.count(_LOST)
    good = sum(not character.isascii() for character in text) - lost
    return text if good > 0 and good >= lost else None


def _paired(run: bytes) -> bytes:
    """A byte of eight bits cannot stand there: one that was put in is taken out, one that was changed costs its pair.

    Python takes it for half a pair either way, and everything behind it for other characters.
    """
    if run.isascii():
        return run
    if len(run) % 2:
        bad = next(place for place, byte in enumerate(run) if byte > 127)
        good = bytes(byte for byte in run if byte <= 127)
        return good[: bad // 2 * 2] + _NO_PAIR + good[bad // 2 * 2 :]
    pairs = (run[place : place + 2] for place in range(0, len(run), 2))
    return b"".join(pair if pair.isascii() else _NO_PAIR for pair in pairs)


@lru_cache(maxsize=1000)
def _codec(charset: str) -> str | None:
    name = charset.strip("'\"").lower()
    try:
        found = codecs.lookup(_UNKNOWN_TO_PYTHON.get(name, name))
    except (LookupError, ValueError):
        return None
    if not getattr(found, "_is_text_encoding", True) or found.name.replace("_", "-") in _NO_CHARSETS:
        return None
    return _MEANT.get(found.name, found.name)


def _whole(text: str, codec: str) -> str:
    """UTF-7 and its like can spell halves of characters, which no JSON can carry; the Japanese of Windows has
    characters for bytes that mean nothing."""
    if text.isascii():
        return text
    return (_NOTHING_IN_CP932 if codec == "cp932" else _HALF_CHARACTERS).sub(_LOST, text)

"""Bytes to text, whatever they were said to be: a wrong or unknown charset costs characters, never the text."""

import codecs
import re
from functools import cache

# Names that are not what they say: senders mean the wider set, or a name that Python does not know.
_MEANT = {
    "ascii": "utf-8",
    "iso8859-1": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc_kr": "cp949",
    "shift_jis": "cp932",
}
_UNKNOWN_TO_PYTHON = {"ks_c_5601-1987": "cp949", "x-sjis": "cp932", "iso-8859-8-i": "iso8859-8", "x-gbk": "gb18030"}
_NO_CHARSETS = frozenset({"idna", "punycode", "raw-unicode-escape", "unicode-escape", "undefined", "mbcs", "oem"})
_HALF_CHARACTERS = re.compile("[\ud800-\udfff]")


def decoded(data: bytes | memoryview, charset: str | None = None) -> str:
    """The text, in the charset it claims, else as UTF-8, else as what most old mail is."""
    data = bytes(data)
    if data.isascii() and charset is None:
        return data.decode("ascii")
    for codec in (_codec(charset or "utf-8"), "utf-8"):
        if codec:
            try:
                return _whole(data.decode(codec))
            except (UnicodeError, ValueError):
                continue
    return data.decode("cp1252", "replace")


@cache
def _codec(charset: str) -> str | None:
    name = charset.strip().strip("'\"").lower()
    try:
        found = codecs.lookup(_UNKNOWN_TO_PYTHON.get(name, name))
    except (LookupError, ValueError):
        return None
    if not getattr(found, "_is_text_encoding", True) or found.name.replace("_", "-") in _NO_CHARSETS:
        return None
    return _MEANT.get(found.name, found.name)


def _whole(text: str) -> str:
    """UTF-7 and its like can spell halves of characters, which no JSON can carry."""
    return text if text.isascii() else _HALF_CHARACTERS.sub("\ufffd", text)

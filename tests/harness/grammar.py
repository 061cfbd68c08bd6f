"""The grammar of our texts, strictly: what they say in our own words, and whether anything in them hides."""

import json
import re
import unicodedata
from typing import Any, NamedTuple

from tests.harness.sights import HANDLE, STRING, Call, unquoted, words_of

_UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
_BLANK = set("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0\ufe00\U000e0100")


class Said(NamedTuple):
    handles: set[str]
    marks: dict[str, str]
    calls: list[Call]
    words: str  # everything else that stands outside of quotes


def said(text: str) -> Said:
    own = words_of(text)
    lines = own.split("\n")
    skeleton = "\n".join(unquoted(line) for line in lines)
    handles = set(re.findall(rf"(?:^|\s)(?:first_fetch_id=)?({HANDLE})(?=\s|$)", skeleton, re.MULTILINE))
    marks = dict(re.findall(r"\b(first_fetch_id|next_cursor|next_changes_since)=(\S+)", skeleton))
    calls = [call for line in lines for call in _calls(line)]
    return Said(handles, marks, calls, re.sub(HANDLE, "", skeleton))


def unseen(text: str) -> set[str]:
    """The characters of a text that a reader would not see, or that would move what is read."""
    hidden = {char for char in set(text) if unicodedata.category(char) in _UNSEEN or char in _BLANK}
    return hidden - {"\n", "\t"}


def strings(text: str) -> list[str]:
    """What stands in quotes, as it was before it was quoted."""
    return [json.loads(found) for found in re.findall(STRING, words_of(text))]


def _calls(line: str) -> list[Call]:
    """The whole calls of a line, read from its beginning: one inside of a quoted text is none."""
    found = re.match(r"(?:next|rest|more|next time|previous): ", line)
    if found is None:
        return []
    copied = re.match(r"(\w+) (?=\{)", line[found.end() :])
    if copied is None:
        return []
    arguments: dict[str, Any] = json.JSONDecoder().raw_decode(line, found.end() + copied.end())[0]
    return [Call(copied[1], arguments)]

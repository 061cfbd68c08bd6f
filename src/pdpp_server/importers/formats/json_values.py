"""What strangers' JSON holds, taken as what it should be: a text, a time, a list, an object, or nothing."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, cast

import orjson

from pdpp_server.model.times import instant, iso_micros
from pdpp_server.wire.envelope import Json

TEXT_CHARS = 1_000_000
TITLE_CHARS = 120
_MILLISECONDS = 100_000_000_000  # as seconds, this would be the year 5138
_LAST_SECOND = 253_402_300_799

_SPACES = re.compile(r"\s+")


def text_of(value: object) -> str:
    """Empty where it is no text. No record can hold a NUL character."""
    return value.replace("\0", "\ufffd") if isinstance(value, str) else ""


def whole_number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 53 else None


def list_of(value: object) -> list[Any]:
    return cast(list[Any], value) if isinstance(value, list) else []


def object_of(value: object) -> Json:
    return cast(Json, value) if isinstance(value, dict) else {}


def time_of(value: object) -> str | None:
    """In UTC, from ISO 8601 or from seconds or milliseconds since 1970."""
    if isinstance(value, str):
        micros = instant(value)
        return None if micros is None else iso_micros(micros)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    seconds = value / 1000 if abs(value) >= _MILLISECONDS else value
    return iso_micros(round(seconds * 1_000_000)) if 0 < seconds <= _LAST_SECOND else None


# A member of an object, taken as what it should be.


def text_in(source: Mapping[str, object], name: str) -> str:
    value = source.get(name)
    return value.replace("\0", "\ufffd") if isinstance(value, str) else ""


def number_in(source: Mapping[str, object], name: str) -> int | None:
    return whole_number(source.get(name))


def list_in(source: Mapping[str, object], name: str) -> list[Any]:
    return list_of(source.get(name))


def object_in(source: Mapping[str, object], name: str) -> Json:
    return object_of(source.get(name))


def time_in(source: Mapping[str, object], name: str) -> str | None:
    return time_of(source.get(name))


def joined(separator: str, parts: Iterable[str]) -> str:
    """Those that say something."""
    return separator.join(filter(None, parts))


def line_of(text: str) -> str:
    """The first words as a title, in one line; a cut is marked."""
    line = _SPACES.sub(" ", text[: TITLE_CHARS * 4]).strip()
    return line if len(line) <= TITLE_CHARS else f"{line[: TITLE_CHARS - 1].rstrip()}…"


def clipped(text: str) -> str:
    text = text.strip()
    if len(text) <= TEXT_CHARS:
        return text
    return f"{text[:TEXT_CHARS]}\n[{len(text) - TEXT_CHARS} more characters were left out]"


def written_out(value: object) -> str:
    """A text as it is, anything else as JSON; what is nested too deep for that is left out."""
    if isinstance(value, str):
        return text_of(value)
    try:
        return "" if value in (None, {}, []) else text_of(orjson.dumps(value).decode())
    except orjson.JSONEncodeError:
        return ""


def without_gaps(data: Mapping[str, Any]) -> Json:
    """Without the fields of which nothing is known."""
    return {name: value for name, value in data.items() if value is not None and value not in ("", [])}

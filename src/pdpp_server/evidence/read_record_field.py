"""A window as text with its place and its continuation."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count

from pdpp_server.errors import FieldNotText
from pdpp_server.evidence.binary import is_piece_of_bytes
from pdpp_server.evidence.budget import first_that_fits
from pdpp_server.evidence.budgets import WINDOW_HEADER_BYTES
from pdpp_server.evidence.calls import NextCall, read_from
from pdpp_server.evidence.handles import mint
from pdpp_server.evidence.remarks import warning_lines
from pdpp_server.evidence.text import byte_len, handle_text, longest_prefix, name_text, quoted, visible_lines
from pdpp_server.model.text import FieldWindow

_BYTES = "fetch with fields says what they are and how long; the bytes themselves are for programs, over REST."


def require_text(window: FieldWindow) -> None:
    """Raises FieldNotText where the value is bytes, whatever a server elsewhere calls it."""
    if not window.text_like or is_piece_of_bytes(window.text, window.total):
        raise FieldNotText(f"{window.field!r} holds bytes in this record, not text.", param="field_path", remedy=_BYTES)


def window_text(window: FieldWindow, *, asked: int | None = None) -> str:
    """Our words stand in the first lines, and they say by which mark the text of the record ends."""
    handle, shown = handle_text(mint(window.id)), visible_lines(window.text)
    end = _end_mark(shown)
    follows = f"record text follows, to {end}:"
    room = WINDOW_HEADER_BYTES + 3 * byte_len(handle) - len(follows) - len(end) - 3
    header = first_that_fits(_header_ways(window, handle, asked), room)
    return f"{header}\n{follows}\n{shown}\n{end}"


def _end_mark(text: str) -> str:
    """One that the text does not hold anywhere, so that no record can print it."""
    if "[end]" not in text:
        return "[end]"
    return next(mark for number in count(2) if (mark := f"[end {number}]") not in text)


def window_next(window: FieldWindow) -> tuple[NextCall, ...]:
    """The window after this one, then the one before it."""
    offsets = (window.next_offset, window.previous_offset)
    return tuple(read_from(mint(window.id), window.field, offset) for offset in offsets if offset is not None)


def narrowed(window: FieldWindow, fits: Callable[[str], bool]) -> FieldWindow:
    """As much of the window as `fits`; a match in it stays in view. Its offsets go on without a gap."""
    if fits(window.text):
        return window
    start = 0
    length = longest_prefix(window.text, fits)
    if window.match and window.match[1] > window.start + length:
        start = max(0, window.match[0] - window.start - length // 4)
        length = longest_prefix(window.text[start:], fits)
    text = window.text[start : start + length]
    return replace(window, text=text, start=window.start + start, limit=max(1, length))


def _header_ways(window: FieldWindow, handle: str, asked: int | None) -> Iterator[str]:
    """The longest way first; the last one always fits."""
    place = _place_text(window)
    short = f", {asked} asked, shortened to fit" if asked and asked > window.limit else ""
    state = _state_text(window)
    remarks = "".join(f"\n{line}" for line in warning_lines(window.warnings))
    steps = _steps_text(window, whole=True)
    field = name_text(window.field)
    yield f"{handle} {field} {place}{short}, {state}{remarks}{steps}"
    yield f"{handle} {field} {place}{short}, {state}{steps}"
    yield f"{handle} field {place}{short}, {state}{steps}"
    yield f"{handle} {place}, {state}{_steps_text(window, whole=False)}"


def _state_text(window: FieldWindow) -> str:
    if window.complete:
        return "complete=true"
    return "complete=false, this is the end" if window.end == window.total else "complete=false"


def _place_text(window: FieldWindow) -> str:
    place = f"characters {window.start}..{window.end} of {window.total}"
    if window.match is None:
        return place
    first, last = window.match
    return f"{place}, match at {first}..{last}"


def _steps_text(window: FieldWindow, *, whole: bool) -> str:
    """The next step as a whole call, the other way as the argument in which it differs."""
    steps = [("next", window.next_offset), ("previous", window.previous_offset)]
    said = [(word, offset) for word, offset in steps if offset is not None]
    if not said:
        return ""
    (word, offset), *others = said
    call = read_from(mint(window.id), window.field, offset).text if whole else _again(offset)
    ways = [f"{word}: {call}", *(f"{other}: {_same(there)}" for other, there in others)]
    return "\n" + "; ".join(ways)


def _again(offset: int) -> str:
    """Not `the same`: that may have been placed by an offset, and a cursor stands for itself."""
    return f'the same id and field_path with "cursor":{quoted(str(offset))}'


def _same(offset: int) -> str:
    return f'the same with "cursor":{quoted(str(offset))}'

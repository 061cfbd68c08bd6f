"""A record on one line: its whole handle, then the fields that matter first, as many as there is room for."""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import compress, repeat
from typing import Any, NamedTuple

from pdpp_server.evidence.binary import Binary
from pdpp_server.evidence.budgets import (
    RECORD_ACTOR_CHARS,
    RECORD_FEW_STEPS,
    RECORD_FIELDS_MOST,
    RECORD_LONGEST_BYTES,
    RECORD_VALUE_STEPS,
)
from pdpp_server.evidence.calls import NextCall, fetch_of, read_whole
from pdpp_server.evidence.expansions import NOBODY, expanded_text
from pdpp_server.evidence.shown import Entry
from pdpp_server.evidence.text import (
    byte_len,
    clip_shown,
    compact_json,
    handle_text,
    is_quoted_as_it_is,
    number_of,
    quoted,
)
from pdpp_server.evidence.titles import BODY_ROLE, TITLE_ROLE, body, dated, declared_actor, moment
from pdpp_server.evidence.values import (
    SHORT_MARK_CHARS,
    RankedNames,
    ShownValue,
    are_texts,
    by_importance,
    ranked_names,
    shown_value,
)
from pdpp_server.model.records import Record, Tombstone

_AROUND_BYTES = len('"":,')
_QUOTES_BYTES = len('""')
_STEPS_RISING = sorted(RECORD_VALUE_STEPS)
_LEAST_MARK_BYTES = len("…+9".encode()) - 1  # a cut may keep a line break whole, and be one character shorter


class EntryLine(NamedTuple):
    """One entry as a line, what to call for what it leaves out, and what it shows beside the entry's own name."""

    text: str
    opening: NextCall | None
    fields: tuple[str, ...] = ()
    related: tuple[Record, ...] = ()


def least_line_bytes(entry: Entry, handle: str, least: int, asked: Collection[str] = ()) -> int:
    """What the handle and a few fields take, or those that were asked for, with the end of the line; the longest go
    almost without fields."""
    size = byte_len(handle_text(handle)) + 1
    if isinstance(entry, Tombstone):
        return size + byte_len(_gone_text(entry)) + 1
    few = len(_left_out_text(len(entry.data))) + 1
    return size + (few if size > RECORD_LONGEST_BYTES else max(few, min(least, _about_bytes(entry, least, asked))))


def _about_bytes(record: Record, most: int, asked: Collection[str]) -> int:
    """About what the fields that come first take; right where there are few, and no matter where there are many."""
    first = () if asked else ranked_names(record.data, record.roles, record.id.key).first
    first = first or tuple(record.data)
    values = [record.data[name] for name in first]
    if len(first) > most // 8 or record.expanded or _text_chars(values) > most:
        return most
    left_out = len(record.data) - len(first)
    marked = len(_left_out_text(left_out)) + 1 if left_out else 0
    return 2 + marked + sum(map(byte_len, first)) + sum([byte_len(str(value)) + 6 for value in values])


def _text_chars(values: Collection[Any]) -> int:
    """No line that shows all of them is shorter."""
    if are_texts(values):
        return len("".join(values))
    return sum([len(value) for value in values if isinstance(value, str)])


def whole_lines(named: Sequence[tuple[Entry, str]], room: int) -> list[EntryLine] | None:
    """All of them with all of their fields, where that fits, so that nothing has to be weighed; else None."""
    records = [entry for entry, _ in named if isinstance(entry, Record)]
    if sum([_text_chars(record.data.values()) for record in records]) > room:
        return None
    lines: list[EntryLine] = []
    for entry, handle in named:
        if isinstance(entry, Tombstone) or entry.expanded:
            return None
        names = by_importance(entry.data, entry.roles, entry.id.key)
        text = _whole_text(entry, names, room)
        if text is None:
            return None
        lines.append(EntryLine(f"{handle_text(handle)} {text}", None, tuple(names)))
        room -= byte_len(lines[-1].text) + 1
    return lines if room >= 0 else None


def said_line(entry: Entry, handle: str, room: int, asked: Collection[str] = ()) -> EntryLine:
    """A record of a talk as it was said: when, by whom and what, then its other fields; else as any record."""
    named = handle_text(handle)
    said = _said_text(entry, room - byte_len(named) - 1) if isinstance(entry, Record) else None
    if said is None:
        return entry_line(entry, handle, room, asked)
    opening = None
    if said.cut:
        opening = read_whole(handle, said.cut)
    elif said.left_out:
        opening = fetch_of(handle)
    return EntryLine(f"{named} {said.text}", opening, said.shown)


def entry_line(entry: Entry, handle: str, room: int, asked: Collection[str] = ()) -> EntryLine:
    """`asked` are the fields that the caller named, none where all are wanted."""
    if isinstance(entry, Tombstone):
        return EntryLine(f"{handle_text(handle)} {_gone_text(entry)}", None)
    named = handle_text(handle)
    left = room - byte_len(named) - 1
    known, related = NOBODY, ""
    if entry.expanded:
        known = expanded_text(entry, left // 2 - len(_EXPANDED), "")
        related = f" {_EXPANDED}{known.text}" if known.text else ""
    fields = _fields_text(entry, left - byte_len(related), asked)
    opening = None
    if fields.cut:
        opening = read_whole(handle, fields.cut)
    elif fields.left_out or (entry.expanded and not related):
        opening = fetch_of(handle)
    text = f"{named} {fields.text}{related}" if fields.text else f"{named}{related}"
    return EntryLine(text, opening, fields.shown, known.named)


_EXPANDED = "expanded: "


def _gone_text(tombstone: Tombstone) -> str:
    when = moment(tombstone.deleted_at)
    return f"deleted {when}" if when else "deleted"


def _left_out_text(number: int) -> str:
    return f"+{number_of(number, 'field')}"


class FieldsText(NamedTuple):
    """Fields as JSON, the first that was clipped, how many were left out, and the names of the others."""

    text: str
    cut: str | None
    left_out: int
    shown: tuple[str, ...]


_NO_FIELDS = FieldsText("", None, 0, ())


def _said_text(record: Record, room: int) -> FieldsText | None:
    """None where nobody says anything, or where there is no room for it."""
    said, spoken = body(record.roles, record.data), declared_actor(record.roles, record.data)
    if said is None or spoken is None:
        return None
    (field, text), (actor_field, actor) = said, spoken
    when = dated(record.authored_at)
    time_field = _time_field(record) if when else None
    first = (actor_field, field) if time_field is None else (time_field, actor_field, field)
    others = {name: value for name, value in record.data.items() if name not in first}
    head = f"by {quoted(clip_shown(actor, RECORD_ACTOR_CHARS))}: "
    if when:
        head = f"{when} {head}"
    left = room - byte_len(head)
    rest = _fields_text(record._replace(data=others), left // 3) if others else _NO_FIELDS
    left -= byte_len(rest.text) + 1
    words = ShownValue(text, "text")
    for chars in (len(text), *RECORD_VALUE_STEPS):
        shown = words.short_text(chars) if chars <= left else None
        if shown is not None and byte_len(shown) <= left:
            cut = field if words.is_cut_short(chars) else rest.cut
            return FieldsText(f"{head}{shown} {rest.text}".rstrip(), cut, rest.left_out, (*first, *rest.shown))
    return None


def _time_field(record: Record) -> str | None:
    """Where a server elsewhere did not say which it is, one that holds that time."""
    named = record.time_field
    return named or next((name for name, value in record.data.items() if value == record.authored_at), None)


def _fields_text(record: Record, room: int, asked: Collection[str] = ()) -> FieldsText:
    """What comes first is whole before anything else is told, unless it was asked for; then long values are clipped.

    Where not even their beginnings fit, title and body come before all else.
    """
    data, key = record.data, record.id.key
    ranked = ranked_names(data, record.roles, key)
    told, holding = (*ranked.first, *ranked.others), ranked.holding
    names = (*told, *holding)
    if _text_chars(data.values()) <= room and (whole := _whole_text(record, names, room)) is not None:
        return FieldsText(whole, None, 0, names)
    if ranked.first and ranked.others and not asked and (first := _first_text(record, ranked, room)):
        return first
    fields = _Fields(told[:RECORD_FIELDS_MOST], data)
    if len(names) <= RECORD_FIELDS_MOST and fields.least_bytes(RECORD_VALUE_STEPS[-1]) <= room:
        key_bytes = _key_bytes(holding, key)
        for chars in _widths(room):
            spare = room - fields.least_bytes(chars)
            if spare < 0:
                continue
            for shown in (_Fields(names, data), fields) if 0 < key_bytes <= spare else (fields,):
                if byte_len(text := shown.text(chars)) <= room:
                    return FieldsText(text, shown.first_cut(chars), 0, tuple(shown.names))
    values = fields.values
    taken = _told_in_short(values, record, room - len(_left_out_text(len(names))) - 1)
    left_out = max(0, len(names) - RECORD_FIELDS_MOST) + len(values) - len(taken)
    members = ",".join(_member_text(name, values[name], chars) for name, chars in taken.items())
    cut = next((name for name, chars in taken.items() if values[name].is_cut_short(chars)), None)
    text = f"{{{members}}} {_left_out_text(left_out)}" if taken else _left_out_text(left_out)
    return FieldsText(text, cut, left_out, tuple(taken))


def _first_text(record: Record, ranked: RankedNames, room: int) -> FieldsText | None:
    """The fields that come first, as wide as there is room, and of the others those that fit whole beside them; None
    where not even their beginnings fit."""
    room -= len(_left_out_text(len(ranked.others))) + 1
    fields = _Fields(ranked.first, record.data)
    chars = next((chars for chars in _widths(room) if fields.fits(chars, room)), None)
    if chars is None:
        return None
    others: list[str] = []
    cut = fields.first_cut(chars)
    if cut is None:
        beside = _Fields((*ranked.others[:RECORD_FIELDS_MOST], *ranked.holding), record.data)
        others = _that_fit(beside.values, room - byte_len(fields.text(chars)))
    names = (*ranked.first, *others)
    left_out = len({*ranked.others} - {*others})
    text = _Fields(names, record.data).text(chars)
    return FieldsText(f"{text} {_left_out_text(left_out)}" if left_out else text, cut, left_out, names)


def _that_fit(values: Mapping[str, ShownValue], room: int) -> list[str]:
    """The names of those that can be told whole."""
    names: list[str] = []
    for name, value in values.items():
        size = len(",") + byte_len(f"{_key_text(name)}:{value.whole_text}")
        if size <= room:
            names.append(name)
            room -= size
    return names


def _widths(room: int) -> tuple[int, ...]:
    """All of the room, and the steps that are less."""
    less = bisect_left(_STEPS_RISING, room)
    return (room, *RECORD_VALUE_STEPS[len(RECORD_VALUE_STEPS) - less :])


def _whole_text(record: Record, names: Sequence[str], room: int) -> str | None:
    """All of it at once, where that fits: then nothing has to be weighed."""
    if len(names) > RECORD_FIELDS_MOST or Binary in map(type, record.data.values()):
        return None
    text = compact_json({name: record.data[name] for name in names})
    return text if byte_len(text) <= room else None


def _told_in_short(values: Mapping[str, ShownValue], record: Record, room: int) -> dict[str, int]:
    """Some fields, and how many characters of each: something of title and body, then others, then more of the two."""
    roles = record.roles or {}
    first = [name for name in values if roles.get(name) in (TITLE_ROLE, BODY_ROLE)] or list(values)[:2]

    def size(taken: Mapping[str, int]) -> int:
        return len("{}") - 1 + sum(byte_len(_member_text(name, values[name], taken[name])) + 1 for name in taken)

    ways = (dict(zip(names, chars, strict=False)) for names in (first, first[:1]) for chars in RECORD_FEW_STEPS)
    taken = next((way for way in ways if size(way) <= room), dict[str, int]())
    left = room - size(taken)
    least = RECORD_VALUE_STEPS[-1]
    for name in [name for name in values if name not in taken]:
        needed = byte_len(_member_text(name, values[name], least)) + 1
        if needed <= left:
            taken[name] = least
            left -= needed
    if not taken.keys() >= {*first}:
        return taken
    for chars in RECORD_VALUE_STEPS:
        wider = {**taken, **dict.fromkeys(first, chars)}
        if size(wider) <= room:
            return wider
    return taken


class _Fields:
    """Some fields of a record at any width, looked at once for all widths: what they take, and what of them is cut."""

    def __init__(self, names: Sequence[str], data: Mapping[str, Any]) -> None:
        self.names = names
        values = [*map(data.__getitem__, names)]
        self._wholes, self._kinds = values, ["text"] * len(values)  # where there were bytes, there is another value
        if not are_texts(values):
            self._wholes, self._kinds = zip(*map(_shown, values), strict=True)
        said = "".join(self._wholes)
        self._is_plain = is_quoted_as_it_is(said)
        self._lengths = [*map(len, self._wholes)]
        self._texts = sorted(compress(self._lengths, map("text".__eq__, self._kinds))) if said.isascii() else []
        self._around = len("".join(names)) + _AROUND_BYTES * len(names) + 1 + _QUOTES_BYTES * len(self._texts)

    @property
    def values(self) -> dict[str, ShownValue]:
        return dict(zip(self.names, map(ShownValue, self._wholes, self._kinds), strict=True))

    def least_bytes(self, chars: int) -> int:
        """So that few widths are tried: of plain texts, what they do take."""
        cut = len(self._texts) - bisect_right(self._texts, chars + SHORT_MARK_CHARS)
        return self._around + sum(map(min, self._lengths, repeat(chars))) + cut * _LEAST_MARK_BYTES

    def text(self, chars: int) -> str:
        return f"{{{','.join(self._members(chars))}}}"

    def _members(self, chars: int) -> Iterator[str]:
        most = chars + SHORT_MARK_CHARS
        for key, whole, kind in zip(map(_key_text, self.names), self._wholes, self._kinds, strict=True):
            if self._is_plain and kind == "text" and len(whole) <= most:
                yield f'{key}:"{whole}"'
            else:
                yield f"{key}:{ShownValue(whole, kind).short_text(chars)}"

    def fits(self, chars: int, room: int) -> bool:
        return self.least_bytes(chars) <= room and byte_len(self.text(chars)) <= room

    def first_cut(self, chars: int) -> str | None:
        most = chars + SHORT_MARK_CHARS
        cut = (length > most and kind != "binary" for length, kind in zip(self._lengths, self._kinds, strict=True))
        return next(compress(self.names, cut), None)


def _shown(value: Any) -> ShownValue:
    return ShownValue(value, "text") if isinstance(value, str) else shown_value(value)


def _key_bytes(names: Sequence[str], key: str) -> int:
    """What the fields that hold the key take at the least."""
    each = _AROUND_BYTES + _QUOTES_BYTES + min(len(key), RECORD_VALUE_STEPS[-1])
    return sum(map(len, names)) + each * len(names)


def _member_text(name: str, value: ShownValue, chars: int) -> str:
    return f"{_key_text(name)}:{value.short_text(chars)}"


@lru_cache(maxsize=1000)  # of every record the same few
def _key_text(name: str) -> str:
    return quoted(name)

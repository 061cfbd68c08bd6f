"""Numbers about records in a few lines: what was counted, by what, what was left out, and where to look next."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import Any, NamedTuple, cast

from pdpp_server.evidence.binary import binary_text
from pdpp_server.evidence.budget import affordable, first_that_fits
from pdpp_server.evidence.budgets import (
    AGGREGATE_BYTES,
    AGGREGATE_KEY_CHARS,
    AGGREGATE_KEY_MOST_CHARS,
    AGGREGATE_KEY_STEPS,
    AGGREGATE_TAIL_BYTES,
    CURRENCY_CHARS,
)
from pdpp_server.evidence.calls import AskedArguments, NextCall, records_where, schema_of, words_of
from pdpp_server.evidence.remarks import filtered_out, warning_lines
from pdpp_server.evidence.text import byte_len, clip, clip_shown, compact_json, name_text, number_of, quoted
from pdpp_server.model.aggregates import Aggregation, Currency, Group, Scalar, exact_sum
from pdpp_server.model.buckets import zone_of
from pdpp_server.model.queries import GROUPS_LIMIT_MAX, Granularity
from pdpp_server.model.records import Warned

_JOINT = " · "
_WALL_CHARS = len("2026-11-01")


def aggregate_text(aggregation: Aggregation, asked: AskedArguments) -> str:
    groups = _in_order(aggregation)
    said = affordable(warning_lines(aggregation.warnings), AGGREGATE_TAIL_BYTES // 3)
    remarks = [line for line in said if line]
    if groups:
        return _groups_text(aggregation, asked, groups, remarks)
    if groups is None:
        head = _value_text(aggregation)
    else:
        head = f"{_subject(aggregation)}: no groups, {_records_text(aggregation)}."
    return "\n".join((head, *remarks, _next_text(aggregation, asked, AGGREGATE_TAIL_BYTES)))


def _groups_text(
    aggregation: Aggregation, asked: AskedArguments, groups: Sequence[Group], remarks: Sequence[str]
) -> str:
    longest_head = _head_text(aggregation, len(groups))
    items = _items(aggregation, groups, AGGREGATE_BYTES - AGGREGATE_TAIL_BYTES - byte_len(longest_head))
    shown = groups[: len(items)]
    head, told = _head_text(aggregation, len(shown)), _JOINT.join(items)
    used = sum(byte_len(line) + 1 for line in remarks)
    left = AGGREGATE_BYTES - used - byte_len(head) - byte_len(told) - 2
    following = _next_text(aggregation, asked, min(left, AGGREGATE_TAIL_BYTES // 2))
    left -= byte_len(following) + 1
    more = first_that_fits(_more_ways(aggregation, asked, shown, len(groups)), left)
    lines = (head, told, *remarks, more, following)
    return "\n".join(line for line in lines if line)


def aggregate_next(aggregation: Aggregation, asked: AskedArguments) -> tuple[NextCall, ...]:
    """The records behind the number or the largest group, and the same with more groups."""
    opening = _opening(aggregation, asked)
    if _can_be_wider(aggregation):
        return opening, _wider(asked)
    return (opening,)


class FittedGroups(NamedTuple):
    """An aggregation with long keys clipped, and how long each of them is; the value is treated as a key."""

    aggregation: Aggregation
    total_chars: tuple[int | None, ...]


def fitted_ways(aggregation: Aggregation) -> Iterator[FittedGroups]:
    """With ever shorter keys, then with ever fewer groups; those left out are counted with the others."""
    groups = _in_order(aggregation) or ()
    for chars in (AGGREGATE_KEY_MOST_CHARS, *AGGREGATE_KEY_STEPS):
        yield _with_keys(aggregation, groups, chars)
    while len(groups) > 1:
        groups = groups[: len(groups) * 3 // 4]
        yield _with_keys(aggregation, groups, AGGREGATE_KEY_STEPS[-1])


def _with_keys(aggregation: Aggregation, groups: Sequence[Group], chars: int) -> FittedGroups:
    if aggregation.groups is None:
        value = aggregation.value
        made = replace(aggregation, value=_clipped(value, chars), currency=_fitted_currency(aggregation))
        return FittedGroups(made, (_total(value, chars),))
    named = {id(group) for group in groups}
    kept = [group for group in aggregation.groups if id(group) in named]
    dropped = [group for group in aggregation.groups if id(group) not in named]
    warnings = aggregation.warnings
    if dropped:
        warnings = (*warnings, _GROUPS_SHORTENED)
    made = replace(
        aggregation,
        groups=tuple([_fitted_group(group, chars) for group in kept]),
        currency=_fitted_currency(aggregation),
        other_count=aggregation.other_count + sum(group.count for group in dropped),
        other_value=_others(aggregation, dropped),
        warnings=warnings,
    )
    return FittedGroups(made, tuple(_total(group.key, chars) for group in kept))


def _fitted_group(group: Group, chars: int) -> Group:
    currency = clip_shown(group.currency, CURRENCY_CHARS) if group.currency else None
    return replace(group, key=_clipped(group.key, chars), currency=currency)


def _fitted_currency(aggregation: Aggregation) -> Currency | None:
    currency = aggregation.currency
    if currency is None or not currency.name:
        return currency
    return currency._replace(name=clip_shown(currency.name, CURRENCY_CHARS))


def _others(aggregation: Aggregation, dropped: Sequence[Group]) -> int | float | None:
    """What the groups that are not shown add up to; None where that is no sum, or more than a number can be."""
    told = aggregation.other_value
    if told is None:
        return None
    values = [group.value for group in dropped if isinstance(group.value, int | float)]
    try:
        return exact_sum((value, 1) for value in (told, *values))
    except OverflowError:
        return None


_GROUPS_SHORTENED = Warned(
    "groups_shortened", "Not all groups fit in one answer; the others are counted in other_count.", "limit"
)


def _clipped(key: Scalar | None, chars: int) -> Scalar | None:
    if bytes := binary_text(key):
        return f"[{bytes}]"
    return clip(key, chars) if isinstance(key, str) else key


def _total(key: Scalar | None, chars: int) -> int | None:
    """How long a text is that was cut, and is no bytes."""
    if not isinstance(key, str) or len(key) <= chars:
        return None
    return len(key) if binary_text(key) is None else None


# The numbers --------------------------------------------------------------------------------------------------------


def _subject(aggregation: Aggregation) -> str:
    query = aggregation.query
    what = f"{name_text(query.field)} in " if query.field else ""
    about = f"{query.metric} of {what}{name_text(query.stream)}"
    if query.conditions:
        about += " that pass the filter"
    if query.group_by_time is not None:
        return f"{about} by {query.granularity} of {name_text(query.group_by_time)} ({name_text(query.time_zone)})"
    if query.group_by is not None:
        return f"{about} by {name_text(query.group_by)}"
    return about


def _records_text(aggregation: Aggregation) -> str:
    return number_of(aggregation.records, "record")


def _value_text(aggregation: Aggregation) -> str:
    query, value = aggregation.query, aggregation.value
    if query.metric == "count":
        return f"{_subject(aggregation)} = {key_text(value, AGGREGATE_KEY_CHARS)}"
    told = "no value" if value is None else key_text(value, AGGREGATE_KEY_CHARS)
    unit = _common_unit_text(aggregation)
    return f"{_subject(aggregation)} = {told}{unit}, over {_records_text(aggregation)}"


def _common_unit_text(aggregation: Aggregation) -> str:
    """The currency that all of it is in, where there is one."""
    return _unit_text(aggregation.currency.name) if aggregation.currency else ""


def _unit_text(currency: str | None) -> str:
    return f" {quoted(clip_shown(currency, CURRENCY_CHARS))}" if currency else ""


def key_text(key: Scalar | None, chars: int, *, is_time: bool = False) -> str:
    """A key is text of a record: quoted, except a number, a yes or no, and a period that we made."""
    if key is None:
        return "(no value)"
    if not isinstance(key, str):
        return compact_json(key)
    if bytes := binary_text(key):
        return f"[{bytes}]"
    if is_time and _is_period(key):
        return key
    if len(key) <= chars:
        return quoted(key)
    return f"{quoted(clip(key, chars))} ({len(key)} characters)"


def _is_period(key: str) -> bool:
    """Whether it is written as we write one: digits with `-`, `:` and `T` between them."""
    digits = key.replace("-", "").replace(":", "").replace("T", "")
    return digits.isdecimal() and digits.isascii()


def _head_text(aggregation: Aggregation, shown: int) -> str:
    here = len(aggregation.groups or ())
    known = _known_text(aggregation, number_of(here, "group"))
    if shown < here:
        known += f", the first {shown} of them here"
    counted = f"{_order_text(aggregation)}, {_records_text(aggregation)}"
    return f"{_subject(aggregation)}: {known}, {counted}{_other_text(aggregation)}{_each_text(aggregation)}"


def _known_text(aggregation: Aggregation, many: str) -> str:
    """Which of the groups these are."""
    if not aggregation.other_count:
        return f"all {many}"
    if aggregation.kept:
        return f"the {aggregation.kept} {many}"
    return f"{many} of more, which of them is not said"


def _other_text(aggregation: Aggregation) -> str:
    """How much is in the groups that are not listed."""
    if not aggregation.other_count:
        return ""
    other = f"; other_count={aggregation.other_count} records in groups not listed"
    if aggregation.other_value is not None:
        other += f", other_value={compact_json(aggregation.other_value)}"
    return other


def _each_text(aggregation: Aggregation) -> str:
    """What stands beside each group."""
    said: list[str] = []
    unit = _common_unit_text(aggregation)
    if unit:
        said.append(f"all in{unit}")
    if aggregation.query.metric != "count":
        said.append("each with its number of records in ()")
    return f"; {', '.join(said)}" if said else ""


def _order_text(aggregation: Aggregation) -> str:
    """What the groups themselves prove of their order."""
    if aggregation.query.group_by_time is not None:
        return "latest first" if _is_dated(aggregation) else "in the order of that server"
    numbers = [_number(aggregation, group) for group in aggregation.groups or ()]
    known: list[Any] = [number for number in numbers if number is not None]
    if aggregation.query.metric == "sum" and _is_by_size(known):
        return "largest first" if min(known, default=0) >= 0 else "largest first, whatever their sign"
    try:
        if all(larger >= smaller for larger, smaller in pairwise(known)):
            return "largest first"
        is_rising = all(smaller <= larger for smaller, larger in pairwise(known))
    except TypeError:  # texts beside numbers, of a server that has its own ideas
        is_rising = False
    return "smallest first" if is_rising else "in the order of that server"


def _is_by_size(numbers: Sequence[Any]) -> bool:
    are_numbers = all(isinstance(number, int | float) for number in numbers)
    return are_numbers and all(abs(larger) >= abs(smaller) for larger, smaller in pairwise(numbers))


def _number(aggregation: Aggregation, group: Group) -> Scalar | None:
    """What the group is about: how many records, or the number asked for."""
    return group.count if aggregation.query.metric == "count" else group.value


def _in_order(aggregation: Aggregation) -> tuple[Group, ...] | None:
    """Periods latest first, the records without a time last; other groups as they came, largest first."""
    groups = aggregation.groups
    if groups is None or aggregation.query.group_by_time is None or not _is_dated(aggregation):
        return groups
    dated = [group for group in groups if group.key is not None]
    undated = [group for group in groups if group.key is None]
    return (*reversed(dated), *undated)


def _is_dated(aggregation: Aggregation) -> bool:
    """Whether the periods came from the earliest to the latest, as they should."""
    keys = [str(group.key) for group in aggregation.groups or () if group.key is not None]
    return all(earlier < later for earlier, later in pairwise(keys))


def _items(aggregation: Aggregation, groups: Sequence[Group], room: int) -> list[str]:
    """As many groups as fit, one at least: keys are clipped before a group is left out."""
    is_time = aggregation.query.group_by_time is not None
    items: list[str] = []
    numbers = [_number_text(aggregation, group) for group in groups]
    for chars in AGGREGATE_KEY_STEPS:
        keys = [key_text(group.key, chars, is_time=is_time) for group in groups]
        items = [f"{key} {number}" for key, number in zip(keys, numbers, strict=True)]
        if byte_len(_JOINT.join(items)) <= room:
            return items
    joint = byte_len(_JOINT)
    left = room + joint
    for index, item in enumerate(items):
        left -= byte_len(item) + joint
        if left < 0:
            return items[: max(1, index)]
    return items


def _number_text(aggregation: Aggregation, group: Group) -> str:
    if aggregation.query.metric == "count":
        return str(group.count)
    value = key_text(group.value, AGGREGATE_KEY_STEPS[-2])
    return f"{value}{_unit_text(group.currency)} ({group.count})"


# What to do next ----------------------------------------------------------------------------------------------------

_NOTHING = "next: schema {} for what there is"


def _wider(asked: AskedArguments) -> NextCall:
    return NextCall("aggregate", {**asked, "limit": GROUPS_LIMIT_MAX})


def _next_text(aggregation: Aggregation, asked: AskedArguments, limit: int) -> str:
    query = aggregation.query
    if aggregation.records == 0:
        if not query.conditions:
            return _NOTHING
        return filtered_out(query.stream, query.connection_id, query.conditions)
    call = _opening(aggregation, asked)
    words = f"next: {call.tool} of the same stream with such a filter"
    return first_that_fits((f"next: {call.text}", words), limit)


def _can_be_wider(aggregation: Aggregation) -> bool:
    return bool(aggregation.other_count) and aggregation.query.limit < GROUPS_LIMIT_MAX


def _more_ways(aggregation: Aggregation, asked: AskedArguments, shown: Sequence[Group], here: int) -> Iterator[str]:
    """How to see the groups that are not shown; nothing where all of them are."""
    time_field, start = aggregation.query.group_by_time, shown[-1].start
    if len(shown) < here:
        if start and time_field:
            before = compact_json({time_field: {"lt": start}})
            yield f"rest: narrow with filter, as {before} where schema shows range"
        yield "rest: narrow with filter"
    elif _can_be_wider(aggregation):
        yield f"more: {_wider(asked).text}"
        yield f"more: the same call with {compact_json({'limit': GROUPS_LIMIT_MAX})}"
    elif aggregation.other_count:
        yield "more: narrow with filter; no answer has more groups"


def _opening(aggregation: Aggregation, asked: AskedArguments) -> NextCall:
    """The records of the largest group, of the extreme value, or all that were counted; none where there are none."""
    query = aggregation.query
    if aggregation.records == 0:
        words = words_of(query.stream, query.connection_id, query.conditions)
        return words or schema_of(query.stream, query.connection_id)
    if aggregation.groups:
        condition = _condition(aggregation, _foremost(aggregation, aggregation.groups))
        return records_where(asked, condition) if condition else schema_of(query.stream, query.connection_id)
    if query.metric in ("min", "max") and query.field and _is_short(aggregation.value):
        return records_where(asked, {query.field: aggregation.value})
    return records_where(asked, {})


def _foremost(aggregation: Aggregation, groups: Sequence[Group]) -> Group:
    """The group that has the most records; of sums by period the largest, whatever its sign; of other numbers the first
    in their order, of periods the latest."""
    if aggregation.query.metric == "count":
        return max(groups, key=lambda group: group.count)
    named = [group for group in groups if group.key is not None] or groups
    sums = [group for group in named if isinstance(group.value, int | float)]
    if aggregation.query.metric == "sum" and aggregation.query.group_by_time is not None and sums:
        return max(sums, key=lambda group: abs(cast("float", group.value)))
    return named[0] if aggregation.query.group_by is not None else named[-1]


def _condition(aggregation: Aggregation, group: Group) -> Mapping[str, Any] | None:
    """The filter that its records pass; none where no filter says it."""
    query = aggregation.query
    if query.group_by is not None:
        return {query.group_by: group.key} if _is_short(group.key) else None
    period = _period(group, query.granularity, query.time_zone)
    return {str(query.group_by_time): period} if period else None


def _is_short(key: Scalar | None) -> bool:
    is_short = not isinstance(key, str) or len(key) <= AGGREGATE_KEY_CHARS
    return key is not None and is_short and binary_text(key) is None


def _period(group: Group, granularity: Granularity | None, time_zone: str) -> Mapping[str, str] | None:
    """From when to when; none west of Greenwich, where a plain date is read as a moment of the day before."""
    zone = zone_of(time_zone)
    try:
        since = datetime.fromisoformat(group.start or "")
        wall = date.fromisoformat(str(group.key)[:_WALL_CHARS])
        if zone is None or granularity is None or (since.utcoffset() or timedelta()) < timedelta():
            return None
        if granularity in _SHORT:
            until = since + _SHORT[granularity]
        else:
            following = _following(wall, granularity)
            until = datetime(following.year, following.month, following.day, tzinfo=zone)
    except (ValueError, OverflowError):
        return None
    if granularity not in _SHORT and time_zone == "UTC":  # a day says as much, of times as of days
        return {"gte": since.date().isoformat(), "lt": until.date().isoformat()}
    return {"gte": since.isoformat(), "lt": until.isoformat()}


_SHORT = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1)}
_DAYS, _MONTHS = {"day": 1, "week": 7}, {"month": 1, "quarter": 3, "year": 12}


def _following(day: date, granularity: Granularity) -> date:
    """The first day of the next period."""
    if granularity in _DAYS:
        return day + timedelta(days=_DAYS[granularity])
    months = day.year * 12 + day.month - 1 + _MONTHS[granularity]
    return date(months // 12, months % 12 + 1, 1)

"""What left, in the owner's words: who read what, when."""

from collections import Counter
from collections.abc import Iterable, Mapping

from pdpp_server.errors import InvalidRecordId
from pdpp_server.evidence.budgets import ACTIVITY_WORDS_CHARS
from pdpp_server.evidence.handles import parse
from pdpp_server.evidence.said import say, say_all
from pdpp_server.evidence.text import clip_shown
from pdpp_server.evidence.words import counted, many
from pdpp_server.model.activity import Asked, Disclosure

_COMPARED = {"eq": say("is"), "gte": say("from"), "gt": say("after"), "lte": say("up to"), "lt": say("before")}
_METRICS = {
    "count": say("counted"),
    "sum": say("added up"),
    "min": say("asked for the least"),
    "max": say("asked for the most"),
}
_LOOKED = frozenset({"schema", "streams", "stream_metadata", "connections"})

PREVIEW_CLIENT, PAGES_CLIENT, COMMAND_CLIENT = "owner-preview", "owner-pages", "owner-command"
OWN_NAMES = {
    PREVIEW_CLIENT: say("you, as a preview"),
    PAGES_CLIENT: say("you, on your pages"),
    COMMAND_CLIENT: say("you, by the command"),
}


def reader_names(named: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Client id to what the owner calls that reader; of several names the last."""
    return {**dict(named), **OWN_NAMES}


def who_read(disclosure: Disclosure, names: Mapping[str, str]) -> str:
    return names.get(disclosure.client_id or "", disclosure.client_id or disclosure.token_kind)


def is_own(token_kind: str, client_id: str | None) -> bool:
    """Whether the owner looked, on pages, in a preview or by a tool."""
    return token_kind == "owner" or client_id == PREVIEW_CLIENT


def what_left(disclosure: Disclosure) -> str:
    match disclosure.records:
        case ():
            return f"what there is: {', '.join(disclosure.streams) or 'nothing'}"
        case (record,):
            return f"{record} ({', '.join(disclosure.fields)})" if disclosure.fields else record
        case records:
            return f"{counted(len(records), 'record')} of {', '.join(disclosure.streams)}"


def when_read(disclosure: Disclosure) -> str:
    return f"{disclosure.at[:10]} {disclosure.at[11:19]} UTC"


# In sentences ---------------------------------------------------------------------------------------------------------


def what_was_done(disclosure: Disclosure, asked: Asked | None) -> str:
    """One read as the end of a sentence that begins with who read."""
    found = _amounts(_by_stream([disclosure]))
    match disclosure.operation:
        case "search":
            return say("searched{what} and saw {found}", what=_for(disclosure, asked), found=found or say("nothing"))
        case "aggregate":
            return _where(_summed(disclosure), asked)
        case "read_record_field" | "read_blob":
            return say("read a part of {found}", found=found or say("a record"))
        case "titles":
            return say("saw the titles of {found}", found=found or say("nothing"))
        case operation if operation in _LOOKED:
            return say("looked at what there is")
        case _:
            return _where(say("read {found}", found=found or say("nothing")), asked)


def what_was_done_in_all(disclosures: Iterable[Disclosure]) -> str:
    """Several reads of one client, in one breath."""
    together = list(disclosures)
    done = Counter(disclosure.operation for disclosure in together)
    records = _amounts(_by_stream(together))
    looks = sum(done[name] for name in _LOOKED)
    said: list[str] = []
    if records:
        said.append(say("read {found}", found=records))
    if done["search"]:
        said.append(say("searched {times}", times=_times(done["search"])))
    if done["aggregate"]:
        said.append(say("counted {times}", times=_times(done["aggregate"])))
    return say_all(said) or say("looked {times} at what there is", times=_times(looks or len(together)))


def _for(disclosure: Disclosure, asked: Asked | None) -> str:
    """What for, in the words of the asker; without them it is said that they were not kept."""
    streams = disclosure.query.get("streams")
    within = say(" in {streams}", streams=say_all([_short(str(name)) for name in streams])) if streams else ""
    if asked is None or not asked.words:
        return say("{within} (the words were not kept)", within=within)
    return _where(say("{within} for “{words}”", within=within, words=_short(asked.words)), asked)


def _where(said: str, asked: Asked | None) -> str:
    if asked is None or not asked.conditions:
        return said
    conditions = [
        say("{field} {compared} “{value}”", field=_short(field), compared=_compared(comparison), value=_short(value))
        for field, comparison, value in asked.conditions
    ]
    return say("{said} where {conditions}", said=said, conditions=say_all(conditions))


def _compared(comparison: str) -> str:
    return _COMPARED.get(comparison, comparison)


def _short(text: str) -> str:
    return clip_shown(text, ACTIVITY_WORDS_CHARS)


def _summed(disclosure: Disclosure) -> str:
    query = disclosure.query
    what = say_all([_short(name) for name in disclosure.streams])
    if field := query.get("field"):
        what = say("{field} of {streams}", field=_short(str(field)), streams=what)
    done = _METRICS.get(str(query.get("metric")), _METRICS["count"])
    summed = say("{done} {what}", done=done, what=what or say("records"))
    if by := query.get("group_by") or query.get("group_by_time"):
        return say("{summed} by {field}", summed=summed, field=_short(str(by)))
    return summed


def _by_stream(disclosures: Iterable[Disclosure]) -> Counter[str]:
    """Each record once."""
    seen = {record for disclosure in disclosures for record in disclosure.records}
    return Counter(name for name in map(_stream, sorted(seen)) if name)


def _stream(record: str) -> str:
    try:
        return parse(record).stream
    except InvalidRecordId:
        return ""


def _amounts(streams: Counter[str]) -> str:
    return say_all([many(number, _short(name.replace("_", " "))) for name, number in streams.most_common()])


def _times(number: int) -> str:
    return {1: say("once"), 2: say("twice")}.get(number) or say("{number} times", number=number)

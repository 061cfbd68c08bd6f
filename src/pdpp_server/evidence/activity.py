"""What left, in the owner's words: who read what, when."""

from collections import Counter
from collections.abc import Iterable, Mapping

from pdpp_server.errors import InvalidRecordId
from pdpp_server.evidence.handles import parse
from pdpp_server.evidence.text import clip_shown
from pdpp_server.evidence.words import counted, listed, many
from pdpp_server.model.activity import Asked, Disclosure

WORDS_CHARS = 80
_COMPARED = {"eq": "is", "gte": "from", "gt": "after", "lte": "up to", "lt": "before"}
_METRICS = {"count": "counted", "sum": "added up", "min": "asked for the least", "max": "asked for the most"}
_LOOKED = frozenset({"schema", "streams", "stream_metadata", "connections"})

PREVIEW_CLIENT, PAGES_CLIENT, COMMAND_CLIENT = "owner-preview", "owner-pages", "owner-command"
OWN_NAMES = {
    PREVIEW_CLIENT: "you, as a preview",
    PAGES_CLIENT: "you, on your pages",
    COMMAND_CLIENT: "you, by the command",
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
            return f"searched{_for(disclosure, asked)} and saw {found or 'nothing'}"
        case "aggregate":
            return _summed(disclosure) + _where(asked)
        case "read_record_field" | "read_blob":
            return f"read a part of {found or 'a record'}"
        case "titles":
            return f"saw the titles of {found or 'nothing'}"
        case operation if operation in _LOOKED:
            return "looked at what there is"
        case _:
            return f"read {found or 'nothing'}" + _where(asked)


def what_was_done_in_all(disclosures: Iterable[Disclosure]) -> str:
    """Several reads of one client, in one breath."""
    together = list(disclosures)
    done = Counter(disclosure.operation for disclosure in together)
    records = _amounts(_by_stream(together))
    looks = sum(done[name] for name in _LOOKED)
    parts = [
        f"read {records}" if records else "",
        f"searched {_times(done['search'])}" if done["search"] else "",
        f"counted {_times(done['aggregate'])}" if done["aggregate"] else "",
    ]
    said = [part for part in parts if part]
    return listed(said) if said else f"looked {_times(looks or len(together))} at what there is"


def _for(disclosure: Disclosure, asked: Asked | None) -> str:
    """What for, in the words of the asker; without them it is said that they were not kept."""
    streams = disclosure.query.get("streams")
    within = f" in {listed([clip_shown(str(name), WORDS_CHARS) for name in streams])}" if streams else ""
    if asked is None or not asked.words:
        return f"{within} (the words were not kept)"
    return f"{within} for “{clip_shown(asked.words, WORDS_CHARS)}”" + _where(asked)


def _where(asked: Asked | None) -> str:
    if asked is None or not asked.conditions:
        return ""
    said = [
        f"{_short(field)} {_COMPARED.get(comparison, comparison)} “{_short(value)}”"
        for field, comparison, value in asked.conditions
    ]
    return f" where {listed(said)}"


def _short(text: str) -> str:
    return clip_shown(text, WORDS_CHARS)


def _summed(disclosure: Disclosure) -> str:
    query = disclosure.query
    field, by = query.get("field"), query.get("group_by") or query.get("group_by_time")
    words = _METRICS.get(str(query.get("metric")), "counted")
    what = f"{field} of {listed(disclosure.streams)}" if field else listed(disclosure.streams) or "records"
    return clip_shown(f"{words} {what}" + (f" by {by}" if by else ""), 2 * WORDS_CHARS)


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
    return listed(
        [many(number, clip_shown(name.replace("_", " "), WORDS_CHARS)) for name, number in streams.most_common()]
    )


def _times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number} times")

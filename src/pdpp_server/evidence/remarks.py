"""What is said beside hits and records: what was complete, which words matched, whose they are, and what is amiss."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pdpp_server.evidence.budgets import RAREST_SHOWN, SOURCES_SHOWN, WARNING_CHARS, WARNING_CODE_CHARS, WORD_CHARS
from pdpp_server.evidence.calls import schema_of, words_of
from pdpp_server.evidence.text import clip_shown, compact_json, name_text, quoted
from pdpp_server.evidence.titles import moment
from pdpp_server.model.aggregates import Aggregation
from pdpp_server.model.queries import Condition, SearchQuery, UsedMode
from pdpp_server.model.records import Recall, RecordPage, SearchPage, Warned

SOURCES = "sources: "
_DROWNED = 30  # times as often: then one word drowns another


def recall_says(page: SearchPage, query: SearchQuery) -> str:
    """What was complete, in words."""
    said = _recall_says(page.recall)
    return f"{said}; those not shown here match less, a limit shows them" if leaves_weaker(page, query) else said


def leaves_weaker(page: SearchPage, query: SearchQuery) -> bool:
    """Whether a page without a given limit ended before it was full, because what follows is much weaker."""
    if not query.brief or page.next_cursor is None:
        return False
    is_shortened = any(warned.code == PAGE_SHORTENED for warned in page.warnings)
    matches = sum([1 for hit in page.hits if not hit.is_beside])
    return matches < query.limit and not is_shortened


def _recall_says(recall: Recall) -> str:
    any_word = "; any word may match, more and rarer ones rank higher" if len(recall.words) > 1 else ""
    if recall.complete:
        return f"all matches of these words ranked{any_word}"
    if recall.is_newest:
        return "nothing was looked for; these are the newest records"
    if recall.ranked is None:
        return "that server does not say what it ranked"
    return f"{_ranked_text(recall)}{any_word}; {_REACHES_OTHERS}"


_REACHES_OTHERS = "rarer words, streams or connection_id reach the others"


def _ranked_text(recall: Recall) -> str:
    """Which of the matches were ranked; of another server only how many is known."""
    which = ": all with a rarer word, of a common one only some" if recall.words else ""
    return f"only {recall.ranked} matches were ranked{which}"


def search_remarks(page: SearchPage, query: SearchQuery) -> list[str]:
    lines = (*recall_lines(page.recall), *drowned_lines(page.recall), *_sender_lines(page, query))
    return [*lines, *warning_lines(page.warnings), *_source_lines(page)]


def recall_lines(recall: Recall) -> Iterator[str]:
    if not recall.complete and recall.ranked is not None:
        yield f"recall: {_ranked_text(recall)}; {_REACHES_OTHERS}"


def missing_lines(recall: Recall, query: SearchQuery) -> Iterator[str]:
    """Which words matched nothing."""
    missing = [quoted(clip_shown(word, WORD_CHARS)) for word, count in recall.words if not count]
    if missing:
        where = " (among what passes the filter)" if query.conditions else ""
        yield f"no match: {', '.join(missing)}{where}"


def drowned_lines(recall: Recall) -> Iterator[str]:
    """How many records hold each word, where one drowns the others."""
    heres = recall.here or [None] * len(recall.words)
    words = [(count, word, here) for (word, count), here in zip(recall.words, heres, strict=False) if count]
    words.sort()
    if len(words) < 2:
        return
    rarest, commonest = words[0], words[-1]
    if commonest[0] < _DROWNED * rarest[0]:
        return
    shown = words if len(words) <= RAREST_SHOWN else [*words[:RAREST_SHOWN], commonest]
    told = [f"{quoted(clip_shown(word, WORD_CHARS))} {count}{_here_text(here)}" for count, word, here in shown]
    yield f"records: {', '.join(told)}"


def _here_text(here: int | None) -> str:
    return "" if here is None else f" ({here or 'none'} here)"


def _sender_lines(page: SearchPage, query: SearchQuery) -> Iterator[str]:
    """A name in the query that is somebody's who wrote: then a filter on it narrows."""
    if query.conditions or not page.narrows:
        return
    words = {word.casefold() for word, _ in page.recall.words}
    for hit in page.hits:
        name, field = hit.actor, hit.actor_field
        if name and field and name.casefold() in words and name.isalnum():
            narrowed = compact_json({"streams": [hit.id.stream], "filter": {field: name}})
            yield f"only by {name}: add {narrowed[1:-1]}"
            return


def filtered_out(stream: str, connection_id: str | None, conditions: Sequence[Condition]) -> str:
    """What to do where no record passes a filter: the nearest call that works, and why this one did not."""
    call = words_of(stream, connection_id, conditions)
    if call is None:
        return f"next: drop a condition or widen it; {schema_of(stream, connection_id).text} for what there is"
    listing = "aggregate with group_by lists them where schema shows agg(group_by)"
    return f"next: {call.text} finds words inside values; a filter compares whole values, as they are stored; {listing}"


NOT_SEARCHED = "not_searched"


def not_searched(streams: Sequence[str], used: UsedMode) -> Iterator[Warned]:
    """Of streams that hold nothing that a search in this mode looks into."""
    if streams:
        names = ", ".join(streams)
        by_meaning = f"Nothing is looked for by meaning in {names}: leave out mode, list it with query_records"
        by_words = f"No words are looked for in {names}: list it with query_records"
        yield Warned(NOT_SEARCHED, f"{by_meaning if used == 'semantic' else by_words}, or filter it.", "streams")


FILTER_PARTS = "filter_parts"


def filter_parts(passing: Sequence[tuple[str, int]]) -> Iterator[Warned]:
    """How many records pass what is asked of each field alone, where none passes all of it."""
    if passing:
        counts = ", ".join([f"{field} {count}" for field, count in passing])
        message = f"Records that pass what is asked of one field alone: {counts}."
        yield Warned(FILTER_PARTS, message, "filter", dict(passing))


PAGE_SHORTENED, BESIDE_LEFT_OUT = "page_shortened", "beside_left_out"


def hits_shortened(page: SearchPage, limit: int) -> SearchPage:
    """The page, which says that not all of it fits into one answer."""
    matches = sum(1 for hit in page.hits if not hit.is_beside)
    if matches < limit and page.next_cursor is not None:
        message = f"of {limit} matches asked for, {matches} fit in one answer; the cursor goes on after them."
        said = Warned(PAGE_SHORTENED, message, "limit")
    else:
        said = Warned(BESIDE_LEFT_OUT, "not all that stands beside the matches is here; around shows it.")
    return replace(page, warnings=_but_once(page.warnings, said))


def records_shortened(page: RecordPage, limit: int) -> RecordPage:
    message = f"of {limit} records asked for, {len(page.records)} fit in one answer; the cursor goes on after them."
    return replace(page, warnings=_but_once(page.warnings, Warned(PAGE_SHORTENED, message, "limit")))


def _but_once(warnings: tuple[Warned, ...], said: Warned) -> tuple[Warned, ...]:
    return (*[warned for warned in warnings if warned.code != said.code], said)


def warning_lines(warnings: tuple[Warned, ...]) -> Iterator[str]:
    for warned in warnings:
        kind = "note" if warned.is_note else f"warning {name_text(clip_shown(warned.code, WARNING_CODE_CHARS))}"
        yield f"{kind}: {quoted(clip_shown(warned.message, WARNING_CHARS))}"


def _source_lines(page: SearchPage) -> Iterator[str]:
    """Where the hits of the page come from, and how fresh that is."""
    counts = Counter([hit.origin.connection_id for hit in page.hits])
    if len(counts) < 2:
        return
    mix = [f"{name_text(name)} {count}" for name, count in counts.most_common(SOURCES_SHOWN)]
    if len(counts) > SOURCES_SHOWN:
        mix.append(f"{len(counts) - SOURCES_SHOWN} more")
    said = f"{SOURCES}{', '.join(mix)}"
    fresh = moment(page.as_of)
    yield f"{said}; data as of {fresh}" if fresh else said


def several_currencies(numbers: Aggregation) -> Iterator[Warned]:
    """Said where a sum goes across currencies, or takes in records that name none."""
    currency, groups = numbers.currency, numbers.groups
    if currency is None or currency.name is not None:
        return
    field = currency.field
    is_mixed = groups is None or not all(group.currency for group in groups)
    if numbers.other_count or (is_mixed and numbers.query.group_by != field):
        said = f"Here amounts in several currencies are added up: group by {field}, or filter on it."
        yield Warned("several_currencies", said, "group_by")

"""A search over everything of one's own, by the ordinary reads."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date
from functools import partial
from typing import NamedTuple

from pdpp_server.console.desks import Desks
from pdpp_server.console.page import Page
from pdpp_server.console.sources import chosen_from
from pdpp_server.console.streams import (
    begun_in,
    day_asked,
    declared,
    has_whole_days,
    source_gone,
    stands_in,
    time_filter,
)
from pdpp_server.console.visit import Visit
from pdpp_server.errors import InvalidRequest, NotFound
from pdpp_server.evidence.handles import mint
from pdpp_server.evidence.refusals import message_and_remedy
from pdpp_server.evidence.said import say
from pdpp_server.evidence.shown import hits_shown
from pdpp_server.evidence.titles import hit_title, label
from pdpp_server.evidence.words import local_day
from pdpp_server.model.pending import Pending
from pdpp_server.model.queries import SearchQuery
from pdpp_server.model.records import Excerpt, Hit, SearchPage
from pdpp_server.model.streams import Stream

LIMIT, EXCERPTS = 20, 2
DAY_CHARS = len("2026-11-15")

Labels = Mapping[tuple[str, str], str]


class BetweenDays(NamedTuple):
    stream: Stream
    first: date | None
    end: date | None  # before which


class ExcerptPiece(NamedTuple):
    text: str
    is_match: bool


class HitShown(NamedTuple):
    handle: str
    title: str
    source: str
    stream: str  # as its publisher calls it
    day: str  # of a date without a time; empty where `at` tells more
    at: str
    excerpts: list[tuple[str, list[ExcerptPiece]]]  # field, and its text in pieces
    remark: str


def show(desks: Desks, visit: Visit) -> Page | Pending[Page]:
    """What cannot be searched so is said above the form, which stays as it was filled in."""
    asked = visit.asked("q", "source", "stream", "from", "before")
    values = {**_choices(desks), "asked": asked, "words": asked["q"], "said": "", "page": None}
    if not asked["q"]:
        return Page("search.html", values)
    try:
        return _found(desks, visit, asked, values)
    except (InvalidRequest, NotFound) as refusal:
        return Page("search.html", {**values, "said": message_and_remedy(refusal)}, refusal.status)


def _found(desks: Desks, visit: Visit, asked: dict[str, str], values: dict[str, object]) -> Pending[Page]:
    if asked["source"] and asked["source"] not in desks.owner.declarations():
        raise source_gone()
    if asked["source"] and asked["stream"]:
        declared(desks, asked["source"], asked["stream"])
    days = _asked_days(desks, asked)
    query = SearchQuery(
        asked["q"],
        streams=(asked["stream"],) if asked["stream"] else None,
        connection_id=asked["source"] or None,
        limit=LIMIT,
        cursor=visit.query.get("cursor") or None,
        conditions=tuple(begun_in(desks, *days)) if days else (),
    )
    reader = desks.reads.reader(visit.request_id)
    found = reader.search(query)
    if days and has_whole_days(days.stream):
        found = found.shaped(partial(_within, desks, days))
    return found.shaped(partial(_page, _labels(desks), values))


def _choices(desks: Desks) -> dict[str, object]:
    """What a search can be narrowed to."""
    sources = desks.owner.sources()
    labels = _labels(desks)
    kept = {
        (each.name, labels.get((one.connection_id, each.name), each.name))
        for one in sources
        for each in one.streams
        if each.records
    }
    return {
        "sources": chosen_from(desks),
        "streams": sorted(dict(sorted(kept)).items()),
    }


def _asked_days(desks: Desks, asked: dict[str, str]) -> BetweenDays | None:
    """Dates belong to a field, so they need one stream of one source."""
    first, end = day_asked(asked["from"]), day_asked(asked["before"])
    if not (first or end):
        return None
    if not (asked["source"] and asked["stream"]):
        raise InvalidRequest(
            say("Days narrow a search of one kind of thing."), remedy=say("Choose a source as well, and what of it.")
        )
    stream = declared(desks, asked["source"], asked["stream"])
    if time_filter(stream) is None:
        raise InvalidRequest(say("Nothing of that kind has a day."))
    return BetweenDays(stream, first, end)


def _within(desks: Desks, days: BetweenDays, page: SearchPage) -> SearchPage:
    """Of what takes whole days a little more was asked for than stands on these days, so nobody counted that."""
    kept = tuple([hit for hit in page.hits if stands_in(_days_of(desks, hit), days.first, days.end)])
    return replace(page, hits=kept, recall=replace(page.recall, matches=None))


def _days_of(desks: Desks, hit: Hit) -> tuple[str, str]:
    """The day on which it begins: a hit does not say when it ends."""
    at = hit.authored_at or ""
    first = at if len(at) <= DAY_CHARS else local_day(at, desks.zone)
    return first, first


def _labels(desks: Desks) -> Labels:
    """What the publisher calls each stream of each source."""
    declared = desks.owner.declarations()
    return {
        (connection, name): stream.label or name
        for connection, declaration in declared.items()
        for name, stream in declaration.streams.items()
    }


def _page(labels: Labels, values: dict[str, object], page: SearchPage) -> Page:
    hits = [_hit(hit, labels.get((hit.id.connection_id, hit.id.stream), hit.id.stream)) for hit in page.hits]
    suggested = [warned for warned in page.warnings if warned.code == "did_you_mean"]
    values = {**values, "page": page, "hits": hits, "next": page.next_cursor, "suggested": suggested}
    return Page("search.html", values, shown=hits_shown(page.hits))


def _hit(hit: Hit, stream: str) -> HitShown:
    at = hit.authored_at or ""
    is_day = len(at) <= DAY_CHARS
    return HitShown(
        mint(hit.id),
        hit_title(hit),
        label(hit.origin) or hit.origin.connector_key,
        stream,
        at if is_day else "",
        "" if is_day else at,
        [(excerpt.field, list(_pieces(excerpt))) for excerpt in hit.excerpts[:EXCERPTS]],
        _remark(hit),
    )


def _remark(hit: Hit) -> str:
    """Why it is among the hits, where none of the words stands in it."""
    if hit.matched_fields:
        return ""
    return say("close in meaning") if hit.is_meant else say("beside a match")


def _pieces(excerpt: Excerpt) -> Iterator[ExcerptPiece]:
    """The text between its marks, and at them."""
    at = excerpt.start
    for start, end in excerpt.marks:
        yield ExcerptPiece(excerpt.text[at - excerpt.start : start - excerpt.start], is_match=False)
        yield ExcerptPiece(excerpt.text[start - excerpt.start : end - excerpt.start], is_match=True)
        at = end
    yield ExcerptPiece(excerpt.text[at - excerpt.start :], is_match=False)

"""Words and meaning in granted fields, ranked."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import get_args

from pdpp_server.errors import UnsupportedMode
from pdpp_server.evidence.question import did_you_mean, no_words, only_times, read_as
from pdpp_server.evidence.remarks import not_searched
from pdpp_server.evidence.titles import Naming, namings
from pdpp_server.grants.permitted import Permitted, Scope
from pdpp_server.meaning.loading import Meaning
from pdpp_server.model.activity import NOTHING, Shown
from pdpp_server.model.parameters import bound_by
from pdpp_server.model.pending import Pending
from pdpp_server.model.queries import BY_MEANING, BY_WORDS, SearchQuery, UsedMode
from pdpp_server.model.records import Hit, SearchPage, Warned
from pdpp_server.reads.binding import binding
from pdpp_server.reads.services import Call, Services
from pdpp_server.store.records.ranked_page import Position
from pdpp_server.store.records.search import ByMeaning, FoundHit, Ranked, search
from pdpp_server.wire.cursors import Seal
from pdpp_server.wire.envelope import meaning_missing, prefixes_too_short, sources_skipped

_MODES: tuple[UsedMode, ...] = get_args(UsedMode)


def serve(services: Services, call: Call, query: SearchQuery) -> Pending[SearchPage]:
    with services.reading(call, "search") as read:
        permitted = read.permit(query)
        bound_to = binding(permitted, *bound_by(query))
        after, mode_before = None, None
        if query.cursor:
            opened = read.seal.open("search", query.cursor, bound_to=bound_to)
            after, mode_before = Position.unpack(opened[1:]), _MODES[opened[0]]
        mode = chosen_mode(services.meaning, query, mode_before)
        by = _by_meaning(services.meaning, mode)
        ranked = search(read.store, permitted, after, read.today, by)
        used = BY_WORDS[0] if mode in BY_MEANING and ranked.waiting is None else mode
        named = namings([found.record for found in ranked.found])
        sealed = cache(partial(_seal, read.seal, used, bound_to))  # both channels end a page at the same hits
        pairs = zip(ranked.found, named, strict=True)
        hits = tuple([_hit(found, naming, sealed, lean=query.lean) for found, naming in pairs])
        next_cursor = hits[-1].cursor if ranked.has_more and not ranked.recall.is_newest else None
        warnings = (
            *sources_skipped(permitted.missing),
            *not_searched(_unsearched(permitted, used), used),
            *prefixes_too_short(ranked.short),
            *_understood(ranked),
            *meaning_missing(ranked.waiting, is_damaged=mode in BY_MEANING and by is None),
        )
        is_short = ranked.has_more and next_cursor is None
        narrows = query.lean and not permitted.core_strict  # a next step for models, who are shown lean pages
        page = SearchPage(hits, next_cursor, ranked.recall, ranked.as_of, warnings, is_short, narrows)
        if used != BY_WORDS[0]:
            page = replace(page, mode=used, waiting=ranked.waiting)
        return read.pending(permitted, page, _suggesting(permitted) if ranked.suggested else NOTHING)


def _unsearched(permitted: Permitted[SearchQuery], used: UsedMode) -> list[str]:
    """Of the streams that were asked for, those of which nothing that may be read is looked into. Where none was named
    all were, and of them it is said where there is no other."""
    looked_into = {scope.stream.name for scope in permitted.scopes if _is_looked_into(scope, used)}
    others = dict.fromkeys(scope.stream.name for scope in permitted.scopes if not _is_looked_into(scope, used))
    asked = permitted.query.streams or (() if looked_into else others)
    return [f"{name} of some sources" if name in looked_into else name for name in others if name in asked]


def _is_looked_into(scope: Scope, used: UsedMode) -> bool:
    by_words, by_meaning = scope.stream.lexical_fields, scope.stream.semantic_fields
    match used:
        case "lexical":
            searched = by_words
        case "semantic":
            searched = by_meaning
        case "hybrid":
            searched = (*by_words, *by_meaning)
    return any(name in scope.fields for name in searched)


def _understood(ranked: Ranked) -> tuple[Warned, ...]:
    if ranked.recall.is_newest:
        return no_words()
    days = [(days.first, days.last, days.is_yearly) for days in ranked.days]
    understood = read_as(days, ranked.names) if ranked.found else only_times(days)
    return (*understood, *[did_you_mean(*suggestion) for suggestion in ranked.suggested])


def _suggesting(permitted: Permitted[SearchQuery]) -> Shown:
    """A word that stands in some record of these tells of them, whichever hits are shown."""
    scopes = permitted.scopes
    fields = [name for scope in scopes for name in scope.stream.lexical_fields if name in scope.fields]
    connections = [connection for scope in scopes for connection in scope.connections]
    return Shown(
        tuple(dict.fromkeys(connections)),
        tuple(dict.fromkeys(scope.stream.name for scope in scopes)),
        tuple(dict.fromkeys(fields)),
    )


def modes(meaning: Meaning | None) -> tuple[UsedMode, ...]:
    """In which this server can search now."""
    return (*BY_WORDS, *BY_MEANING) if meaning and meaning.is_installed else BY_WORDS


def chosen_mode(meaning: Meaning | None, query: SearchQuery, kept: UsedMode | None) -> UsedMode:
    """The mode that is asked for, or in which the pages before were found; `auto` is the best that there is.

    Raises:
        UnsupportedMode: this server lacks it.
    """
    has = modes(meaning)
    best = BY_MEANING[-1] if BY_MEANING[-1] in has else BY_WORDS[0]
    wanted = kept or (best if query.mode == "auto" else query.mode)
    if wanted not in has:
        raise UnsupportedMode(
            f"This server does not search in mode {wanted}. It has: {', '.join(('auto', *has))}.", param="mode"
        )
    return wanted


def _by_meaning(meaning: Meaning | None, mode: UsedMode) -> ByMeaning | None:
    """What knows the meaning. Without a model that can be used words go on alone, where they were to count."""
    if meaning is None:
        return None
    match mode:  # a mode that has no case here is a type error
        case "lexical":
            return None
        case "semantic":
            words_count = False
        case "hybrid":
            words_count = True
    encoder = meaning.encoder()
    if encoder is None and not words_count:
        raise UnsupportedMode(
            "The model for search by meaning is damaged. This server has: auto, lexical.", param="mode"
        )
    return ByMeaning(encoder, words_count) if encoder else None


def _seal(seal: Seal, mode: UsedMode, bound_to: bytes, position: Position) -> str:
    return seal.seal("search", bytes((_MODES.index(mode),)) + position.pack(), bound_to=bound_to)


def _hit(found: FoundHit, named: Naming, sealed: Callable[[Position], str], *, lean: bool) -> Hit:
    """A lean one also says who speaks in it, how much it is about, and what else is known of how it was found."""
    record = found.record
    return Hit(
        record.id,
        record.origin,
        named.title,
        record.emitted_at,
        record.authored_at,
        found.proof.excerpts,
        found.position.score,
        partial(sealed, found.position),
        named.title_field,
        record.time_field,
        actor=named.actor if lean else None,
        actor_field=named.actor_field if lean else None,
        amount=named.amount if lean else None,
        also_matched=found.proof.also_matched if lean else (),
        beside=found.beside if lean else None,
        distance=1 - found.near.similarity if found.near else None,
    )

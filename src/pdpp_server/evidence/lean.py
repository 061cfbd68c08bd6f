"""A page of hits for a reader of few bytes: each text once, as long as its rank is worth, with nothing unseen in it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pdpp_server.evidence.budgets import (
    CURRENCY_CHARS,
    LEAN_AMOUNT_BYTES,
    LEAN_EXCERPT_BYTES,
    LEAN_FEW_MATCHES,
    LEAN_FIRST_CHARS,
    LEAN_FULL_BYTES,
    LEAN_FULL_HITS,
    LEAN_FURTHER_BYTES,
    LEAN_HIT_BYTES,
    LEAN_LEAST_BYTES,
    LEAN_MARK_BYTES,
    LEAN_NAME_CHARS,
    LEAN_NOT_CUT_CHARS,
    LEAN_SECOND_CHARS,
    LEAN_WORDS_MOST,
    LEAN_WRAPPER_BYTES,
    SEARCH_FEW_STRUCTURED_BYTES,
    SEARCH_STRUCTURED_BYTES,
    WORD_CHARS,
)
from pdpp_server.evidence.question import words_left_out
from pdpp_server.evidence.text import byte_len, clip_shown, seen_lines, whole_characters
from pdpp_server.evidence.titles import label
from pdpp_server.model.records import Amount, Excerpt, Hit, SearchPage
from pdpp_server.model.sources import Origin


def lean_page(page: SearchPage) -> SearchPage:
    """The same page, whoever asks for it: what fits depends on its hits and on nothing else. It has no bytes in it."""
    asked, warnings = page.recall.words, page.warnings
    words = tuple([(clip_shown(word, WORD_CHARS), count) for word, count in asked[:LEAN_WORDS_MOST]])
    recall = replace(page.recall, words=words) if words != asked else page.recall
    if len(words) < len(asked):
        warnings = (*warnings, words_left_out(len(words), len(asked)))
    return replace(page, hits=tuple(_lean_hits(page.hits)), recall=recall, warnings=warnings)


def _lean_hits(hits: Sequence[Hit]) -> Iterator[Hit]:
    room = _room(hits)
    origins: dict[int, Origin] = {}  # as each is shown: one is shared by many hits
    for left, hit in zip(range(len(hits) - 1, -1, -1), hits, strict=True):
        excerpts, size = _within(hit.excerpts, max(LEAN_LEAST_BYTES, room - left * LEAN_LEAST_BYTES))
        room -= size
        if id(hit.origin) not in origins:
            origins[id(hit.origin)] = _shown(hit.origin)
        yield _lean_hit(hit, origins[id(hit.origin)], excerpts)


def _lean_hit(hit: Hit, origin: Origin, excerpts: tuple[Excerpt, ...]) -> Hit:
    """Made anew only where less of it is shown."""
    actor = clip_shown(hit.actor, LEAN_NAME_CHARS) if hit.actor else None
    unshown = [excerpt.field for excerpt in hit.excerpts[len(excerpts) :] if excerpt.is_match]
    matched = tuple(dict.fromkeys((*hit.also_matched, *unshown))) if unshown else hit.also_matched
    amount = shown_amount(hit.amount)
    is_same = excerpts == hit.excerpts and actor == hit.actor and amount == hit.amount and origin is hit.origin
    if is_same:
        return hit
    return replace(hit, origin=origin, excerpts=excerpts, actor=actor, amount=amount, also_matched=matched)


def shown_amount(amount: Amount | None) -> Amount | None:
    """With as much of its currency as any has."""
    if amount is None or amount.currency is None:
        return amount
    return amount._replace(currency=clip_shown(amount.currency, CURRENCY_CHARS))


def _room(hits: Sequence[Hit]) -> int:
    """For the texts: as much as the first hits are worth, within what the page leaves beside all else that it says."""
    worth = LEAN_FULL_BYTES * min(len(hits), LEAN_FULL_HITS) + LEAN_FURTHER_BYTES * max(0, len(hits) - LEAN_FULL_HITS)
    matches = sum([1 for hit in hits if not hit.is_beside])
    most = SEARCH_FEW_STRUCTURED_BYTES if matches <= LEAN_FEW_MATCHES else SEARCH_STRUCTURED_BYTES
    return min(worth, most - LEAN_WRAPPER_BYTES - sum([_about_bytes(hit) for hit in hits]))


def _about_bytes(hit: Hit) -> int:
    """About what is said of a hit beside its texts; its id, connection and label stand there twice."""
    connection_id, stream, key = hit.id
    origin, excerpts = hit.origin, hit.excerpts[:2]
    size = LEAN_HIT_BYTES + len(origin.connector_key) + 3 * len(connection_id)
    size += 2 * (len(key) + len(stream) + len(origin.label or ""))
    if hit.actor:
        size += len(hit.actor)
    if hit.amount:
        size += LEAN_AMOUNT_BYTES
    for excerpt in excerpts:
        size += LEAN_EXCERPT_BYTES + LEAN_MARK_BYTES * len(excerpt.marks)
    return size


def _shown(origin: Origin) -> Origin:
    name = label(origin, LEAN_NAME_CHARS) or None
    return origin if name == origin.name else replace(origin, name=name)


def _within(excerpts: Sequence[Excerpt], room: int) -> tuple[tuple[Excerpt, ...], int]:
    """The first excerpt in any case, further ones where there is room for them; and what they take."""
    taken: list[Excerpt] = []
    left = room
    for chars, excerpt in zip((LEAN_FIRST_CHARS, LEAN_SECOND_CHARS), excerpts, strict=False):
        if left < LEAN_LEAST_BYTES:
            break
        fitting, size = _fitting(excerpt, chars, left)
        taken.append(fitting)
        left -= size
    return tuple(taken), room - left


def _fitting(excerpt: Excerpt, chars: int, room: int) -> tuple[Excerpt, int]:
    """As much of it as there is room for, and what that takes."""
    while True:
        narrowed = narrow_excerpt(excerpt, chars)
        size = _json_bytes(narrowed.text)
        if size <= room or chars <= 1:
            break
        chars = min(chars, len(narrowed.text)) * room // size
    seen = seen_lines(narrowed.text)
    return (narrowed, size) if seen == narrowed.text else (narrowed._replace(text=seen), _json_bytes(seen))


def _json_bytes(text: str) -> int:
    """About what it takes in JSON; not less."""
    if text.isascii() and text.isprintable():
        return len(text) + text.count('"') + text.count("\\")
    return byte_len(text) + text.count('"') + text.count("\\") + text.count("\n") + text.count("\t")


def narrow_excerpt(excerpt: Excerpt, chars: int) -> Excerpt:
    """At most `chars` of it around its most telling match, which stays whole; its words and offsets unchanged."""
    text = excerpt.text
    if len(text) <= chars or len(text) == excerpt.total_chars <= chars + LEAN_NOT_CUT_CHARS:
        return excerpt
    first, last = _core(excerpt)
    beside = chars - (last - first)
    start = max(0, min(first - beside // 3, len(text) - chars))
    end = whole_characters(text, start + chars)
    start, end = _at_words(text, whole_characters(text, start), end, first, last)
    low, high = excerpt.start + start, excerpt.start + end
    kept = tuple([(a if a > low else low, b if b < high else high) for a, b in excerpt.marks if a < high and b > low])
    rarest = 0
    if kept and excerpt.rarest:
        cut_off = sum([1 for _, b in excerpt.marks[: excerpt.rarest] if b <= low])
        rarest = max(0, excerpt.rarest - cut_off)
    field, _, _, _, total, is_placed, _, is_meant = excerpt
    return Excerpt(field, text[start:end], low, kept, total, is_placed, rarest, is_meant)


def _core(excerpt: Excerpt) -> tuple[int, int]:
    """The most telling match, as a place in the text of the excerpt."""
    if not excerpt.marks:
        return 0, 0
    start, end = excerpt.marks[min(excerpt.rarest, len(excerpt.marks) - 1)]
    return start - excerpt.start, end - excerpt.start


def _at_words(text: str, start: int, end: int, first: int, last: int) -> tuple[int, int]:
    """Cuts between words, where there is a space between the cut and the match."""
    if start:
        start = text.find(" ", start, first) + 1 or start
    if end < len(text) and not text[end].isspace():
        space = text.rfind(" ", max(start, last), end)
        end = space if space > start else end
    return start, end

"""A page of hits for a reader of few bytes: each text once, as long as its rank is worth, with nothing unseen in it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pdpp_server.evidence.binary import hits_without_bytes
from pdpp_server.evidence.text import byte_len, clip_shown, seen_lines, whole_characters
from pdpp_server.evidence.titles import label
from pdpp_server.model.records import Excerpt, Hit, SearchPage
from pdpp_server.model.sources import Origin

NAME_CHARS = 40  # of labels and actors
FIRST_CHARS, SECOND_CHARS = 400, 120  # of the excerpts of one hit
PAGE_BYTES, FEW_BYTES = 16_000, 7500  # of any page, and of one of no more hits than by default
_FEW_MATCHES = 10  # and what stands beside them
_FULL_HITS, _FULL_BYTES, _FURTHER_BYTES = 10, 240, 100  # for the texts of the first hits, and of each further one
_LEAST_BYTES = 60
_WRAPPER_BYTES, _HIT_BYTES, _EXCERPT_BYTES, _MARK_BYTES = 900, 225, 90, 9  # about what each takes beside its texts
_NOT_CUT_CHARS = 20  # a rest that is no longer than what would be said of it
_WORDS_MOST, _WORD_CHARS = 12, 40


def lean_page(page: SearchPage) -> SearchPage:
    """The same page, whoever asks for it: what fits depends on its hits and on nothing else."""
    page = hits_without_bytes(page)
    words = tuple([(clip_shown(word, _WORD_CHARS), count) for word, count in page.recall.words[:_WORDS_MOST]])
    recall = replace(page.recall, words=words)
    return replace(page, hits=tuple(_lean_hits(page.hits)), recall=recall)


def _lean_hits(hits: Sequence[Hit]) -> Iterator[Hit]:
    room = _room(hits)
    origins = {origin: _shown(origin) for origin in {hit.origin for hit in hits}}
    for left, hit in zip(range(len(hits) - 1, -1, -1), hits, strict=True):
        excerpts = tuple(_within(hit.excerpts, max(_LEAST_BYTES, room - left * _LEAST_BYTES)))
        room -= sum(_json_bytes(excerpt.text) for excerpt in excerpts)
        unshown = [excerpt.field for excerpt in hit.excerpts[len(excerpts) :] if excerpt.is_match]
        actor = clip_shown(hit.actor, NAME_CHARS) if hit.actor else None
        matched = tuple(dict.fromkeys((*hit.also_matched, *unshown)))
        yield replace(hit, origin=origins[hit.origin], excerpts=excerpts, actor=actor, also_matched=matched)


def _room(hits: Sequence[Hit]) -> int:
    """For the texts: as much as the first hits are worth, within what the page leaves beside all else that it says."""
    worth = _FULL_BYTES * min(len(hits), _FULL_HITS) + _FURTHER_BYTES * max(0, len(hits) - _FULL_HITS)
    matches = sum(1 for hit in hits if not hit.is_beside)
    most = FEW_BYTES if matches <= _FEW_MATCHES else PAGE_BYTES
    return min(worth, most - _WRAPPER_BYTES - sum(map(_about_bytes, hits)))


def _about_bytes(hit: Hit) -> int:
    """About what is said of a hit beside its texts; its id, connection and label stand there twice."""
    id, origin, excerpts = hit.id, hit.origin, hit.excerpts[:2]
    named = 2 * (len(id.key) + len(id.stream) + len(origin.label or "")) + 3 * len(id.connection_id)
    marks = _MARK_BYTES * sum(len(excerpt.marks) for excerpt in excerpts)
    known = named + len(origin.connector_key) + len(hit.actor or "")
    return _HIT_BYTES + known + _EXCERPT_BYTES * len(excerpts) + marks


def _shown(origin: Origin) -> Origin:
    return replace(origin, name=label(origin, NAME_CHARS) or None)


def _within(excerpts: Sequence[Excerpt], room: int) -> Iterator[Excerpt]:
    """The first excerpt in any case, further ones where there is room for them."""
    for chars, excerpt in zip((FIRST_CHARS, SECOND_CHARS), excerpts, strict=False):
        if room < _LEAST_BYTES:
            return
        shown = _fitting(excerpt, chars, room)
        yield shown
        room -= _json_bytes(shown.text)


def _fitting(excerpt: Excerpt, chars: int, room: int) -> Excerpt:
    while True:
        narrowed = narrow_excerpt(excerpt, chars)
        size = _json_bytes(narrowed.text)
        if size <= room or chars <= 1:
            return narrowed._replace(text=seen_lines(narrowed.text))
        chars = min(chars, len(narrowed.text)) * room // size


def _json_bytes(text: str) -> int:
    """About what it takes in JSON; not less."""
    return byte_len(text) + text.count('"') + text.count("\\") + text.count("\n") + text.count("\t")


def narrow_excerpt(excerpt: Excerpt, chars: int) -> Excerpt:
    """At most `chars` of it around its most telling match, which stays whole; its words and offsets unchanged."""
    text = excerpt.text
    if len(text) <= chars or len(text) == excerpt.total_chars <= chars + _NOT_CUT_CHARS:
        return excerpt
    first, last = _core(excerpt)
    start = max(0, min(first - (chars - (last - first)) // 3, len(text) - chars))
    end = start + chars
    start, end = _at_words(text, whole_characters(text, start), whole_characters(text, end), first, last)
    low, high = excerpt.start + start, excerpt.start + end
    kept = [(max(a, low), min(b, high)) for a, b in excerpt.marks if a < high and b > low]
    before = sum(1 for _, b in excerpt.marks[: excerpt.rarest] if b <= low)
    rarest = max(0, excerpt.rarest - before) if kept else 0
    return excerpt._replace(text=text[start:end], start=low, marks=tuple(kept), rarest=rarest)


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

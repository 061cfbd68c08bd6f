"""The hits of a page, each on one line: whole handle, where from, when, who, how much, its title, and its words."""

from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape
from itertools import repeat, starmap
from typing import NamedTuple

from pdpp_server.evidence.alike import SaidOfHit, apart, first_alike, shown_texts
from pdpp_server.evidence.budgets import HIT_MEASURES, HITS_FIRST, HITS_MIDDLE, LONG_HANDLE_BYTES
from pdpp_server.evidence.lean import narrow_excerpt, shown_amount
from pdpp_server.evidence.text import CUT, byte_len, clip_shown, compact_json, handle_text, name_text, one_line, quoted
from pdpp_server.evidence.titles import dated, hit_title, is_made_up, label
from pdpp_server.model.records import Excerpt, Hit
from pdpp_server.model.sources import Origin
from pdpp_server.model.times import instant

METADATA_ONLY = "(only metadata known, no match of its own)"
NO_MATCH = "(passage, no match of its own)"
NO_PLACE = "(matched, place not proven)"
AS_ABOVE = "as above"
_BESIDE_BYTES = len(" (beside the hit above)")
_TAG_BYTES, _CUT_BYTES = len("<mark></mark>"), len('text@99 "……" (+99 more)') + 4
_QUOTE_BYTES = _NAME_BYTES = 4  # of what stands around a text, or a name
_NO_TEXT = -_QUOTE_BYTES  # characters: it takes nothing

Usual = frozenset[tuple[str, str]]


class Piece(NamedTuple):
    """Some words, the fields that they came from, and the excerpt that they cut short."""

    text: str
    fields: tuple[str, ...] = ()
    cut: Excerpt | None = None
    like: int | None = None  # the place of the row under which it stands, as it says the same


class Measure(NamedTuple):
    """How much of each hit is shown: characters of a text by its rank, and of labels, names and titles."""

    first: int
    middle: int
    last: int
    names: int


def _ranks(named: Sequence["_About"]) -> list[int]:
    """Of each hit which of the first three numbers of a measure holds: of matches by their rank; what only stands
    beside one, or says the same as an earlier one, takes no room from them."""
    ranks: list[int] = []
    rank = 0
    for about in named:
        if about.like is not None:
            ranks.append(ranks[about.like])
        elif about.hit.beside:
            ranks.append(1)
        else:
            ranks.append(0 if rank < HITS_FIRST else 1 if rank < HITS_MIDDLE else 2)
            rank += 1
    return ranks


# The first hits get the room. Where a page does not fit, all get less; a name alone is the least.
_MEASURES = tuple(starmap(Measure, HIT_MEASURES))
_NAMED = Measure(0, 0, 0, 0)


def hit_rows(hits: Sequence[Hit], ids: Sequence[str], room: int) -> list[Piece]:
    """All hits in the richest way that fits; else as many names as do. Only ways that may fit are written out."""
    room -= _BESIDE_BYTES * sum([1 for hit in hits if hit.beside])
    named = _with_first([_about(hit, id) for hit, id in zip(hits, ids, strict=True)])
    usual, ranks, weighed = _usual_fields(named), _ranks(named), _weighed(named)
    shortest = _MEASURES[-1]
    may_fit = weighed.least([shortest[rank] for rank in ranks], shortest.names) <= room
    for measure in _MEASURES if may_fit else ():
        chars = [measure[rank] for rank in ranks]
        if weighed.least(chars, measure.names) > room or weighed.bytes(chars, measure.names) > room:
            continue
        rows = [*_measured(named, chars, measure.names, usual)]
        if sum([byte_len(row.text) + 1 for row in rows]) <= room:
            return rows
    if len(ids[0]) > LONG_HANDLE_BYTES:
        shortest = _NAMED
    taken: list[Piece] = []
    for row in _measured(named, [shortest[rank] for rank in ranks], shortest.names, usual):
        room -= byte_len(row.text) + 1
        if room < 0 and taken:
            break
        taken.append(row)
    return taken


class _About(NamedTuple):
    """A hit and what is the same in every width of its row."""

    hit: Hit
    handle: str
    when: str
    amount: str
    title: Excerpt | str
    texts: tuple[Excerpt, ...]
    like: int | None = None  # the place of the first hit that says the same but for numbers

    @property
    def said(self) -> SaidOfHit:
        return SaidOfHit(self.hit, self.texts)


def _with_first(named: list[_About]) -> list[_About]:
    firsts = first_alike([about.said for about in named])
    return [about if first is None else about._replace(like=first) for about, first in zip(named, firsts, strict=True)]


class _Weighed(NamedTuple):
    """About how long rows are, so that this need not be found by writing them."""

    fixed: int  # what is the same in every width, of all rows
    names: list[int]  # characters of labels, actors and titles
    texts: list[int]  # characters of the text of each row
    marks: list[int]  # and its marks

    def least(self, chars: Sequence[int], names: int) -> int:
        """Without tags and cuts: no more than the others, and found at once."""
        texts = sum(map(min, self.texts, chars)) + _QUOTE_BYTES * len(chars)
        return self.fixed + sum(map(min, self.names, repeat(names))) + texts

    def bytes(self, chars: Sequence[int], names: int) -> int:
        """With the quotes of each text, the tags of its marks, and what is said of a cut."""
        texts = [
            length + _QUOTE_BYTES + _TAG_BYTES * marks
            if length <= most
            else most + _CUT_BYTES + _TAG_BYTES * (marks * most // length or 1)
            for length, marks, most in zip(self.texts, self.marks, chars, strict=True)
        ]
        return self.fixed + sum(map(min, self.names, repeat(names))) + sum(texts)


def _weighed(named: Sequence[_About]) -> _Weighed:
    fixed, names = 0, list[int]()
    texts, marks = [_NO_TEXT] * len(named), [0] * len(named)
    for row, (hit, handle, when, amount, title, excerpts, like) in enumerate(named):
        fixed += len(handle) + 1
        if len(handle) >= LONG_HANDLE_BYTES:
            continue
        titled = title if isinstance(title, str) else title.text
        lengths = [len(name) for name in (hit.origin.label, hit.actor, titled) if name]
        fixed += len(hit.origin.connector_key) + len(when) + len(amount) + 2 + _NAME_BYTES * len(lengths)
        names += lengths
        if like is not None:
            texts[row] = len(AS_ABOVE)
        elif excerpts:
            texts[row], marks[row] = len(excerpts[0].text), len(excerpts[0].marks)
    return _Weighed(fixed, names, texts, marks)


def _about(hit: Hit, id: str) -> _About:
    field, texts = hit.title_field, hit.excerpts
    marked_title = [excerpt for excerpt in texts if excerpt.field == field]
    if marked_title:
        texts = tuple([excerpt for excerpt in texts if excerpt.field != field])
    if marked_title and marked_title[0].text:
        titled: Excerpt | str = marked_title[0]
    else:
        titled = "" if is_made_up(hit) else hit.title
    return _About(hit, handle_text(id), dated(hit.authored_at), _amount_text(hit), titled, texts)


def _measured(named: Sequence[_About], chars: Sequence[int], names: int, usual: Usual) -> Iterator[Piece]:
    sources: dict[int, str] = {}  # of each origin: one is shared by many hits
    for about, most in zip(named, chars, strict=True):
        origin = about.hit.origin
        if id(origin) not in sources:
            sources[id(origin)] = _source_text(origin, names)
        first = None if about.like is None else named[about.like]
        yield _row(about, first, most, names, sources[id(origin)], usual)


# In the order of a talk ---------------------------------------------------------------------------------------------


def as_a_talk(hits: Sequence[Hit], rows: Sequence[Piece]) -> Iterator[str]:
    """The rows by rank; but what came by its neighbours stands with the hit that lifted it, as they were said, and
    what says the same as another one under that."""
    places = {hit.id: place for place, hit in enumerate(hits)}
    exchanges: dict[int, list[int]] = {}
    alike: dict[int, list[str]] = {}
    for place, (hit, row) in enumerate(zip(hits, rows, strict=True)):
        if row.like is not None:
            alike.setdefault(row.like, []).append(row.text)
            continue
        leading = places.get(hit.beside, place) if hit.beside else place
        exchanges.setdefault(leading, []).append(place)
    for leading, exchange in sorted(exchanges.items(), key=lambda item: min(item[1])):
        if exchange == [leading]:  # as nearly all
            yield rows[leading].text
            yield from alike.get(leading, ())
            continue
        for place in sorted(exchange, key=lambda place: _in_talk(hits[place])):
            where = "" if place == leading else _beside_text(hits[place], hits[leading])
            yield f"{rows[place].text}{where}"


def beside_bytes(hits: Sequence[Hit]) -> int:
    """What it takes to say of these hits beside which others they stand."""
    places = {hit.id: hit for hit in hits}
    besides = ((hit, places.get(hit.beside)) for hit in hits if hit.beside)
    return sum(byte_len(_beside_text(hit, leading)) for hit, leading in besides if leading is not None)


def _in_talk(hit: Hit) -> tuple[int, str]:
    return instant(hit.authored_at) or 0, hit.id.key


def _beside_text(hit: Hit, leading: Hit) -> str:
    return f" (beside the hit {'below' if _in_talk(hit) < _in_talk(leading) else 'above'})"


# One hit ----------------------------------------------------------------------------------------------------------


def _usual_fields(named: Sequence[_About]) -> Usual:
    """Streams of which every hit shows the same field first: then its name need not stand on every line."""
    hits = Counter([about.hit.id.stream for about in named])
    firsts = {(about.hit.id.stream, about.texts[0].field) for about in named if about.texts}
    fields = Counter([stream for stream, _ in firsts])
    return frozenset([(stream, name) for stream, name in firsts if fields[stream] == 1 and hits[stream] > 1])


def _row(about: _About, first: _About | None, chars: int, names: int, source: str, usual: Usual) -> Piece:
    """The hit on one line: its whole handle, where it comes from, when, who, how much, its title, and its words, which
    are not said again where the first of its kind has said them."""
    hit, handle, when = about.hit, about.handle, about.when
    if not chars or len(handle) > LONG_HANDLE_BYTES:
        return Piece(handle)
    who, what = _actor_text(hit, names), _title_text(hit, about.title, names)
    head = " ".join(filter(None, (handle, source, when, who, about.amount, what.text)))
    words = _words(hit, about.texts, chars, usual)
    if first is not None:
        words = _as_above(about, first, words, chars)
    told = (hit.time_field if when else None, hit.actor_field if who else None)
    fields = [name for name in told if name]
    if hit.amount:
        fields += hit.amount.fields
    text = f"{head}: {words.text}" if words.text else head
    return Piece(text, (*fields, *what.fields, *words.fields), words.cut, about.like)


def _as_above(about: _About, first: _About, words: Piece, chars: int) -> Piece:
    """With the numbers in which this one differs from the first, as far as that is shown."""
    numbers, left = apart(about.said, first.said, chars)
    text, cut = AS_ABOVE, words.cut
    if numbers:
        text += f" but {', '.join([f'{mine} for {theirs}' for mine, theirs in numbers])}"
    if left:
        text += f" (+{left} more)"
        cut = cut or about.texts[0]
    return words._replace(text=text, cut=cut)


def _source_text(origin: Origin, names: int) -> str:
    known_as, connector = label(origin, names), origin.connector_key
    parts: list[str] = []
    if connector:
        parts.append(name_text(connector))
    if known_as:
        parts.append(quoted(known_as))
    return " ".join(parts)


def _actor_text(hit: Hit, names: int) -> str:
    """Marked where nothing else says why this is a hit."""
    if not hit.actor:
        return ""
    name = clip_shown(hit.actor, names)
    if hit.actor_field in hit.also_matched and not any(excerpt.marks for excerpt in hit.excerpts):
        name = f"<mark>{escape(name, quote=False)}</mark>"
    return f"by {quoted(name)}"


def _amount_text(hit: Hit) -> str:
    amount = shown_amount(hit.amount)
    if amount is None:
        return ""
    currency = f" {quoted(amount.currency)}" if amount.currency else ""
    return f"amount {compact_json(amount.value)}{currency}"


def _title_text(hit: Hit, title: Excerpt | str, names: int) -> Piece:
    """The declared title, with its marks; one that only repeats label, stream and time says nothing new."""
    if not title:
        return Piece("")
    if isinstance(title, Excerpt):
        return Piece(f"title {_quoted_text(narrow_excerpt(title, names))}", (title.field,))
    return Piece(f"title {quoted(hit_title(hit, names))}", (hit.title_field,) if hit.title_field else ())


def _words(hit: Hit, texts: Sequence[Excerpt], chars: int, usual: Usual) -> Piece:
    """What was proven, and what of the text is shown beside that."""
    if not texts:
        return Piece("" if hit.matched_fields else METADATA_ONLY)
    shown = shown_texts(texts, chars)
    first = _excerpt_text(shown[0], is_usual=(hit.id.stream, texts[0].field) in usual)
    remark = "" if hit.matched_fields or hit.beside else f" {NO_MATCH}"
    if len(shown) == 1:
        return first._replace(text=first.text + remark) if remark else first
    second = _excerpt_text(shown[1], is_usual=False)
    return Piece(f"{first.text} {second.text}{remark}", (*first.fields, *second.fields), first.cut or second.cut)


def _excerpt_text(excerpt: Excerpt, *, is_usual: bool) -> Piece:
    """Where it stands and the words around; how many characters are not shown."""
    name = name_text(excerpt.field)
    if not excerpt.text:
        return Piece(f"{name} {NO_PLACE}", (excerpt.field,))
    text = _quoted_text(excerpt)
    if not excerpt.is_placed:
        return Piece(f"{name} {text} {NO_PLACE}", (excerpt.field,), excerpt)
    if is_whole(excerpt):
        return Piece(text if is_usual else f"{name} {text}", (excerpt.field,))
    place = excerpt.marks[0][0] if excerpt.marks else excerpt.start
    return Piece(f"{name}@{place} {text} (+{_unshown(excerpt)} more)", (excerpt.field,), excerpt)


def _quoted_text(excerpt: Excerpt) -> str:
    before, after = CUT if excerpt.start else "", CUT if excerpt.end < excerpt.total_chars else ""
    return quoted(f"{before}{one_line(marked(excerpt))}{after}")


def marked(excerpt: Excerpt) -> str:
    """The text with its matches in mark tags; all else is escaped, so that no record can forge one."""
    text = excerpt.text
    plain = _escaped if "<" in text or "&" in text or ">" in text else str
    pieces: list[str] = []
    done = 0
    marks = excerpt.marks if len(excerpt.marks) == 1 else _joined(excerpt)
    for start, end in marks:
        first, last = max(done, start - excerpt.start), max(done, end - excerpt.start)
        pieces += (plain(text[done:first]), "<mark>", plain(text[first:last]), "</mark>")
        done = last
    return "".join((*pieces, plain(text[done:])))


def _joined(excerpt: Excerpt) -> Iterator[tuple[int, int]]:
    """The marks; words that stand together have one."""
    start = end = None
    for first, last in excerpt.marks:
        if start is not None and end is not None:
            if excerpt.text[end - excerpt.start : first - excerpt.start] == " ":
                end = last
                continue
            yield start, end
        start, end = first, last
    if start is not None and end is not None:
        yield start, end


def _escaped(text: str) -> str:
    return escape(text, quote=False)


def _unshown(excerpt: Excerpt) -> int:
    return excerpt.total_chars - len(excerpt.text)


def is_whole(excerpt: Excerpt) -> bool:
    return excerpt.is_placed and excerpt.start == 0 and excerpt.end >= excerpt.total_chars

"""What of a found record is shown: the places that matched, and how its text begins where none of that did."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pdpp_server.evidence.budgets import LEAN_FIRST_CHARS  # a text that is no longer is shown whole
from pdpp_server.model.records import Excerpt, Record
from pdpp_server.store.records.meanings import Near
from pdpp_server.store.records.rank import HeldPhrases
from pdpp_server.store.records.scope import Reach
from pdpp_server.store.records.words import Finder, PhraseSpan

EXCERPT_CHARS, EXCERPT_LEAD_CHARS = 170, 55
LEAN_LEAD_CHARS = 100
EXCERPTS_PER_HIT = 2


class Proof(NamedTuple):
    """Excerpts, the most telling first, and the fields that matched without one."""

    excerpts: tuple[Excerpt, ...]
    also_matched: tuple[str, ...] = ()


class Proving:
    """How the records of one stream are proven, made once for all of them."""

    def __init__(self, finder: Finder, reach: Reach) -> None:
        self._finder = finder
        stream = reach.scope.stream
        self._body, self._actor = stream.field_of("primary-body"), stream.field_of("actor")
        slots = reach.place.slots
        self._columns = [(name, 1 << slots[name]) for name in reach.scope.stream.lexical_fields if name in slots]
        self._matched: dict[int, _Matched] = {}  # of what records hold, which many share

    def proof(self, record: Record, held: HeldPhrases | None) -> Proof:
        """Where in the matched fields the phrases stand; of a record that only stands beside a match, how it begins."""
        fields = self._fields(held).all if held else []
        if not fields:
            return Proof(tuple(_passage(record, self._body, EXCERPT_CHARS)))
        found = [
            _match(finder, record, field, EXCERPT_CHARS, EXCERPT_LEAD_CHARS)
            for field, finder in fields[:EXCERPTS_PER_HIT]
        ]
        return Proof(tuple([excerpt._replace(rarest=0) for excerpt in found if excerpt is not None]))

    def lean_proof(self, record: Record, held: HeldPhrases | None) -> Proof:
        """The same for a reader of few bytes: the text of the record in any case, and the actor's name nowhere
        twice."""
        fields = self._fields(held) if held else _NO_FIELDS
        excerpts: list[Excerpt] = []
        for name, finder in fields.quoted:
            if excerpt := _match(finder, record, name, LEAN_FIRST_CHARS, LEAN_LEAD_CHARS):
                excerpts.append(excerpt)
        if not fields.has_body:
            excerpts += _passage(record, self._body, LEAN_FIRST_CHARS)
        shown = [excerpt.field for excerpt in excerpts if excerpt.marks]
        return Proof(tuple(excerpts), tuple([name for name, _ in fields.all if name not in shown]))

    def _fields(self, held: HeldPhrases) -> "_Matched":
        known = self._matched.get(id(held))
        if known is None:
            known = self._matched[id(held)] = self._find_fields(held)
        return known

    def _find_fields(self, held: HeldPhrases) -> "_Matched":
        fields: list[tuple[str, Finder]] = []
        for name, column in self._columns:
            phrases = tuple([phrase for phrase, slots in enumerate(held.slots) if slots & column])
            if phrases:
                fields.append((name, self._finder.of(phrases)))
        body, actor = self._body, self._actor
        quoted = [one for one in fields if one[0] != actor or body is None]
        quoted.sort(key=lambda one: one[0] != body)
        return _Matched(fields, quoted[:EXCERPTS_PER_HIT], bool(quoted) and quoted[0][0] == body)


class _Matched(NamedTuple):
    """The fields in which any phrase stands, each with what finds those that do."""

    all: list[tuple[str, Finder]]
    quoted: list[tuple[str, Finder]]  # by a lean proof, the text of the record first
    has_body: bool  # whether that is among them


_NO_FIELDS = _Matched([], [], has_body=False)


def meant_proof(record: Record, near: Near, *, lean: bool) -> Proof:
    """The passage whose meaning found the record: nothing in it is marked, and a text that is short enough is whole."""
    text = record.data.get(near.field)
    if not isinstance(text, str):
        return Proof(())
    chars = LEAN_FIRST_CHARS if lean else EXCERPT_CHARS
    start, end = 0, len(text)
    if end > chars:
        start, end = near.start, near.start + min(near.chars, chars)
    return Proof((Excerpt(near.field, text[start:end], start, (), len(text), is_meant=True),))


def _passage(record: Record, body: str | None, chars: int) -> Iterator[Excerpt]:
    """How the text begins: nothing in it is marked."""
    text = record.data.get(body) if body else None
    if body and isinstance(text, str) and text:
        yield _excerpt(body, text, (), PhraseSpan(0, 0, 0), chars, 0)


def _match(finder: Finder, record: Record, field: str, chars: int, lead: int) -> Excerpt | None:
    text = record.data.get(field)
    if not isinstance(text, str):
        return None
    spans = finder.spans(text, near=chars)
    if not spans:
        return None
    if len(text) <= chars:  # it is shown whole, and nothing has to be chosen
        marks = tuple([(start, end) for start, end, _ in spans])
        return Excerpt(field, text, 0, marks, len(text), rarest=spans.index(finder.rarest(spans)))
    return _excerpt(field, text, spans, finder.best(spans, chars - lead), chars, lead, finder)


def _excerpt(
    field: str,
    text: str,
    spans: Sequence[PhraseSpan],
    first: PhraseSpan,
    chars: int,
    lead: int,
    finder: Finder | None = None,
) -> Excerpt:
    """Some words around the match at `first`, with every match among them; a text that is short enough is whole."""
    start, end = 0, len(text)
    if end > chars:
        start = max(0, min(first.start - lead, end - chars))
        end = min(end, start + chars)
    if start:
        start = text.find(" ", start, first.start) + 1 or start
    if end < len(text):
        space = text.rfind(" ", first.start, end)
        end = space if space > first.start else end
    inside = [span for span in spans if start <= span.start and span.end <= end]
    rarest = inside.index(finder.rarest(inside)) if finder and inside else 0
    marks = tuple([(span.start, span.end) for span in inside])
    return Excerpt(field, text[start:end], start, marks, len(text), rarest=rarest)

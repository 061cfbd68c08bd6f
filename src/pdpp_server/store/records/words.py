"""Words: how text becomes index terms, how a query becomes phrases, and where a phrase stands in a text."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from math import log
from typing import NamedTuple, Protocol

from pdpp_server.errors import InvalidRequest
from pdpp_server.store.records.dates import NO_DATES, AskedDates

# Scripts written without spaces: each character becomes a word of its own, so that any run of them can be found.
_UNSPACED = re.compile("[\u0e00-\u0e7f\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_BREAK = re.compile(rf"[\s!-/:-@\[-`{{-~]|{_UNSPACED.pattern}")
_QUERY_PART = re.compile(r'(?P<minus>-?)(?:"(?P<phrase>[^"]*)"?|(?P<word>[^\s"]+))')
# Words that carry no topic. They are left out of a query that has others, and found when it has none.
_STOP_WORDS = frozenset(
    """a about after all also am an and any are as at be been before being but by can could did do does doing for from
    had has have having he her him his how i if in into is it its just like me my no not of on or our she should so some
    than that the their them then there these they this those to too us was we were what when where which who whom whose
    why will with would you your""".split()
)
_PUNCTUATION = ".,;:!?()[]{}'\u2019\u2026"
_POSSESSIVE = re.compile("(?:['\u2019]s|(?<=s)['\u2019])(?=\\W*$)", re.IGNORECASE)
_CONTRACTED = re.compile("(?:n['\u2019]t|['\u2019](?:s|re|ve|ll|d|m))$")
_CONTRACTIONS = frozenset(("ca", "wo", "sha", "ai"))  # what is left of can't, won't, shan't, ain't
_PLAIN_WORD = re.compile("[a-z0-9]+")
_CHUNK_CHARS = 8192
_PLACES_TRIED = 40  # of a word in a long text
_OFTEN_COSTS = 10  # a word that stands there forty times tells a quarter less
_MAX_PHRASES = 24
PREFIX_LETTERS = 3  # at the least: of fewer, a large part of all words begins alike
PREFIX_LETTERS_MAX = 600  # an engine may keep a longer term by its beginning alone
PREFIXES_MAX = 4


class Phrase(NamedTuple):
    """One thing to find: `text` as the index is asked for it, `tokens` as the tokenizer sees it."""

    text: str
    tokens: tuple[str, ...]
    is_prefix: bool = False

    @property
    def typed(self) -> str:
        """As it was asked for, without what stands around it."""
        return " ".join(self.text.split()).strip(_PUNCTUATION) + ("*" if self.is_prefix else "")

    @property
    def match(self) -> str:
        return quoted(" ".join(self.tokens)) + "*" if self.is_prefix else quoted(self.text)


_Same = tuple[tuple[str, ...], bool]  # what makes two phrases the same: their tokens, and whether it is a prefix


@dataclass(frozen=True, slots=True)
class WordQuery:
    wanted: tuple[Phrase, ...]
    unwanted: tuple[Phrase, ...]
    short: tuple[str, ...] = ()  # prefixes of which too little is left without an ending: they are looked for as words
    plain: frozenset[Phrase] = frozenset()  # those wanted that were typed as mere words
    has_topic: bool = True  # whether anything is wanted but words that carry none
    dated: frozenset[Phrase] = frozenset()  # those of them that are parts of a date, which has other words beside it

    @property
    def all(self) -> tuple[Phrase, ...]:
        return (*self.wanted, *self.unwanted)


def quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


WordsOfRecord = tuple[int, *tuple[str, ...]]  # rid, and the texts for the columns of its stream


def spaced(text: str) -> str:
    """What the index is fed: the text, with unspaced scripts set apart. Must never change without a rebuild."""
    return text if text.isascii() or not _UNSPACED.search(text) else _UNSPACED.sub(r" \g<0> ", text)


class Cutter(Protocol):
    """How text is cut into terms. Every engine has the same one, so that the same words are found by each."""

    def terms(self, fed: bytes) -> tuple[str, ...]: ...

    def placed(self, fed: bytes) -> Sequence[tuple[int, int, str]]:
        """Each term behind the bytes from which and before which it stands."""
        ...


class Tokenizer:
    """The index's own way to cut, so that a proof cannot disagree with a match."""

    def __init__(self, cutter: Cutter) -> None:
        self._cutter = cutter

    def tokens(self, text: str) -> tuple[str, ...]:
        return self._cutter.terms(spaced(text).encode())

    def query(self, text: str, dates: AskedDates = NO_DATES) -> WordQuery:
        """Ranked words; `"quotes"` keep words together, `word*` is a prefix, `-word` excludes.

        A possessive is the word itself, and a contraction of words that carry no topic carries none.

        Raises:
            InvalidRequest: there are too many prefixes, or one is too long.
        """
        wanted: dict[_Same, Phrase] = {}
        unwanted: dict[_Same, Phrase] = {}
        stop: dict[_Same, Phrase] = {}
        short: list[str] = []
        plain: set[Phrase] = set()
        dated: set[Phrase] = set()
        for part in _QUERY_PART.finditer(text.replace("\0", " ")):  # a NUL would end the statement's text
            is_word = part["word"] is not None
            raw = _part_text(part)
            tokens = self.tokens(raw)
            if not tokens:
                continue
            is_prefix = is_word and _is_prefix(raw, tokens)
            if is_prefix and len(tokens[-1]) < PREFIX_LETTERS:
                is_prefix = False
                short.append(raw)
            phrase = Phrase(spaced(raw.rstrip("*") if is_word else raw), tokens, is_prefix)
            kind = stop if is_word and _is_stop_word(raw) else wanted
            if part["minus"]:
                kind = unwanted
            phrase = kind.setdefault((tokens, is_prefix), phrase)
            if is_word and not is_prefix:
                plain.add(phrase)
            if dates.names(part.start()):
                dated.add(phrase)
        _require_few_short_prefixes([phrase for phrase in (*wanted.values(), *unwanted.values()) if phrase.is_prefix])
        chosen = tuple((wanted or stop).values())[:_MAX_PHRASES]
        if dated.issuperset(chosen):  # a date that stands alone is looked for as any words
            dated.clear()
        excluded = tuple(unwanted.values())[:_MAX_PHRASES]
        shortened = tuple(dict.fromkeys(short))
        return WordQuery(chosen, excluded, shortened, frozenset(plain), bool(wanted), frozenset(dated))

    def without(self, text: str, words: Sequence[Phrase]) -> str:
        """A question without these of its words; whole where nothing else is left of it."""
        left_out = {phrase.tokens for phrase in words}
        parts = [part for part in _QUERY_PART.finditer(text) if self.tokens(_part_text(part)) not in left_out]
        return " ".join([part[0] for part in parts]) or text

    def finder(self, phrases: Sequence[Phrase], weights: Sequence[float]) -> "Finder":
        return Finder(self._cutter, phrases, weights)


def _part_text(part: re.Match[str]) -> str:
    return part["phrase"] if part["word"] is None else _POSSESSIVE.sub("", part["word"])


def _is_stop_word(raw: str) -> bool:
    word = raw.strip(_PUNCTUATION).lower()
    whole = _CONTRACTED.sub("", word)
    return whole in _STOP_WORDS or (whole != word and whole in _CONTRACTIONS)


def _is_prefix(raw: str, tokens: Sequence[str]) -> bool:
    """Whether it ends with a star that means something: a character of an unspaced script is a whole word already."""
    return raw.endswith("*") and not _UNSPACED.fullmatch(tokens[-1])


def _require_few_short_prefixes(prefixes: Sequence[Phrase]) -> None:
    if len(prefixes) > PREFIXES_MAX:
        raise InvalidRequest(
            f"The query has {len(prefixes)} prefixes; at most {PREFIXES_MAX} are searched at once.",
            param="q",
            remedy="Leave some out, or search for them in several calls.",
        )
    if any(len(prefix.tokens[-1]) > PREFIX_LETTERS_MAX for prefix in prefixes):
        raise InvalidRequest(
            f"A prefix has at most {PREFIX_LETTERS_MAX} letters.",
            param="q",
            remedy="Shorten it, or leave the star out if it is a whole word.",
        )


class PhraseSpan(NamedTuple):
    """Where a phrase stands, in code points, and which one it is."""

    start: int
    end: int
    phrase: int


class Finder:
    """Looks for the phrases of one query in many texts. A phrase of more weight is the one to be shown."""

    def __init__(self, cutter: Cutter, phrases: Sequence[Phrase], weights: Sequence[float]) -> None:
        self._cutter, self._phrases, self._weights = cutter, phrases, weights
        self._typed = [phrase.text.strip(_PUNCTUATION).lower() for phrase in phrases]
        self._terms: dict[str, str] = {}  # of plain words that were looked at
        self._narrowed: dict[tuple[int, ...], Finder] = {}
        self._look_for(range(len(phrases)))

    def _look_for(self, numbers: Iterable[int]) -> None:
        self._wanted = [(number, self._phrases[number]) for number in numbers]
        self._stems = _stems(self._wanted)

    def of(self, numbers: tuple[int, ...]) -> "Finder":
        """One that finds only these of the phrases: the index has told that a text holds no other."""
        known = self._narrowed.get(numbers)
        if known is None:
            known = self._narrowed[numbers] = copy(self)
            known._look_for(numbers)
        return known

    def spans(self, text: str, *, near: int) -> list[PhraseSpan]:
        """The phrases, in reading order, in a stretch of the text that has the most telling of them.

        A text that is not much longer than `near` is looked through whole. In a longer one the words are first looked
        for as they were typed; only what stands around them has to be tokenized.
        """
        if len(text) <= near:
            return self._in_stretch(text, 0, len(text))
        for start, end in self._stretches(text, near):
            if found := self._in_stretch(text, start, end):
                return found
        return self._in_stretch(text, 0, len(text))  # a phrase across two stretches

    def best(self, spans: Sequence[PhraseSpan], within: int) -> PhraseSpan:
        """The span from which on the most telling phrases stand within so many code points."""
        if len(spans) == 1:
            return spans[0]
        return max(spans, key=lambda span: (self._told(spans, span.start, span.start + within), -span.start))

    def rarest(self, spans: Sequence[PhraseSpan]) -> PhraseSpan:
        """The first of the most telling ones."""
        if len(spans) == 1:
            return spans[0]
        return max(spans, key=lambda span: (self._weights[span.phrase], -span.start))

    def _told(self, spans: Sequence[PhraseSpan], start: int, end: int) -> float:
        within = {span.phrase for span in spans if start <= span.start and span.end <= end}
        return sum([self._weights[phrase] for phrase in within])

    def _stretches(self, text: str, near: int) -> Iterator[tuple[int, int]]:
        lowered = text.lower()
        if len(lowered) == len(text):  # else its offsets would not be those of the text
            first = self._telling_place(lowered, near * 2 // 3)
            if first is not None:
                yield _break_before(text, first - near // 3), _break_after(text, first + near * 2 // 3)
        start = 0
        while start < len(text):
            end = _break_after(text, start + _CHUNK_CHARS)
            yield start, end
            start = end

    def _telling_place(self, lowered: str, within: int) -> int | None:
        """From where on the most telling words stand together, as they were typed.

        Of two that are as rare, the one that stands more seldom in this text tells more.
        """
        places: list[tuple[int, int]] = []
        telling: dict[int, float] = {}
        for number, word in enumerate(self._typed):
            if word and (found := _word_places(lowered, word)):
                places += [(place, number) for place in found]
                telling[number] = self._weights[number] / (1 + log(len(found)) / _OFTEN_COSTS)
        if len(places) < 2:
            return places[0][0] if places else None
        places.sort()
        best, first = -1.0, places[0][0]
        for i, (start, _) in enumerate(places):
            last = bisect_left(places, (start + within,))
            together = {number for _, number in places[i:last]}
            told = sum([telling[number] for number in together])
            if told > best:
                best, first = told, start
        return first

    def _in_stretch(self, text: str, start: int, end: int) -> list[PhraseSpan]:
        stretch = text[start:end]
        if self._stems and stretch.isascii():
            return [PhraseSpan(start + a, start + b, phrase) for a, b, phrase in self._plain_words(stretch)]
        fed = spaced(stretch)
        raw = fed.encode()
        tokens = self._cutter.placed(raw)
        found = self._matches([token[2] for token in tokens])
        if len(raw) == len(stretch):
            return [PhraseSpan(start + tokens[a][0], start + tokens[b - 1][1], phrase) for a, b, phrase in found]
        place = _Places(stretch, fed, raw)
        return [
            PhraseSpan(start + place.start(tokens[a][0]), start + place.end(tokens[b - 1][1]), phrase)
            for a, b, phrase in found
        ]

    def _plain_words(self, text: str) -> list[tuple[int, int, int]]:
        """Where the phrases stand in a plain text, each a single word: only what begins as its stem is tokenized."""
        lowered = text.lower()
        found: list[tuple[int, int, int]] = []
        for stem, numbers in self._stems.items():
            end = 0
            while (start := lowered.find(stem, end)) >= 0:
                end = start + 1
                is_inside_a_word = start > 0 and lowered[start - 1].isalnum()
                if not is_inside_a_word and (word := _PLAIN_WORD.match(lowered, start)):
                    end, term = word.end(), self._term(word[0])
                    found += [(start, end, number) for number in numbers if _is_word(term, self._phrases[number])]
        return _apart(found)

    def _term(self, word: str) -> str:
        term = self._terms.get(word)
        if term is None:
            (term,) = self._cutter.terms(word.encode())
            self._terms[word] = term
        return term

    def _matches(self, tokens: list[str]) -> list[tuple[int, int, int]]:
        """From which token until before which each match stands, and its phrase."""
        found: list[tuple[int, int, int]] = []
        for number, phrase in self._wanted:
            size = len(phrase.tokens)
            places = openings(tokens, phrase)
            found += [(i, i + size, number) for i in places if size == 1 or stands_at(tokens, i, phrase)]
        return _apart(found)


def _stems(phrases: Iterable[tuple[int, Phrase]]) -> dict[str, list[int]]:
    """How the words begin that can be one of these: a stem is the beginning of its word, but for its last letter. None
    where words have to stand side by side, or where nothing is left of a stem."""
    stems: dict[str, list[int]] = {}
    for number, phrase in phrases:
        stem = phrase.tokens[0][:-1]
        if len(phrase.tokens) > 1 or not stem:
            return {}
        stems.setdefault(stem, []).append(number)
    return stems


def _is_word(term: str, phrase: Phrase) -> bool:
    """Whether a term is what a phrase of one word asks for."""
    return term == phrase.tokens[0] or (phrase.is_prefix and term.startswith(phrase.tokens[0]))


def _apart(found: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """The matches in reading order; what begins inside an earlier one is part of it."""
    if len(found) < 2:
        return found
    apart: list[tuple[int, int, int]] = []
    for match in sorted(found, key=lambda match: (match[0], -match[1])):
        if not apart or match[0] >= apart[-1][1]:
            apart.append(match)
    return apart


def openings(tokens: Sequence[str], phrase: Phrase) -> list[int]:
    """Where the first token of a phrase stands."""
    opening = phrase.tokens[0]
    if phrase.is_prefix and len(phrase.tokens) == 1:
        return [i for i, token in enumerate(tokens) if token.startswith(opening)]
    places: list[int] = []
    for _ in range(tokens.count(opening)):
        places.append(tokens.index(opening, places[-1] + 1 if places else 0))
    return places


def stands_at(tokens: Sequence[str], i: int, phrase: Phrase) -> bool:
    """Whether the phrase stands there, from the i-th token on."""
    here = tokens[i : i + len(phrase.tokens)]
    if len(here) < len(phrase.tokens) or tuple(here[:-1]) != phrase.tokens[:-1]:
        return False
    return here[-1] == phrase.tokens[-1] or (phrase.is_prefix and here[-1].startswith(phrase.tokens[-1]))


class _Places:
    """Byte offsets in what was fed to the tokenizer, as code points of the original text."""

    def __init__(self, text: str, fed: str, raw: bytes) -> None:
        self._raw = None if len(raw) == len(fed) == len(text) else raw
        self._text_at_fed = None
        if len(fed) != len(text):  # each character set apart stands between two added spaces
            self._text_at_fed = [m.start() for m in _UNSPACED.finditer(text)]

    def start(self, byte_offset: int) -> int:
        return byte_offset if self._raw is None else self._place(len(self._raw[:byte_offset].decode()))

    def end(self, byte_offset: int) -> int:
        """Counted from the last character, so that spaces added behind it do not count."""
        return byte_offset if self._raw is None else self._place(len(self._raw[:byte_offset].decode()) - 1) + 1

    def _place(self, fed_offset: int) -> int:
        """The i-th set-apart character, at t in the text, stands at t + 2i + 1 in what was fed."""
        if self._text_at_fed is None:
            return fed_offset
        before = bisect_right(range(len(self._text_at_fed)), fed_offset, key=self._fed_place)
        if before and self._fed_place(before - 1) == fed_offset:
            return self._text_at_fed[before - 1]
        return fed_offset - 2 * before

    def _fed_place(self, i: int) -> int:
        assert self._text_at_fed is not None
        return self._text_at_fed[i] + 2 * i + 1


def _break_after(text: str, at: int) -> int:
    """The first place from there on where no word can be cut in two."""
    found = _BREAK.search(text, at) if at < len(text) else None
    return found.start() if found else len(text)


def _break_before(text: str, at: int) -> int:
    if at <= 0:
        return 0
    if (space := text.rfind(" ", max(0, at - 200), at)) >= 0:
        return space
    found = [match.start() for match in _BREAK.finditer(text, max(0, at - 200), at)]
    return found[-1] if found else 0


def _word_places(lowered: str, word: str) -> list[int]:
    """Where the word stands with nothing of a word before it: the first of these places."""
    found: list[int] = []
    place = -1
    for _ in range(_PLACES_TRIED):
        place = lowered.find(word, place + 1)
        if place < 0:
            break
        if place == 0 or not lowered[place - 1].isalnum():
            found.append(place)
    return found

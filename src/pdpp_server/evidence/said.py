"""A sentence that remembers how it was made, so that a page can say it in another language."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, reduce
from typing import NamedTuple

_VALUE = re.compile(r"\{(\w+)(?:![rs])?(?::[^{}]*)?\}")
_END = re.compile(r"(?<=[.?!]) ")  # of a sentence that another one follows
_TELLING_CHARS = 6  # of a pattern that stand still; one that has fewer would fit anything


class SentenceShape(NamedTuple):
    """A pattern as texts that were made by it look."""

    pattern: str
    names: tuple[str, ...]
    longest: str  # of what stands still in it, to look for before anything else
    whole: re.Pattern[str]


class Sentences(dict[str, str]):
    """Another language: its words for each pattern of ours."""

    def recalled(self, text: str) -> str:
        """That text in these words, though nobody noted its pattern; what no pattern fits stays as it is."""
        if text in self:
            return self[text]
        for end in _END.finditer(text):
            first = self._fitting(text[: end.start()])
            if first is not None:
                return f"{first} {self.recalled(text[end.end() :])}"
        whole = self._fitting(text)
        return text if whole is None else whole

    def _fitting(self, text: str) -> str | None:
        if text in self:
            return self[text]
        for shape in self._shapes:
            if shape.longest in text and (found := shape.whole.fullmatch(text)):
                inside = [self.recalled(part) if " " in part else part for part in found.groups()]
                return self[shape.pattern].format_map(dict(zip(shape.names, inside, strict=True)))
        return None

    @cached_property
    def _shapes(self) -> list[SentenceShape]:
        """Those that tell most come first."""
        found = [shape for pattern in self if (shape := _shape(pattern))]
        return sorted(found, key=lambda shape: len(_VALUE.sub("", shape.pattern)), reverse=True)


def _shape(pattern: str) -> SentenceShape | None:
    """None of a pattern that has no values, or too little beside them."""
    parts = _VALUE.split(pattern)
    still, names = parts[::2], tuple(parts[1::2])
    if not names or sum(map(str.isalpha, "".join(still))) < _TELLING_CHARS:
        return None
    return SentenceShape(
        pattern, names, max(still, key=len), re.compile("(.+?)".join(map(re.escape, still)), re.DOTALL)
    )


class Said(str):
    """English for everybody; another language has words of its own for `pattern`, with the `values` in their places."""

    pattern: str
    values: Mapping[str, object]

    def in_words_of(self, known: Sentences) -> str:
        """By a catalogue of patterns; what is missing there is said in English, what was said inside of it too."""
        if not known:
            return str(self)
        values = {
            name: value.in_words_of(known) if isinstance(value, Said) else value for name, value in self.values.items()
        }
        return known.get(self.pattern, self.pattern).format_map(values)


class Ours(Said):
    """A sentence of ours that comes as a plain text: out of the store, a declaration, or another process."""

    def in_words_of(self, known: Sentences) -> str:
        return known.recalled(str(self))


def ours(text: object) -> object:
    """Of what is no text, and of what was said already, nothing is to be found out."""
    return Ours(text) if type(text) is str else text


def all_ours(texts: Iterable[str]) -> str:
    """`a, b, c`, of which each is a text of ours."""
    parts = [Ours(text) for text in texts]
    return reduce(_with_comma, parts) if parts else ""


def say(pattern: str, **values: object) -> Said:
    """The pattern is written out where it is said: that is how the list of sentences finds it."""
    said = Said(pattern.format_map(values))
    said.pattern, said.values = pattern, values
    return said


def say_all(parts: Sequence[str]) -> str:
    """`a, b and c`."""
    if len(parts) < 2:
        return parts[0] if parts else ""
    return say("{first} and {last}", first=reduce(_with_comma, parts[:-1]), last=parts[-1])


def _with_comma(before: str, each: str) -> str:
    return say("{before}, {each}", before=before, each=each)

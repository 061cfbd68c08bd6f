"""A sentence that remembers how it was made, so that a page can say it in another language."""

from collections.abc import Mapping, Sequence
from functools import reduce


class Said(str):
    """English for everybody; another language has words of its own for `pattern`, with the `values` in their places."""

    pattern: str
    values: Mapping[str, object]

    def in_words_of(self, known: Mapping[str, str]) -> str:
        """By a catalogue of patterns; what is missing there is said in English, what was said inside of it too."""
        values = {
            name: value.in_words_of(known) if isinstance(value, Said) else value for name, value in self.values.items()
        }
        return known.get(self.pattern, self.pattern).format_map(values)


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

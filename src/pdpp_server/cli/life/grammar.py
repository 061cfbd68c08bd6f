"""Sentences of ordinary days: templates of `words.toml` whose blanks are filled by chance."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

HERE = Path(__file__).parent
_BLANK = re.compile(r"\{(\w+)(?::(\w+))?\}")


def table(name: str) -> dict[str, Any]:
    """One of the tables that lie beside this file."""
    return tomllib.loads((HERE / f"{name}.toml").read_text("utf-8"))


def capitalized(text: str) -> str:
    """The first letter alone; `capitalize` would lower the others."""
    return text[:1].upper() + text[1:]


class Grammar:
    """`{dish}` becomes one of the dishes; `{dish:a}` the same one wherever it stands in what `told` keeps."""

    def __init__(self, words: Mapping[str, Sequence[str]], rng: Random) -> None:
        self._words, self._rng = words, rng

    def text(self, template: str, told: dict[str, str] | None = None) -> str:
        known: dict[str, str] = {} if told is None else told

        def filled(blank: re.Match[str]) -> str:
            name, key = blank[1], blank[2]
            if name in known:
                return known[name]
            if key is None:
                return self.text(self._rng.choice(self._words[name]))
            return known.setdefault(f"{name}:{key}", self._rng.choice(self._words[name]))

        text = _BLANK.sub(filled, template)
        begins_a_sentence = template.startswith("{") and template.endswith(".")
        return capitalized(text) if begins_a_sentence else text

    def one_of(self, templates: Sequence[str], told: dict[str, str] | None = None) -> str:
        return self.text(self._rng.choice(templates), told)

    def some_of(self, templates: Sequence[str], count: int) -> list[str]:
        """Different ones, as many as there are, in the order of the table."""
        there = len(templates)
        chosen = self._rng.sample(range(there), min(count, there))
        return [self.text(templates[place]) for place in sorted(chosen)]

"""Phrases in posting blocks: one statement fetches every whole word of them."""

from collections.abc import Mapping, Sequence
from typing import Any, cast
from unittest.mock import sentinel

import pytest

from pdpp_server.model.sources import Origin
from pdpp_server.store.engines.postgres.postings import kept_run
from pdpp_server.store.engines.postgres.tables import PostgresTables
from pdpp_server.store.engines.postgres.words import PostgresWords
from pdpp_server.store.layout import StreamPlace
from pdpp_server.store.records.asked import Where
from pdpp_server.store.records.reach import Reach
from pdpp_server.store.records.words import Phrase
from pdpp_server.store.session import Session

SID, LOW, HIGH = 4, 100, 200
REACH = Reach(
    sentinel.scope, Origin("cin_1", "chat"), StreamPlace(SID, {}, {}, None, {}), "whole", {"low": LOW, "high": HIGH}
)
WHERE = Where([REACH], (0,), is_part=False)
TEXTS = {101: "we meet at the hut", 102: "the hut at noon"}


class Blocks:
    """A session that has the words of these texts in blocks."""

    def __init__(self) -> None:
        self.asked: list[Sequence[str]] = []

    def rows(self, statement: str, values: Any) -> list[Any]:
        if isinstance(values, Mapping):
            terms = cast("Mapping[str, list[str]]", values)["terms"]
            self.asked.append(terms)
            return [(SID, LOW, HIGH, term, self._block(term)) for term in terms if self._places(term)]
        return [(self._block(term),) for term in sorted(self._terms()) if term.startswith(values[1])]

    def _terms(self) -> set[str]:
        return {term for text in TEXTS.values() for term in text.split()}

    def _block(self, term: str) -> str:
        return kept_run(LOW, self._places(term))

    def _places(self, term: str) -> list[int]:
        at = [(rid, text.split().index(term)) for rid, text in TEXTS.items() if term in text.split()]
        return [number for rid, position in at for number in (rid - LOW, 0, position)]


@pytest.mark.parametrize(
    ("phrase", "found", "fetched"),
    [
        (Phrase("at the h", ("at", "the", "h"), is_prefix=True), [101], ["at", "the"]),
        (Phrase("the hut at", ("the", "hut", "at")), [102], ["at", "hut", "the"]),
        (Phrase("hu", ("hu",), is_prefix=True), [101, 102], None),
    ],
)
def test_what_begins_a_prefix_is_fetched_as_whole_words(
    phrase: Phrase, found: list[int], fetched: list[str] | None
) -> None:
    blocks = Blocks()
    session = cast("Session", blocks)

    assert PostgresWords(session, PostgresTables(session)).matching(WHERE, [phrase]) == found
    assert blocks.asked == ([fetched] if fetched else [])

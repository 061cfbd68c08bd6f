"""Text cut into terms by the tokenizer of FTS5, which needs no database: every engine cuts with it."""

from collections.abc import Callable, Sequence
from typing import Any

import apsw

_NAME, _ARGUMENTS = "porter", ["unicode61", "remove_diacritics", "2"]


def cutter_in_memory() -> "Fts5Cutter":
    """For an engine that has no connection to SQLite."""
    return Fts5Cutter(apsw.Connection(":memory:"))


class Fts5Cutter:
    def __init__(self, connection: apsw.Connection) -> None:
        self._tokenize = connection.fts5_tokenizer(_NAME, _ARGUMENTS)

    def terms(self, fed: bytes) -> tuple[str, ...]:
        raw: Any = self._tokenize(fed, apsw.FTS5_TOKENIZE_QUERY, None, include_offsets=False)
        return tuple([token[0] for token in raw])

    def placed(self, fed: bytes) -> Sequence[tuple[int, int, str]]:
        found: Any = self._tokenize(fed, apsw.FTS5_TOKENIZE_DOCUMENT, None)
        return found

    def take_prefixes(self, connection: apsw.Connection, said: Callable[[str], Any] = lambda _: None) -> None:
        """Let prefixes be asked for in the index's own terms, which must not be stemmed once more: the first three
        letters of `gasoline` are no plural. `said` tells the terms of phrases that were made of such; whatever else is
        asked is tokenized as it was indexed."""

        def tokenize(text: bytes, flags: int, locale: str | None) -> Any:
            if flags & apsw.FTS5_TOKENIZE_PREFIX:
                return text.decode().split(" ")
            return said(text.decode()) or self._tokenize(text, flags, locale)

        connection.register_fts5_tokenizer(_NAME, lambda _connection, _arguments: tokenize)

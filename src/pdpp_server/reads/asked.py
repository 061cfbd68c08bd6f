"""What clients asked in their own words, kept for the owner: sealed by month, outside the log, which has digests."""

from collections.abc import Iterable
from functools import cache
from typing import Any

from pdpp_server.errors import PdppError
from pdpp_server.grants.permitted import Permitted
from pdpp_server.model.activity import Asked
from pdpp_server.model.parameters import parameters
from pdpp_server.model.queries import Condition, Query
from pdpp_server.store.asked import AskedTable, SealedAsk
from pdpp_server.store.keys import Keys
from pdpp_server.wire.asked import open_asked, seal_asked

MONTH_CHARS = len("2026-11")


class AskedWords:
    """Keeps and finds them on one home. `is_kept` is the owner's setting; what was kept before stays readable."""

    def __init__(self, table: AskedTable, keys: Keys, *, is_kept: bool = True) -> None:
        self._table, self._keys, self.is_kept = table, keys, is_kept

    def keep(self, permitted: Permitted[Any], request_id: str, operation: str, now: str) -> None:
        """Nothing where nothing was said. An answer does not wait for this to succeed: its line in the log stands."""
        asked = asked_of(permitted)
        if asked is None or not self.is_kept:
            return
        month = now[:MONTH_CHARS]
        try:
            sealed = seal_asked(asked, request_id, self._keys.kept(_key_name(month)))
            self._table.keep(SealedAsk(request_id, operation, month, sealed))
        except (OSError, PdppError):
            return

    def find(self, request_ids: Iterable[str]) -> dict[str, Asked]:
        """By request, of those that are kept."""
        found = {ask.request_id: self._opened(ask) for ask in self._table.find(request_ids)}
        return {request_id: asked for request_id, asked in found.items() if asked}

    def forget(self, connection_id: str) -> None:
        """Whatever could have been answered from that connection; and what nobody can read any more."""
        opened = [(ask, self._opened(ask)) for ask in self._table.every()]
        self._table.drop([ask for ask, asked in opened if asked is None or connection_id in asked.reach])

    def close(self) -> None:
        self._table.close()

    def _opened(self, ask: SealedAsk) -> Asked | None:
        key = self._keys.find(_key_name(ask.month))
        return open_asked(ask.sealed, ask.request_id, key) if key else None


def _key_name(month: str) -> str:
    return f"asked-{month}.key"


@cache
def can_say(kind: type[Query]) -> bool:
    """Whether a query of that kind has room for words at all: most reads have none."""
    return any(each.field in ("text", "q", "conditions") for each in parameters(kind))


def asked_of(permitted: Permitted[Any]) -> Asked | None:
    """The words of a search, those that a window was opened at, and the values of filters; None without any."""
    query = permitted.query
    words: str | None = getattr(query, "text", None) or getattr(query, "q", None)
    conditions: tuple[Condition, ...] = getattr(query, "conditions", ())
    if not words and not conditions:
        return None
    compared = tuple((each.field, each.comparison, each.value) for each in conditions)
    reach = tuple(dict.fromkeys(name for scope in permitted.scopes for name in scope.connections))
    return Asked(words, compared, reach)

"""Questions that have one row each, or none, as one statement, which sees one snapshot whatever surrounds it."""

from collections.abc import Sequence
from functools import lru_cache

from pdpp_server.store.engines.postgres.connection import IS_THERE, SentQuestion
from pdpp_server.store.engines.postgres.session import asking
from pdpp_server.store.session import Statement

_JOINED = "select {columns} from (values(1)) always {answers}"
_ANSWER = "left join (select true as {there}, given.* from ({statement}) given) answer_{number} on true"


def joined(asked: Sequence[Statement]) -> SentQuestion:
    """For `PostgresConnection.ask_joined`; values have no names."""
    return asking(_joined(tuple([text for text, _ in asked])), [value for _, values in asked for value in values])


@lru_cache(maxsize=100)
def _joined(statements: tuple[str, ...]) -> str:
    there = IS_THERE.decode()
    answers = [_ANSWER.format(there=there, statement=each, number=number) for number, each in enumerate(statements)]
    columns = ", ".join(f"answer_{number}.*" for number in range(len(answers)))
    return _JOINED.format(columns=columns, answers=" ".join(answers))

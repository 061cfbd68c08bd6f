"""The line that must be written before an answer leaves."""

import hashlib
from functools import cache
from typing import Any

from pdpp_server.grants.permitted import Permitted
from pdpp_server.model.activity import Disclosure, Shown
from pdpp_server.model.parameters import Parameter, parameters
from pdpp_server.model.queries import Condition, Query


def disclosure(
    permitted: Permitted[Any], shown: Shown, size: int, operation: str, request_id: str, now: str, key: bytes
) -> Disclosure:
    holder = permitted.holder
    grant_ids = dict.fromkeys([scope.grant_id for scope in permitted.scopes])
    return Disclosure(
        now,
        request_id,
        operation,
        holder.kind,
        holder.client_id,
        tuple(grant_ids) or holder.grant_ids,
        logged_query(permitted.query, key),
        *shown,
        size,
    )


def logged_query(query: Query, key: bytes) -> dict[str, Any]:
    """What was asked, with words of the asker's own turned into digests: alike for alike, telling nothing else."""
    logged: dict[str, Any] = {}
    for field, name, hidden in _logged_of(type(query)):
        value = getattr(query, field)
        if value is None or value is False or value == ():  # which says nothing
            continue
        if hidden is None:
            logged[name] = value
        elif hidden.counts_in(query):
            logged[name] = _logged(hidden, value, key)
    return logged


@cache
def _logged_of(kind: type) -> tuple[tuple[str, str, Parameter | None], ...]:
    """The field and the name in the log of all that is logged; the parameter too, where its value is not just taken."""
    logged = [each for each in parameters(kind) if each.logged is not None]
    return tuple((each.field, each.logged_as, None if _is_just_taken(each) else each) for each in logged)


def _is_just_taken(each: Parameter) -> bool:
    return each.logged == "plainly" and each.kind not in ("filter", "expand") and not each.goes_with


def _logged(parameter: Parameter, value: Any, key: bytes) -> Any:
    if parameter.logged == "given":
        return True
    if parameter.kind == "filter":
        return _hashed_filter(value, key)
    if parameter.kind == "expand":
        return [expand.name for expand in value]
    return _hashed(value, key) if parameter.logged == "digest" else value


def _hashed_filter(conditions: tuple[Condition, ...], key: bytes) -> list[tuple[str, str, str]]:
    """Which fields were compared and how; the values are the asker's own words."""
    return [(each.field, each.comparison, _hashed(each.value, key)) for each in conditions]


def _hashed(text: str, key: bytes) -> str:
    """Keyed, because common words could be guessed from a plain digest."""
    return "keyed:" + hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8, key=key).hexdigest()

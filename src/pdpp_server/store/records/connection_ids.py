"""Ids of connections: short, readable, the same wherever the same account is imported, and never another's."""

import hashlib
import re

from pdpp_server.model.sources import Source
from pdpp_server.store.engine import Writing
from pdpp_server.store.session import Session

LETTERS = "23456789abcdefghjkmnpqrstuvwxyz"  # no 0 and o, no 1, i and l
SHORT_CHARS = 5
_KEY_CHARS = 32
_CODE_CHARS = 40

_IS_KNOWN = "select 1 from connections where connection_id = ?"
_MADE_FROM = "select digest from connection_names where connection_id = ?"
_KEEP = "insert into connection_names(connection_id, digest) values(?, ?) on conflict do nothing"


def connection_id_of(reader: Session, source: Source, binding: str, *, subject: str) -> str:
    """The id of that owner's account at that source: the one that it has, or the one that it would get."""
    digest = _digest(source, binding, subject)
    earlier = f"cin_{digest[:24]}"
    if reader.one(_IS_KNOWN, (earlier,)):
        return earlier
    candidates = possible_ids(source, binding, subject=subject)
    return next(id for id in candidates if reader.one(_MADE_FROM, (id,)) in (None, digest))


def possible_ids(source: Source, binding: str, *, subject: str) -> list[str]:
    """The shortest first; a longer one is for an account whose shorter ones are another's."""
    key, code = _readable(source.connector_key), _code(_digest(source, binding, subject))
    return [f"{key}-{code[:length]}" for length in range(SHORT_CHARS, len(code) + 1)]


def keep_connection_id(writer: Writing, connection_id: str, source: Source, binding: str, subject: str) -> None:
    writer.run(_KEEP, (connection_id, _digest(source, binding, subject)))


def _digest(source: Source, binding: str, subject: str) -> str:
    named = "\n".join((subject, source.connector_key, source.kind, binding))
    return hashlib.sha256(named.encode()).hexdigest()


def _code(digest: str) -> str:
    number = int(digest, 16)
    letters: list[str] = []
    for _ in range(_CODE_CHARS):
        number, place = divmod(number, len(LETTERS))
        letters.append(LETTERS[place])
    return "".join(letters)


def _readable(connector_key: str) -> str:
    """The key itself where it is plain, as those of a registry are; of an address, what a name can be made of."""
    named = connector_key.lower().rpartition("://")[2]
    return re.sub("[^a-z0-9_]+", "-", named).strip("-_")[:_KEY_CHARS].strip("-_") or "source"

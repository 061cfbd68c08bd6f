"""Grants, the declarations they were given by, and their states."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import orjson

from pdpp_server.grants.issue import everything
from pdpp_server.grants.lifecycle import GrantState
from pdpp_server.model.grants import Grant, StreamGrant
from pdpp_server.model.sources import Declaration
from pdpp_server.store.engine import Reading, Write, Writing
from pdpp_server.store.layout import Layout
from pdpp_server.store.session import Session
from pdpp_server.wire.grants import access_mode, decode_grant, encode_grant

_NEW = """
insert into grants(grant_id, package_id, client_id, document, declaration, issued_at, expires_at)
select :grant_id, :package_id, :client_id, :document, declaration, :issued_at, :expires_at
from declarations where source_id = :source_id and version = :version
"""
_DOCUMENT = "select document, declaration from grants where grant_id = ?"
_ALL = """
select grant_id, expires_at, revoked_at, consumed_at, package_id, successor, called, note
from grants order by issued_at, grant_id
"""
_STATE = "select grant_id, expires_at, revoked_at, consumed_at from grants where grant_id = ?"
_REVOKE = "update grants set revoked_at = :now where grant_id = :grant_id and revoked_at is null"
_REVOKE_CLIENT = "update grants set revoked_at = :now where client_id = :client_id and revoked_at is null"
_REPLACE = """
update grants set revoked_at = :now, successor = :successor
where grant_id = :grant_id and revoked_at is null and (expires_at is null or expires_at > :now)
returning 1
"""
_TAKE_OVER = """
update grants set (called, note, consumed_at) = (
    select called, note, consumed_at from grants old where old.grant_id = :grant_id)
where grant_id = :successor
"""
_MOVE = (
    "update tokens set grant_id = :successor where grant_id = :grant_id",
    "update families set grant_id = :successor where grant_id = :grant_id",
    "update codes set grant_id = :successor where grant_id = :grant_id",
)
_PROLONG = """
update tokens set expires_at = :expires_at where client_id = :client_id and family is null
and (grant_id = :grant_id or package_id = :package_id)
"""
_ALIVE_ENDS = """
select expires_at from grants where (grant_id = :grant_id or package_id = :package_id) and revoked_at is null
"""
_NOTE = "update grants set called = :called, note = :note where grant_id = :grant_id"
_WAS_GIVEN = "select exists(select 1 from grants where client_id = ?)"
_EXISTS = "select 1 from grants where grant_id = ?"
_DOCUMENTS = "select grant_id, document from grants where grant_id = :grant_id or package_id = :package_id"
_CONSUME = "update grants set consumed_at = :now where grant_id = :grant_id and consumed_at is null"
_DECLARATIONS_IN_USE = """
select declaration, connection_id from connections order by declaration, connection
"""
_KEPT = "select declaration from declarations where source_id = ? and version = ?"
_LATEST = """
select d.declaration from connections c join declarations d using(declaration) where d.source_id = ?
order by c.updated_at desc, d.declaration desc limit 1
"""


@dataclass(frozen=True, slots=True)
class GrantRow:
    """`earlier` are the grants whose place it took, newest first; `called` and `note` are the owner's own words."""

    grant: Grant
    state: GrantState
    package_id: str | None
    successor: str | None = None
    called: str | None = None
    note: str | None = None
    earlier: tuple[Grant, ...] = ()

    def word(self, now: str) -> str:
        return "changed" if self.successor else self.state.word(now)

    @property
    def name(self) -> str:
        """What the owner calls whoever holds it, else what that calls itself."""
        return self.called or self.grant.client_name or self.grant.client_id

    @property
    def standing(self) -> str:
        """The id of what was agreed to together: its package, or itself alone."""
        return self.package_id or self.grant.grant_id


class GrantShelf:
    """Grants never change once given, so one decoding of each serves for ever; what is said of their fields may."""

    def __init__(self) -> None:
        self._grants: dict[str, Grant] = {}
        self._described: dict[str, tuple[Layout, Grant]] = {}

    def described(self, reading: Reading, grant_id: str) -> Grant:
        """The grant as its client reads by it: the rights of its snapshot, in the words of now."""
        layout, known = reading.layout, self._described.get(grant_id)
        if known is None or known[0] is not layout:
            known = self._described[grant_id] = layout, described_now(reading, self.get(reading, grant_id))
        return known[1]

    def get(self, reading: Reading | Write, grant_id: str) -> Grant:
        grant = self._grants.get(grant_id)
        if grant is None:
            document, number = reading.one(_DOCUMENT, (grant_id,))
            declaration = reading.layouts.declaration(reading, number)
            grant = self._grants[grant_id] = decode_grant(orjson.loads(document), declaration)
        return grant


def described_now(reading: Reading, grant: Grant) -> Grant:
    """With what the newest declaration among its connections says about the granted fields."""
    return replace(grant, streams=tuple(_described(reading, stream) for stream in grant.streams))


def _described(reading: Reading, granted: StreamGrant) -> StreamGrant:
    held = [reading.layout.connections.get(name) for name in granted.connections]
    numbers = [place.declaration for place in held if place and granted.name in place.declared]
    if not numbers:
        return granted
    newest = reading.layouts.declaration(reading, max(numbers))
    return replace(granted, declared=granted.declared.described_by(newest.streams[granted.name]))


def keep_grant(writer: Writing, grant: Grant, package_id: str | None = None) -> None:
    row = {
        "grant_id": grant.grant_id, "package_id": package_id, "client_id": grant.client_id,
        "document": orjson.dumps(encode_grant(grant)).decode(), "issued_at": grant.issued_at,
        "expires_at": grant.expires_at, "source_id": grant.source.id, "version": grant.declaration_version,
    }  # fmt: skip
    writer.run(_NEW, row)


def list_grants(reading: Reading, shelf: GrantShelf) -> list[GrantRow]:
    found = reading.rows(_ALL)
    before = {row[5]: row[0] for row in found if row[5]}
    return [
        GrantRow(
            shelf.get(reading, row[0]),
            GrantState(*row[:4]),
            *row[4:],
            earlier=tuple(shelf.get(reading, grant_id) for grant_id in _line(before, row[0])),
        )
        for row in found
    ]


def _line(before: Mapping[str, str], grant_id: str) -> Iterator[str]:
    """What stood in its place, the last first."""
    while grant_id in before:
        grant_id = before[grant_id]
        yield grant_id


def replace_grant(writer: Writing, grant_id: str, successor: Grant, package_id: str | None, now: str) -> bool:
    """All that led to the old grant leads to its successor. False where the old one has ended or was changed."""
    moved = {"grant_id": grant_id, "successor": successor.grant_id}
    if writer.one(_REPLACE, {**moved, "now": now}) is None:
        return False
    keep_grant(writer, successor, package_id)
    for statement in (_TAKE_OVER, *_MOVE):
        writer.run(statement, moved)
    return True


def last_end(reader: Session, grant_id: str | None, package_id: str | None) -> str | None:
    """When the last of them that was not revoked ends; None where one has no end."""
    ends = [row[0] for row in reader.rows(_ALIVE_ENDS, {"grant_id": grant_id, "package_id": package_id})]
    return None if None in ends else max(ends, default=None)


def prolong_tokens(
    writer: Writing, client_id: str, grant_id: str | None, package_id: str | None, expires_at: str | None
) -> None:
    """Tokens that are not renewed live as long as what they stand for."""
    row = {"client_id": client_id, "grant_id": grant_id, "package_id": package_id, "expires_at": expires_at}
    writer.run(_PROLONG, row)


def note_grant(writer: Writing, grant_id: str, called: str | None, note: str | None) -> None:
    writer.run(_NOTE, {"grant_id": grant_id, "called": called, "note": note})


def grant_state(reader: Session, grant_id: str) -> GrantState | None:
    row = reader.one(_STATE, (grant_id,))
    return None if row is None else GrantState(*row)


def revoke(writer: Writing, grant_id: str, now: str) -> bool:
    """False where there is no such grant; revoking again changes nothing."""
    writer.run(_REVOKE, {"grant_id": grant_id, "now": now})
    return writer.one(_EXISTS, (grant_id,)) is not None


def revoke_client(writer: Writing, client_id: str, now: str) -> None:
    """Every grant of that client."""
    writer.run(_REVOKE_CLIENT, {"client_id": client_id, "now": now})


def was_given_anything(reader: Session, client_id: str) -> bool:
    """Whether the owner ever let that client read something."""
    return bool(reader.one(_WAS_GIVEN, (client_id,)))


def is_continuous(reader: Session, grant_id: str | None, package_id: str | None) -> bool:
    """Whether the grant, or every grant of the package, may be read for longer than one token lives."""
    return all(mode == "continuous" for _, mode in _access_modes(reader, grant_id, package_id))


def consume(writer: Writing, grant_id: str | None, package_id: str | None, now: str) -> None:
    """A single use is spent with the first token."""
    for single, mode in _access_modes(writer, grant_id, package_id):
        if mode == "single_use":
            writer.run(_CONSUME, {"grant_id": single, "now": now})


def _access_modes(reader: Session, grant_id: str | None, package_id: str | None) -> list[tuple[str, str]]:
    found = reader.rows(_DOCUMENTS, {"grant_id": grant_id, "package_id": package_id})
    return [(each, access_mode(orjson.loads(document))) for each, document in found]


def owners_grants(reading: Reading) -> tuple[Grant, ...]:
    """Everything there is, as the owner may read it: by the declarations of now."""
    held: dict[int, list[str]] = {}
    for number, connection_id in reading.rows(_DECLARATIONS_IN_USE):
        held.setdefault(number, []).append(connection_id)
    return tuple(everything(reading.layouts.declaration(reading, number), tuple(ids)) for number, ids in held.items())


def current_declaration(reading: Reading, source_id: str) -> Declaration | None:
    """What the source's most recently used connection declares."""
    number = reading.one(_LATEST, (source_id,))
    return None if number is None else reading.layouts.declaration(reading, number)


def kept_declaration(reading: Reading, source_id: str, version: str) -> Declaration | None:
    """That version of what the source declares, where this home has it."""
    number = reading.one(_KEPT, (source_id, version))
    return None if number is None else reading.layouts.declaration(reading, number)

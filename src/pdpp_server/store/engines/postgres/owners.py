"""The owners of a PostgreSQL database. The house, number 0, sees their names; what is theirs, only they name."""

from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import Path

from pdpp_server.errors import ServerTrouble
from pdpp_server.model.health import DatabaseHealth
from pdpp_server.model.owners import HOUSE, OwnerRow, OwnerSummary
from pdpp_server.store.consent.families import FAMILY_CHARS
from pdpp_server.store.digests import token_digest
from pdpp_server.store.engines.postgres.aside import Aside
from pdpp_server.store.engines.postgres.db import Limits, PostgresDatabase
from pdpp_server.store.engines.postgres.health import health_of
from pdpp_server.store.engines.postgres.pool import Pools
from pdpp_server.store.engines.postgres.session import PostgresWriting
from pdpp_server.store.keys import WRAPPING_KEY

_NAME_OWNER = "select set_config('pdpp.owner', ?, true)"
_SHOW = "select set_config('pdpp.shown', ?, true)"
_ONE_WRITER = "select pg_advisory_xact_lock(?)"
_EVERY = "select owner, name, created_at from owners where not is_arriving order by name"
_ARRIVING = "select owner, name, created_at from owners where is_arriving order by name"
_FIRST_TWO = "select owner, name, created_at from owners where not is_arriving limit 2"
_NAMED = "select owner, name, created_at from owners where name = ? and not is_arriving"
_NUMBERED = "select owner, name, created_at from owners where owner = ? and not is_arriving"
_ADD = """
insert into owners(owner, name) values(nextval('owner_numbers'), ?)
on conflict do nothing returning owner, name, created_at
"""
_EXPECT = """
insert into owners(owner, name, is_arriving) values(nextval('owner_numbers'), ?, true)
on conflict on constraint owners_name_key do update set is_arriving = true returning owner, name, created_at
"""
_WELCOME = "update owners set is_arriving = false where owner = ?"
_SUMMARY = """
select exists(select 1 from owner_password), (select count(*) from connections),
    (select cast(coalesce(sum(live), 0) as bigint) from streams), (select count(*) from grants where revoked_at is null)
"""
_NO_INVITATION = "delete from invitations"
_INVITE = "insert into invitations(digest, expires_at) values(?, ?)"
_WHOSE = "select owner from ways_in where digest = shown_digest() limit 2"
_TABLES = """
select c.table_name from information_schema.columns c join information_schema.tables t
    on t.table_schema = c.table_schema and t.table_name = c.table_name and t.table_type = 'BASE TABLE'
where c.table_schema = current_schema() and c.column_name = 'owner' order by 1
"""
_WAYS = ("owners", "sessions", "tokens", "codes", "families", "asks", "invitations", "ways_in")
PASSES = 5
_ERASE = "delete from {table} where owner = ?"
_LEFT = "select count(*) from {table} where owner = ?"
_BROUGHT_CLIENT = """
select client_id, document, is_verified, created_at, fresh_until, pinned from clients where client_id = ?
"""
_TAKE_CLIENT = """
insert into clients(client_id, document, is_verified, created_at, fresh_until, pinned) values(?, ?, ?, ?, ?, ?)
on conflict do nothing
"""
_BROUGHT_ASK = """
delete from asks where request_uri = ? or (user_code = ? and decided is null)
returning ask_id, client_id, issuer, redirect_uri, state, code_challenge, resource, request_uri, user_code, device_code,
    polled_at, pause_seconds, decided, expires_at, selections
"""
_TAKE_ASK = """
insert into asks(ask_id, client_id, issuer, redirect_uri, state, code_challenge, resource, request_uri, user_code,
    device_code, polled_at, pause_seconds, decided, expires_at, selections)
values(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_CLIENT_OF_ASK = 1  # its place in a row


class PostgresOwners:
    def __init__(
        self,
        pools: Pools,
        home: Path,
        *,
        read_seconds: float,
        write_seconds: float,
        key_file: Path | None,
        limits: Limits,
    ) -> None:
        self._pools, self._home, self._limits = pools, home, limits
        self._read_seconds, self._write_seconds = read_seconds, write_seconds
        self._key_file = key_file or home / "keys" / WRAPPING_KEY
        try:
            self.database(HOUSE)  # and with it the tables
        except BaseException:
            pools.close()
            raise

    def sole(self) -> OwnerRow | None:
        with self._naming(HOUSE) as house:
            found = house.rows(_FIRST_TWO)
        return OwnerRow(*found[0]) if len(found) == 1 else None

    def named(self, name: str) -> OwnerRow | None:
        return self._one(_NAMED, name)

    def numbered(self, number: int) -> OwnerRow | None:
        return self._one(_NUMBERED, number)

    def every(self) -> list[OwnerRow]:
        with self._naming(HOUSE) as house:
            return [OwnerRow(*row) for row in house.rows(_EVERY)]

    def summary(self, owner: OwnerRow) -> OwnerSummary:
        with self._naming(owner.number) as theirs:
            return OwnerSummary(owner, *theirs.one(_SUMMARY))

    def add(self, name: str) -> OwnerRow | None:
        with self._naming(HOUSE) as house:
            row = house.one(_ADD, (name,))
        return None if row is None else OwnerRow(*row)

    def arriving(self) -> list[OwnerRow]:
        with self._naming(HOUSE) as house:
            return [OwnerRow(*row) for row in house.rows(_ARRIVING)]

    def expect(self, name: str) -> OwnerRow:
        with self._naming(HOUSE) as house:
            return OwnerRow(*house.rows(_EXPECT, (name,))[0])

    def welcome(self, number: int) -> None:
        with self._naming(number) as theirs:
            theirs.run(_WELCOME, (number,))

    def invite(self, number: int, secret: str, expires_at: str) -> None:
        with self._naming(number) as theirs:
            theirs.run(_NO_INVITATION)
            theirs.run(_INVITE, (token_digest(secret), expires_at))

    def remove(self, number: int) -> dict[str, int]:
        """Who they are goes first, and for good: then no server begins anything for them. What one had begun may still
        come in while the rest is erased, so that is looked for again."""
        with self._naming(number) as theirs:
            tables = [name for (name,) in theirs.rows(_TABLES)]
            had = {table: theirs.one(_LEFT.format(table=table), (number,)) for table in tables}
            for table in _WAYS:
                theirs.run(_ERASE.format(table=table), (number,))
        tables.sort(key=lambda name: name == "released_blobs")  # which triggers fill
        with self._naming(number) as theirs:
            theirs.one(_ONE_WRITER, (number,))
            left = tables
            for _ in range(PASSES):
                for table in tables:
                    theirs.run(_ERASE.format(table=table), (number,))
                left = [table for table in tables if theirs.one(_LEFT.format(table=table), (number,))]
                if not left:
                    return had
            what = ", ".join(left)
            raise ServerTrouble(
                f"Something comes back in {what}.", remedy=f"End the servers; delete what is of {number}."
            )

    def whose(self, secrets: Iterable[str]) -> int | None:
        with self._naming(HOUSE) as house:
            for secret in secrets:
                for part in (secret, secret[:FAMILY_CHARS]):
                    house.one(_SHOW, (token_digest(part).hex(),))
                    match house.rows(_WHOSE):
                        case [(number,)]:
                            return number
                        case _:  # nobody's, or two have the same
                            continue
        return None

    def adopt(self, number: int, *, client_id: str, request_uri: str, user_code: str) -> None:
        with self._naming(HOUSE) as both:
            asks = both.rows(_BROUGHT_ASK, (token_digest(request_uri), user_code)) if request_uri or user_code else []
            ids = {client_id, *(ask[_CLIENT_OF_ASK] for ask in asks)} - {""}
            clients = [row for id in sorted(ids) for row in both.rows(_BROUGHT_CLIENT, (id,))]
            both.one(_NAME_OWNER, (str(number),))
            both.run_many(_TAKE_CLIENT, clients)
            both.run_many(_TAKE_ASK, asks)

    def database(self, number: int, *, alone: bool = False) -> PostgresDatabase:
        return PostgresDatabase(
            self._pools,
            self._home if alone else self._home / "owners" / str(number),
            owner=number,
            read_seconds=self._read_seconds,
            write_seconds=self._write_seconds,
            key_file=self._key_file,
            limits=self._limits,
            is_alone=alone,
        )

    def require_keys(self) -> None:
        """One is enough: all are wrapped by the same."""
        for owner in self.every():
            keys = self.database(owner.number).keys
            for name in keys.names():
                keys.find(name)
                return

    def health(self) -> DatabaseHealth:
        with self._naming(HOUSE) as house:
            return health_of(house)

    def close(self) -> None:
        self._pools.close()

    def _one(self, statement: str, value: object) -> OwnerRow | None:
        with self._naming(HOUSE) as house:
            row = house.one(statement, (value,))
        return None if row is None else OwnerRow(*row)

    def _naming(self, number: int) -> AbstractContextManager[PostgresWriting]:
        """One transaction of that owner, or of the house."""
        return Aside(self._pools.work, number).writing()

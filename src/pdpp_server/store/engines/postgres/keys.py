"""Keys in the database, each wrapped by one that is not there."""

import secrets
from collections.abc import Callable

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from pdpp_server.errors import DisclosureLogUnavailable
from pdpp_server.store.engines.postgres.aside import Aside
from pdpp_server.store.session import Session
from pdpp_server.wire.cursors import KEY_BYTES

_FIND = "select wrapped from keys where name = ?"
_NAMES = "select name from keys order by name"
_ADD = "insert into keys(name, wrapped) values(?, ?) on conflict do nothing"
_RENEW = "insert into keys(name, wrapped) values(?, ?) on conflict(name) do update set wrapped = excluded.wrapped"


class PostgresKeys:
    """`wrapping` gives the key of this process, which every process of this server must have."""

    def __init__(self, aside: Aside, owner: int, wrapping: Callable[[], bytes]) -> None:
        self._aside, self._owner, self._wrapping = aside, owner, wrapping
        self._known: dict[str, bytes] = {}

    def kept(self, name: str) -> bytes:
        known = self._known.get(name)
        if known is None:
            known = self._known[name] = self._made_once(name)
        return known

    def find(self, name: str) -> bytes | None:
        if name in self._known:
            return self._known[name]
        with self._aside.writing() as reading:
            return self._unwrapped(reading, name)

    def renew(self, name: str) -> None:
        self.put(name, secrets.token_bytes(KEY_BYTES))

    def names(self) -> list[str]:
        with self._aside.writing() as reading:
            return [name for (name,) in reading.rows(_NAMES)]

    def put(self, name: str, key: bytes) -> None:
        with self._aside.writing() as writing:
            writing.run(_RENEW, (name, self._wrapped(name, key)))
        self._known.pop(name, None)

    def _made_once(self, name: str) -> bytes:
        with self._aside.writing() as writing:
            found = self._unwrapped(writing, name)
            if found is None:
                writing.run(_ADD, (name, self._wrapped(name, secrets.token_bytes(KEY_BYTES))))
                found = self._unwrapped(writing, name)  # or the one that another process added meanwhile
        assert found is not None
        return found

    def _wrapped(self, name: str, key: bytes) -> bytes:
        return self._cipher().encrypt(key, self._context(name))

    def _unwrapped(self, session: Session, name: str) -> bytes | None:
        wrapped: bytes | None = session.one(_FIND, (name,))
        try:
            return None if wrapped is None else self._cipher().decrypt(wrapped, self._context(name))
        except InvalidTag as error:
            raise DisclosureLogUnavailable(
                "The keys in the database were wrapped by another key than this process has, so nothing is read.",
                remedy="PDPP_KEY_FILE must name the same key for every process of this server.",
            ) from error

    def _cipher(self) -> AESSIV:
        try:
            return AESSIV(self._wrapping())
        except ValueError as error:
            raise DisclosureLogUnavailable(
                "The file with the key that wraps the others holds none, so nothing is read: a key has 64 bytes.",
                remedy="PDPP_KEY_FILE must name the file that was made at the first start; put it back from your copy.",
            ) from error

    def _context(self, name: str) -> list[bytes]:
        """A wrapped key is worth nothing to another owner, or under another name."""
        return [str(self._owner).encode(), name.encode()]

"""Passwords of live sources: in the system's keyring where there is one, else sealed in the home with its key.

They are always sealed in a database, which other machines read too.
"""

from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from pdpp_server.errors import NotFound
from pdpp_server.store.keys import Keys

SERVICE = "pdpp-server"
KEY = "sources.key"


class Secrets:
    """Those of one home. None is ever an argument of a program, a line of a log or a part of an export."""

    def __init__(self, keys: Keys, home: str, *, is_shared: bool = False) -> None:
        self._keys, self._home, self._is_shared = keys, home, is_shared

    def keep(self, name: str, secret: str) -> bytes | None:
        """What the home must keep of it; None where the keyring has it. One that is locked has nothing."""
        found = None if self._is_shared else _keyring()
        if found is not None:
            with suppress(*found.troubles):
                found.keyring.set_password(SERVICE, self._called(name), secret)
                return None
        return self._siv().encrypt(secret.encode(), [name.encode()])

    def open(self, name: str, sealed: bytes | None) -> str:
        """Raises: NotFound."""
        told = self._in_keyring(name) if sealed is None else self._unsealed(name, sealed)
        if told is None:
            raise NotFound(
                f"The password of {name!r} is not there any more.", remedy="Stop the source, and add it again."
            )
        return told

    def _unsealed(self, name: str, sealed: bytes) -> str | None:
        try:
            return self._siv().decrypt(sealed, [name.encode()]).decode()
        except InvalidTag:
            return None

    def _in_keyring(self, name: str) -> str | None:
        """A timer or a service has often none, though it was there when the source was added."""
        found = _keyring()
        if found is None:
            raise NotFound(
                f"The password of {name!r} is in the keyring of this system, which cannot be reached from here.",
                remedy="Run it where you added the source; or stop the source, and add it again from here.",
            )
        try:
            return found.keyring.get_password(SERVICE, self._called(name))
        except found.troubles as trouble:
            raise NotFound(
                f"The password of {name!r} is in the keyring of this system, which does not give it "
                f"({type(trouble).__name__}).",
                remedy="Unlock the keyring; or stop the source, and add it again.",
            ) from trouble

    def forget(self, name: str) -> None:
        """A keyring that cannot be opened keeps it, and nobody asks for it again."""
        found = _keyring()
        if found is not None:
            with suppress(*found.troubles):
                if found.keyring.get_password(SERVICE, self._called(name)) is not None:
                    found.keyring.delete_password(SERVICE, self._called(name))

    def _called(self, name: str) -> str:
        return f"{self._home}: {name}"

    def _siv(self) -> AESSIV:
        return AESSIV(self._keys.kept(KEY))


class FoundKeyring(NamedTuple):
    keyring: Any  # the package of that name
    troubles: tuple[type[Exception], ...]  # of a keyring that is locked, or of the way to it


def _keyring() -> FoundKeyring | None:
    """Where the package is installed and finds a keyring that works; most servers have none."""
    if find_spec("keyring") is None:
        return None
    keyring = import_module("keyring")
    troubles = (import_module("keyring.errors").KeyringError, OSError, RuntimeError)
    return FoundKeyring(keyring, troubles) if getattr(keyring.get_keyring(), "priority", 0) > 0 else None

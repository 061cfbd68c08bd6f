"""Passwords of live sources: in the system's keyring where there is one, else sealed in the home with its key.

They are always sealed in a database, which other machines read too.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

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
        """What the home must keep of it; None where the keyring has it."""
        keyring = None if self._is_shared else _keyring()
        if keyring is not None:
            keyring.set_password(SERVICE, self._called(name), secret)
            return None
        return self._siv().encrypt(secret.encode(), [name.encode()])

    def open(self, name: str, sealed: bytes | None) -> str:
        """Raises: NotFound."""
        keyring = _keyring() if sealed is None else None
        told = keyring.get_password(SERVICE, self._called(name)) if keyring is not None else None
        if sealed is not None:
            try:
                return self._siv().decrypt(sealed, [name.encode()]).decode()
            except InvalidTag:
                told = None
        if told is None:
            raise NotFound(
                f"The password of {name!r} is not there any more.", remedy="Stop the source, and add it again."
            )
        return told

    def forget(self, name: str) -> None:
        keyring = _keyring()
        if keyring is not None and keyring.get_password(SERVICE, self._called(name)) is not None:
            keyring.delete_password(SERVICE, self._called(name))

    def _called(self, name: str) -> str:
        return f"{self._home}: {name}"

    def _siv(self) -> AESSIV:
        return AESSIV(self._keys.kept(KEY))


def _keyring() -> Any:
    """The package of that name, if it is installed and finds a keyring that works; most servers have none."""
    if find_spec("keyring") is None:
        return None
    keyring = import_module("keyring")
    return keyring if getattr(keyring.get_keyring(), "priority", 0) > 0 else None

"""The owner at the door of the pages: a password, set once with a code or from the terminal, and sessions by it."""

import hmac
import secrets
from datetime import timedelta
from functools import cached_property
from hmac import compare_digest
from os import urandom
from threading import Lock
from unicodedata import normalize

from cryptography.exceptions import InvalidKey
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

from pdpp_server.errors import InvalidRequest, PermissionDenied, Unauthenticated
from pdpp_server.http.limiter import EverSlower, Limiter
from pdpp_server.http.visitors import visitor
from pdpp_server.model.times import iso
from pdpp_server.reads.services import CURSOR_KEY, Services
from pdpp_server.store.consent import owner as store

PASSWORD_CHARS_MIN, PASSWORD_CHARS_MAX = 10, 1000
IDLE, LONGEST = timedelta(hours=12), timedelta(days=14)
TOUCHED_EVERY = timedelta(minutes=5)  # so that not every page is a write
# RFC 9106, second recommendation.
ITERATIONS, LANES, MEMORY_KIB, HASH_BYTES, SALT_BYTES = 3, 4, 64 * 1024, 32, 16
# Wrong guesses of one address, and of all that never guessed right: together they wait less, since nobody may lock the
# owner out.
GUESSES, GUESSES_OF_STRANGERS = EverSlower(free=5, longest_seconds=900), EverSlower(free=25, longest_seconds=30)
SETUP_GROUPS = 2
_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # none that looks like another
_WRONG = "That is not the password."
_RESET = "`pdpp owner password` in a terminal of this machine sets a new one."
_FORGOTTEN = "Forgotten it? `pdpp owner password` in a terminal of this machine sets a new one, and ends the wait."


def generated_secret(groups: int) -> str:
    """Groups of four letters and digits, easy to type: about 5 bits for each."""
    return "-".join("".join(secrets.choice(_LETTERS) for _ in range(4)) for _ in range(groups))


class SignIn:
    """Nothing of the pages is open without it, on this machine neither."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._guesses = Limiter(
            GUESSES, services.now, strangers=GUESSES_OF_STRANGERS, ledger=services.ledger("guesses")
        )
        self._one_at_a_time = Lock()  # each look at a password takes 64 MiB

    @cached_property
    def _nobodys(self) -> str:
        """A password that nobody knows: whether there is one must not show in how long a look at it takes."""
        return self._hashed(secrets.token_urlsafe(32))

    # the password

    @cached_property
    def _setup_code(self) -> str:
        """The same in every process that serves the same."""
        key = self._services.database.keys.kept(CURSOR_KEY)
        made = hmac.digest(key, b"setup code", "sha256")
        letters = "".join(_LETTERS[byte % len(_LETTERS)] for byte in made[: SETUP_GROUPS * 4])
        groups = [letters[start : start + 4] for start in range(0, len(letters), 4)]
        return "-".join(groups)

    @property
    def has_password(self) -> bool:
        return self._password() is not None

    @property
    def setup_code(self) -> str | None:
        """What the first password asks for, printed where the server was started; None once there is a password."""
        return None if self.has_password else self._setup_code

    def set_password(self, password: str) -> None:
        """Every session ends. For whoever owns the home already.

        Raises:
            InvalidRequest: it is too short to be one.
        """
        phc = self._hashed(password)
        with self._services.database.writing() as writer:
            store.set_password(writer, phc, self._now())

    def set_first_password(self, code: str, password: str, address: str) -> str:
        """The first password, by whoever can read the terminal of the server; the secret of a session.

        Raises:
            PermissionDenied: there is a password already, or the code is another.
            RateLimited: too many wrong codes.
        """
        address = visitor(address)
        self._guesses.require(address)
        if self.has_password:
            raise _is_set()
        if not compare_digest(code.strip().lower().encode(), self._setup_code.encode()):
            self._guesses.spend(address)
            raise PermissionDenied(
                "That is not the setup code.", remedy="`pdpp serve` printed it when it was started last."
            )
        phc = self._hashed(password)
        with self._services.database.writing() as writer:
            if not store.set_first_password(writer, phc, self._now()):
                raise _is_set()  # by somebody who came in between
        return self._begin()

    def is_invited(self, secret: str) -> bool:
        with self._services.database.reading() as reading:
            return store.is_invitation(reading, secret, self._now())

    def set_invited_password(self, secret: str, password: str) -> str:
        """The password of whoever was given the link, the first or a new one; the secret of a session.

        Raises:
            PermissionDenied: the link was used, or is too old.
        """
        phc = self._hashed(password)
        with self._services.database.writing() as writer:
            if not store.take_invitation(writer, secret, self._now()):
                raise not_invited()
            store.set_password(writer, phc, self._now())
        return self._begin()

    # sessions

    def sign_in(self, password: str, address: str) -> str:
        """The secret of a new session, for a cookie.

        Raises:
            Unauthenticated: the password is another, or none is set.
            RateLimited: too many wrong ones.
        """
        address, phc = visitor(address), self._password()
        self._guesses.aim_at(phc or "")  # guesses at an old password say nothing about the new one
        self._guesses.require(address, remedy=_FORGOTTEN)
        if not self._is_password(password, phc or self._nobodys) or phc is None:
            self._guesses.spend(address)
            raise Unauthenticated(_WRONG, remedy=_RESET)
        self._guesses.forgive(address)
        self._guesses.know(address)
        return self._begin()

    def is_signed_in(self, secret: str | None) -> bool:
        if not secret:
            return False
        with self._services.database.reading() as reading:
            seen = store.session_seen(reading, secret, **self._bounds())
        if seen is None:
            return False
        if seen < iso(self._services.now() - TOUCHED_EVERY):
            with self._services.database.writing() as writer:
                store.touch_session(writer, secret, self._now())
        return True

    def sign_out(self, secret: str) -> None:
        with self._services.database.writing() as writer:
            store.end_session(writer, secret)

    def _begin(self) -> str:
        secret = secrets.token_urlsafe(32)
        with self._services.database.writing() as writer:
            store.begin_session(writer, secret, self._now(), **self._bounds())
        return secret

    def _bounds(self) -> dict[str, str]:
        now = self._services.now()
        return {"oldest": iso(now - LONGEST), "idle": iso(now - IDLE)}

    def _now(self) -> str:
        return iso(self._services.now())

    def _password(self) -> str | None:
        with self._services.database.reading() as reading:
            return store.password(reading)

    def _hashed(self, password: str) -> str:
        if not PASSWORD_CHARS_MIN <= len(password) <= PASSWORD_CHARS_MAX:
            raise InvalidRequest(f"A password has at least {PASSWORD_CHARS_MIN} characters.", param="password")
        with self._one_at_a_time:
            derived = Argon2id(
                salt=urandom(SALT_BYTES),
                length=HASH_BYTES,
                iterations=ITERATIONS,
                lanes=LANES,
                memory_cost=MEMORY_KIB,
            )
            return derived.derive_phc_encoded(_bytes(password))

    def _is_password(self, password: str, phc: str) -> bool:
        if len(password) > PASSWORD_CHARS_MAX:
            return False
        with self._one_at_a_time:
            try:
                Argon2id.verify_phc_encoded(_bytes(password), phc)
            except InvalidKey:
                return False
            return True


class HouseSignIn(SignIn):
    """The door of a house with many owners: nobody lives there, so no password is right and none can be set."""

    @property
    def has_password(self) -> bool:
        return True

    def set_password(self, password: str) -> None:
        raise _is_set()

    def is_invited(self, secret: str) -> bool:
        return False

    def set_invited_password(self, secret: str, password: str) -> str:
        raise not_invited()


def not_invited() -> PermissionDenied:
    return PermissionDenied(
        "This link was used already, or it is too old.", remedy="Ask whoever runs this server for a new one."
    )


def _is_set() -> PermissionDenied:
    return PermissionDenied("A password is set already.", remedy="Sign in with it.")


def _bytes(password: str) -> bytes:
    """The same for the same letters, however a keyboard composes them."""
    return normalize("NFKC", password).encode("utf-8", "surrogatepass")

"""The credentials that `pdpp connect` and `pdpp grants create --save` kept; owner tokens are refused here."""

# `pdpp mcp` reads its token before anything else is loaded, and pathlib is dear to import.
# ruff: noqa: PTH101, PTH103, PTH105, PTH108, PTH123, PTH208

from __future__ import annotations

import json
import os
import re

TYPE_CHECKING = False  # `typing` alone would double the start-up time
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import Any, TypeGuard

OWNER_REFUSED, UNUSABLE = 77, 78
OWNER_VARIABLES = ("PDPP_OWNER_TOKEN", "PDPP_OWNER_SESSION_COOKIE")
SCOPED_KINDS = ("client", "mcp_package")
TOKEN_VARIABLE = "PDPP_ACCESS_TOKEN"
REMEDY = "Run `pdpp connect CLIENT`, or `pdpp grants create --selection FILE --client NAME --save`."
ELSEWHERE = f"Run `pdpp connect URL`, or put a client's token of that server into {TOKEN_VARIABLE}."
NAME_RULE = (
    "A client's name has 1 to 64 letters, digits, dots, dashes or underscores, and no dot first; such as my-agent."
)

NAME = r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}"
UTC = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"


class CredentialError(Exception):
    """No token that may be used here; `exit_code` is what a command ends with."""

    def __init__(self, exit_code: int, code: str, message: str) -> None:
        super().__init__(message)
        self.exit_code = exit_code
        self.code = code


class Credential:
    """A token, when it ends, and the client whose file can be renewed; None where nothing can."""

    __slots__ = ("client", "expires_at", "token")

    def __init__(self, token: str, expires_at: str | None = None, client: str | None = None) -> None:
        self.token, self.expires_at, self.client = token, expires_at, client

    def has_ended(self, now: str) -> bool:
        """`now` as in the files, or a little later, so that it does not end on its way."""
        return self.expires_at is not None and self.expires_at[:19] <= now[:19]


def refuse_owner_environment(environ: Mapping[str, str]) -> None:
    """An agent's process must not hold what could read everything, even if it would not use it."""
    for name in OWNER_VARIABLES:
        if name in environ:
            raise CredentialError(
                OWNER_REFUSED, "owner_token_refused", f"{name} is set; agents never get owner credentials. Unset it."
            )


def refuse_kind(kind: str | None) -> None:
    """`kind` is what the server says of the token, never what a file calls it."""
    if kind == "owner":
        message = "The token is an owner token; agents never get owner credentials."
        raise CredentialError(OWNER_REFUSED, "owner_token_refused", f"{message} {REMEDY}")
    if kind not in SCOPED_KINDS:
        raise CredentialError(UNUSABLE, "credential_invalid", f"The token is not one for reading here. {REMEDY}")


def find_credential(
    home: str, environ: Mapping[str, str], client: str | None, *, now: str, provider: str | None = None
) -> Credential:
    """The named client's, else that of the environment, else the only saved one; `now` as in the files.

    A saved token is shown to no other server than the one that it was saved for.
    """
    if client is None and environ.get(TOKEN_VARIABLE):
        return Credential(environ[TOKEN_VARIABLE])
    if client is None:
        client = _only_client(home, provider)
    elif provider and not is_for(home, client, provider):
        raise CredentialError(
            UNUSABLE, "not_connected", f"Client {client!r} is not connected to that server. {ELSEWHERE}"
        )
    if provider is None:
        _require_here(home, client)
    return read_credential(home, client, now=now)


def is_for(home: str, client: str, provider: str) -> bool:
    """Whether that client's token was saved for the server at that address; reading it says what else is wrong."""
    from pdpp_server.wire.address import is_same  # noqa: PLC0415 - only another server needs it, and it is dear here

    try:
        document = read_document(home, client)
    except CredentialError:
        return True
    match document:
        case {"resource": str(url)} | {"provider_url": str(url)}:
            return is_same(provider, url)
        case _:
            return False


def is_client_name(name: str) -> bool:
    """Whether a file can be called so: each name has a file of its own, in the folder, in sight."""
    return re.fullmatch(NAME, name) is not None


def client_names(home: str) -> list[str]:
    """The saved clients, in order."""
    try:
        entries = os.listdir(_folder(home))
    except OSError:
        return []
    return sorted(name[:-5] for name in entries if name.endswith(".json") and not name.startswith("."))


def read_document(home: str, client: str) -> Any:
    """The client's file, as it stands. Raises: CredentialError."""
    try:
        with open(_path(home, client), "rb") as file:
            return json.loads(file.read())
    except FileNotFoundError:
        saved_names = ", ".join(client_names(home)) or "none"
        raise CredentialError(
            UNUSABLE, "not_connected", f"No client {client!r} is connected (connected: {saved_names}). {REMEDY}"
        ) from None
    except (OSError, ValueError):
        raise _unusable(client, "cannot be read") from None


def _is_time(text: object) -> TypeGuard[str]:
    return isinstance(text, str) and re.fullmatch(UTC, text, re.ASCII) is not None


def read_credential(home: str, client: str, *, now: str) -> Credential:
    """One that has ended is given only if it can be renewed. Raises: CredentialError."""
    token, expires, refresh = _credential(read_document(home, client))
    if not isinstance(token, str) or not token:
        raise _unusable(client, "holds no token")
    if expires is not None and not _is_time(expires):
        raise _unusable(client, "says no readable time for its end")
    can_be_renewed = isinstance(refresh, str) and refresh != ""
    found = Credential(token, expires, client if can_be_renewed else None)
    if not can_be_renewed and found.has_ended(now):
        message = f"The credential of client {client!r} expired at {expires}. {REMEDY}"
        raise CredentialError(UNUSABLE, "credential_expired", message)
    return found


def save(home: str, client: str, document: Mapping[str, Any]) -> str:
    """Replaces the client's file in one step and returns its path; nobody but its owner can read it.

    Raises: CredentialError where no file can be called so.
    """
    path = _path(home, client)
    os.makedirs(_folder(home), mode=0o700, exist_ok=True)
    os.chmod(_folder(home), 0o700)
    draft = f"{_folder(home)}/.{os.urandom(8).hex()}.new"
    try:
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(json.dumps(document, indent=1).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except BaseException:
        os.unlink(draft)
        raise
    return path


def move_end(home: str, grant_ids: Collection[str], expires_at: str | None) -> None:
    """The owner moved the end of these grants or packages: saved tokens of them that are not renewed live as long."""
    for client in client_names(home):
        match read_document(home, client):
            case {"credential": {"grant_id": str(grant_id), **others}, **rest} if (
                grant_id in grant_ids and "refresh_token" not in others
            ):
                moved = {**others, "grant_id": grant_id, "expires_at": expires_at}
                save(home, client, {**rest, "credential": moved})
            case _:
                pass


def remove(home: str, client: str) -> bool:
    """Whether there was one."""
    try:
        os.unlink(_path(home, client))
    except FileNotFoundError:
        return False
    return True


def _credential(document: Any) -> tuple[object, object, object]:
    """Token, end and refresh token, as found; nothing where the document has another shape."""
    match document:
        case {"credential": {"access_token": token, **others}}:
            return token, others.get("expires_at"), others.get("refresh_token")
        case _:
            return None, None, None


def _only_client(home: str, provider: str | None) -> str:
    match [name for name in client_names(home) if provider is None or is_for(home, name, provider)]:
        case [name]:
            return name
        case [] if provider:
            raise CredentialError(UNUSABLE, "not_connected", f"No client is connected to that server. {ELSEWHERE}")
        case []:
            raise CredentialError(UNUSABLE, "not_connected", f"No client is connected. {REMEDY}")
        case names:
            message = f"Several clients are connected; name one with --client: {', '.join(names)}."
            raise CredentialError(UNUSABLE, "not_connected", message)


def _require_here(home: str, client: str) -> None:
    match read_document(home, client):
        case {"token_endpoint": str(), "provider_url": str(url)}:
            message = f"Client {client!r} is connected to another server. Add --provider-url {url}"
            raise CredentialError(UNUSABLE, "not_connected", message)
        case _:
            pass


def _path(home: str, client: str) -> str:
    if not is_client_name(client):
        raise CredentialError(UNUSABLE, "not_connected", f"No client can be called {client!r}. {NAME_RULE}")
    return f"{_folder(home)}/{client}.json"


def _folder(home: str) -> str:
    return f"{home}/clients"


def _unusable(client: str, why: str) -> CredentialError:
    return CredentialError(UNUSABLE, "credential_invalid", f"The credential of client {client!r} {why}. {REMEDY}")

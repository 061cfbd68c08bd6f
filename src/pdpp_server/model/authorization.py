"""Authorization: who asks, what waits for the owner's decision, and what was decided."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from pdpp_server.model.catalogue import Holding
from pdpp_server.model.grants import Grant
from pdpp_server.model.selections import Selection
from pdpp_server.model.sources import Declaration, Source


@dataclass(frozen=True, slots=True)
class Client:
    """An OAuth client. It is verified where its id is an address that it serves itself."""

    client_id: str
    name: str | None
    redirect_uris: tuple[str, ...]
    grant_types: tuple[str, ...]
    is_verified: bool
    uris: Mapping[str, str]  # client_uri, logo_uri, policy_uri, tos_uri, as the client gave them


@dataclass(frozen=True, slots=True)
class Ask:
    """What a client asks of the owner, waiting for a decision. Without selections the owner picks the sources."""

    ask_id: str  # in the address of the consent page; unguessable
    client: Client
    selections: tuple[Selection, ...]
    resource: str | None  # the address that the token will be for
    expires_at: str
    redirect_uri: str | None = None  # None where a device or a terminal polls for the answer
    state: str | None = None
    code_challenge: str | None = None
    user_code: str | None = None
    issuer: str = ""  # the address of ours that was asked: the client compares it with the one it knows


@dataclass(frozen=True, slots=True)
class Decision:
    """What the owner agreed to: one selection for each source, never wider than what was asked, and an end."""

    selections: tuple[Selection, ...]
    expires_at: str | None
    ai_training: bool = False  # affirmed by itself, where a purpose asks for it
    ends: Mapping[int, str] = field(default_factory=dict[int, str])  # by place, of selections with an end of their own


@dataclass(frozen=True, slots=True)
class Review:
    """The grants exactly as approval would make them; `revision` binds an approval to what was shown."""

    ask: Ask
    grants: tuple[Grant, ...]
    revision: str


@dataclass(frozen=True, slots=True)
class Offer:
    """A source that the owner can choose from, and what each of its connections holds of each stream."""

    declaration: Declaration
    holdings: Mapping[str, tuple[Holding, ...]]  # by stream


@dataclass(frozen=True, slots=True)
class Glimpse:
    """What a client would see of one stream: how much, and the first few records by their titles."""

    source: Source
    stream: str
    records: int
    titles: tuple[str, ...]


class ClientDocument(NamedTuple):
    """What a client's own address answered, and for how long it says that this holds."""

    body: bytes
    fresh_seconds: int | None


class IssuedTokens(NamedTuple):
    """What the token endpoint gives: both tokens are shown here and never again."""

    access_token: str
    expires_seconds: int
    refresh_token: str | None
    grants: tuple[Grant, ...]
    package_id: str | None
    scope: str | None = None  # where a client asked for less than it could have


class DeviceCode(NamedTuple):
    """What a device needs: the code with which it polls, and the one that it shows."""

    device_code: str
    user_code: str
    expires_seconds: int
    pause_seconds: int

"""Grants: what the owner agreed to, frozen at the moment of consent."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from pdpp_server.model.sources import Origin, Source
from pdpp_server.model.streams import Stream
from pdpp_server.model.times import instant

TokenKind = Literal["owner", "client", "mcp_package"]
SUBJECT = "owner_local"  # the one person whose data it is


@dataclass(frozen=True)
class TimeConstraint:
    """`since` <= value of `field` < `until`; a record without such a value is hidden."""

    field: str
    since: str | None = None
    until: str | None = None

    @cached_property
    def bounds(self) -> tuple[int | None, int | None]:
        """Both ends as instants."""
        return instant(self.since), instant(self.until)


@dataclass(frozen=True, slots=True)
class StreamGrant:
    declared: Stream  # as it was declared when the owner consented
    connections: tuple[str, ...]
    fields: frozenset[str]
    time: TimeConstraint | None = None
    resources: frozenset[str] | None = None

    @property
    def name(self) -> str:
        return self.declared.name


@dataclass(frozen=True, slots=True)
class Grant:
    grant_id: str
    issued_at: str
    subject: str
    client_id: str
    client_name: str | None
    source: Source
    declaration_version: str
    purpose_code: str
    purpose_description: str | None
    access_mode: str
    streams: tuple[StreamGrant, ...]
    expires_at: str | None = None


@dataclass(frozen=True)  # no slots: what is derived of it is kept with it, for as long as it is
class Holder:
    """Whoever asks: the owner (who holds everything), a client with one grant, or a package of several."""

    kind: TokenKind
    client_id: str | None
    grants: tuple[Grant, ...]
    origins: Mapping[str, Origin]  # by connection id
    package_id: str | None = None
    found: dict[tuple[str | None, ...], Any] = field(default_factory=dict, init=False, compare=False, repr=False)
    # what `grants.permit` found of it before, by what was asked for; only what is granted, so that nobody fills it

    @cached_property
    def by_stream(self) -> Mapping[str, list[tuple[str, StreamGrant]]]:
        """What is granted of each stream, with the id of the grant that says so."""
        named: dict[str, list[tuple[str, StreamGrant]]] = {}
        for grant in self.grants:
            for granted in grant.streams:
                named.setdefault(granted.name, []).append((grant.grant_id, granted))
        return named

    @property
    def grant_ids(self) -> tuple[str, ...]:
        return tuple(grant.grant_id for grant in self.grants)

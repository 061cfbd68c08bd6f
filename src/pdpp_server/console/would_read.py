"""What a client would see under a grant if it asked now: the publisher's words, and what is really there."""

from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from pdpp_server.console.clients import StreamGranted, labels, service_of, stream_shown
from pdpp_server.console.desks import Desks
from pdpp_server.model.authorization import Glimpse, Offer
from pdpp_server.model.grants import Grant, StreamGrant
from pdpp_server.wire.declarations import is_sensitive


class StreamAsked(NamedTuple):
    """A stream as the client would see it: the publisher's words, and what is really there."""

    shown: StreamGranted
    described: list[tuple[str, str]]
    records: int
    titles: tuple[str, ...]
    left_out: list[str]  # fields


class GrantRead(NamedTuple):
    source: str
    publisher: str
    is_sensitive: bool
    streams: list[StreamAsked]
    left_out: list[str]  # streams that are there, by their labels
    until: str | None


def grants_read(desks: Desks, grants: tuple[Grant, ...]) -> list[GrantRead]:
    """By the ordinary reads, which the log names the owner's preview. A source that was removed shows nothing."""
    named = labels(desks)
    offers = {
        offer.declaration.source.id: offer for offer in desks.consent.offers_of(each.source.id for each in grants)
    }
    return [_grant_read(desks, grant, offers.get(grant.source.id), named) for grant in grants]


def _grant_read(desks: Desks, grant: Grant, offer: Offer | None, named: Mapping[str, str]) -> GrantRead:
    if offer is None:
        return GrantRead(service_of(grant, {}), "", is_sensitive=False, streams=[], left_out=[], until=grant.expires_at)
    declaration = offer.declaration
    return GrantRead(
        declaration.name,
        urlsplit(declaration.publisher).hostname or declaration.publisher,
        is_sensitive(declaration),
        _streams_read(desks, grant, named),
        _streams_left(offer, grant),
        grant.expires_at,
    )


def is_telling(marks: list[bool]) -> bool:
    """A mark that everything has says nothing."""
    return 0 < sum(marks) <= len(marks) / 2


def _streams_read(desks: Desks, grant: Grant, named: Mapping[str, str]) -> list[StreamAsked]:
    """Each grant is looked through by itself: two of one source may give more and less of the same stream."""
    glimpses = {glimpse.stream: glimpse for glimpse in desks.consent.preview((grant,))}
    nothing = Glimpse(grant.source, "", 0, ())
    return [_read(stream, glimpses.get(stream.name, nothing), named) for stream in grant.streams]


def _streams_left(offer: Offer, grant: Grant) -> list[str]:
    """What these connections hold as well, and what would stay closed."""
    given = {stream.name for stream in grant.streams}
    connections = {each for stream in grant.streams for each in stream.connections}
    return [
        offer.declaration.streams[name].label or name
        for name, held in offer.holdings.items()
        if name not in given and any(each.origin.connection_id in connections and each.records for each in held)
    ]


def _read(stream: StreamGrant, glimpse: Glimpse, named: Mapping[str, str]) -> StreamAsked:
    shown, declared = stream_shown(stream, named), stream.declared
    described = [(name, declared.fields[name].description or "") for name in shown.fields]
    left_out = [name.replace("_", " ") for name in declared.fields if name not in stream.fields]
    return StreamAsked(shown, described, glimpse.records, glimpse.titles, left_out)

"""The sources that the owner picks, where a client left that choice open."""

from collections.abc import Iterator
from typing import NamedTuple

from pdpp_server.console.choice import named_place
from pdpp_server.console.visit import Visit
from pdpp_server.model.authorization import Decision, Offer
from pdpp_server.model.selections import Selection, StreamSelection

AGENT_PURPOSE = "https://pdpp.dev/purpose/agent_context"


class Pick(NamedTuple):
    """A stream of one connection; source and stream by their places among the offers."""

    source: int
    stream: int
    connection_id: str

    @property
    def value(self) -> str:
        return f"{self.source}.{self.stream}:{self.connection_id}"


def picks_of_form(visit: Visit, offers: tuple[Offer, ...]) -> tuple[Pick, ...]:
    """Streams that were ticked; of a connection that was ticked alone, everything."""
    wanted = [named_place(value) for value in visit.values("pick")]
    ticked = {Pick(place[0], place[1], connection) for place, connection in wanted if len(place) == 2}
    narrowed = {(pick.source, pick.connection_id) for pick in ticked}
    whole = {(place[0], connection) for place, connection in wanted if len(place) == 1} - narrowed
    return tuple(pick for pick in _possible(offers) if pick in ticked or (pick.source, pick.connection_id) in whole)


def picks_of(decision: Decision, offers: tuple[Offer, ...]) -> tuple[Pick, ...]:
    """What was picked for that decision, as far as it is still there."""
    chosen = {
        (selection.source_id, stream.name, connection)
        for selection in decision.selections
        for stream in selection.streams
        for connection in stream.connections or ()
    }
    return tuple(
        pick
        for pick in _possible(offers)
        if (_source_id(offers, pick), _stream_name(offers, pick), pick.connection_id) in chosen
    )


def picked(picks: tuple[Pick, ...], offers: tuple[Offer, ...]) -> tuple[Selection, ...]:
    """One selection for each source of which something was picked."""
    return tuple(
        Selection(
            source_id=offer.declaration.source.id,
            source_kind=offer.declaration.source.kind,
            purpose_code=AGENT_PURPOSE,
            purpose_description=None,
            access_mode="continuous",
            streams=streams,
        )
        for source, offer in enumerate(offers)
        if (streams := tuple(_streams([pick for pick in picks if pick.source == source], offer)))
    )


def _streams(picks: list[Pick], offer: Offer) -> Iterator[StreamSelection]:
    for place, name in enumerate(offer.holdings):
        if connections := tuple(pick.connection_id for pick in picks if pick.stream == place):
            yield StreamSelection(name, connections=connections)


def _possible(offers: tuple[Offer, ...]) -> Iterator[Pick]:
    for source, offer in enumerate(offers):
        for stream, holdings in enumerate(offer.holdings.values()):
            for holding in holdings:
                yield Pick(source, stream, holding.origin.connection_id)


def _source_id(offers: tuple[Offer, ...], pick: Pick) -> str:
    return offers[pick.source].declaration.source.id


def _stream_name(offers: tuple[Offer, ...], pick: Pick) -> str:
    return [*offers[pick.source].holdings][pick.stream]

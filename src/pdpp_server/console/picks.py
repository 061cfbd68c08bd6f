"""The sources that the owner picks, where a client left that choice open: a preset of each, some streams, or all."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from pdpp_server.console.choice import named_place
from pdpp_server.console.visit import Visit
from pdpp_server.errors import InvalidRequest
from pdpp_server.evidence.said import say
from pdpp_server.model.authorization import Decision, Offer
from pdpp_server.model.selections import Selection, StreamSelection, TimeRange
from pdpp_server.model.times import instant
from pdpp_server.wire.declarations import Preset, presets_of

AGENT_PURPOSE = "https://pdpp.dev/purpose/agent_context"
GROUP = "pick."  # the radio buttons of a card are named after its place
_DAY_CHARS = len("20260131")


@dataclass(frozen=True, slots=True)
class Pick:
    """A stream of one connection; source, stream and preset by their places, 0 for no preset; days as digits."""

    source: int
    stream: int
    connection_id: str
    preset: int = 0
    since: str = ""
    before: str = ""

    @property
    def value(self) -> str:
        numbers = (self.source, self.stream, self.preset, self.since or "0", self.before or "0")
        return f"{'.'.join(map(str, numbers))}:{self.connection_id}"


class OfferCard(NamedTuple):
    """A connection among the offers."""

    source: int
    connection_id: str


def cards_of(offers: tuple[Offer, ...]) -> list[OfferCard]:
    return list(dict.fromkeys(OfferCard(pick.source, pick.connection_id) for pick in _possible(offers)))


def picks_of_form(visit: Visit, offers: tuple[Offer, ...]) -> tuple[Pick, ...]:
    """What each card says, with its dates; streams that were ticked alone; and what an earlier form had picked."""
    chosen = [value for name, value in visit.form if value and (name == "pick" or name.startswith(GROUP))]
    found = [pick for value in chosen for pick in _picks(value, offers)]
    ticked = {(pick.source, pick.connection_id) for value, pick in _ticked(chosen, offers) if value}
    whole = [pick for pick in found if (pick.source, pick.connection_id) not in ticked]
    picks = [*whole, *(pick for _, pick in _ticked(chosen, offers))]
    return tuple(dict.fromkeys(_dated(visit, offers, pick) for pick in _alike(visit, picks, offers)))


def _picks(value: str, offers: tuple[Offer, ...]) -> Iterator[Pick]:
    """`1:id` is everything of a connection, `1~2:id` its second preset, `1.0.2.20260101.0:id` what was reviewed."""
    place, _, connection = value.partition(":")
    source, _, preset = place.partition("~")
    numbers, _ = named_place(f"{source}:")
    number = named_place(f"{preset}:")[0][0] if preset else 0
    if len(numbers) == 1:
        yield from (
            Pick(pick.source, pick.stream, pick.connection_id, number)
            for pick in _possible(offers)
            if (pick.source, pick.connection_id) == (numbers[0], connection) and _is_in(offers, pick, number)
        )
    elif len(numbers) == 5:
        pick = Pick(numbers[0], numbers[1], connection, numbers[2], *(_digits(each) for each in numbers[3:]))
        if Pick(pick.source, pick.stream, connection) in set(_possible(offers)) and _is_in(offers, pick, pick.preset):
            yield pick


def _ticked(chosen: list[str], offers: tuple[Offer, ...]) -> list[tuple[str, Pick]]:
    """Streams that were ticked by themselves: of their connection nothing else is picked."""
    possible = set(_possible(offers))
    named = [
        (value, named_place(value))
        for value in chosen
        if "~" not in value and value.count(".", 0, value.find(":")) == 1
    ]
    picks = [(value, Pick(place[0], place[1], connection)) for value, (place, connection) in named]
    return [(value, pick) for value, pick in picks if pick in possible]


def _alike(visit: Visit, picks: list[Pick], offers: tuple[Offer, ...]) -> list[Pick]:
    """The same for all of a kind, where a button said so: what that card says goes for every account of its source."""
    if not (same := visit.value("same")):
        return picks
    place, connection = named_place(same)
    model = [pick for pick in picks if (pick.source, pick.connection_id) == (place[0], connection)]
    others = [card.connection_id for card in cards_of(offers) if card.source == place[0]]
    rest = [pick for pick in picks if pick.source != place[0]]
    possible = set(_possible(offers))
    copies = [replace(pick, connection_id=other) for other in others for pick in model]
    return [*rest, *(each for each in copies if Pick(each.source, each.stream, each.connection_id) in possible)]


def _dated(visit: Visit, offers: tuple[Offer, ...], pick: Pick) -> Pick:
    """With the dates of its card, where it has any; a stream without times of its own has none."""
    stream = offers[pick.source].declaration.streams[[*offers[pick.source].holdings][pick.stream]]
    if stream.consent_time_field is None:
        return replace(pick, since="", before="")
    at = f"{pick.source}:{pick.connection_id}"
    since, before = visit.value(f"since.{at}"), visit.value(f"before.{at}")
    return replace(pick, since=_compact(since) or pick.since, before=_compact(before) or pick.before)


def _compact(date: str) -> str:
    if not date:
        return ""
    found = date.replace("-", "")
    if instant(date) is None or len(found) != _DAY_CHARS or not found.isdigit():
        raise InvalidRequest(say("A date is written as 2026-01-31."), param="since")
    return found


def _digits(number: int) -> str:
    return str(number) if len(str(number)) == _DAY_CHARS else ""


def day_of(digits: str) -> str | None:
    return f"{digits[:4]}-{digits[4:6]}-{digits[6:]}" if digits else None


def _preset(offers: tuple[Offer, ...], source: int, number: int) -> Preset | None:
    presets = presets_of(offers[source].declaration)
    return presets[number - 1] if 0 < number <= len(presets) else None


def _is_in(offers: tuple[Offer, ...], pick: Pick, number: int) -> bool:
    """Whether that preset has this stream; without a preset everything is in."""
    preset = _preset(offers, pick.source, number)
    return number == 0 or (preset is not None and _stream_name(offers, pick) in preset.streams)


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
    """One selection for each source of which something was picked; two where its accounts are given differently."""
    return tuple(
        Selection(
            source_id=offer.declaration.source.id,
            source_kind=offer.declaration.source.kind,
            purpose_code=AGENT_PURPOSE,
            purpose_description=None,
            access_mode="continuous",
            streams=tuple(_streams(offer, source, alike, offers)),
        )
        for source, offer in enumerate(offers)
        for alike in _given_alike([pick for pick in picks if pick.source == source])
    )


def _given_alike(picks: list[Pick]) -> Iterator[list[Pick]]:
    """Picks of one source, by what is given of each connection."""
    by_connection: dict[str, list[Pick]] = {}
    for pick in picks:
        by_connection.setdefault(pick.connection_id, []).append(pick)
    groups: dict[tuple[Pick, ...], list[Pick]] = {}
    for given in by_connection.values():
        groups.setdefault(tuple(replace(pick, connection_id="") for pick in given), []).extend(given)
    yield from groups.values()


def _streams(offer: Offer, source: int, picks: list[Pick], offers: tuple[Offer, ...]) -> Iterator[StreamSelection]:
    for place, name in enumerate(offer.holdings):
        here = [pick for pick in picks if pick.stream == place]
        if not here:
            continue
        first, since, before = here[0], day_of(here[0].since), day_of(here[0].before)
        preset = _preset(offers, source, first.preset)
        view, fields = preset.streams[name] if preset else (None, None)
        yield StreamSelection(
            name,
            connections=tuple(dict.fromkeys(pick.connection_id for pick in here)),
            time=TimeRange(since, before) if since or before else None,
            view=view,
            fields=fields,
        )


def _possible(offers: tuple[Offer, ...]) -> Iterator[Pick]:
    for source, offer in enumerate(offers):
        for stream, holdings in enumerate(offer.holdings.values()):
            for holding in holdings:
                yield Pick(source, stream, holding.origin.connection_id)


def _source_id(offers: tuple[Offer, ...], pick: Pick) -> str:
    return offers[pick.source].declaration.source.id


def _stream_name(offers: tuple[Offer, ...], pick: Pick) -> str:
    return [*offers[pick.source].holdings][pick.stream]

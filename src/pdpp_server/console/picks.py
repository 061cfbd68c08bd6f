"""The sources that the owner picks, where a client left that choice open: a preset of each, some streams, or all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import NamedTuple

from pdpp_server.console.choice import named_place, place_of
from pdpp_server.console.visit import Visit
from pdpp_server.errors import InvalidRequest
from pdpp_server.evidence.said import say
from pdpp_server.evidence.words import local_day
from pdpp_server.model.authorization import Decision, Offer
from pdpp_server.model.selections import Selection, StreamSelection, TimeRange
from pdpp_server.model.times import instant
from pdpp_server.wire.declarations import Preset, presets_of

AGENT_PURPOSE = "https://pdpp.dev/purpose/agent_context"
GROUP = "pick."  # the radio buttons of a card are named after its place
_DAY_CHARS = len("20260131")


class OfferCard(NamedTuple):
    """A connection among the offers."""

    source: int
    connection_id: str


@dataclass(frozen=True, slots=True)
class Pick:
    """A stream of one connection; source, stream and preset by their places, 0 for no preset; days as digits."""

    source: int
    stream: int
    connection_id: str
    preset: int = 0
    since: str = ""
    before: str = ""
    end: str = ""  # of the access; empty where it is that of all

    @property
    def value(self) -> str:
        days = [day or "0" for day in (self.since, self.before, self.end)]
        numbers = f"{self.source}.{self.stream}.{self.preset}.{'.'.join(days)}"
        return f"{numbers}:{self.connection_id}"

    @property
    def card(self) -> OfferCard:
        return OfferCard(self.source, self.connection_id)

    @property
    def bare(self) -> Pick:
        """As it is offered, before anything was said of it."""
        return Pick(self.source, self.stream, self.connection_id)


def cards_of(offers: tuple[Offer, ...]) -> list[OfferCard]:
    return list(dict.fromkeys(pick.card for pick in _possible(offers)))


def picks_of_form(visit: Visit, offers: tuple[Offer, ...]) -> tuple[Pick, ...]:
    """What each card says, with its dates; streams that were ticked alone; and what an earlier form had picked."""
    chosen = [value for name, value in visit.form if value and (name == "pick" or name.startswith(GROUP))]
    found = [pick for value in chosen for pick in _picks(value, offers)]
    ticked = _ticked(chosen, offers)
    narrowed = {pick.card for pick in ticked}
    whole = [pick for pick in found if pick.card not in narrowed]
    dated = [_dated(visit, offers, pick) for pick in whole + ticked]
    return tuple(dict.fromkeys(_alike(visit, dated, offers)))


def _picks(value: str, offers: tuple[Offer, ...]) -> Iterator[Pick]:
    """`1:id` is everything of a connection, `1~2:id` its second preset, `1.0.2.20260101.0.0:id` what was reviewed."""
    place, _, connection = value.partition(":")
    whole, _, named = place.partition("~")
    numbers = place_of(whole)
    preset = place_of(named)[0] if named else 0
    possible = list(_possible(offers))
    if len(numbers) == 1:
        card = OfferCard(numbers[0], connection)
        picks = [replace(pick, preset=preset) for pick in possible if pick.card == card]
    elif len(numbers) == 6:
        source, stream, preset, *days = numbers
        pick = Pick(source, stream, connection, preset, *map(_digits, days))
        picks = [pick] if pick.bare in possible else []
    else:
        picks = []
    for pick in picks:
        if _is_in(offers, pick):
            yield pick


def _ticked(chosen: list[str], offers: tuple[Offer, ...]) -> list[Pick]:
    """Streams that were ticked by themselves: of their connection nothing else is picked."""
    possible = set(_possible(offers))
    picks: list[Pick] = []
    for value in chosen:
        is_one_stream = "~" not in value and value.count(".", 0, value.find(":")) == 1
        if is_one_stream:
            place, connection = named_place(value)
            picks.append(Pick(place[0], place[1], connection))
    return [pick for pick in picks if pick in possible]


def _alike(visit: Visit, picks: list[Pick], offers: tuple[Offer, ...]) -> list[Pick]:
    """The same for all of a kind, where a button said so: what that card says goes for every account of its source."""
    if not (same := visit.value("same")):
        return picks
    place, connection = named_place(same)
    source = place[0]
    model = [pick for pick in picks if pick.card == OfferCard(source, connection)]
    others = [card.connection_id for card in cards_of(offers) if card.source == source]
    rest = [pick for pick in picks if pick.source != source]
    possible = set(_possible(offers))
    copies = [replace(pick, connection_id=other) for other in others for pick in model]
    return rest + [pick for pick in copies if pick.bare in possible]


def _dated(visit: Visit, offers: tuple[Offer, ...], pick: Pick) -> Pick:
    """With the dates of its card, where it has any; a stream without times of its own has only an end."""
    at = f"{pick.source}:{pick.connection_id}"
    since, before, end = (_compact(visit.value(f"{name}.{at}")) for name in ("since", "before", "until"))
    stream = offers[pick.source].declaration.streams[_stream_name(offers, pick)]
    ended = replace(pick, end=end or pick.end)
    if stream.consent_time_field is None:
        return replace(ended, since="", before="")
    return replace(ended, since=since or pick.since, before=before or pick.before)


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


def _is_in(offers: tuple[Offer, ...], pick: Pick) -> bool:
    """Whether its preset has this stream; without a preset everything is in."""
    if pick.preset == 0:
        return True
    preset = _preset(offers, pick.source, pick.preset)
    return preset is not None and _stream_name(offers, pick) in preset.streams


def picks_of(decision: Decision, offers: tuple[Offer, ...], zone: tzinfo) -> tuple[Pick, ...]:
    """What was picked for that decision, as far as it is still there; accounts given differently stay apart."""
    picks: list[Pick] = []
    for pick in _possible(offers):
        offered = (_source_id(offers, pick), _stream_name(offers, pick))
        for place, selection in enumerate(decision.selections):
            end = local_day(decision.ends[place], zone) if place in decision.ends else ""
            for stream in selection.streams:
                is_it = offered == (selection.source_id, stream.name)
                if is_it and pick.connection_id in (stream.connections or ()):
                    picks.append(_as_decided(offers, pick, selection, stream, end))
    return tuple(picks)


def _as_decided(offers: tuple[Offer, ...], pick: Pick, selection: Selection, stream: StreamSelection, end: str) -> Pick:
    presets = presets_of(offers[pick.source].declaration)
    made = {each.name: (each.view, each.fields) for each in selection.streams}
    preset = next((number for number, each in enumerate(presets, 1) if each.streams == made), 0)
    time = stream.time or TimeRange()
    return replace(
        pick,
        preset=preset,
        since=_digits_of_day(time.since),
        before=_digits_of_day(time.until),
        end=_digits_of_day(end),
    )


def _digits_of_day(time: str | None) -> str:
    """Empty where it is no whole day: what is finer than that is no matter of a card."""
    digits = (time or "").replace("-", "")
    return digits if len(digits) == _DAY_CHARS and digits.isdigit() else ""


def picked(picks: tuple[Pick, ...], offers: tuple[Offer, ...]) -> tuple[Selection, ...]:
    """One selection for each source of which something was picked; two where its accounts are given differently."""
    return tuple(_selection(alike, offers) for alike in _selected(picks))


def _selection(alike: list[Pick], offers: tuple[Offer, ...]) -> Selection:
    source = offers[alike[0].source].declaration.source
    return Selection(
        source_id=source.id,
        source_kind=source.kind,
        purpose_code=AGENT_PURPOSE,
        purpose_description=None,
        access_mode="continuous",
        streams=tuple(_streams(alike, offers)),
    )


def picked_ends(picks: tuple[Pick, ...]) -> dict[int, str]:
    """By the place of its selection, the end that a card says; the others end as is said for all."""
    return {place: day for place, alike in enumerate(_selected(picks)) if (day := day_of(alike[0].end))}


def _selected(picks: tuple[Pick, ...]) -> list[list[Pick]]:
    """What becomes one selection each, by source."""
    sources = sorted({pick.source for pick in picks})
    return [alike for source in sources for alike in _given_alike([pick for pick in picks if pick.source == source])]


def _given_alike(picks: list[Pick]) -> Iterator[list[Pick]]:
    """Picks of one source, by what is given of each connection."""
    by_connection: dict[str, list[Pick]] = {}
    for pick in picks:
        by_connection.setdefault(pick.connection_id, []).append(pick)
    groups: dict[tuple[Pick, ...], list[Pick]] = {}
    for given in by_connection.values():
        groups.setdefault(tuple(replace(pick, connection_id="") for pick in given), []).extend(given)
    yield from groups.values()


def _streams(picks: list[Pick], offers: tuple[Offer, ...]) -> Iterator[StreamSelection]:
    source = picks[0].source
    for place, name in enumerate(offers[source].holdings):
        here = [pick for pick in picks if pick.stream == place]
        if not here:
            continue
        first = here[0]
        since, before = day_of(first.since), day_of(first.before)
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

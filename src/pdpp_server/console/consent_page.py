"""What the consent page shows: who asks, in whose words, what it would read, and what can be narrowed."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from pdpp_server.console.choice import Most, Ticks, necessity, needed_fields
from pdpp_server.console.clients import StreamGranted, labels, stream_shown
from pdpp_server.console.desks import Desks
from pdpp_server.console.page import Page
from pdpp_server.console.picks import Pick, day_of
from pdpp_server.evidence.words import counted
from pdpp_server.model.authorization import Ask, Glimpse, Offer, Review
from pdpp_server.model.grants import Grant, StreamGrant
from pdpp_server.model.selections import Selection
from pdpp_server.model.sources import Declaration
from pdpp_server.wire.declarations import is_sensitive, presets_of

FILTERED = 8  # more cards than these have a box to filter them by
LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
_DURATION, _UNITS = re.compile(r"P(\d{1,6})([DWMY])"), {"D": "day", "W": "week", "M": "month", "Y": "year"}
AI_TRAINING = "https://pdpp.dev/purpose/ai_training"


class FieldBox(NamedTuple):
    name: str
    description: str | None
    is_needed: bool
    is_ticked: bool


class StreamBox(NamedTuple):
    place: str
    label: str
    detail: str | None
    is_optional: bool
    is_ticked: bool
    fields: list[FieldBox]
    views: list[tuple[str, str, bool]]  # id, label, whether it is chosen
    has_time: bool


class SourceBox(NamedTuple):
    place: int
    name: str
    connections: list[
        tuple[str, str, bool]
    ]  # id, the owner's name for it, whether it is ticked; where there are several
    streams: list[StreamBox]


class ConsentWay(NamedTuple):
    """One of the radio buttons of a card."""

    value: str
    label: str
    is_chosen: bool


class ConnectionOffer(NamedTuple):
    """A connection as the owner may pick it: by a preset of its publisher's, by streams, or whole."""

    place: int
    connection_id: str
    name: str
    source: str
    is_sensitive: bool
    streams: list[tuple[int, str, str | None, int]]  # place, label, detail, records
    ways: list[ConsentWay]
    earliest: str | None
    latest: str | None
    since: str | None
    before: str | None
    has_twins: bool  # the source has other accounts here

    @property
    def at(self) -> str:
        return f"{self.place}:{self.connection_id}"


class StreamRead(NamedTuple):
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
    streams: list[StreamRead]
    left_out: list[str]  # streams that are there, by their labels


class Sum(NamedTuple):
    """What a batch comes to."""

    sources: int
    streams: int
    sensitive: int
    lasting: int
    unbounded: int  # streams without a limit in time
    whole: int  # streams with every field


@dataclass(frozen=True, slots=True)
class Choosing:
    """Where the owner is: what was asked or picked, what is ticked, and what that would give."""

    ask: Ask
    offers: tuple[Offer, ...]
    picks: tuple[Pick, ...]
    asked: tuple[Selection, ...]
    most: Most
    ticks: Ticks
    review: Review | None = None
    said: str = ""
    is_again: bool = False
    filter: str = ""  # of the cards, by name


class Retention(NamedTuple):
    """How long a client says it keeps what it read, and what it does then."""

    length: str
    end: str


class Who(NamedTuple):
    """Who asks, as far as it is known, and where the answer goes."""

    name: str
    client_id: str
    host: str | None  # of the document that the client names as its own
    is_proven: bool  # the answer goes to that host, so whoever asks cannot be anybody else
    goes_to: str | None  # None where a device waits for the answer
    links: list[tuple[str, str]]


def consent_page(desks: Desks, choosing: Choosing) -> Page:
    ask, review = choosing.ask, choosing.review
    named = labels(desks)
    reads = _reads(desks, choosing, review, named) if review else []
    offered = [] if ask.selections else _connections(choosing, named)
    values = {
        "ask_id": ask.ask_id,
        "who": _who(ask),
        "said": choosing.said,
        "is_again": choosing.is_again,
        "purposes": sorted({_purpose(selection) for selection in ask.selections}),
        "claims": [claim for selection in ask.selections for claim in _claims(selection)],
        "retentions": [_retention(selection.retention) for selection in ask.selections if selection.retention],
        "trains": any(selection.purpose_code == AI_TRAINING for selection in choosing.asked),
        "offered": _shown_cards(offered, choosing.filter),
        "hidden_picks": [pick for pick in choosing.picks if not _is_shown(pick, offered, choosing.filter)],
        "is_open": not ask.selections,
        "has_filter": len(offered) > FILTERED or bool(choosing.filter),
        "filter": choosing.filter,
        "picks": choosing.picks,
        "sources": [_source_box(choosing, i, named) for i in range(len(choosing.asked))],
        "ticks": choosing.ticks,
        "marks_sensitive": _is_telling([each.is_sensitive for each in [*offered, *reads]]),
        "may_last": not ask.selections or any(selection.access_mode == "continuous" for selection in choosing.asked),
        "today": desks.now().date().isoformat(),
        "review": review,
        "reads": reads,
        "sum": _sum(review, reads) if review and len(reads) > 1 else None,
    }
    return Page("consent.html", values, leads_to=ask.redirect_uri)


def _is_telling(marks: list[bool]) -> bool:
    """A mark that everything has says nothing."""
    return 0 < sum(marks) <= len(marks) / 2


def _who(ask: Ask) -> Who:
    client = ask.client
    host = urlsplit(client.client_id).hostname if client.is_verified else None
    names = {"client_uri": "its site", "policy_uri": "its policy", "tos_uri": "its terms"}
    return Who(
        client.name or client.client_id,
        client.client_id,
        host,
        host is not None and _goes_to(host, ask.redirect_uri),
        _target(ask.redirect_uri) if ask.redirect_uri else None,
        [(names[kind], address) for kind, address in client.uris.items() if kind in names],
    )


def _goes_to(host: str, redirect_uri: str | None) -> bool:
    """A device and an app on this computer can name anybody's document: their answer goes to whoever asked."""
    parts = urlsplit(redirect_uri or "")
    return parts.scheme == "https" and parts.hostname == host and host not in LOOPBACK


def _target(address: str) -> str:
    parts = urlsplit(address)
    if parts.scheme not in {"http", "https"}:
        return f"the app on this computer that opens {parts.scheme}: links"
    return "an app on this computer" if parts.hostname in LOOPBACK else parts.netloc


def _purpose(selection: Selection) -> tuple[str, str]:
    """The purpose by its last word, and what the client says of it."""
    return selection.purpose_code.rstrip("/").rsplit("/", 1)[-1].replace("_", " "), selection.purpose_description or ""


def _retention(policy: Mapping[str, Any]) -> Retention:
    length: str = policy["max_duration"]
    simple = _DURATION.fullmatch(length)
    return Retention(counted(int(simple[1]), _UNITS[simple[2]]) if simple else length, policy["on_expiry"])


def _claims(selection: Selection) -> list[str]:
    said: list[Any] = (selection.client_claims or {}).get("commitments", [])
    return [claim if isinstance(claim, str) else str(claim) for claim in said]


def _source_name(offers: tuple[Offer, ...], source_id: str) -> str:
    return next((each.declaration.name for each in offers if each.declaration.source.id == source_id), source_id)


# What can be picked and narrowed --------------------------------------------------------------------------------------


def _connections(choosing: Choosing, named: Mapping[str, str]) -> list[ConnectionOffer]:
    offers = choosing.offers
    found: dict[tuple[int, str], list[tuple[int, str, str | None, int]]] = {}
    for place, offer in enumerate(offers):
        for number, (name, holdings) in enumerate(offer.holdings.items()):
            stream = offer.declaration.streams[name]
            for holding in holdings:
                row = (number, stream.label or name, stream.detail or stream.description, holding.records or 0)
                found.setdefault((place, holding.origin.connection_id), []).append(row)
    names = Counter((named.get(connection, connection), offers[place].declaration.name) for place, connection in found)
    twins = Counter(place for place, _ in found)
    return [
        _offer(choosing, place, connection, streams, named.get(connection, connection), names, twins[place] > 1)
        for (place, connection), streams in found.items()
    ]


def _offer(
    choosing: Choosing,
    place: int,
    connection: str,
    streams: list[tuple[int, str, str | None, int]],
    name: str,
    names: Counter[tuple[str, str]],
    has_twins: bool,
) -> ConnectionOffer:
    """Two accounts of one name at one service are told apart by their ids."""
    declaration = choosing.offers[place].declaration
    spans = [each for held in choosing.offers[place].holdings.values() for each in held]
    own = [each for each in spans if each.origin.connection_id == connection]
    picks = [pick for pick in choosing.picks if (pick.source, pick.connection_id) == (place, connection)]
    dated = next((pick for pick in picks if pick.since or pick.before), None)
    return ConnectionOffer(
        place,
        connection,
        name if names[name, declaration.name] == 1 else f"{name} ({connection})",
        declaration.name,
        is_sensitive(declaration),
        streams,
        _ways(declaration, place, connection, picks, len(streams)),
        min((each.earliest for each in own if each.earliest), default=None),
        max((each.latest for each in own if each.latest), default=None),
        day_of(dated.since) if dated else None,
        day_of(dated.before) if dated else None,
        has_twins,
    )


def _ways(declaration: Declaration, place: int, connection: str, picks: list[Pick], streams: int) -> list[ConsentWay]:
    """Nothing, each preset, everything."""
    chosen = picks[0].preset if picks and (picks[0].preset or len(picks) == streams) else None
    presets = [
        ConsentWay(f"{place}~{number}:{connection}", preset.label, chosen == number)
        for number, preset in enumerate(presets_of(declaration), 1)
    ]
    nothing, everything = (
        ConsentWay("", "Nothing", not picks),
        ConsentWay(f"{place}:{connection}", "Everything", chosen == 0),
    )
    return [nothing, *presets, everything]


def _shown_cards(offered: list[ConnectionOffer], wanted: str) -> list[ConnectionOffer]:
    """Those whose name or service holds the text."""
    text = wanted.casefold()
    return [offer for offer in offered if text in f"{offer.name} {offer.source}".casefold()]


def _is_shown(pick: Pick, offered: list[ConnectionOffer], wanted: str) -> bool:
    cards = {(offer.place, offer.connection_id) for offer in _shown_cards(offered, wanted)}
    return (pick.source, pick.connection_id) in cards


def _source_box(choosing: Choosing, i: int, named: Mapping[str, str]) -> SourceBox:
    selection, most, ticks = choosing.asked[i], choosing.most[i], choosing.ticks
    several = dict.fromkeys(each for stream in most if len(stream.connections) > 1 for each in stream.connections)
    return SourceBox(
        i,
        _source_name(choosing.offers, selection.source_id),
        [(each, named.get(each, each), (i, each) in ticks.connections) for each in several],
        [_stream_box(selection, stream, ticks, (i, j)) for j, stream in enumerate(most)],
    )


def _stream_box(selection: Selection, stream: StreamGrant, ticks: Ticks, place: tuple[int, int]) -> StreamBox:
    declared, needed = stream.declared, needed_fields(stream)
    return StreamBox(
        f"{place[0]}.{place[1]}",
        declared.label or declared.name,
        declared.detail or declared.description,
        necessity(selection, stream) == "optional",
        place in ticks.streams,
        [
            FieldBox(name, field.description, name in needed, (*place, name) in ticks.fields)
            for name, field in declared.fields.items()
            if name in stream.fields
        ]
        if declared.selects_fields
        else [],
        [
            (view.id, view.label, ticks.views.get(place) == view.id)
            for view in declared.views
            if {*view.fields} <= stream.fields
        ],
        declared.consent_time_field is not None,
    )


# What it would read ---------------------------------------------------------------------------------------------------


def _reads(desks: Desks, choosing: Choosing, review: Review, named: Mapping[str, str]) -> list[GrantRead]:
    declared = {offer.declaration.source.id: offer.declaration for offer in choosing.offers}
    return [
        GrantRead(
            declared[grant.source.id].name,
            urlsplit(declared[grant.source.id].publisher).hostname or declared[grant.source.id].publisher,
            is_sensitive(declared[grant.source.id]),
            _streams_read(desks, review, grant, named),
            _streams_left(choosing.offers, grant),
        )
        for grant in review.grants
    ]


def _streams_read(desks: Desks, review: Review, grant: Grant, named: Mapping[str, str]) -> list[StreamRead]:
    """Each grant is looked through by itself: two of one source may give more and less of the same stream."""
    glimpses = {glimpse.stream: glimpse for glimpse in desks.consent.preview(replace(review, grants=(grant,)))}
    return [_read(stream, glimpses[stream.name], named) for stream in grant.streams]


def _streams_left(offers: tuple[Offer, ...], grant: Grant) -> list[str]:
    """What these connections hold as well, and what would stay closed."""
    given = {stream.name for stream in grant.streams}
    connections = {each for stream in grant.streams for each in stream.connections}
    offer = next(each for each in offers if each.declaration.source.id == grant.source.id)
    return [
        offer.declaration.streams[name].label or name
        for name, held in offer.holdings.items()
        if name not in given and any(each.origin.connection_id in connections and each.records for each in held)
    ]


def _read(stream: StreamGrant, glimpse: Glimpse, named: Mapping[str, str]) -> StreamRead:
    shown, declared = stream_shown(stream, named), stream.declared
    described = [(name, declared.fields[name].description or "") for name in shown.fields]
    left_out = [name.replace("_", " ") for name in declared.fields if name not in stream.fields]
    return StreamRead(shown, described, glimpse.records, glimpse.titles, left_out)


def _sum(review: Review, reads: list[GrantRead]) -> Sum:
    streams = [stream for grant in review.grants for stream in grant.streams]
    return Sum(
        len(review.grants),
        len(streams),
        sum(read.is_sensitive for read in reads),
        sum(grant.access_mode == "continuous" for grant in review.grants),
        sum(stream.time is None for stream in streams),
        sum(len(stream.fields) == len(stream.declared.fields) for stream in streams),
    )

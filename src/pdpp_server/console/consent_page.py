"""What the consent page shows: who asks, in whose words, what it would read, and what can be narrowed."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urlsplit

from pdpp_server.console.boxes import boxes
from pdpp_server.console.choice import Most, Ticks
from pdpp_server.console.clients import labels
from pdpp_server.console.desks import Desks
from pdpp_server.console.page import Page
from pdpp_server.console.picks import Pick, day_of
from pdpp_server.console.would_read import GrantRead, grants_read, is_telling
from pdpp_server.evidence.grants import purpose_words
from pdpp_server.evidence.said import say
from pdpp_server.evidence.words import counted
from pdpp_server.model.authorization import Ask, Offer, Review
from pdpp_server.model.selections import Selection
from pdpp_server.model.sources import Declaration
from pdpp_server.wire.declarations import is_sensitive, presets_of
from pdpp_server.wire.grants import commitments, retention

FILTERED = 8  # more cards than these have a box to filter them by
LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
_DURATION = re.compile(r"P(\d{1,6})([DWMY])")
_ENDS = {"delete": say("delete"), "anonymize": say("anonymize")}
AI_TRAINING = "https://pdpp.dev/purpose/ai_training"


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
    end: str | None  # of the access, where it is not that of all
    has_twins: bool  # the source has other accounts here

    @property
    def at(self) -> str:
        return f"{self.place}:{self.connection_id}"


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
    reads = grants_read(desks, review.grants) if review else []
    offered = [] if ask.selections else _connections(choosing, named)
    values = {
        "ask_id": ask.ask_id,
        "who": _who(ask),
        "said": choosing.said,
        "is_again": choosing.is_again,
        "purposes": _purposes(ask),
        "claims": [claim for selection in ask.selections for claim in _claims(selection)],
        "retentions": [_retention(*said) for selection in ask.selections if (said := retention(selection))],
        "trains": any(selection.purpose_code == AI_TRAINING for selection in choosing.asked),
        "offered": _shown_cards(offered, choosing.filter),
        "hidden_picks": [pick for pick in choosing.picks if not _is_shown(pick, offered, choosing.filter)],
        "chosen_before": _chosen_before(choosing, offered),
        "is_open": not ask.selections,
        "has_filter": len(offered) > FILTERED or bool(choosing.filter),
        "filter": choosing.filter,
        "picks": choosing.picks,
        "sources": boxes(choosing.asked, choosing.most, choosing.ticks, named, _source_names(choosing.offers)),
        "ticks": choosing.ticks,
        "is_once": choosing.ticks.once,
        "marks_sensitive": is_telling([each.is_sensitive for each in [*offered, *reads]]),
        "may_last": not ask.selections or any(selection.access_mode == "continuous" for selection in choosing.asked),
        "today": desks.local_now().date().isoformat(),
        "review": review,
        "reads": reads,
        "sum": _sum(review, reads) if review and len(reads) > 1 else None,
    }
    return Page("consent.html", values, leads_to=ask.redirect_uri)


def _who(ask: Ask) -> Who:
    client = ask.client
    host = urlsplit(client.client_id).hostname if client.is_verified else None
    names = {"client_uri": say("its site"), "policy_uri": say("its policy"), "tos_uri": say("its terms")}
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
        return say("the app on this computer that opens {scheme}: links", scheme=parts.scheme)
    return say("an app on this computer") if parts.hostname in LOOPBACK else parts.netloc


def _purpose(selection: Selection) -> tuple[str, str]:
    """The purpose, and what the client says of it."""
    return purpose_words(selection.purpose_code), selection.purpose_description or ""


def _purposes(ask: Ask) -> list[tuple[str, str]]:
    """Each once; what it says of one source is not left unsaid of another."""
    said = {_purpose(selection) for selection in ask.selections}
    described = {purpose for purpose, description in said if description}
    return sorted(each for each in said if each[1] or each[0] not in described)


def _retention(duration: str, end: str) -> Retention:
    return Retention(_length(duration), _ENDS.get(end, end))


def _length(duration: str) -> str:
    simple = _DURATION.fullmatch(duration)
    match (int(simple[1]), simple[2]) if simple else (0, ""):
        case days, "D":
            return counted(days, "day")
        case weeks, "W":
            return counted(weeks, "week")
        case months, "M":
            return counted(months, "month")
        case years, "Y":
            return counted(years, "year")
        case _:
            return duration


def _claims(selection: Selection) -> list[str]:
    return [claim if isinstance(claim, str) else str(claim) for claim in commitments(selection)]


def _source_names(offers: tuple[Offer, ...]) -> dict[str, str]:
    return {each.declaration.source.id: each.declaration.name for each in offers}


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
    called = {connection: named.get(connection, connection) for _, connection in found}
    names = Counter((called[connection], offers[place].declaration.name) for place, connection in found)
    twins = Counter(place for place, _ in found)
    return [
        _offer(choosing, place, connection, streams, called[connection], names, twins[place] > 1)
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
    picks = [pick for pick in choosing.picks if pick.card == (place, connection)]
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
        day_of(picks[0].end) if picks else None,
        has_twins,
    )


def _ways(declaration: Declaration, place: int, connection: str, picks: list[Pick], streams: int) -> list[ConsentWay]:
    """Nothing, each preset, everything."""
    chosen = picks[0].preset if picks and (picks[0].preset or len(picks) == streams) else None
    presets = [
        ConsentWay(f"{place}~{number}:{connection}", preset.label, chosen == number)
        for number, preset in enumerate(presets_of(declaration), 1)
    ]
    nothing = ConsentWay("", say("Nothing"), not picks)
    everything = ConsentWay(f"{place}:{connection}", say("Everything"), chosen == 0)
    return [nothing, *presets, everything]


def _shown_cards(offered: list[ConnectionOffer], wanted: str) -> list[ConnectionOffer]:
    """Those whose name or service holds the text."""
    text = wanted.casefold()
    return [offer for offer in offered if text in f"{offer.name} {offer.source}".casefold()]


def _is_shown(pick: Pick, offered: list[ConnectionOffer], wanted: str) -> bool:
    cards = {(offer.place, offer.connection_id) for offer in _shown_cards(offered, wanted)}
    return pick.card in cards


def _chosen_before(choosing: Choosing, offered: list[ConnectionOffer]) -> list[str]:
    """By name, what was picked on cards that are filtered away now."""
    hidden = {pick.connection_id for pick in choosing.picks if not _is_shown(pick, offered, choosing.filter)}
    return [offer.name for offer in offered if offer.connection_id in hidden]


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

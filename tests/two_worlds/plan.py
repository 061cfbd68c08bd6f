"""A random source, grant and life, and a twin of that life which differs only in what the grant hides."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from random import Random
from typing import Any

from pdpp_server.model.blobs import ID_PREFIX, Blob
from pdpp_server.model.ingest import Incoming
from pdpp_server.model.times import instant, iso
from pdpp_server.wire.blobs import encode_reference
from pdpp_server.wire.grants import DETAIL_TYPE

# Words that visible and hidden text share: a hidden occurrence must change nothing.
COMMON = (
    "lease lake walrus clause letter meeting garden invoice kettle harbour 京都 café running runner station".split()
)
# Words that only hidden text holds, some of them in one of the two worlds only: they must not be findable in either.
SECRET = "diagnosis salary affair lawsuit pregnancy bankruptcy 秘密 résumé".split()
HEAVY = "every"  # in each text of a heavy world

_DAY = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
_ARRIVALS = datetime(2026, 9, 1, tzinfo=UTC)
_TICK = timedelta(hours=5)  # from one arrival that the reader can see to the next
_BYTES = tuple(word.encode() for word in COMMON[:6])  # what blobs hold: few, so that visible and hidden ones share them
_MIME_TYPES = ("image/png", "text/plain", "application/pdf")
_ROLE_OF_KIND = {
    "date-time": "event-time",
    "date": "event-day",
    "boolean": "thread",
}  # which leaves two talks to a stream
_ROLES = (None, None, "primary-title", "primary-body", "actor", "secondary")

Json = dict[str, Any]
Name = tuple[str, str, tuple[str, ...]]  # connection, stream and key of a record
EXTRA = "an account nobody granted"
LINK = "link"  # a field that holds the key of a record of another stream
VIEW = "short"
RUNS = 0.05  # how often an import ends


@dataclass(frozen=True)
class Grown:
    """What is random about a stream, as it was declared and as it was granted."""

    name: str
    fields: dict[str, str]  # field to kind of value
    key: tuple[str, ...]
    lexical: tuple[str, ...]
    consent_time: str | None
    cursor: str | None  # the field that orders pages
    connections: tuple[str, ...] = ()  # names; empty where the stream is not granted
    granted: frozenset[str] = frozenset()
    since: str | None = None
    until: str | None = None
    resources: frozenset[str] | None = None
    leads_to: str | None = None  # the stream that its link is about

    def shows(self, connection: str, key: str, data: Json) -> bool:
        """Whether the grant shows the record: said once more, in plain words, without the store."""
        if connection not in self.connections or (self.resources is not None and key not in self.resources):
            return False
        if self.since is None and self.until is None:
            return True
        at = instant(data.get(self.consent_time or ""))
        return at is not None and (instant(self.since) or -(10**18)) <= at < (instant(self.until) or 10**18)


@dataclass(frozen=True)
class Event:
    """One delivery of one record; `data` is None for a deletion."""

    connection: str
    stream: str
    key: tuple[str, ...]
    data: Json | None
    emitted_at: str | None  # None: when it arrives

    def incoming(self) -> Incoming:
        key = self.key[0] if len(self.key) == 1 else self.key
        return Incoming("test", self.stream, key, self.data, self.emitted_at)

    @property
    def key_text(self) -> str:
        return _key_text(self.key)

    def blobs(self) -> Iterator[tuple[bytes, str]]:
        """The bytes that it refers to, and their types."""
        for value in (self.data or {}).values():
            if isinstance(value, dict) and "blob_id" in value:
                yield next(data for data in _BYTES if blob_id(data) == value["blob_id"]), value["mime_type"]


@dataclass(frozen=True)
class Run:
    """An import that ended: of these streams it was a complete picture, unless it rejected something."""

    connection: str
    complete: tuple[str, ...]
    rejects: bool = False


@dataclass(frozen=True)
class Arrival:
    """What arrived at one moment, by one connection."""

    at: datetime
    events: tuple[Event, ...] = ()
    run: Run | None = None

    @property
    def connection(self) -> str:
        return self.run.connection if self.run else self.events[0].connection


@dataclass(frozen=True)
class Life:
    """What happened in one world, in order; `connections` in the order in which they were made."""

    connections: tuple[str, ...]
    arrivals: tuple[Arrival, ...]


@dataclass
class Plan:
    seed: int
    is_heavy: bool
    document: Json
    streams: dict[str, Grown]
    lives: tuple[Life, Life]
    afterwards: tuple[Life, Life]  # what happened after a reader had set its bookmarks
    visible: list[Event] = field(default_factory=list[Event])
    hidden: list[Event] = field(default_factory=list[Event])  # of either world

    def detail(self, connection_ids: dict[str, str]) -> Json:
        return {
            "type": DETAIL_TYPE,
            "source": {"id": self.document["source"]["id"]},
            "purpose_code": "https://pdpp.dev/purpose/assistance",
            "access_mode": "continuous",
            "streams": [_selection(one, connection_ids) for one in self.streams.values() if one.connections],
        }

    @property
    def hides_time(self) -> bool:
        """Whether records are laid out by a time that their reader may not see."""
        return any(one.connections and one.consent_time not in {None, *one.granted} for one in self.streams.values())


_NOTHING = Life((), ()), Life((), ())


def plan(seed: int, *, is_heavy: bool = False) -> Plan:
    """A heavy plan has one stream with many records that share a word: more than a bounded ranking looks at."""
    random = Random(seed)
    names = [f"account {number}" for number in range(random.randint(2, 3))]
    streams = {
        name: _grown(random, name, is_heavy)
        for name in ("notes", "mails", "visits")[: 1 if is_heavy else random.randint(1, 3)]
    }
    granted = random.sample(sorted(streams), random.randint(1, len(streams)))
    streams |= {name: _granted(random, streams[name], names) for name in granted}
    beside = Random(seed + 2)  # of its own, so that all else is what it was for each seed
    streams = {name: _linked(beside, one, streams) for name, one in streams.items()}
    document = _document(seed, streams)
    made = Plan(seed, is_heavy, document, streams, _NOTHING, _NOTHING)
    everywhere = _everywhere(random, names), _everywhere(random, names)
    shown: set[Name] = set()
    made.lives = _lives(random, made, names, everywhere, shown, _ARRIVALS)
    made.afterwards = _lives(random, made, names, everywhere, shown, _ARRIVALS + timedelta(days=35))
    return made


# Declaration and grant --------------------------------------------------------------------------------------------


def _grown(random: Random, name: str, is_heavy: bool) -> Grown:
    kinds = ["text", "text", "text", "integer", "number", "boolean", "date-time", "date", "object", "array", "mixed"]
    kinds += [] if is_heavy else ["blob"]
    fields = {f"f{place}": kind for place, kind in enumerate(random.sample(kinds, random.randint(4, len(kinds))))}
    fields["body"] = "text"
    texts = [field for field, kind in fields.items() if kind == "text"]
    times = [field for field, kind in fields.items() if kind in {"date-time", "date"}]
    key = ("id",) if random.random() < 0.7 else ("id", "part")
    lexical = random.sample(texts, random.randint(1, len(texts)))
    consent_time = random.choice(times) if times and random.random() < 0.8 else None
    scalars = [field for field, kind in fields.items() if kind in SCALARS]
    cursor = random.choice((consent_time, random.choice(scalars), None))
    return Grown(name, fields, key, tuple(lexical), consent_time, cursor)


def _granted(random: Random, stream: Grown, names: list[str]) -> Grown:
    fields = random.sample(sorted(stream.fields), random.randint(1, len(stream.fields)))
    bounded = stream.consent_time and random.random() < 0.6
    days = sorted(random.sample(range(30), 2))
    since, until = (iso(_DAY + timedelta(days=day, hours=random.randint(-6, 6))) for day in days)
    keys = frozenset(_key_text(_key(stream, number)) for number in range(400) if random.random() < 0.7)
    return replace(
        stream,
        connections=tuple(random.sample(names, random.randint(1, len(names)))),
        granted=frozenset({*fields, *stream.key}),
        since=since if bounded and random.random() < 0.8 else None,
        until=until if bounded else None,
        resources=keys if random.random() < 0.25 else None,
    )


def _linked(random: Random, stream: Grown, streams: dict[str, Grown]) -> Grown:
    """Sometimes to records of another stream or of its own, sometimes by a field that is hidden."""
    targets = [one.name for one in streams.values() if len(one.key) == 1]
    if not targets or random.random() < 0.3:
        return stream
    granted = stream.granted | ({LINK} if stream.connections and random.random() < 0.7 else set())
    return replace(stream, leads_to=random.choice(targets), granted=granted)


def _document(seed: int, streams: dict[str, Grown]) -> Json:
    random = Random(seed + 1)
    return {
        "protocol_version": "0.1.0",
        "source": {"kind": "connector", "id": "https://registry.pdpp.dev/connectors/random"},
        "declaration_version": str(seed),
        "publisher": {"id": "https://registry.pdpp.dev/"},
        "display": {"name": "Random"},
        "streams": [_stream_document(random, stream, streams) for stream in streams.values()],
    }


def _stream_document(random: Random, stream: Grown, streams: dict[str, Grown]) -> Json:
    with_roles = random.random() < 0.7
    properties: Json = {name: {"type": "string"} for name in stream.key}
    for name, kind in stream.fields.items():
        properties[name] = dict(_SCHEMAS[kind])
        role = random.choice(_ROLES) if kind == "text" else _ROLE_OF_KIND.get(kind)
        if with_roles and role:
            properties[name]["x_pdpp_role"] = role
    document: Json = {
        "name": stream.name,
        "semantics": "mutable_state",
        "schema": {"type": "object", "required": list(stream.key), "properties": properties},
        "primary_key": list(stream.key),
        "selection": {"fields": True, "resources": True},
        "query": {"search": {"lexical_fields": list(stream.lexical), "semantic_fields": list(stream.lexical)}},
    }
    if stream.consent_time:
        document["consent_time_field"] = stream.consent_time
    if stream.cursor:
        document["cursor_field"] = stream.cursor
    kinds = {kind: [name for name, of in stream.fields.items() if of == kind] for kind in _SCHEMAS}
    _relate(document, stream, streams)
    numbers, times = kinds["integer"] + kinds["number"], kinds["date-time"] + kinds["date"]
    scalars = [name for name, kind in stream.fields.items() if kind in SCALARS]
    document["query"]["range_filters"] = {name: ["gte", "lt"] for name in numbers + times}
    document["query"]["aggregations"] = {
        "count": True,
        "sum": numbers,
        "min": numbers + times,
        "max": numbers + times,
        "count_distinct": scalars,
        "group_by": scalars,
        "group_by_time": times,
    }
    return document


def _relate(document: Json, stream: Grown, streams: dict[str, Grown]) -> None:
    """With what its link leads to, and with the records whose links lead to it; and with a view."""
    document["views"] = [{"id": VIEW, "label": "Short", "fields": [*stream.key, *list(stream.fields)[:3]]}]
    there = [one.name for one in streams.values() if one.leads_to == stream.name]
    relations = {f"from_{name}": (name, "has_many") for name in there}
    if stream.leads_to:
        document["schema"]["properties"][LINK] = {"type": "string"}
        relations[LINK] = stream.leads_to, "has_one"
    document["relationships"] = [
        {"name": name, "stream": target, "foreign_key": LINK, "cardinality": cardinality}
        for name, (target, cardinality) in relations.items()
    ]
    document["query"]["expand"] = [{"name": name} for name in relations]


SCALARS = {"text", "integer", "number", "boolean", "date-time", "date"}
_SCHEMAS: dict[str, Json] = {
    "text": {"type": "string"},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "boolean": {"type": "boolean"},
    "date-time": {"type": "string", "format": "date-time"},
    "date": {"type": "string", "format": "date"},
    "object": {"type": "object"},
    "array": {"type": "array"},
    "mixed": {"type": ["integer", "string"]},
    "blob": {"type": "object", "x_pdpp_role": "blob-reference"},
}


def _selection(stream: Grown, connection_ids: dict[str, str]) -> Json:
    selection: Json = {
        "name": stream.name,
        "instance_ids": [connection_ids[name] for name in stream.connections],
        "fields": sorted(stream.granted),
    }
    bounds = {name: time for name, time in (("since", stream.since), ("until", stream.until)) if time}
    return {
        **selection,
        **({"time_range": bounds} if bounds else {}),
        **({"resources": sorted(stream.resources)} if stream.resources else {}),
    }


# Lives ------------------------------------------------------------------------------------------------------------


def _everywhere(random: Random, names: list[str]) -> list[str]:
    """The accounts of one world: sometimes with one that nobody granted, first or last."""
    return random.choice((names, [EXTRA, *names], [*names, EXTRA], [EXTRA, *names], [*names, EXTRA]))


def _lives(
    random: Random,
    plan: Plan,
    names: list[str],
    everywhere: tuple[list[str], list[str]],
    shown: set[Name],
    begins: datetime,
) -> tuple[Life, Life]:
    """Both worlds see the same visible events at the same moments; everything between and beneath them differs.

    `shown` holds the records that were ever visible: nothing hidden happens to those, but what the worlds share.
    """
    shared = list(_visible_events(random, plan, names))
    before = frozenset(shown)
    shown |= {(event.connection, event.stream, event.key) for event in shared}
    happened: list[tuple[datetime, tuple[Event, Run | None]]] = []
    at = begins
    for event in shared:
        at += (random.random() < (0.05 if plan.is_heavy else 0.3)) * _TICK
        happened.append((at, _with_runs(random, plan, event)))
    lives: list[Life] = []
    for side in range(2):
        words = COMMON + SECRET[3 * side : 3 * side + 5]
        arrivals = _one_side(random, plan, happened, everywhere[side], words, shown, set(before))
        lives.append(Life(tuple(everywhere[side]), tuple(_gathered(random, arrivals))))
    return lives[0], lives[1]


def _with_runs(random: Random, plan: Plan, event: Event) -> tuple[Event, Run | None]:
    """Sometimes an import ends with it that is a complete picture of streams which the grant shows."""
    granted = [one.name for one in plan.streams.values() if event.connection in one.connections]
    if plan.is_heavy or random.random() > RUNS:
        return event, None
    return event, Run(event.connection, tuple(random.sample(granted, random.randint(1, len(granted)))))


def _visible_events(random: Random, plan: Plan, names: list[str]) -> Iterator[Event]:
    """Records that the grant shows, some changed or deleted later; hidden fields are left to each side."""
    for _ in range(420 if plan.is_heavy else random.randint(8, 40)):
        stream = random.choice([one for one in plan.streams.values() if one.connections])
        connection = random.choice(stream.connections)
        event = _event(random, plan, stream, connection, random.randrange(400 if plan.is_heavy else 30))
        assert event.data is not None
        if not stream.shows(connection, _key_text(event.key), event.data):
            continue
        yield event
        if random.random() < 0.1:
            yield Event(connection, stream.name, event.key, None, event.emitted_at)
        elif stream.since and random.random() < 0.1:  # it leaves the window of the grant
            yield replace(event, data={**event.data, stream.consent_time or "": "2020-01-01"})


def _one_side(
    random: Random,
    plan: Plan,
    happened: list[tuple[datetime, tuple[Event, Run | None]]],
    names: Sequence[str],
    words: Sequence[str],
    shown: set[Name],
    known: set[Name],
) -> Iterator[Arrival]:
    """The shared events, with hidden values of this side, and what is hidden around them, at moments of its own.

    `known` are the records that were visible before: they have no hidden past any more.
    """
    for at, (event, run) in happened:
        for _ in range(random.choice((0, 1, 2, 4))):
            moment = _aside(random, plan, at)
            yield from (Arrival(moment, (told,)) for told in _hidden_events(random, plan, names, shown, words))
        if not plan.is_heavy and random.random() < RUNS:
            yield Arrival(_aside(random, plan, at), run=_hidden_run(random, plan, names))
        yield from _one_event(random, plan, at, event, words, known)
        if run is not None:
            hidden = tuple(one.name for one in plan.streams.values() if event.connection not in one.connections)
            yield Arrival(at, run=replace(run, complete=run.complete + hidden[: random.randint(0, len(hidden))]))


def _one_event(
    random: Random, plan: Plan, at: datetime, event: Event, words: Sequence[str], known: set[Name]
) -> Iterator[Arrival]:
    stream = plan.streams[event.stream]
    if event.data is None:
        yield Arrival(at, (event,))
        return
    name = (event.connection, event.stream, event.key)
    if name not in known and random.random() < 0.3 and (past := _before_it_was_shown(random, stream, event, words)):
        plan.hidden.append(past)
        yield Arrival(_aside(random, plan, at), (past,))
    known.add(name)
    for version in range(random.choice((1, 1, 1, 2))):  # a second one that differs in hidden fields and its time
        data = _side_data(random, plan, stream, event.data, words)
        emitted_at = _moment(random) if version else event.emitted_at
        told = Event(event.connection, event.stream, event.key, data, emitted_at)
        plan.visible.append(told)
        yield Arrival(_aside(random, plan, at + _TICK) if version else at, (told,))


def _aside(random: Random, plan: Plan, at: datetime) -> datetime:
    """Together with that arrival, or some moment before it."""
    is_together = random.random() < (0.9 if plan.is_heavy else 0.6)
    earlier = timedelta(milliseconds=random.randrange(1, _TICK // timedelta(milliseconds=1)))
    return at if is_together else at - earlier


def _hidden_run(random: Random, plan: Plan, names: Sequence[str]) -> Run:
    """Of a part, of what is not granted, or one that failed: none of them tells the reader of a day."""
    connection = random.choice(names)
    streams = list(plan.streams.values())
    hidden = [one.name for one in streams if connection not in one.connections]
    match random.randrange(3):
        case 0:
            return Run(connection, ())
        case 1:
            return Run(connection, tuple(hidden))
        case _:
            return Run(connection, tuple(one.name for one in streams), rejects=True)


def _hidden_events(
    random: Random,
    plan: Plan,
    names: Sequence[str],
    shown: set[Name],
    words: Sequence[str],
) -> Iterator[Event]:
    stream, connection = random.choice(list(plan.streams.values())), random.choice(names)
    event = _event(random, plan, stream, connection, random.randrange(60), words)
    assert event.data is not None
    if (connection, stream.name, event.key) in shown or stream.shows(connection, _key_text(event.key), event.data):
        return
    plan.hidden.append(event)
    yield event
    if random.random() < 0.2:
        yield Event(connection, stream.name, event.key, None, event.emitted_at)


def _before_it_was_shown(random: Random, stream: Grown, event: Event, words: Sequence[str]) -> Event | None:
    """An earlier version of a visible record, from a day that the grant hides."""
    if not stream.since:
        return None
    past = {**(event.data or {}), stream.consent_time or "": "2020-01-01", "body": _text(random, words)}
    return Event(event.connection, event.stream, event.key, past, event.emitted_at)


def _side_data(random: Random, plan: Plan, stream: Grown, data: Json, words: Sequence[str]) -> Json:
    """The same record with other values in the fields that the grant leaves out."""
    keeps = {*stream.granted, *stream.key}
    if stream.since or stream.until:
        keeps.add(stream.consent_time or "")  # it decides what is shown, so it is no free choice
    changed = {name: value for name, value in data.items() if name in keeps}
    for name, kind in stream.fields.items():
        if name not in keeps and random.random() < 0.8:
            changed[name] = value_of(random, kind, words, plan.is_heavy)
    if stream.leads_to and LINK not in keeps:
        changed[LINK] = _link(data["id"], words)
    return changed


def _event(
    random: Random, plan: Plan, stream: Grown, connection: str, number: int, words: Sequence[str] = COMMON
) -> Event:
    key = _key(stream, number)
    data: Json = dict(zip(stream.key, key, strict=True))
    for name, kind in stream.fields.items():
        if random.random() < (0.3 if kind == "blob" else 0.85) or name == "body":
            data[name] = value_of(random, kind, words, plan.is_heavy)
    if stream.leads_to:
        data[LINK] = _link(key[0], words)
    return Event(connection, stream.name, key, data, _moment(random))


def _link(key: str, words: Sequence[str]) -> str:
    """Hidden ones differ with the words of their side."""
    return _name(Random(f"{key} {words[-1]}").randrange(30))


def _moment(random: Random) -> str | None:
    if random.random() < 0.5:
        return None
    return iso(_DAY + timedelta(days=random.randint(0, 30), minutes=random.randint(0, 600)))


def _name(number: int) -> str:
    return f"{'r é/'[number % 4]}{number}" if number % 5 == 0 else f"r{number}"


def _key(stream: Grown, number: int) -> tuple[str, ...]:
    name = _name(number)
    return (name,) if len(stream.key) == 1 else (name, str(number % 3))


def _key_text(key: tuple[str, ...]) -> str:
    return key[0] if len(key) == 1 else "[" + ",".join(f'"{part}"' for part in key) + "]"


def value_of(random: Random, kind: str, words: Sequence[str], is_heavy: bool) -> Any:
    moment = _DAY + timedelta(days=random.randint(0, 30), hours=random.randint(-12, 11), minutes=random.randint(0, 59))
    match kind:
        case "text":
            return (f"{HEAVY} " if is_heavy and random.random() < 0.9 else "") + _text(random, words)
        case "integer":
            return random.randint(-5, 2**40)
        case "number":
            return random.random()
        case "boolean":
            return random.random() < 0.5
        case "date-time":
            return iso(moment) if random.random() < 0.95 else "at some time"
        case "date":
            return moment.date().isoformat()
        case "object":
            return {"of": _text(random, words), "n": random.randint(0, 9)}
        case "blob":
            data = random.choice(_BYTES)
            return encode_reference(Blob(blob_id(data), len(data), random.choice(_MIME_TYPES)))
        case "array":
            return random.choices(words, k=3)
        case _:
            return random.choice((random.randint(0, 99), random.choice(words)))


def _text(random: Random, words: Sequence[str]) -> str:
    size = random.choice((1, 3, 8, 20, 60))
    return " ".join(random.choice(words) + random.choice(("", "", "", ".", ",", "\n")) for _ in range(size))


def blob_id(data: bytes) -> str:
    return ID_PREFIX + sha256(data).hexdigest()


def some_blob_id(random: Random) -> str:
    return blob_id(random.choice((*_BYTES, b"nothing that anybody has")))


def _gathered(random: Random, arrivals: Iterator[Arrival]) -> Iterator[Arrival]:
    """What one connection brings at one moment comes in deliveries of any size."""
    last: Arrival | None = None
    for arrival in arrivals:
        if last is None:
            last = arrival
        elif _is_one(last, arrival) and random.random() < 0.9:
            last = replace(last, events=last.events + arrival.events)
        else:
            yield last
            last = arrival
    if last is not None:
        yield last


def _is_one(last: Arrival, arrival: Arrival) -> bool:
    if last.run or arrival.run:
        return False
    return (last.at, last.connection) == (arrival.at, arrival.connection)

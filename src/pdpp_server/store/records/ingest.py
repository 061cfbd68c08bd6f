"""Insert, update, tombstone; the word index and the field index in the same transaction."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar, cast

import jsonschema_rs
import orjson

from pdpp_server.errors import InvalidRecordId
from pdpp_server.evidence.handles import check_key
from pdpp_server.model.ingest import Incoming, Receipt, Rejection
from pdpp_server.model.records import RecordId
from pdpp_server.model.runs import Mark
from pdpp_server.model.sources import Declaration
from pdpp_server.model.streams import Field, Stream
from pdpp_server.model.times import instant
from pdpp_server.store.engine import Writing
from pdpp_server.store.layout import RIDS_OF_DAY, ConnectionPlace, StreamPlace, day_in, day_of, first_rid
from pdpp_server.store.records.brought import forget_brought, keep_replaced, note_brought
from pdpp_server.store.records.noted import Noted, edited_fields
from pdpp_server.store.records.words import WordsOfRecord, spaced
from pdpp_server.wire.blobs import decode_references, has_address

RECORD_BYTES_MAX = 16 * 1024 * 1024
DEPTH_MAX = 100
INDEXED_CHARS = 128  # of a long string; enough to find candidates, which are then compared whole

_STORED = """
select r.key, r.rid, r.version, r.at, r.emitted_at, r.deleted_at, r.data
from json_each(:keys) named cross join records r on r.sid = :sid and r.key = named.value
"""
_LAST_RIDS = """
select first.value, (select max(rid) from records
    where rid >= cast(first.value as bigint) and rid < cast(first.value as bigint) + :room)
from json_each(:firsts) first
"""
_CLOCK = "select version from clock"
_TURN_CLOCK = "update clock set version = ?"
_ADVANCE = "update streams set version = ?, live = live + ? where sid = ?"
_NEW = "insert into records(rid, sid, key, version, revised, at, emitted_at, data) values(?, ?, ?, ?, ?, ?, ?, ?)"
_DROP = "delete from records where rid = ?"
_BURY = """
update records set version = ?, revised = 1, at = null, emitted_at = ?, deleted_at = ?, data = null where rid = ?
"""
_REPLACE = """
update records set version = ?, revised = 1, at = ?, emitted_at = ?, deleted_at = null, data = ? where rid = ?
"""
_SUPERSEDE = """
insert into history(sid, key, version, until, at, data, live, emitted_at, deleted_at) values(?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_ERASE_HISTORY = "update history set data = null where sid = ? and key = ?"
_COUNT_DAY = """
insert into days(sid, day, live) values(?, ?, ?) on conflict(sid, day) do update set live = days.live + excluded.live
"""
_NEW_BLOB_REF = "insert into blob_refs(blob_id, sid, field, rid) values(?, ?, ?, ?) on conflict do nothing"
_DROP_BLOB_REFS = "delete from blob_refs where rid = ?"
_UNBIND_ALL = "delete from blob_bindings where sid = ? and key = ?"
_UNBIND = "delete from blob_bindings where blob_id = ? and sid = ? and key = ?"
_EASY_KEY = re.compile(r"[\w:@+=-]{1,200}", re.ASCII)  # such a key surely fits into a handle
_FLAT = frozenset((str, int, float, bool, type(None)))  # values that hold no others
_TEXT = frozenset((str,))

NO_VALUE = b""  # of a record without a value in positions; behind every number and text
Findable = tuple[int, str, Mapping[str, Any]]  # rid, key, data
IndexedValue = tuple[int, int | float | str, int]  # fid, value, rid
RecordPosition = tuple[int, int | float | str | bytes, str, int]  # fid, value, key, rid
_Row = TypeVar("_Row", bound=tuple[Any, ...])


class _Stored(NamedTuple):
    rid: int
    version: int
    at: int | None
    emitted_at: str
    deleted_at: str | None
    data: str | None


class _Ready(NamedTuple):
    """A record that passed every check."""

    key: str
    at: int | None
    emitted_at: str
    data: Mapping[str, Any] | None
    canonical: str | None
    first: int = 0  # the first rid of its day


@dataclass(frozen=True)
class Desk:
    """Where records of one stream of one connection are checked and laid down."""

    connection_id: str
    stream: Stream
    place: StreamPlace
    validator: jsonschema_rs.Draft202012Validator

    def check(self, incoming: Incoming, now: str) -> _Ready | Rejection:
        try:
            return self._check(incoming, now)
        except (_Unfit, InvalidRecordId) as unfit:
            code = unfit.code if isinstance(unfit, _Unfit) else "invalid_record_identity"
            return Rejection(incoming.place, code, str(unfit))

    def _check(self, incoming: Incoming, now: str) -> _Ready:
        _, _, given, data, told_at, _ = incoming
        emitted_at = told_at or now
        if told_at and instant(told_at) is None:
            raise _Unfit("invalid_record", "`emitted_at` is not an ISO 8601 time")
        if data is None:
            return _Ready(self._joined(given), None, emitted_at, None, None)
        if not self.validator.is_valid(data):
            raise _Unfit("invalid_record", _why_invalid(self.validator, self.stream, data))
        if self.stream.blob_fields:
            self._require_no_address(data)
        told = data.get(self._only_key)
        key = told if isinstance(told, str) and given in (None, told) else self._key(given, data)
        if not _EASY_KEY.fullmatch(key):
            if "\0" in key:
                raise _Unfit("invalid_record_identity", "the key holds a NUL character")
            check_key(RecordId(self.connection_id, self.stream.name, key))
        order_field = self.stream.order_field
        at = instant(data.get(order_field) if order_field else emitted_at)
        return _Ready(key, at, emitted_at, data, _canonical(data), self.first_rid(at))

    def first_rid(self, at: int | None) -> int:
        return first_rid(self.place.sid, day_of(at))

    def _require_no_address(self, data: Mapping[str, Any]) -> None:
        if any(has_address(value) for _, value in self._blobs(data)):
            raise _Unfit("invalid_record", "`fetch_url` of a blob is written by the server alone")

    def _key(self, given: str | tuple[str, ...] | None, data: Mapping[str, Any]) -> str:
        parts = [_key_part(data.get(name)) for name in self.stream.primary_key]
        if given is None:
            if len(parts) == 1 and parts[0] is not None:
                return parts[0]
            if None in parts:
                missing = self.stream.primary_key[parts.index(None)]
                raise _Unfit("invalid_record_identity", f"the data has no {missing!r}, which the key needs")
            return _join_key([part for part in parts if part is not None])
        named = self._split(given)
        for name, part, told in zip(self.stream.primary_key, parts, named, strict=True):
            if part is not None and part != told:
                raise _Unfit("invalid_record_identity", f"the key and {name!r} of the data disagree")
        return _join_key(named)

    def _split(self, given: str | tuple[str, ...]) -> Sequence[str]:
        arity = len(self.stream.primary_key)
        named: object = given
        if isinstance(given, str):
            named = [given] if arity == 1 else _parsed_list(given)
        parts: list[Any] = list(named) if isinstance(named, list | tuple) else []  # pyright: ignore[reportUnknownArgumentType]
        if len(parts) != arity or not all(type(part) in (str, int) for part in parts):
            raise _Unfit("invalid_record_identity", f"the key has {arity} parts: {', '.join(self.stream.primary_key)}")
        return [str(part) for part in parts]

    def _joined(self, given: str | tuple[str, ...] | None) -> str:
        assert given is not None
        return _join_key(self._split(given))

    def words(self, records: Sequence[Findable]) -> list[WordsOfRecord]:
        """The rows of the word index, with its columns in the order of `place.slots`; none without a word to index."""
        columns = [
            [spaced(text) if isinstance(text := data.get(name), str) else "" for _, _, data in records]
            for name in self.place.slots
        ]
        return [row for row in zip(map(_rid_of, records), *columns, strict=True) if any(row[1:])]

    def values(self, records: Sequence[Findable]) -> list[IndexedValue]:
        """The rows of the field index, as an engine keeps them, so that each lies beside the one before."""
        rows: list[IndexedValue] = []
        for fid, field in self._indexed:
            name = field.name
            told = [(rid, value) for rid, _, data in records if (value := data.get(name)) is not None]
            if field.type == "string" and _TEXT.issuperset(map(type, map(_value_of, told))):  # as nearly every field
                of_field: list[IndexedValue] = [(fid, value[:INDEXED_CHARS], rid) for rid, value in told]
            else:
                indexed = ((rid, indexed_value(field, value)) for rid, value in told)
                of_field = [(fid, value, rid) for rid, value in indexed if value is not None]
            rows += _in_order(of_field)
        return rows

    def positions(self, records: Sequence[Findable]) -> list[RecordPosition]:
        """The value of each in the field by which pages are ordered; none in a stream without one."""
        if self._positioned is None:
            return []
        fid, field = self._positioned
        told = [(rid, key, indexed_value(field, data.get(field.name))) for rid, key, data in records]
        return [(fid, NO_VALUE if value is None else value, key, rid) for rid, key, value in told]

    def blob_refs(self, data: Mapping[str, Any]) -> list[tuple[str, str]]:
        """The fields that refer to blobs, and to which; a field may refer to several."""
        told = self._blobs(data)
        return [(name, reference.blob_id) for name, value in told for reference in decode_references(value)]

    def _blobs(self, data: Mapping[str, Any]) -> list[tuple[str, Any]]:
        """Few records have any, and nothing more is asked of the others."""
        return [(name, value) for name in self.stream.blob_fields if (value := data.get(name)) is not None]

    @cached_property
    def _only_key(self) -> str:
        """The field that alone is the key; no field is called as nothing."""
        names = self.stream.primary_key
        return names[0] if len(names) == 1 else ""

    @cached_property
    def _indexed(self) -> list[tuple[int, Field]]:
        fids = sorted((fid, name) for name, fid in self.place.fids.items() if name != self.place.position)
        return [(fid, self.stream.fields[name]) for fid, name in fids]

    @cached_property
    def _positioned(self) -> tuple[int, Field] | None:
        name = self.place.position
        return (self.place.fids[name], self.stream.fields[name]) if name else None


class _Unfit(Exception):
    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code


def desks(declaration: Declaration, connection: ConnectionPlace) -> dict[str, Desk]:
    """One desk for each stream, by name."""
    return {name: desk_of(declaration, connection, name) for name in declaration.streams}


def desk_of(declaration: Declaration, connection: ConnectionPlace, name: str) -> Desk:
    stream = declaration.streams[name]
    validator = jsonschema_rs.Draft202012Validator(dict(stream.schema), offline=True)
    return Desk(connection.origin.connection_id, stream, connection.streams[name], validator)


def deliver(writer: Writing, desk: Desk, batch: Iterable[Incoming], now: str, mark: Mark | None = None) -> Receipt:
    """Store what is new or changed. A rejected record does not stop the others; the caller commits.

    Without a mark the records come by other hands than an export's.
    """
    receipt = Receipt()
    ready: dict[str, tuple[str, _Ready]] = {}
    rejected: list[Rejection] = []
    for incoming in _with_what_stays(writer, desk, list(batch)):
        checked = desk.check(incoming, now)
        if isinstance(checked, Rejection):
            rejected.append(checked)
            continue
        if checked.key in ready:  # the same record twice: the first must be stored before the second can change it
            receipt += _store(writer, desk, ready, now, mark)
            ready = {}
        ready[checked.key] = (incoming.place, checked)
    receipt += _store(writer, desk, ready, now, mark)
    return receipt + Receipt(rejected=tuple(rejected))


def _with_what_stays(writer: Writing, desk: Desk, batch: list[Incoming]) -> Iterable[Incoming]:
    """Each record with the fields that it leaves as they are: as they are kept, or as the batch told them before."""
    named = [one.key for one in batch if one.stays and isinstance(one.key, str)]
    if not named:
        return batch
    stored = _stored(writer, desk, named)
    known: dict[Any, Mapping[str, Any]] = {key: orjson.loads(row.data or "{}") for key, row in stored.items()}
    completed: list[Incoming] = []
    for incoming in batch:
        before = known.get(incoming.key, {})
        kept = {name: before[name] for name in incoming.stays if name in before}
        data = {**incoming.data, **kept} if incoming.data and kept else incoming.data
        known[incoming.key] = data or {}
        completed.append(incoming._replace(data=data))
    return completed


def bury(writer: Writing, desk: Desk, keys: Iterable[str], now: str) -> None:
    """Tombstones for records that a newer export has no longer."""
    gone = {key: ("", _Ready(key, None, now, None, None)) for key in keys}
    _put(writer, desk, gone, _stored(writer, desk, gone), now)


def put_back(writer: Writing, desk: Desk, batch: Iterable[Incoming], now: str) -> Receipt:
    """Records as they were before, whoever brought them; what no longer fits is rejected."""
    checked = [(incoming.place, desk.check(incoming, now)) for incoming in batch]
    rejected = tuple(one for _, one in checked if isinstance(one, Rejection))
    ready = {one.key: (place, one) for place, one in checked if not isinstance(one, Rejection)}
    return _put(writer, desk, ready, _stored(writer, desk, ready), now) + Receipt(rejected=rejected)


def _store(
    writer: Writing, desk: Desk, ready: Mapping[str, tuple[str, _Ready]], now: str, mark: Mark | None
) -> Receipt:
    if not ready:
        return Receipt()
    stored = _stored(writer, desk, ready)
    if mark is not None and mark.run:
        _keep_replaced(writer, desk, ready, stored, mark.run)
    receipt = _put(writer, desk, ready, stored, now)
    refused = {rejection.place for rejection in receipt.rejected}
    kept = [key for key, (place, record) in ready.items() if record.data is not None and place not in refused]
    gone = [key for key, (_, record) in ready.items() if record.data is None]
    live = [key for key in kept if key in stored and stored[key].data is not None]
    note_brought(writer, desk.place.sid, mark, kept, live)
    if gone:
        forget_brought(writer, desk.place.sid, gone)
    return receipt


def _keep_replaced(
    writer: Writing, desk: Desk, ready: Mapping[str, tuple[str, _Ready]], stored: Mapping[str, _Stored], run: int
) -> None:
    told = ((key, ready[key][1].canonical) for key, before in stored.items() if before.data is not None)
    changed = [key for key, canonical in told if canonical not in (None, stored[key].data)]
    if changed:
        keep_replaced(writer, desk.place.sid, run, changed, with_blobs=bool(desk.stream.blob_fields))


def _stored(writer: Writing, desk: Desk, keys: Iterable[str]) -> dict[str, _Stored]:
    named = orjson.dumps(list(keys)).decode()
    asked = {"sid": desk.place.sid, "keys": named}
    found = writer.rows(_STORED, asked)
    return {row[0]: _Stored(*row[1:]) for row in found}


def _put(
    writer: Writing,
    desk: Desk,
    ready: Mapping[str, tuple[str, _Ready]],
    stored: Mapping[str, _Stored],
    now: str,
) -> Receipt:
    sid = desk.place.sid
    changes: list[tuple[_Ready, _Stored | None]] = []
    rejected: list[Rejection] = []
    for key, (place, record) in ready.items():
        before = stored.get(key)
        if record.canonical == (before.data if before else None):
            continue  # there already, or gone already
        if before and before.data is not None and record.data is not None and desk.stream.semantics == "append_only":
            rejected.append(
                Rejection(place, "invalid_record", "the stream is append_only and holds other data for this key")
            )
            continue
        if desk.stream.order_field is None and before and before.data is not None and record.data is not None:
            # It lies where it came: an edit of a hidden field moves nothing.
            record = record._replace(at=before.at, first=desk.first_rid(before.at))
        changes.append((record, before))
    _Writing(writer, desk, now).apply(changes)
    gone = [(sid, key) for key, (_, record) in ready.items() if record.data is None]
    writer.run_many(_UNBIND_ALL, gone)  # also what was delivered for a record that never came
    return Receipt(len(changes), len(ready) - len(changes) - len(rejected), tuple(rejected))


class _Writing:
    """The statements of one batch, gathered and then run table by table: what the index likes best is sorted rows."""

    def __init__(self, writer: Writing, desk: Desk, now: str) -> None:
        self._writer, self._desk, self._now = writer, desk, now
        self._next_rids: dict[int, int] = {}  # by the first of their day
        self._version: int = 0

    def apply(self, changes: Sequence[tuple[_Ready, _Stored | None]]) -> None:
        if not changes:
            return
        sid = self._desk.place.sid
        self._version = self._writer.one(_CLOCK)
        self._look_for_room({record.first for record, _ in changes if record.data is not None})
        self._unindex([(record.key, before) for record, before in changes if before])
        fresh: list[tuple[Any, ...]] = []
        findable: list[Findable] = []
        days: Counter[int] = Counter()
        noted = Noted()
        for record, before in changes:
            self._version += 1
            key, at, emitted_at, data, canonical, _ = record
            rid = before.rid if before and data is None else self._rid(record, before)
            day = day_in(rid)
            if before is None:
                noted.came_or_went(day, (self._version, emitted_at))
            else:
                self._note(noted, record, before, rid)
                self._supersede(record, before, rid)
                self._unbind(record, before)
                days[day_in(before.rid)] -= before.data is not None
            if data is not None:
                days[day] += 1
                findable.append((rid, key, data))
                if not (before and before.rid == rid):
                    fresh.append((rid, sid, key, self._version, before is not None, at, emitted_at, canonical))
        self._writer.run_many(_NEW, fresh)
        index_records(self._writer, self._desk, sorted(findable, key=_rid_of))
        self._writer.run_many(_COUNT_DAY, [(sid, day, change) for day, change in days.items() if change])
        noted.keep(self._writer, sid)
        self._writer.run(_ADVANCE, (self._version, days.total(), sid))
        self._writer.run(_TURN_CLOCK, (self._version,))
        if any(record.data is None for record, _ in changes):
            self._writer.note_erasure()

    def _note(self, noted: Noted, record: _Ready, before: _Stored, rid: int) -> None:
        change = (self._version, record.emitted_at)
        if before.data is None or record.data is None:
            noted.came_or_went(day_in(rid), change)
            return
        fields = edited_fields(self._desk.stream.fields, orjson.loads(before.data), record.data)
        noted.edited(fields, day_in(before.rid), day_in(rid), change)

    def _unindex(self, stored: Sequence[tuple[str, _Stored]]) -> None:
        desk, index = self._desk, self._writer.index
        found: list[Findable] = [
            (before.rid, key, orjson.loads(before.data)) for key, before in stored if before.data is not None
        ]
        found.sort(key=_rid_of)
        if desk.place.slots:
            index.drop_words(desk.place, desk.words(found))
        index.drop_values(desk.values(found))
        index.drop_positions([position[:3] for position in desk.positions(found)])
        if desk.stream.blob_fields:
            self._writer.run_many(_DROP_BLOB_REFS, [(rid,) for rid, *_ in found])
        if stored and desk.stream.semantic_fields:
            self._writer.meanings.drop([before.rid for _, before in stored])

    def _supersede(self, record: _Ready, before: _Stored, rid: int) -> None:
        """Keep what a change feed needs of the version before, and make its row the new one, or room for it.

        A deletion leaves no data behind, not in the history either.
        """
        sid = self._desk.place.sid
        if record.data is None:
            self._writer.run(_ERASE_HISTORY, (sid, record.key))
            self._writer.run(_BURY, (self._version, record.emitted_at, self._now, rid))
        elif before.rid == rid:
            self._writer.run(_REPLACE, (self._version, record.at, record.emitted_at, record.canonical, rid))
        else:
            self._writer.run(_DROP, (before.rid,))
        kept = None if record.data is None else before.data
        was_live = before.data is not None
        row = (sid, record.key, before.version, self._version, before.at, kept, was_live)
        self._writer.run(_SUPERSEDE, (*row, before.emitted_at, before.deleted_at))

    def _unbind(self, record: _Ready, before: _Stored) -> None:
        """A changed record keeps the blobs that it still refers to, and those that it never referred to."""
        sid, key = self._desk.place.sid, record.key
        if self._desk.stream.blob_fields and record.data is not None and before.data is not None:
            kept = {blob_id for _, blob_id in self._desk.blob_refs(record.data)}
            held = {blob_id for _, blob_id in self._desk.blob_refs(orjson.loads(before.data))}
            self._writer.run_many(_UNBIND, [(blob_id, sid, key) for blob_id in held - kept])

    def _look_for_room(self, firsts: Iterable[int]) -> None:
        """Where the next record of each day goes."""
        asked = {"firsts": orjson.dumps(sorted(firsts)).decode(), "room": RIDS_OF_DAY}
        for first, last in self._writer.rows(_LAST_RIDS, asked):
            self._next_rids[int(first)] = int(first) if last is None else last + 1

    def _rid(self, record: _Ready, before: _Stored | None) -> int:
        """The rid of before while the day is the same; else the next free one of its day."""
        first = record.first
        if before and first <= before.rid < first + RIDS_OF_DAY:
            return before.rid
        rid = self._next_rids[first]
        self._next_rids[first] = rid + 1
        return rid


def index_records(writer: Writing, desk: Desk, records: Sequence[Findable]) -> None:
    """Make records findable; they come in the order of their rids."""
    if desk.place.slots:
        writer.index.add_words(desk.place, desk.words(records))
    writer.index.add_values(desk.values(records))
    if desk.place.position:
        writer.index.add_positions(_in_order(desk.positions(records)))
    if desk.stream.blob_fields:
        sid = desk.place.sid
        refs = [(blob_id, sid, name, rid) for rid, _, data in records for name, blob_id in desk.blob_refs(data)]
        writer.run_many(_NEW_BLOB_REF, refs)


def _in_order(rows: list[_Row]) -> list[_Row]:
    """Rows of one field by their values, which are mostly of one kind; those of one value stay as they are."""
    try:
        return sorted(rows, key=_value_of)
    except TypeError:
        return sorted(rows, key=_value_order)


_rid_of, _value_of = itemgetter(0), itemgetter(1)


def _value_order(row: tuple[Any, ...]) -> tuple[int, Any]:
    """As SQLite orders them: numbers, text, bytes."""
    value = row[1]
    return 2 if isinstance(value, bytes) else isinstance(value, str), value


def indexed_value(field: Field, value: object) -> int | float | str | None:
    """A value as the field index holds it: text by its beginning."""
    comparable = field.comparable(value)
    return comparable[:INDEXED_CHARS] if isinstance(comparable, str) else comparable


def _canonical(data: Mapping[str, Any]) -> str:
    try:
        raw = orjson.dumps(data, option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError as error:
        raise _Unfit("invalid_record", f"cannot be stored as JSON: {error}") from error
    if len(raw) > RECORD_BYTES_MAX:
        raise _Unfit("invalid_record", f"larger than {RECORD_BYTES_MAX >> 20} MiB")
    if not _FLAT.issuperset(map(type, data.values())) and raw.count(b"[") + raw.count(b"{") > DEPTH_MAX:
        _require_shallow(data)
    text = raw.decode()
    if "\\u0000" in text and _holds_nul(data):  # in a text that is found three times as fast as in bytes
        raise _Unfit("invalid_record", "holds a NUL character")
    return text


def _require_shallow(data: Mapping[str, Any]) -> None:
    if _depth(data) > DEPTH_MAX:
        raise _Unfit("invalid_record", f"nested deeper than {DEPTH_MAX} levels")


def _depth(value: Any) -> int:
    level: list[Any] = [value]
    deepest = 0
    while level:
        deepest += 1
        level = [child for node in level for child in _children(node)]
    return deepest


def _holds_nul(value: Any) -> bool:
    if isinstance(value, str):
        return "\0" in value
    names = cast(dict[str, Any], value) if isinstance(value, dict) else ()
    return any("\0" in name for name in names) or any(_holds_nul(child) for child in _children(value))


def _children(node: Any) -> Iterable[Any]:
    if isinstance(node, dict):
        return cast(dict[str, Any], node).values()
    return cast(list[Any], node) if isinstance(node, list) else ()


def _key_part(value: object) -> str | None:
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
        case _:
            return None


def _join_key(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else orjson.dumps(list(parts)).decode()


def _parsed_list(text: str) -> object:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


def _why_invalid(validator: jsonschema_rs.Draft202012Validator, stream: Stream, data: Mapping[str, Any]) -> str:
    """Which rule of the schema is broken and in which declared field; other names may be words of the record."""
    error = next(iter(validator.iter_errors(data)))
    place = error.instance_path
    where = place[0] if place and place[0] in stream.fields else "the record"
    rule = error.schema_path[-1] if error.schema_path else "schema"
    return f"{where} does not fit the declared `{rule}`"

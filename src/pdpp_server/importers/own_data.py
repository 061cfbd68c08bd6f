"""Data of the owner's own (NDJSON, JSON, CSV, SQLite) without a declaration: one is proposed from its rows."""

import codecs
import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, cast

import orjson

from pdpp_server.errors import InvalidRequest
from pdpp_server.importers.formats.charsets import is_wide, marked_text
from pdpp_server.importers.identity import account_name, digest, short_hash
from pdpp_server.model.ingest import Incoming, Rejection
from pdpp_server.model.times import instant
from pdpp_server.owner.foreign import ForeignFile, ForeignTable, opened_tables
from pdpp_server.wire.declaration_proposals import ProposedStream, encode_proposal
from pdpp_server.wire.envelope import Json

ENDINGS = frozenset({".ndjson", ".jsonl", ".json", ".csv", ".tsv"})
DATABASE_MARK = b"SQLite format 3\0"
JSON_BYTES_MAX = 256 * 1024 * 1024  # a JSON file is read whole
LINE_BYTES_MAX = 16 * 1024 * 1024
FIELDS_MAX, LEXICAL_MAX, STREAMS_MAX = 200, 16, 50
FURTHER_MAX = 10_000  # names of fields that are counted beyond these
LONG_CHARS = 40  # from which on a text is prose rather than a label

_NAME = re.compile(r"[^a-z0-9_]+")
_WHOLE = re.compile(r"-?(?:0|[1-9][0-9]{0,14})")
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]{0,14})\.[0-9]{1,12}")
_DATE_TIME = re.compile(
    r"[0-9]{4}-[01][0-9]-[0-3][0-9][T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?:Z|[+-][0-9:]{4,6})"
)
_DATE = re.compile(r"[0-9]{4}-[01][0-9]-[0-3][0-9]")
MADE_KEY = "record_key"  # of a row that has none of its own
_KEYS = ("id", "key", "uuid", "guid", "_id", "record_id")
_TIMES = ("created_at", "created", "date", "time", "timestamp", "datetime", "at", "sent_at", "updated_at")
_TITLES = ("title", "subject", "name", "label")


class UnreadableData(InvalidRequest):
    """A file is of a kind that could be read, and is broken."""


class ProposedRow(NamedTuple):
    place: str
    stream: str
    data: dict[str, Any]


def is_own_data(path: Path) -> bool:
    return path.is_file() and (path.suffix.lower() in ENDINGS or is_database(path))


def is_database(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(DATABASE_MARK)) == DATABASE_MARK


def rows(path: Path) -> Iterator[ProposedRow | Rejection]:
    """Every record of the file, and what is none. Raises: InvalidRequest where it cannot be read at all."""
    stream = _called(account_name(path.name), "records")
    if is_database(path):
        yield from _tables(path)
        return
    match path.suffix.lower():
        case ".csv" | ".tsv":
            yield from _table(path, stream)
        case ".json":
            yield from _document(path, stream)
        case _:
            yield from _lines(path, stream)


def _lines(path: Path, stream: str) -> Iterator[ProposedRow | Rejection]:
    with path.open("rb") as file:
        lines = iter(lambda: file.readline(LINE_BYTES_MAX), b"")
        if is_wide(file.peek(2)):
            wide = io.TextIOWrapper(file, "utf-16", "replace", newline="\n")
            lines = (line.encode() for line in iter(lambda: wide.readline(LINE_BYTES_MAX), ""))
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield _row(f"{path.name}:{number}", stream, _loaded(line))


def _document(path: Path, stream: str) -> Iterator[ProposedRow | Rejection]:
    """A list of objects, or an object whose members are such lists: each is a stream."""
    if path.stat().st_size > JSON_BYTES_MAX:
        raise InvalidRequest(
            f"{path.name} is larger than {JSON_BYTES_MAX >> 20} MiB.",
            remedy="Write one object a line (NDJSON) instead.",
        )
    try:
        raw = path.read_bytes()
        whole = orjson.loads(marked_text(raw) if is_wide(raw) else raw.removeprefix(codecs.BOM_UTF8))
    except orjson.JSONDecodeError as error:
        raise UnreadableData(
            f"{path.name} is no whole JSON: {error.msg}, line {error.lineno}.", remedy="Have it written once more."
        ) from error
    lists: dict[str, Any] = {stream: whole}
    if isinstance(whole, dict):
        members = cast("dict[str, Any]", whole)
        lists = {_called(name, "records"): value for name, value in members.items() if _holds_objects(value)}
        lists = lists or {stream: [members]}
    for name, values in list(lists.items())[:STREAMS_MAX]:
        several = cast("list[Any]", values) if isinstance(values, list) else [values]
        for number, value in enumerate(several, 1):
            yield _row(f"{path.name}:{name} {number}", name, value)


def _holds_objects(value: object) -> bool:
    values = cast("list[Any]", value) if isinstance(value, list) else []
    return bool(values) and all(isinstance(one, dict) for one in values[:100])


def _table(path: Path, stream: str) -> Iterator[ProposedRow | Rejection]:
    text = marked_text(path.read_bytes())
    separator = max("\t,;|", key=text.partition("\n")[0].count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    header = _names(next(_cells(reader, path.name), list[str]()))
    if len(header) < 2:
        raise InvalidRequest(f"{path.name} has no line of column names.", remedy="Write them into its first line.")
    for cells in _cells(reader, path.name):
        place = f"{path.name}:{reader.line_num}"
        if len(cells) == len(header):
            told = dict(zip(header, map(str.strip, cells), strict=True))
            yield _row(place, stream, {name: cell for name, cell in told.items() if cell})
        elif cells:
            yield Rejection(place, "invalid_record", f"{len(cells)} cells, not {len(header)}")


def _names(cells: Iterable[str]) -> list[str]:
    """One for each column: some programs leave one without, or call two alike."""
    names: dict[str, None] = {}  # in their order; there may be very many
    for number, cell in enumerate(cells, 1):
        called = cell.strip() or f"column {number}"
        while called in names:
            called = f"{called} {number}"
        names[called] = None
    return [*names]


def _cells(reader: Iterator[list[str]], name: str) -> Iterator[list[str]]:
    try:
        yield from reader
    except csv.Error as error:
        raise UnreadableData(f"{name} is no table: {error}.", remedy="Save it as CSV once more.") from error


def _tables(path: Path) -> Iterator[ProposedRow | Rejection]:
    """Each table is a stream; bytes are left out, for nobody knows what they are."""
    with opened_tables(path) as database:
        for stream, table in _streams_of(database).items():
            for number, told in enumerate(database.rows_of(table), 1):
                data = {column: value for column, value in told.items() if not isinstance(value, bytes)}
                yield _row(f"{path.name}:{table.name} {number}", stream, data)


def _streams_of(database: ForeignFile) -> dict[str, ForeignTable]:
    """Two tables whose names differ in case or signs alone get a number."""
    streams: dict[str, ForeignTable] = {}
    for table in database.tables()[:STREAMS_MAX]:
        called, number = _called(table.name, "records"), 1
        chosen = called
        while chosen in streams:
            number += 1
            chosen = f"{called[:60]}_{number}"
        streams[chosen] = table
    return streams


class DatabaseSays(NamedTuple):
    """What a database says itself of its tables."""

    keys: Mapping[str, str]  # by stream
    left_out: tuple[str, ...]  # tables beyond what a declaration takes, and columns that hold bytes


def declared_in(path: Path) -> DatabaseSays:
    """Raises: InvalidRequest."""
    if not is_database(path):
        return DatabaseSays({}, ())
    with opened_tables(path) as database:
        streams = _streams_of(database)
        keys = {stream: _called(table.key, "field") for stream, table in streams.items() if table.key}
        left = [f"table {table.name}" for table in database.tables()[STREAMS_MAX:]]
        for table in streams.values():
            holds_bytes: set[str] = set()
            for told in database.rows_of(table):
                holds_bytes |= {column for column, value in told.items() if isinstance(value, bytes)}
            left += [f"bytes in {table.name}.{column}" for column in sorted(holds_bytes)]
    return DatabaseSays(keys, tuple(left))


def _row(place: str, stream: str, value: object) -> ProposedRow | Rejection:
    if not isinstance(value, dict):
        return Rejection(place, "malformed_record", "it is no JSON object")
    data: dict[str, Any] = {}
    for name, one in cast("dict[str, Any]", value).items():
        chosen, number = _called(name, "field"), 1
        while chosen in data:  # two that differ in case or signs alone
            number += 1
            chosen = f"{_called(name, 'field')}_{number}"
        data[chosen] = one
    return ProposedRow(place, stream, {name: one for name, one in data.items() if one is not None})


def _loaded(raw: bytes) -> object:
    try:
        return orjson.loads(raw.removeprefix(codecs.BOM_UTF8))
    except orjson.JSONDecodeError:
        return None


def _called(name: str, otherwise: str) -> str:
    """A name as a stream or a field can have it."""
    return _NAME.sub("_", name.strip().lower()).strip("_")[:64] or otherwise


# What the rows are like -----------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Field:
    count: int = 0
    kinds: set[str] = field(default_factory=set[str])
    chars: int = 0
    values: set[int] = field(default_factory=set[int])
    is_unique: bool = True

    def look(self, value: object, *, is_table: bool) -> None:
        self.count += 1
        kind = _kind(value, is_table=is_table)
        self.kinds.add(kind)
        self.chars += len(value) if isinstance(value, str) else 0
        if self.is_unique:
            known = short_hash(repr(value))
            self.is_unique = known not in self.values and kind not in ("object", "array", "boolean", "number")
            self.values.add(known)
            if not self.is_unique:
                self.values.clear()

    @property
    def mean_chars(self) -> float:
        return self.chars / self.count

    @property
    def kind(self) -> str:
        """The one kind that all values have; text where a table mixes, nothing where JSON does."""
        if len(self.kinds) == 1:
            return next(iter(self.kinds))
        if self.kinds <= {"integer", "number"}:
            return "number"
        return "string" if self.kinds <= {"string", "date", "date-time", "integer-text", "number-text"} else ""


def _kind(value: object, *, is_table: bool) -> str:
    match value:
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str() if _DATE_TIME.fullmatch(value) and instant(value) is not None:
            return "date-time"
        case str() if _DATE.fullmatch(value) and instant(value) is not None:
            return "date"
        case str() if is_table and _WHOLE.fullmatch(value):
            return "integer-text"
        case str() if is_table and _DECIMAL.fullmatch(value):
            return "number-text"
        case list():
            return "array"
        case dict():
            return "object"
        case _:
            return "string"


class DeclarationProposal(NamedTuple):
    """A declaration, and how rows become records of it."""

    document: Json
    made_keys: frozenset[str]  # streams whose rows have no key of their own
    numbers: Mapping[str, frozenset[str]]  # by stream, the fields that a table writes as text
    records: int
    rejected: tuple[Rejection, ...]
    left_out: tuple[str, ...] = ()

    def record(self, row: ProposedRow, seen: dict[str, int]) -> Incoming:
        data = dict(row.data)
        for name in self.numbers.get(row.stream, ()):
            if name in data:
                data[name] = float(data[name]) if "." in data[name] else int(data[name])
        if row.stream in self.made_keys:
            key = digest(orjson.dumps(data, option=orjson.OPT_SORT_KEYS))
            seen[key] = seen.get(key, 0) + 1
            if seen[key] > 1:
                key = f"{key}-{seen[key]}"
            data = {MADE_KEY: key, **data}
        return Incoming(row.place, row.stream, None, data, None)


@dataclass(slots=True)
class _Looked:
    """What was seen of the rows of one stream."""

    count: int = 0
    fields: dict[str, _Field] = field(default_factory=dict[str, _Field])
    further: set[str] = field(default_factory=set[str])

    def look(self, row: ProposedRow, *, is_table: bool) -> None:
        self.count += 1
        for name, value in row.data.items():
            if name in self.fields or len(self.fields) < FIELDS_MAX:
                self.fields.setdefault(name, _Field()).look(value, is_table=is_table)
            elif len(self.further) < FURTHER_MAX:
                self.further.add(name)

    def key(self, declared: str | None) -> str | None:
        """A field that every row has and no two share, best the one said to be the key, else called like one."""
        fit = [name for name, one in self.fields.items() if self._can_be_key(one)]
        if declared in fit:
            return declared
        named = [name for name in _KEYS if name in fit]
        named += [name for name in fit if name.endswith("_id")]
        return named[0] if named else None

    def _can_be_key(self, one: _Field) -> bool:
        return one.is_unique and one.count == self.count and one.chars < 200 * self.count

    def numbers(self, key: str | None) -> frozenset[str]:
        """The fields that a table writes as text."""
        written = {name for name, one in self.fields.items() if one.kinds <= {"integer-text", "number-text"}}
        return frozenset(written - {key})

    def stream(self, name: str, key: str, numbers: frozenset[str]) -> ProposedStream:
        kinds = {} if key in self.fields else {key: "string"}
        for field_name, one in self.fields.items():
            kinds[field_name] = _declared_kind(one, is_number=field_name in numbers, is_key=field_name == key)
        texts = [name for name, kind in kinds.items() if kind == "string" and name != MADE_KEY]
        title = _first_of(_TITLES, texts)
        return ProposedStream(
            name,
            key,
            kinds,
            key_says="" if key in self.fields else "Made from the whole row.",
            time=self._time(kinds),
            title=title,
            body=self._body([name for name in texts if name != title]),
            searched=tuple(texts[:LEXICAL_MAX]),
        )

    def _time(self, kinds: Mapping[str, str]) -> str | None:
        times = [name for name, kind in kinds.items() if kind in ("date-time", "date")]
        always = [name for name in times if self.fields[name].count == self.count]
        return _first_of(_TIMES, always) or next(iter(always), None)

    def _body(self, texts: list[str]) -> str | None:
        """The longest of the texts that are prose."""
        prose = [name for name in texts if self.fields[name].mean_chars >= LONG_CHARS]
        return max(prose, key=lambda name: self.fields[name].mean_chars, default=None)


def _first_of(wanted: Iterable[str], there: Iterable[str]) -> str | None:
    return next((name for name in wanted if name in there), None)


def _declared_kind(one: _Field, *, is_number: bool, is_key: bool) -> str:
    if is_number:
        return "integer" if one.kinds == {"integer-text"} else "number"
    if is_key and one.kind != "integer":
        return "string"
    return one.kind


def proposal_of(path: Path, name: str) -> DeclarationProposal:
    """What a declaration of the file would be, from all of its rows. Raises: InvalidRequest where there is none."""
    is_table = path.suffix.lower() in (".csv", ".tsv")
    said = declared_in(path)
    looked: dict[str, _Looked] = {}
    rejected: list[Rejection] = []
    for row in rows(path):
        if isinstance(row, Rejection):
            rejected.append(row)
        else:
            looked.setdefault(row.stream, _Looked()).look(row, is_table=is_table)
    if not looked:
        raise InvalidRequest(f"{path.name} holds no records.", remedy="It needs JSON objects, or named columns.")
    keys = {stream: one.key(said.keys.get(stream)) for stream, one in looked.items()}
    numbers = {stream: one.numbers(keys[stream]) for stream, one in looked.items()}
    streams = [one.stream(stream, keys[stream] or MADE_KEY, numbers[stream]) for stream, one in looked.items()]
    return DeclarationProposal(
        encode_proposal(name, _called(name, "records").replace("_", "-"), streams, digest),
        frozenset(stream for stream, key in keys.items() if key is None),
        numbers,
        sum(one.count for one in looked.values()),
        tuple(rejected),
        (*said.left_out, *_too_many(looked)),
    )


def _too_many(looked: Mapping[str, _Looked]) -> Iterator[str]:
    """Fields that nobody could be shown or granted, for a declaration names so many at most."""
    for stream, one in looked.items():
        if one.further:
            yield f"{len(one.further)} fields of {stream} beyond {FIELDS_MAX}, as {min(one.further)}"

"""Every derived table against the records, worked out anew from the declarations and without the store's own code."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import apsw
import orjson

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST_DAY = datetime(1800, 1, 1, tzinfo=UTC)
DAY_BITS, SID_BITS = 26, 43
NO_VALUE = b""
TOKENIZER = "porter", ["unicode61", "remove_diacritics", "2"]
UNSPACED = re.compile("([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff])")


class Asked(Protocol):
    """A connection, as far as it is asked here."""

    def execute(self, statement: str, values: tuple[Any, ...] = (), /) -> Any: ...


class Live(NamedTuple):
    """A record that is not deleted, beside what its stream declares."""

    rid: int
    sid: int
    key: str
    at: int | None
    emitted_at: str
    data: Mapping[str, Any]
    declared: Mapping[str, Any]


def disagreements(path: Path) -> list[str]:
    """What is wrong in that database, in words; empty when all is well."""
    connection = apsw.Connection(str(path))
    try:
        connection.execute("begin").fetchall()
        return list(_disagreements(connection))
    finally:
        connection.close()


def _disagreements(connection: apsw.Connection) -> Iterator[str]:
    found = [row[0] for row in connection.execute("pragma integrity_check")]
    if found != ["ok"]:
        yield f"integrity_check: {found[:3]}"
    if broken := connection.execute("pragma foreign_key_check").fetchall():
        yield f"foreign_key_check: {broken[:3]}"
    found_live = list(live(connection))
    yield from disagreements_of_plain_tables(connection, found_live)
    yield from disagreements_of_values(connection, found_live)
    yield from _words(connection, found_live)


def disagreements_of_plain_tables(connection: Asked, live: list[Live]) -> Iterator[str]:
    """Of those that are the same on either engine."""
    yield from _places(live)
    yield from _counts(connection)
    yield from _versions(connection)
    yield from _histories(connection)
    yield from _blobs(connection, live)


def disagreements_of_values(connection: Asked, live: list[Live]) -> Iterator[str]:
    yield from _differ("field_values", _expected_values(connection, live, 1), "fid, value, rid", connection)
    yield from _differ("positions", _expected_values(connection, live, 2), "fid, value, rid", connection)


def live(connection: Asked) -> Iterator[Live]:
    declared = {
        sid: next((stream for stream in orjson.loads(document)["streams"] if stream["name"] == name), None)
        for sid, name, document in connection.execute(
            "select sid, name, document from streams join connections using(connection) "
            "join declarations using(declaration)"
        )
    }
    for rid, sid, key, at, emitted_at, data in connection.execute(
        "select rid, sid, key, at, emitted_at, data from records where data is not null order by rid"
    ):
        stream = declared[sid]
        assert stream is not None
        yield Live(rid, sid, key, at, emitted_at, orjson.loads(data), stream)


# Where records lie ------------------------------------------------------------------------------------------------


def _places(live: list[Live]) -> Iterator[str]:
    for record in live:
        time_field = record.declared.get("consent_time_field") or record.declared.get("cursor_field")
        at = micros(record.data.get(time_field)) if time_field else record.at  # without a time it lies where it came
        day = 0 if at is None else max(0, at // 86_400_000_000 + (EPOCH - FIRST_DAY).days)
        if record.at != at:
            yield f"record {record.key} is at {record.at}, not {at}"
        if record.rid >> SID_BITS != record.sid or (record.rid >> DAY_BITS) & 131_071 != day:
            yield f"record {record.key} lies at {record.rid}, not in stream {record.sid} on day {day}"


def micros(text: object) -> int | None:
    if not isinstance(text, str):
        return None
    moment = datetime.fromisoformat(text)
    since = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - EPOCH
    return since.days * 86_400_000_000 + since.seconds * 1_000_000 + since.microseconds


def _counts(connection: Asked) -> Iterator[str]:
    day = f"rid >> {DAY_BITS} & 131071"
    for what, told, counted in (
        (
            "live",
            "select sid, live from streams where live > 0",
            "select sid, count(*) from records where data is not null group by sid",
        ),
        (
            "days",
            "select sid, day, live from days where live > 0",
            f"select sid, {day}, count(*) from records where data is not null group by sid, {day}",
        ),
    ):
        said, true = set(connection.execute(told)), set(connection.execute(counted))
        if said != true:
            yield f"{what}: told {sorted(said - true)[:5]}, counted {sorted(true - said)[:5]}"


# Versions ---------------------------------------------------------------------------------------------------------


def _versions(connection: Asked) -> Iterator[str]:
    clock: list[Any] = connection.execute("select version from clock").fetchall()
    taken = [row[0] for row in connection.execute("select version from records union all select version from history")]
    if len(clock) != 1 or max(taken, default=0) > clock[0][0]:
        yield f"the clock says {clock}, and a record {max(taken, default=0)}"
    if twice := [version for version, times in Counter(taken).items() if times > 1]:
        yield f"versions given twice: {twice[:5]}"
    behind = connection.execute(
        "select sid from streams where version < (select max(version) from records where records.sid = streams.sid)"
    ).fetchall()
    if behind:
        yield f"streams behind their records: {behind[:5]}"


def _histories(connection: Asked) -> Iterator[str]:
    """Each superseded version ends where the next begins; a deleted record has left no data in any of them."""
    chains: dict[tuple[int, str], list[tuple[int, int | None]]] = {}
    for sid, key, version, until in connection.execute("select sid, key, version, until from history"):
        chains.setdefault((sid, key), []).append((version, until))
    for sid, key, version in connection.execute("select sid, key, version from records"):
        chains.setdefault((sid, key), []).append((version, None))
    for name, chain in chains.items():
        chain.sort()
        starts, ends = [version for version, _ in chain], [until for _, until in chain]
        if [*starts[1:], None] != ends:
            yield f"history of {name} has a gap: {chain[:5]}"
    kept = connection.execute(
        "select history.key from history join records using(sid, key) "
        "where records.data is null and history.data is not null"
    ).fetchall()
    if kept:
        yield f"history keeps data of deleted records: {kept[:5]}"


# Indexes ----------------------------------------------------------------------------------------------------------


def _differ(table: str, expected: set[tuple[Any, ...]], columns: str, connection: Asked) -> Iterator[str]:
    found = connection.execute(f"select {columns} from {table}").fetchall()
    there = set(found)
    if len(found) != len(there):
        yield f"{table} holds rows twice"
    if there != expected:
        yield f"{table}: too many {list(there - expected)[:3]}, missing {list(expected - there)[:3]}"


def _expected_values(connection: Asked, live: list[Live], kind: int) -> set[tuple[Any, ...]]:
    fields: dict[int, list[tuple[int, str]]] = {}
    for sid, fid, name in connection.execute("select sid, fid, name from fields where indexed = ?", (kind,)):
        fields.setdefault(sid, []).append((fid, name))
    expected: set[tuple[Any, ...]] = set()
    for record in live:
        for fid, name in fields.get(record.sid, []):
            value = _value(record.declared["schema"]["properties"][name], record.data.get(name))
            if value is not None or kind == 2:
                expected.add((fid, NO_VALUE if value is None else value, record.rid))
    return expected


def _value(schema: Mapping[str, Any], value: Any) -> int | float | str | None:
    if value is None or isinstance(value, dict | list):
        return None
    if schema.get("format") in {"date", "date-time"}:
        return micros(value)
    return value[:128] if isinstance(value, str) else value


def _words(connection: apsw.Connection, live: list[Live]) -> Iterator[str]:
    """The index keeps no text, but can be asked where each of its words stands."""
    connection.execute("create virtual table temp.instances using fts5vocab('main', 'words', 'instance')").fetchall()
    found: Counter[Any] = Counter(connection.execute("select doc, col, term from temp.instances").fetchall())
    expected = expected_words(connection, live, connection)
    slots = _slots(connection)
    for record in live:
        lexical = record.declared.get("query", {}).get("search", {}).get("lexical_fields", [])
        if {*slots.get(record.sid, ())} != {*lexical}:
            yield f"stream {record.sid} indexes {sorted(slots.get(record.sid, ()))}, and declares {lexical}"
    if found != expected:
        yield f"words: too many {list(found - expected)[:3]}, missing {list(expected - found)[:3]}"


def expected_words(connection: Asked, live: list[Live], cutting: apsw.Connection) -> Counter[Any]:
    """Each record, column and term, as often as it stands there."""
    tokenize, slots = cutting.fts5_tokenizer(*TOKENIZER), _slots(connection)
    expected: Counter[Any] = Counter()
    for record in live:
        for name, slot in slots.get(record.sid, {}).items():
            text = UNSPACED.sub(r" \1 ", record.data.get(name) or "")
            for token in tokenize(text.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False):
                expected[record.rid, f"s{slot}", str(token[0])] += 1
    return expected


def _slots(connection: Asked) -> dict[int, dict[str, int]]:
    slots: dict[int, dict[str, int]] = {}
    for sid, name, slot in connection.execute("select sid, name, slot from fields where slot is not null"):
        slots.setdefault(sid, {})[name] = slot
    return slots


def _blobs(connection: Asked, live: list[Live]) -> Iterator[str]:
    expected = {
        (ref["blob_id"], record.sid, name, record.rid)
        for record in live
        for name, schema in record.declared["schema"]["properties"].items()
        if schema.get("x_pdpp_role") == "blob-reference"
        for ref in _listed(record.data.get(name))
    }
    yield from _differ("blob_refs", expected, "blob_id, sid, field, rid", connection)
    orphans = connection.execute(
        "select blob_id from blobs where blob_id not in (select blob_id from blob_refs union select blob_id from "
        "blob_bindings) and blob_id not in (select blob_id from released_blobs)"
    ).fetchall()
    if orphans:
        yield f"blobs that nothing holds: {orphans[:3]}"


def _listed(value: Any) -> list[Any]:
    return [ref for ref in (value if isinstance(value, list) else [value]) if isinstance(ref, dict)]

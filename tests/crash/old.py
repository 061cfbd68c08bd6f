"""A home as the first version left it: its schema, and rows as it wrote them."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import apsw
import orjson

from pdpp_server.model.ingest import Incoming
from pdpp_server.store.engines.sqlite.migrations import migration_files
from tests.crash.agree import EPOCH, FIRST_DAY, micros
from tests.crash.life import ACCOUNT, key_of
from tests.worlds import chat

LAST_DAY = "2026-11-15T12:00:00.000Z"
SIDS = {"messages": 1, "channels": 2}
SLOTS = {"messages": {"subject": 0, "text": 1}, "channels": {"topic": 0}}
FIELDS = {"messages": {"sent_at": 3, "likes": 4}, "channels": {}}  # numbers in field_values
_LAYOUT = """
insert into declarations values(1, :source, '1', :document, :now);
insert into connections values(1, 'cin_old', 1, 'chat', :name, :now, :now);
insert into streams(sid, connection, name) values(1, 1, 'messages'), (2, 1, 'channels');
insert into fields values(1, 1, 'subject', 0, 0), (2, 1, 'text', 1, 0), (3, 1, 'sent_at', null, 1),
    (4, 1, 'likes', null, 1), (5, 2, 'topic', 0, 0);
"""


def old_home(home: Path, lines: Iterable[Incoming]) -> Path:
    """The home, with everything in the log of a writer that was killed too."""
    home.mkdir()
    connection = apsw.Connection(str(home / "pdpp.sqlite"))
    connection.execute("pragma journal_mode = wal").fetchall()
    connection.execute("begin immediate")
    connection.execute(migration_files()[0].read_text("utf-8"))
    connection.execute("pragma user_version = 1")
    named = {"source": chat.SOURCE_ID, "document": orjson.dumps(chat.DOCUMENT).decode(), "now": LAST_DAY}
    connection.execute(_LAYOUT, {**named, "name": ACCOUNT})
    writer = _Writer(connection)
    for line in lines:
        writer.take(line)
    connection.execute("commit")
    connection.close()
    return home


class _Writer:
    def __init__(self, connection: apsw.Connection) -> None:
        self._run = connection.execute

    def take(self, line: Incoming) -> None:
        sid, key = SIDS[line.stream], key_of(line)
        text = None if line.data is None else orjson.dumps(line.data, option=orjson.OPT_SORT_KEYS).decode()
        before: list[Any] = self._run(
            "select rid, version, at, data from records where sid = ? and key = ?", (sid, key)
        ).fetchall()
        if text == (before[0][3] if before else None) or (before and before[0][3] and line.stream == "channels"):
            return
        version = 1 + self._run("select version from streams where sid = ?", (sid,)).get
        rid = before[0][0] if before and line.data is None else self._rid(sid, line, before)
        if before:
            self._supersede(sid, key, before[0], version, keep=line.data is not None)
        at = micros(line.data.get("sent_at")) if line.data and sid == 1 else micros(line.emitted_at)
        deleted_at = LAST_DAY if line.data is None else None
        row = (rid, sid, key, version, at if line.data else None, line.emitted_at, deleted_at, text)
        self._run("insert into records values(?, ?, ?, ?, ?, ?, ?, ?)", row)
        live = (line.data is not None) - bool(before and before[0][3])
        self._run("update streams set version = ?, live = live + ? where sid = ?", (version, live, sid))
        if line.data is not None:
            self._index(line.stream, rid, line.data, "insert into words(rowid, s0, s1) values(?, ?, ?)")
            self._values(line.stream, rid, line.data, "insert into field_values values(?, ?, ?)")

    def _supersede(self, sid: int, key: str, before: Any, version: int, *, keep: bool) -> None:
        rid, of, at, data = before
        self._run("delete from records where rid = ?", (rid,))
        if not keep:
            self._run("update history set data = null where sid = ? and key = ?", (sid, key))
        self._run("insert into history values(?, ?, ?, ?, ?, ?)", (sid, key, of, version, at, data if keep else None))
        if data is not None:
            stream = "messages" if sid == 1 else "channels"
            drop = "insert into words(words, rowid, s0, s1) values('delete', ?, ?, ?)"
            self._index(stream, rid, orjson.loads(data), drop)
            gone = "delete from field_values where fid = ? and value = ? and rid = ?"
            self._values(stream, rid, orjson.loads(data), gone)

    def _index(self, stream: str, rid: int, data: Any, statement: str) -> None:
        texts = [data.get(name) or "" for name in SLOTS[stream]]
        self._run(statement, (rid, *texts, *[""] * (2 - len(texts))))

    def _values(self, stream: str, rid: int, data: Any, statement: str) -> None:
        for name, fid in FIELDS[stream].items():
            value = micros(data.get(name)) if name == "sent_at" else data.get(name)
            if value is not None:
                self._run(statement, (fid, value, rid))

    def _rid(self, sid: int, line: Incoming, before: list[Any]) -> int:
        assert line.data is not None
        at = micros(line.data.get("sent_at")) if sid == 1 else micros(line.emitted_at)
        day = 0 if at is None else at // 86_400_000_000 + (EPOCH - FIRST_DAY).days
        first = (sid << 43) + (day << 26)
        if before and first <= before[0][0] < first + (1 << 26):
            return before[0][0]
        last = self._run("select max(rid) from records where rid >= ? and rid < ?", (first, first + (1 << 26))).get
        return first if last is None else last + 1

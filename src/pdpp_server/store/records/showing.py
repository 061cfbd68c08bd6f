"""A stored record as its reader may see it."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson

from pdpp_server.grants.permitted import Scope
from pdpp_server.model.records import Record, RecordId
from pdpp_server.model.sources import Origin
from pdpp_server.model.times import TIME_CHARS
from pdpp_server.store.engine import Reading
from pdpp_server.store.records.scope import shows


class StoredRow(NamedTuple):
    """A record as it is stored, with all its data; `revised` where the history knows earlier versions of it."""

    rid: int
    key: str
    version: int
    revised: int
    emitted_at: str
    data: dict[str, Any]


class Showing:
    """How the records of one stream of one connection are shown, made once for all of them."""

    def __init__(self, reading: Reading, scope: Scope, origin: Origin, sid: int) -> None:
        self._reading, self._scope, self._origin, self._sid = reading, scope, origin, sid
        self._fields, stream = scope.fields, scope.stream
        self._roles, self._binary, self._times = stream.told_of(scope.fields)
        self._name = (origin.connection_id, stream.name)

    def record(self, row: StoredRow) -> Record:
        """With the fields that the scope shows, and the time of the last change that it shows."""
        return self.shown(row.key, row.data, self.seen_since(row)[1] if row.revised else row.emitted_at)

    def shown(self, key: str, data: Mapping[str, Any], emitted_at: str) -> Record:
        fields = self._fields
        shown = data if data.keys() <= fields else {name: data[name] for name in data if name in fields}
        authored: str | None = None
        time_field: str | None = None
        for name in self._times:
            if isinstance(time := shown.get(name), str) and len(time) <= TIME_CHARS:
                authored, time_field = time, name
                break
        return Record(
            RecordId(*self._name, key),
            self._origin,
            shown,
            emitted_at,
            authored,
            self._roles,
            binary=self._binary,
            time_field=time_field,
        )

    def seen_since(self, row: StoredRow) -> tuple[int, str]:
        """The version from which a record looks as it does, and when that was emitted.

        A change of what the grant hides has not happened, so it leaves the time as it was.
        """
        scope, since, emitted_at = self._scope, row.version, row.emitted_at
        granted = projected(scope.granted, row.data)
        while before := self._reading.records.earlier(self._sid, row.key, since):
            version, at, earlier, text = before
            if text is None or not shows(scope, row.key, at):
                break
            if projected(scope.granted, orjson.loads(text)) != granted:
                break
            since, emitted_at = version, earlier or emitted_at
        return since, emitted_at


def projected(fields: frozenset[str], data: Mapping[str, Any]) -> bytes:
    """Those fields as JSON, in which 1, 1.0 and true are three things; equal data is equal text."""
    return orjson.dumps({name: value for name, value in data.items() if name in fields})

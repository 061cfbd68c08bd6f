"""The next step as a tool call: a value for programs, and a line that an agent can copy."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from pdpp_server.evidence.budgets import LEAD_CHARS, SEARCHED_CHARS
from pdpp_server.evidence.text import compact_json
from pdpp_server.model.parameters import arguments_of
from pdpp_server.model.queries import Condition, SearchQuery
from pdpp_server.model.times import instant

AskedArguments = Mapping[str, Any]  # of the call that is answered


class NextCall(NamedTuple):
    tool: str
    arguments: Mapping[str, Any]

    @property
    def text(self) -> str:
        return f"{self.tool} {compact_json(self.arguments)}"


def read_at(handle: str, field: str, match_start: int) -> NextCall:
    """The window in which a match stands, a little after its start."""
    arguments = {"id": handle, "field_path": field, "offset_chars": max(0, match_start - LEAD_CHARS)}
    return NextCall("read_record_field", arguments)


def read_from(handle: str, field: str, offset: int) -> NextCall:
    """A window that goes on where another ended; its cursor is the plain offset."""
    return NextCall("read_record_field", {"id": handle, "field_path": field, "cursor": str(offset)})


def read_around(handle: str, field: str, word: str) -> NextCall:
    """The window around the first place where that word stands."""
    return NextCall("read_record_field", {"id": handle, "field_path": field, "q": word})


def read_whole(handle: str, field: str) -> NextCall:
    """The first window of a value that was clipped."""
    return NextCall("read_record_field", {"id": handle, "field_path": field})


def fetch_of(handle: str, fields: tuple[str, ...] = ()) -> NextCall:
    return NextCall("fetch", {"id": handle, "fields": list(fields)} if fields else {"id": handle})


def search_from(query: SearchQuery, cursor: str) -> NextCall:
    """The same search from a cursor on."""
    return NextCall("search", {**arguments_of(query, {"filter": filter_of, "list": list}), "cursor": cursor})


def filter_of(conditions: Iterable[Condition]) -> dict[str, Any]:
    """The typed filter that asks for these conditions, its values as text."""
    asked: dict[str, Any] = {}
    for condition in conditions:
        if condition.comparison == "eq":
            asked[condition.field] = condition.value
        else:
            asked.setdefault(condition.field, {})[condition.comparison] = condition.value
    return asked


def schema_of(stream: str | None = None, connection_id: str | None = None, detail: str | None = None) -> NextCall:
    asked = {"stream": stream, "connection_id": connection_id, "detail": detail}
    return NextCall("schema", {name: value for name, value in asked.items() if value})


def records_of(stream: str, connection_id: str) -> NextCall:
    return NextCall("query_records", {"stream": stream, "connection_id": connection_id})


def words_of(stream: str, connection_id: str | None, conditions: Iterable[Condition]) -> NextCall | None:
    """A search for what a filter compared: it finds words inside values, where a filter takes whole ones."""
    texts = [each.value for each in conditions if each.comparison == "eq" and _is_worded(each.value)]
    if not texts or len(texts[0]) > SEARCHED_CHARS:
        return None
    source = {"connection_id": connection_id} if connection_id else {}
    return NextCall("search", {"query": texts[0], "streams": [stream], **source})


def _is_worded(value: str) -> bool:
    """Whether a value holds words: neither yes or no, nor a number, nor a time."""
    return any(map(str.isalpha, value)) and value not in ("true", "false") and instant(value) is None


def around_of(stream: str, handle: str) -> NextCall:
    """A record and those right before and after it, in its own talk."""
    return NextCall("query_records", {"stream": stream, "around": handle})


def records_from(asked: Mapping[str, Any], cursor: str) -> NextCall:
    """The same records from a cursor on; the cursor of a change feed needs no bookmark beside it."""
    kept = {name: value for name, value in asked.items() if name not in ("cursor", "changes_since")}
    return NextCall("query_records", {**kept, "cursor": cursor})


def records_around(asked: Mapping[str, Any], handle: str, cursor: str) -> NextCall:
    """On in the talk of that record, from a cursor."""
    return records_from({**asked, "around": handle}, cursor)


def changes_from(asked: Mapping[str, Any], bookmark: str) -> NextCall:
    """What will have changed since then."""
    kept = {name: value for name, value in asked.items() if name != "cursor"}
    return NextCall("query_records", {**kept, "changes_since": bookmark})


def records_where(asked: Mapping[str, Any], condition: Mapping[str, Any]) -> NextCall:
    """The records that an aggregation was about, of one group or all."""
    kept = {name: asked[name] for name in ("stream", "connection_id") if name in asked}
    narrowed = {**asked.get("filter", {}), **condition}
    return NextCall("query_records", {**kept, "filter": narrowed} if narrowed else kept)

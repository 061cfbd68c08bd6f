"""Small records and hits, for texts about them."""

from collections.abc import Mapping
from typing import Any

from pdpp_server.model.records import Excerpt, Expanded, Hit, Record, RecordId
from pdpp_server.model.sources import Origin

ORIGIN = Origin("cin_1", "mail", "Work mail")
NOW = "2026-03-02T09:12:00.000Z"


def record(
    key: str = "1",
    data: Mapping[str, Any] | None = None,
    roles: Mapping[str, str] | None = None,
    expanded: Mapping[str, Expanded] | None = None,
) -> Record:
    return Record(RecordId("cin_1", "messages", key), ORIGIN, data or {}, NOW, roles=roles, expanded=expanded or {})


def hit(key: str = "1", *excerpts: Excerpt, **more: Any) -> Hit:
    return Hit(RecordId("cin_1", "messages", key), more.pop("origin", ORIGIN), "A title", NOW, None, excerpts, **more)


def match(text: str, *marks: tuple[int, int], field: str = "body", total: int | None = None) -> Excerpt:
    return Excerpt(field, text, 0, marks or ((0, 1),), len(text) if total is None else total)

"""Exports made of values, as importers see them."""

import io
from zoneinfo import ZoneInfo

import orjson

from pdpp_server.importers.source import File, Files, Importer, Outcome
from pdpp_server.model.ingest import Incoming, Rejection
from pdpp_server.wire.envelope import Json

ZONE = ZoneInfo("Europe/Berlin")


def export(**contents: object) -> Files:
    """Files by name; `__` stands for a dot."""
    return files_of({name.replace("__", "."): content for name, content in contents.items()})


def files_of(contents: dict[str, object], name: str = "export") -> Files:
    return Files(name, {one: _file(one, contents[one]) for one in sorted(contents)}, ZONE)


def _file(name: str, content: object) -> File:
    data = content if isinstance(content, bytes) else content.encode() if isinstance(content, str) else _json(content)
    return File(name, len(data), lambda: io.BytesIO(data))


def _json(content: object) -> bytes:
    return orjson.dumps(content, option=orjson.OPT_NON_STR_KEYS)


def outcomes_of(importer: Importer, files: Files) -> list[Outcome]:
    return [outcome for account in importer.recognise(files) for outcome in importer.read(account)]


def records_of(importer: Importer, files: Files, stream: str) -> list[Json]:
    found = outcomes_of(importer, files)
    return [dict(one.data or {}) for one in found if isinstance(one, Incoming) and one.stream == stream]


def rejections_of(importer: Importer, files: Files) -> list[Rejection]:
    return [one for one in outcomes_of(importer, files) if isinstance(one, Rejection)]

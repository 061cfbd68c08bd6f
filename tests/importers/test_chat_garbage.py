"""Exports of chats, logs and notes, damaged in every way: nothing stops the importer, all it gives can be stored."""

import io
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, cast
from zoneinfo import ZoneInfo

import jsonschema_rs
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pdpp_server.importers.sources.chatgpt import CHATGPT
from pdpp_server.importers.sources.claude import CLAUDE
from pdpp_server.importers.sources.claude_code import CLAUDE_CODE
from pdpp_server.importers.sources.codex import CODEX
from pdpp_server.importers.sources.markdown import MARKDOWN
from pdpp_server.importers.registry import declaration_of
from pdpp_server.importers.source import File, Files, Importer, Outcome
from pdpp_server.model.ingest import Incoming
from tests.requirements import requirement

HERE = Path(__file__).parent
ENDINGS = {"chatgpt": "json", "claude": "json", "claude-code": "jsonl", "codex": "jsonl", "markdown": "md"}
STRANGE = st.sampled_from(
    [
        *("null", "true", "0", "-1", "1e308", "-1e18", '""', '"\\u0000"', '".."', f'"{"x" * 600}"', '"0000-00-00"'),
        *("[]", "{}", "[[]]", "[null]", '{"":{}}', "[{}]", "[" * 300 + "]" * 300, "1767614400.5", '"text"'),
    ]
)
each_importer = pytest.mark.parametrize(
    "importer", [CHATGPT, CLAUDE, CLAUDE_CODE, CODEX, MARKDOWN], ids=lambda importer: importer.key
)
each_json_importer = pytest.mark.parametrize(
    "importer", [CHATGPT, CLAUDE, CLAUDE_CODE, CODEX], ids=lambda importer: importer.key
)


def read(importer: Importer, *contents: bytes) -> list[Outcome]:
    names = (f"part {number}.{ENDINGS[importer.key]}" for number in range(len(contents)))
    files = {name: _file(name, data) for name, data in zip(names, contents, strict=True)}
    accounts = importer.recognise(Files("export", files, ZoneInfo("Europe/Berlin")))
    return [outcome for account in accounts for outcome in importer.read(account)]


def _file(name: str, data: bytes) -> File:
    return File(name, len(data), lambda: io.BytesIO(data))


@cache
def samples(importer: Importer) -> list[bytes]:
    found = sorted((HERE / importer.key).rglob(f"*.{ENDINGS[importer.key]}"))
    return [path.read_bytes() for path in found if path.name != "expected.jsonl"]


@cache
def _validator(key: str, stream: str) -> jsonschema_rs.Draft202012Validator:
    schema = dict(declaration_of(key).streams[stream].schema)
    return jsonschema_rs.Draft202012Validator(schema, offline=True)


def require_storable(importer: Importer, outcomes: list[Outcome]) -> None:
    for outcome in outcomes:
        if isinstance(outcome, Incoming):
            assert isinstance(outcome.key, str)
            assert outcome.key == (outcome.data or {})["id"]
            _validator(importer.key, outcome.stream).validate(outcome.data)
            assert "\0" not in "".join(text for text in (outcome.data or {}).values() if isinstance(text, str))


@each_importer
@requirement("imp.files.garbage")
@settings(deadline=None)
@given(content=st.binary())
def test_any_bytes_stop_nothing(importer: Importer, content: bytes) -> None:
    require_storable(importer, read(importer, content))


@each_importer
@requirement("imp.files.garbage")
@settings(deadline=None)
@given(data=st.data())
def test_a_sample_that_is_cut_or_damaged_gives_what_is_left(importer: Importer, data: st.DataObject) -> None:
    sample = data.draw(st.sampled_from(samples(importer)))
    at = data.draw(st.integers(0, len(sample)))
    skipped = data.draw(st.integers(0, 40))
    damaged = sample[:at] + data.draw(st.binary(max_size=8)) + sample[at + skipped :]
    require_storable(importer, read(importer, damaged))


@each_json_importer
@requirement("imp.files.garbage")
@settings(deadline=None, max_examples=400)
@given(data=st.data())
def test_any_value_in_any_place_of_a_sample_is_borne(importer: Importer, data: st.DataObject) -> None:
    value = data.draw(st.sampled_from(_values(importer)))
    changed = orjson.loads(orjson.dumps(value))
    for _ in range(data.draw(st.integers(1, 4))):
        holder, name = data.draw(st.sampled_from(list(_places(changed))))
        holder[name] = orjson.loads(data.draw(STRANGE))
    content = json.dumps(changed).encode()
    require_storable(importer, read(importer, _known(importer) + content + b"\n", content))


def _values(importer: Importer) -> list[Any]:
    """The lists of a data export; the lines of a log."""
    found: list[Any] = []
    for sample in samples(importer):
        for text in [sample] if ENDINGS[importer.key] == "json" else sample.splitlines():
            try:
                found.append(orjson.loads(text))
            except orjson.JSONDecodeError:
                continue
    return [value for value in found if list(_places(value))]


def _known(importer: Importer) -> bytes:
    """A first line by which a log is recognised, so that the changed line is read too."""
    return b"" if ENDINGS[importer.key] == "json" else samples(importer)[0].splitlines(keepends=True)[2]


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    named = cast(dict[str, Any], value).items() if isinstance(value, dict) else ()
    numbered = enumerate(cast(list[Any], value)) if isinstance(value, list) else ()
    for name, inner in [*named, *numbered]:
        yield value, name
        yield from _places(inner)


@each_json_importer
@requirement("imp.files.keys")
def test_an_export_that_holds_everything_twice_has_the_same_keys(importer: Importer) -> None:
    once = _keys(read(importer, *samples(importer)))
    assert once
    assert _keys(read(importer, *samples(importer), *samples(importer))) == once


def _keys(outcomes: list[Outcome]) -> set[object]:
    return {(outcome.stream, outcome.key) for outcome in outcomes if isinstance(outcome, Incoming)}

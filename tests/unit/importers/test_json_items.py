"""Long JSON files, object by object."""

import io
import tracemalloc
from collections.abc import Iterator

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp_server.importers.formats import json_items
from pdpp_server.importers.formats.json_items import Item, items, json_start, lines, members
from pdpp_server.importers.source import File, Head
from pdpp_server.model.ingest import Rejection
from pdpp_server.wire.envelope import Json
from tests.requirements import requirement

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text('ab"\\{[', max_size=4), inner, max_size=4),
    max_leaves=10,
)
OBJECTS = st.lists(st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=5), JSON, max_size=4), max_size=6)


def file_of(content: bytes) -> File:
    return File("chats.json", len(content), lambda: io.BytesIO(content))


def data_in(content: bytes) -> list[object]:
    return [item.data for item in items(file_of(content)) if isinstance(item, Item)]


def rejections_in(content: bytes) -> list[tuple[str, str]]:
    return [(item.place, item.reason) for item in items(file_of(content)) if isinstance(item, Rejection)]


@pytest.fixture(params=[8, 262_144])
def chunk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_items, "CHUNK_BYTES", request.param)


@requirement("imp.json.bounded")
@given(objects=OBJECTS, is_indented=st.booleans(), chunk=st.sampled_from([1, 3, 64]))
def test_a_list_gives_its_objects_wherever_the_chunks_end(objects: list[Json], is_indented: bool, chunk: int) -> None:
    content = orjson.dumps(objects, option=orjson.OPT_INDENT_2 if is_indented else 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_items, "CHUNK_BYTES", chunk)
        assert list(items(file_of(content))) == [
            Item(f"chats.json:item {number}", one) for number, one in enumerate(objects, 1)
        ]


@requirement("imp.json.cut")
@given(objects=OBJECTS, share=st.floats(0, 1))
def test_a_list_that_is_cut_gives_every_object_before_the_cut_and_names_the_place(
    objects: list[object], share: float
) -> None:
    content = orjson.dumps(objects)
    at = int(share * (len(content) - 1))
    whole = data_in(content[:at])
    assert whole == objects[: len(whole)]
    if at:
        place = f"chats.json:item {len(whole) + 1}"
        assert rejections_in(content[:at]) == [(place, "the file ends inside it")]


@pytest.mark.usefixtures("chunk")
@requirement("imp.json.cut")
def test_what_is_broken_or_no_object_is_named_and_hides_nothing_behind_it() -> None:
    content = b'\xef\xbb\xbf[{"a": tru}, 7, {"b": "\xff"}, [1], {"c": "]}\\""}]'
    assert data_in(content) == [{"c": ']}"'}]
    assert rejections_in(content) == [
        ("chats.json:item 1", "not JSON: invalid literal, expected 'true' (character 7 of it)"),
        ("chats.json:item 2", "not a JSON object"),
        ("chats.json:item 3", "byte 8 of it is not UTF-8"),
        ("chats.json:item 4", "not a JSON object"),
    ]


@pytest.mark.usefixtures("chunk")
@requirement("imp.json.bounded")
def test_an_object_that_is_too_long_is_named_and_the_next_one_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_items, "ITEM_BYTES_MAX", 500)
    text, many = b'{"a":"' + b'\\"\\\\' * 900 + b'"}', b'{"b":[' + b'{"x":"]"},' * 900 + b"0]}"
    content = b"[" + text + b',{"c":1},' + many + b',{"d":2}]'
    assert data_in(content) == [{"c": 1}, {"d": 2}]
    assert [place for place, _ in rejections_in(content)] == ["chats.json:item 1", "chats.json:item 3"]


@requirement("imp.json.bounded")
def test_a_long_list_takes_little_memory() -> None:
    class Endless(io.RawIOBase):
        """Forty megabytes that are nowhere."""

        def __init__(self) -> None:
            self._pieces = self._made()

        def _made(self) -> Iterator[bytes]:
            yield b"["
            for _ in range(4000):
                yield b'{"text": "' + b"a" * 10_000 + b'"},'
            yield b"{}]"

        def read(self, _size: int = -1, /) -> bytes:
            return next(self._pieces, b"")

    tracemalloc.start()
    count = sum(isinstance(item, Item) for item in items(File("long.json", 1, Endless)))  # pyright: ignore[reportArgumentType]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 4001
    assert peak < 4_000_000


@requirement("imp.json.cut")
def test_half_a_character_costs_that_character_and_not_the_conversation() -> None:
    content = rb'[{"title": "cut \ud83d", "whole": "\ud83d\ude00", "text": "\\ud83d"}]'
    assert data_in(content) == [{"title": "cut \ufffd", "whole": "\U0001f600", "text": "\\ud83d"}]


@requirement("imp.agents.growing")
def test_a_last_line_without_an_end_counts_if_it_is_whole_and_is_no_fault_if_not() -> None:
    assert [type(item) for item in lines(file_of(b'{"a":1}\n\n{"b":2}'))] == [Item, Item]
    assert [type(item) for item in lines(file_of(b'{"a":1}\n{"b":'))] == [Item]
    assert [item.place for item in lines(file_of(b'{"a"\n[]\n{"b":2}\n'))] == [f"chats.json:{n}" for n in (1, 2, 3)]


@requirement("imp.json.bounded")
def test_a_line_that_is_too_long_is_named_and_the_next_one_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_items, "LINE_BYTES_MAX", 100)
    monkeypatch.setattr(json_items, "CHUNK_BYTES", 10)
    rejection, item = lines(file_of(b'{"a":"' + b"x" * 200 + b'"}\n{"b":1}\n'))
    assert (rejection.place, item) == ("chats.json:1", Item("chats.json:2", {"b": 1}))


@requirement("imp.files.recognised")
def test_the_members_of_objects_are_known_from_a_head_that_is_cut() -> None:
    assert list(members(b'[{"a":{"x":1},"b":[{"y":1}]},{"c":"d","e": "cut')) == [{"a", "b"}, {"c", "e"}]
    assert list(members(b'{"a":1}\n{"b":{')) == [{"a"}, {"b"}]
    assert json_start(Head(file_of(b"\xef\xbb\xbf \n[1]"))) == b"[1]"
    assert json_start(Head(file_of(b"PK\x03\x04"))) == b""

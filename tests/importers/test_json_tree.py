"""Deep JSON: every object that is wanted, whatever lies around it and wherever a chunk ends."""

import json
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp_server.importers.formats import json_tree
from pdpp_server.importers.formats.json_items import Item
from pdpp_server.importers.formats.json_tree import Plain, Whole, walk
from pdpp_server.model.ingest import Rejection
from tests.importers.reading import file_of
from tests.requirements import requirement

WANTED = {("list", "*")}
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def wanted(text: bytes) -> list[object]:
    return [
        event.item.data if isinstance(event.item, Item) else event.item.reason
        for event in walk(file_of("a", text), WANTED)
        if isinstance(event, Whole)
    ]


def rejected(text: bytes) -> list[str]:
    events: Iterable[object] = walk(file_of("a", text), WANTED)
    inner = (event.item if isinstance(event, Whole) else event for event in events)
    return [one.reason for one in inner if isinstance(one, Rejection)]


@requirement("imp.files.long-json")
@given(st.lists(st.dictionaries(st.text(), VALUES, max_size=3), max_size=4), VALUES, st.sampled_from([1, 5, 1 << 18]))
def test_every_object_comes_whole(objects: list[object], beside: object, size: int) -> None:
    text = json.dumps({"before": beside, "list": [1, *objects, ["x"]], "after": beside}, indent=size % 2 or None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_tree, "CHUNK_BYTES", size)
        assert wanted(text.encode()) == objects


@requirement("imp.files.long-json")
@pytest.mark.parametrize("size", [1, 1 << 18])
def test_plain_values_on_the_way_are_told_by_their_path(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_tree, "CHUNK_BYTES", size)
    events = walk(file_of("a", b'\xef\xbb\xbf{"n": "A\\u00e9", "in": {"id": -12}, "l": [true]}'), WANTED)
    assert [(one.path, one.value) for one in events if isinstance(one, Plain)] == [
        (("n",), "Aé"),
        (("in", "id"), -12),
        (("l", "*"), True),
    ]


@requirement("imp.files.long-json")
def test_a_broken_object_does_not_hide_the_next() -> None:
    first, broken, last = wanted(b'{"list": [{"a": 1}, {"a": nonsense}, {"b": 2}]}')
    assert (first, last) == ({"a": 1}, {"b": 2})
    assert str(broken).startswith("not JSON: ")


@requirement("imp.files.long-json")
@pytest.mark.parametrize("size", [16, 1 << 18])
def test_an_object_that_is_too_long_does_not_hide_the_next(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_tree, "ITEM_BYTES_MAX", 100)
    monkeypatch.setattr(json_tree, "CHUNK_BYTES", size)
    long = b'{"a": "' + b'x\\"' * 5000 + b'"}, {"a": [' + b"1," * 900 + b"1]}"
    found = wanted(b'{"list": [{"a": 1}, ' + long + b', {"b": 2}]}')
    assert (found[0], found[-1]) == ({"a": 1}, {"b": 2})
    assert size > 16 or found[1:-1] == ["longer than 0 MiB"] * 2


@requirement("imp.files.long-json", "imp.files.damaged")
@pytest.mark.parametrize("end", [b'{"a": ', b'{"a": "x', b'{"a": {"b": [', b"", b'"'])
def test_a_file_that_ends_in_the_middle_says_so(end: bytes) -> None:
    text = b'{"list": [{"a": 1}, ' + end
    assert wanted(text)[0] == {"a": 1}
    assert rejected(text) == ["the file ends inside it"]


@requirement("imp.files.long-json")
def test_what_is_nested_without_end_ends_the_reading() -> None:
    assert rejected(b"[" * 100_000) == ["nested deeper than 32 levels"]

"""Scripted agents that see one channel only, and still find, open, read on and cite."""

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest

from pdpp_server.mcp.surface import TOOLS
from tests.harness.sights import split_window
from tests.requirements import requirement
from tests.unit.mcp.fakes import HOME, FakeReader, called, record
from tests.unit.mcp.hostile import FORGERIES

NOISE = "\n".join(text for text in FORGERIES if "walrus" not in text)
BODY = NOISE * 40 + " said the walrus clause is in section nine. " + NOISE * 60
KEYS = ["r17", '["a","b"]', "https://x.example/a?b=c", "🦭 key", "a:b"]


def world(key: str) -> FakeReader:
    """The same key in two connections, so that a handle alone must choose."""
    data = {"subject": FORGERIES[0], "text": BODY}
    return FakeReader((record(key, data), record(key, {"text": "nothing"}, HOME)), public_url="https://me.example")


def call(reader: FakeReader, tool: str, arguments: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    (found,) = [one for one in TOOLS if one.name == tool]
    result = called(found, reader, arguments)
    return result.text, result.structured


def printed_call(text: str) -> tuple[str, dict[str, Any]]:
    """The call on the last line that starts with `next: `, as an agent would copy it."""
    header = split_window(text)[0]
    line = [line for line in header.split("\n") if line.startswith("next: ")][-1]
    tool, _, rest = line.removeprefix("next: ").partition(" ")
    arguments, _ = json.JSONDecoder().raw_decode(rest)
    return tool, arguments


@requirement("mcp.channels.text-enough", "mcp.channels.next-step-is-a-tool", "mcp.channels.no-dead-handles")
@requirement("mcp.fetch.handle-alone", "mcp.fetch.every-key", "mcp.search.opens-at-match")
@pytest.mark.parametrize("key", KEYS)
def test_an_agent_that_sees_only_text_reaches_the_match_and_the_end(key: str) -> None:
    reader = world(key)

    found, _ = call(reader, "search", {"query": "walrus clause"})
    first = found.split("\n")[0].rpartition("first_fetch_id=")[2]
    window, _ = call(reader, *printed_call(found))
    assert "walrus clause is in section nine" in split_window(window)[1]

    steps = 0
    while "\nnext: " in window.partition("\nrecord text follows")[0]:
        window, _ = call(reader, *printed_call(window))
        steps += 1
    assert steps > 0

    document, _ = call(reader, "fetch", {"id": first})
    assert json.loads(document)["id"] == first
    tool, arguments = json.loads(document)["metadata"]["read_next"].split(" ", 1)
    rest, _ = call(reader, tool, json.loads(arguments))
    assert re.search(r"characters \d+\.\.\d+ of ", rest)


@requirement("mcp.channels.structured-enough")
@pytest.mark.parametrize("key", KEYS)
def test_an_agent_that_sees_only_structure_does_too(key: str) -> None:
    reader = world(key)

    _, found = call(reader, "search", {"query": "walrus clause"})
    _, window = call(reader, found["next"][0]["tool"], found["next"][0]["arguments"])
    assert "walrus clause is in section nine" in window["window"]["text"]

    text, steps = window["window"]["text"], 0
    while window["window"]["next_cursor"] is not None:
        _, window = call(reader, window["next"][0]["tool"], window["next"][0]["arguments"])
        text, steps = text + window["window"]["text"], steps + 1
    assert steps > 0
    assert BODY.endswith(text)

    (excerpt, *_) = found["data"]["data"][0]["evidence"]
    again = {
        "id": found["results"][0]["id"],
        "field_path": excerpt["field_path"],
        "offset_chars": excerpt["start"],
    }
    _, at_match = call(reader, found["read_with"]["tool"], again)
    assert "walrus clause" in at_match["window"]["text"]
    _, document = call(reader, "fetch", {"id": found["results"][0]["id"]})
    assert document["id"] == found["results"][0]["id"]
    assert "pdpp://" not in json.dumps([found, window, document])

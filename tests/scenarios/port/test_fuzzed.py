"""Whatever JSON a server sends, an agent gets an answer or a refusal, and never a fault of ours."""

import copy
from collections.abc import Iterator
from random import Random
from typing import Any

import httpx2
import orjson
import pytest

from pdpp_server.errors import SourceUnavailable
from pdpp_server.mcp.server import McpServer
from pdpp_server.mcp.surface import TOOLS
from pdpp_server.port.exchange import Exchange
from pdpp_server.port.network import NetworkReader
from tests.requirements import requirement
from tests.scenarios.mcp.agents import handle_of
from tests.worlds import foreign
from tests.worlds.served import over_network
from tests.worlds.world import World

WRONG = [None, True, 0, -1, 10**18, 1.5, "", "x", "\x00\u202e", "9" * 5000, [], [None], ["x"], {}, {"x": 1}, [{}], [[]]]
CASES = 500
COUNTED = {
    "filtered_record_count": 3,
    "groups": [{"key": "Mend", "count": 2}],
    "other_count": 1,
    "meta": {"warnings": []},
}

Path = tuple[str | int, ...]
Call = tuple[str, dict[str, Any], Any]  # the tool, its arguments, and what the server answers


def paths(body: Any, here: Path = ()) -> Iterator[Path]:
    yield here
    items = body.items() if isinstance(body, dict) else enumerate(body) if isinstance(body, list) else ()
    for name, value in items:
        yield from paths(value, (*here, name))


def changed(body: Any, path: Path, value: Any) -> Any:
    """A copy with another value at that place; without the place, where there is no value."""
    if not path:
        return value
    whole = copy.deepcopy(body)
    inner = whole
    for step in path[:-1]:
        inner = inner[step]
    if value is Ellipsis:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return whole


class Replay(httpx2.BaseTransport):
    """Answers as it was answered once, but for what was changed; the first question, for the kind, as it was."""

    def __init__(self, schema: Any, body: Any) -> None:
        self._bodies = [schema, body]

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        body = self._bodies.pop(0) if len(self._bodies) > 1 else self._bodies[0]
        return httpx2.Response(200, stream=httpx2.ByteStream(orjson.dumps(body)))


def calls(world: World) -> list[tuple[str, dict[str, Any], str]]:
    id, record = handle_of(world, "m2"), f"/v1/streams/messages/records/m2?connection_id={world.work}"
    window = f"/v1/streams/messages/records/m2/field-window?connection_id={world.work}&field=text&q=walrus"
    return [
        ("schema", {"stream": "messages"}, "/v1/schema?view=compact"),
        ("schema", {"stream": "messages", "connection_id": world.work, "detail": "full"}, "/v1/schema"),
        ("query_records", {"stream": "messages"}, "/v1/streams/messages/records?limit=3&count=exact"),
        ("search", {"query": "lease"}, "/v1/search?q=lease&limit=3"),
        ("fetch", {"id": id}, record),
        ("read_record_field", {"id": id, "field_path": "text"}, window),
    ]


@pytest.fixture
def recorded(world: World) -> list[Call]:
    """Calls, each with a good answer to it: from a server of ours and from a stranger."""
    with over_network(world) as elsewhere:
        exchange = elsewhere.reader.asked._exchange  # pyright: ignore[reportAttributeAccessIssue]
        good = [(tool, arguments, exchange.get(path).body) for tool, arguments, path in calls(world)]
    hits = {"data": [foreign.hit("t-1"), foreign.hit("t/2")], "next_cursor": "abc", "meta": {"recall": {}}}
    full = {"bearer": {"token_kind": "client"}, "connectors": [foreign.connector(short=False)]}
    theirs = f"{foreign.CONNECTION}/tasks:t-1"
    return [
        *good,
        ("schema", {}, full),
        ("schema", {"stream": "tasks"}, full),
        ("search", {"query": "gate"}, hits),
        ("query_records", {"stream": "tasks", "changes_since": "beginning"}, {**hits, "data": [foreign.record("t-1")]}),
        ("aggregate", {"stream": "tasks", "metric": "count", "group_by": "what"}, COUNTED),
        ("fetch", {"id": theirs}, foreign.record("t-1")),
    ]


@requirement("port.network.trouble-named")
def test_a_server_that_says_anything_gets_an_answer_or_a_refusal(recorded: list[Call]) -> None:
    server, schema = McpServer(TOOLS), {"bearer": {"token_kind": "client"}, "connectors": []}
    wrongs = [(call, path, value) for call in recorded for path in paths(call[2]) for value in (..., *WRONG) if path]

    for (tool, arguments, body), path, value in Random(2026).sample(wrongs, CASES):
        transport = Replay(schema, changed(body, path, value))
        reader = NetworkReader(Exchange("http://127.0.0.1:1", "tok", transport=transport, sleep=lambda _: None))
        result = orjson.loads(server.call(lambda reader=reader: reader, tool, arguments))

        code = result["structuredContent"]["error"]["code"] if result.get("isError") else None
        assert code in (None, SourceUnavailable.code), (tool, path, value)

"""Both ports give the same values, raise the same refusals, and so show an agent the same words."""

import json
import re
from functools import cache
from typing import Any

import pytest

from pdpp_server.mcp.surface import TOOLS
from pdpp_server.model.queries import BEGINNING, RecordsQuery
from tests.requirements import requirement
from tests.scenarios.mcp.agents import Agent, agent_on, handle_of
from tests.scenarios.port.corpus import corpus, outcomes
from tests.worlds import chat
from tests.worlds.post import Post
from tests.worlds.served import over_network
from tests.worlds.world import World

REFUSED = set(
    "ambiguous_connection ambiguous_schema_detail authentication_error connection_not_found connector_invalid "
    "field_not_found field_not_granted field_not_text grant_stream_not_allowed insufficient_scope invalid_cursor "
    "invalid_expand invalid_filter invalid_request invalid_sort not_found permission_error query_not_found "
    "unknown_field".split()
)
SEALED = re.compile(r"[\w-]{60,}")  # a cursor, which is never the same twice


@requirement("port.network.same-answers", "port.network.same-refusals")
def test_another_server_answers_every_question_as_this_one(world: World) -> None:
    asked = corpus(world)
    with over_network(world) as elsewhere:
        reader_of = cache(elsewhere.reader_of)
        pairs = {
            one: (outcomes(reader_of(one.token), one.question), outcomes(world.reader_of(one.token), one.question))
            for one in asked
        }

    assert {one.question: pair for one, pair in pairs.items() if pair[0] != pair[1]} == {}
    assert {page[0].code for _, here in pairs.values() for page in here if type(page) is tuple} >= REFUSED


def calls(world: World) -> list[tuple[str, dict[str, Any]]]:
    id = handle_of(world, "m2")
    return [
        ("schema", {}),
        ("schema", {"stream": "messages"}),
        ("schema", {"connection_id": world.family}),
        ("schema", {"stream": "messages", "connection_id": world.work, "detail": "full"}),
        ("schema", {"stream": "messages", "detail": "full"}),
        ("query_records", {"stream": "messages", "connection_id": world.work}),
        ("query_records", {"stream": "messages", "filter": {"author": "Ada"}, "count": "exact", "limit": 1}),
        ("query_records", {"stream": "messages", "changes_since": "beginning", "connection_id": world.family}),
        ("query_records", {"stream": "messages", "sort": "likes"}),
        ("aggregate", {"stream": "messages", "metric": "count"}),
        ("aggregate", {"stream": "messages", "metric": "sum", "field": "text"}),
        ("search", {"query": "lease lake"}),
        ("search", {"query": "lease lake", "limit": 2}),
        ("search", {"query": "nothing at all"}),
        ("search", {"query": "lease", "streams": ["diary"]}),
        ("fetch", {"id": id}),
        ("fetch", {"id": handle_of(world, "m1"), "fields": ["subject", "sent_at"]}),
        ("fetch", {"id": "messages:m1"}),
        ("read_record_field", {"id": id, "field_path": "text", "q": "walrus"}),
        ("read_record_field", {"id": id, "field_path": "likes"}),
    ]


def seen(agent: Agent, tool: str, arguments: dict[str, Any]) -> tuple[str, str]:
    """Both channels, but for what belongs to one answer only: its request id and its cursors."""
    result = agent.call(tool, **arguments)
    structured: dict[str, Any] = {**result.structured, "request_id": None}
    if result.is_error:
        structured["error"]["request_id"] = None
    return SEALED.sub("CURSOR", result.text), SEALED.sub("CURSOR", json.dumps(structured))


@requirement("mcp.adapter.network-port")
def test_an_agent_reads_the_same_words_from_another_server(world: World) -> None:
    narrow = world.grant(world.both("messages", fields=["id", "subject", "sent_at"]))
    assert {tool for tool, _ in calls(world)} == {tool.name for tool in TOOLS}
    for token in (world.token, narrow):
        here = agent_on(world.reader_of(token))
        with over_network(world) as elsewhere:
            there = agent_on(elsewhere.reader_of(token))
            for tool, arguments in calls(world):
                assert seen(there, tool, arguments) == seen(here, tool, arguments), (tool, arguments)


@requirement("port.network.cursor-after")
@pytest.mark.parametrize("query", [RecordsQuery("letters"), RecordsQuery("letters", changes_since=BEGINNING)])
def test_a_page_can_be_left_after_any_of_its_records(world: World, query: RecordsQuery) -> None:
    token = Post(world).grant({"name": "letters"})
    with over_network(world) as elsewhere:
        reader = elsewhere.reader_of(token)
        page = reader.query_records(query).value
        for index in range(len(page.records) - 1):
            rest = reader.query_records(RecordsQuery("letters", cursor=page.cursor_after(index))).value
            assert rest.records == page.records[index + 1 :]

        assert page.cursor_after(len(page.records) - 1) is None


@requirement("port.network.cursor-after")
def test_a_page_that_has_changed_meanwhile_is_not_left_at_another_place(world: World) -> None:
    with over_network(world) as elsewhere:
        page = elsewhere.reader.query_records(RecordsQuery("messages", limit=3)).value
        world.deliver(chat.WORK, [chat.message("m9", text="New.", sent_at="2026-11-15T00:00:00Z")])

        assert page.cursor_after(0) is None
        assert page.cursor_after(2) == page.next_cursor

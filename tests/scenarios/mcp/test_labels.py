"""A connection is known by the owner's own name for it, and never by a word that only fills the place of one."""

import json

import pytest

from tests.requirements import requirement
from tests.scenarios.mcp.agents import Connect
from tests.scenarios.mcp.rest import get
from tests.worlds import chat
from tests.worlds.world import World

FILLERS = ["legacy", "Default account", "default_account", "chat", chat.SOURCE_ID]


@requirement("rs.schema.display-name")
@pytest.mark.parametrize("name", FILLERS)
def test_a_placeholder_is_no_label_in_any_answer(name: str, connect: Connect, world: World) -> None:
    world.deliver(name, [chat.message("m1", text="The placeholder has a lease too.", sent_at="2026-01-01T00:00:00Z")])
    connection_id = world.owner.writer(chat.DECLARATION, name).connection_id
    both = {"name": "messages", "instance_ids": [connection_id, world.work]}
    token = world.grant(both)
    agent = connect(token)
    asked = [
        agent.call("schema"),
        agent.call("schema", stream="messages"),
        agent.call("schema", stream="messages", connection_id=connection_id, detail="full"),
        agent.call("schema", stream="messages", detail="full"),
        agent.call("search", query="placeholder lease", connection_id=connection_id),
        agent.call("query_records", stream="messages", connection_id=connection_id),
        agent.call("fetch", id=f"{connection_id}/messages:m1", fields=["text"]),
        agent.call("fetch", id="messages:m1"),
    ]
    said = [part for each in asked for part in (each.text, json.dumps(each.structured))]
    paths = ("schema", "streams", "search?q=lease", "streams/messages/records", "streams/messages/records/m1")
    bodies = [json.dumps(get(world, f"/v1/{path}", token=token).json()) for path in paths]

    for text in (*said, *bodies):
        assert f'"display_name": {json.dumps(name)}' not in text
        assert f'"display_name":{json.dumps(name)}' not in text
        assert f'{connection_id} chat "' not in text
        assert f"{name} / messages" not in text or name == "chat"
    assert sum('"display_name": "Work chat"' in text for text in (*said, *bodies)) > 5, "real names are still shown"

"""A source that declares less than it did: an old grant is told so, and nothing is passed off as missing."""

from pdpp_server.wire.declarations import decode_declaration
from tests.requirements import requirement
from tests.scenarios.mcp.agents import agent_on, handle_of
from tests.scenarios.mcp.rest import get
from tests.worlds import chat
from tests.worlds.world import World

KEY = "%5B%22legal%22%2C%221%22%5D"


@requirement("rs.enforcement.undeclared-stream")
def test_a_record_of_a_stream_that_is_declared_no_more_says_so_at_every_door(world: World) -> None:
    path = f"/v1/streams/channels/records/{KEY}?connection_id={world.work}"
    assert get(world, path).json()["data"]["topic"] == "Everything about the lease"
    messages = [stream for stream in chat.DOCUMENT["streams"] if stream["name"] == "messages"]
    newer = decode_declaration({**chat.DOCUMENT, "declaration_version": "2", "streams": messages})

    world.owner.writer(newer, chat.WORK)

    refused, agent = get(world, path), agent_on(world.reader)
    assert (refused.status_code, refused.json()["error"]["code"]) == (404, "stream_not_declared")
    for tool, more in (("fetch", {}), ("read_record_field", {"field_path": "topic"})):
        assert agent.call(tool, id=handle_of(world, KEY, stream="channels"), **more).code == "stream_not_declared"
    assert agent.call("fetch", id=handle_of(world, "m1")).code is None

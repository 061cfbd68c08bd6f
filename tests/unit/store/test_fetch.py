"""A record is looked for in every connection that is granted and still there."""

from pdpp_server.model.queries import FetchQuery
from tests.worlds import chat
from tests.worlds.world import World


def test_a_record_is_found_behind_a_connection_that_is_gone(world: World) -> None:
    world.deliver(chat.FAMILY, [chat.message("only", text="of the family")])

    world.owner.remove_source(world.work)

    assert world.reader.fetch(FetchQuery("messages", "only")).value.id.connection_id == world.family

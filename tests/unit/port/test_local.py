"""The reader of this process asks with one token, until it is given another."""

import pytest

from pdpp_server.errors import Unauthenticated
from pdpp_server.model.queries import FetchQuery
from pdpp_server.port.local import LocalReader
from tests.worlds import chat
from tests.worlds.told import told
from tests.worlds.world import World


def test_another_token_counts_from_the_next_read_on(world: World) -> None:
    world.deliver(chat.WORK, [chat.message("m1", text="lease")])
    query, reader = FetchQuery("messages", "m1", world.work), LocalReader(world.services, "0" * 64)
    with pytest.raises(Unauthenticated):
        reader.fetch(query)

    reader.use(world.token)
    assert told(reader.fetch(query)).data["text"] == "lease"
    assert reader.is_remembered

    reader.use("0" * 64)
    assert not reader.is_remembered
    with pytest.raises(Unauthenticated):
        reader.fetch(query)


@pytest.mark.parametrize("nothing", ["", None])
def test_without_a_token_nobody_is_known(world: World, nothing: str) -> None:
    reader = LocalReader(world.services, nothing)
    assert not reader.is_remembered
    with pytest.raises(Unauthenticated, match="No bearer token"):
        reader.fetch(FetchQuery("messages", "m1", world.work))

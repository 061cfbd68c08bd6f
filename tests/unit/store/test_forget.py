"""What is over is forgotten at its time, and not before."""

from datetime import timedelta

import pytest

from pdpp_server.model.authorization import Client
from pdpp_server.model.times import iso
from pdpp_server.store.consent.clients import find_client, keep_client
from pdpp_server.store.consent.forget import forget
from tests.worlds.world import World


@pytest.mark.parametrize(("days", "stays"), [(6.99, True), (7.01, False)])
def test_a_client_to_whom_nothing_was_given_is_forgotten_after_a_week(world: World, days: float, stays: bool) -> None:
    now = world.clock()
    registered = iso(now - timedelta(days=days))
    with world.services.database.writing() as writer:
        keep_client(
            writer,
            Client("client_idle", "Idle", ("https://idle.example/back",), ("authorization_code",), False, {}),
            registered,
        )
        forget(writer, now)

        assert (find_client(writer, "client_idle") is not None) is stays

"""What is kept of grants: that one was ended, how long it may be read, and in whose words."""

from copy import deepcopy
from dataclasses import replace
from typing import Any

from pdpp_server.grants.lifecycle import GrantState
from pdpp_server.model.queries import SchemaQuery
from pdpp_server.store.consent.grants import consume, grant_state, is_continuous, replace_grant, revoke
from pdpp_server.store.consent.offers import eligible
from pdpp_server.wire.declarations import decode_declaration
from pdpp_server.wire.grants import decode_selection
from tests.worlds import chat
from tests.worlds.world import World

NOW = "2026-11-15T12:00:00Z"


def test_ending_a_grant_says_whether_there_is_one(world: World) -> None:
    with world.services.database.writing() as writer:
        assert revoke(writer, world.grant_id, NOW)
        assert revoke(writer, world.grant_id, NOW)
        assert not revoke(writer, "grt_unknown", NOW)


def single_use(world: World) -> str:
    detail = chat.detail({"name": "messages", "instance_ids": [world.work]}) | {"access_mode": "single_use"}
    return world.owner.create_grant(decode_selection([detail]), "Once", None).grant_id


def test_a_single_use_is_not_read_for_longer(world: World) -> None:
    single = single_use(world)

    with world.services.database.reading() as reading:
        assert is_continuous(reading, world.grant_id, None)
        assert not is_continuous(reading, single, None)


def test_only_a_single_use_is_spent(world: World) -> None:
    single = single_use(world)

    with world.services.database.writing() as writer:
        consume(writer, single, None, NOW)
        consume(writer, world.grant_id, None, NOW)

        assert grant_state(writer, single) == GrantState(single, None, None, NOW)
        assert grant_state(writer, world.grant_id) == GrantState(world.grant_id, None, None, None)
        assert grant_state(writer, "grt_unknown") is None


def test_a_grant_that_has_ended_gets_no_successor(world: World) -> None:
    successor = replace(world.owner.grant(world.grant_id)[0].grant, grant_id="grt_next")

    with world.services.database.writing() as writer:
        revoke(writer, world.grant_id, NOW)

        assert not replace_grant(writer, world.grant_id, successor, None, NOW)
        assert grant_state(writer, "grt_next") is None


def test_a_declaration_that_was_read_anew_finds_its_connections(world: World) -> None:
    document: dict[str, Any] = deepcopy(chat.DOCUMENT)
    document["source"]["id"] = "".join([*document["source"]["id"]])  # the same words, and another object

    with world.services.database.reading() as reading:
        found = eligible(reading, decode_declaration(document))

    assert {name: set(connections) for name, connections in found.items()} == {
        "messages": {world.work, world.family},
        "channels": {world.work, world.family},
    }


def test_a_grant_that_was_read_before_is_told_in_the_words_of_now(world: World) -> None:
    def label() -> str | None:
        catalogue = world.reader.schema(SchemaQuery("messages")).value
        return catalogue.entries[0].stream.label

    document: dict[str, Any] = deepcopy(chat.DOCUMENT) | {"declaration_version": "2"}
    document["streams"][0]["display"]["label"] = "Talk"
    before = label()
    for account in (chat.WORK, chat.FAMILY):
        world.owner.writer(decode_declaration(document), account)

    assert (before, label()) == ("Messages", "Talk")

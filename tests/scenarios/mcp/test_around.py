"""`query_records` around a record: the talk that a hit stands in, in both channels."""

from typing import Any

import pytest

from tests.requirements import requirement
from tests.scenarios.mcp.agents import Agent, Connect, Result, handle_of
from tests.scenarios.mcp.rest import get
from tests.worlds import chat
from tests.worlds.world import World


def talk(number: int, text: str = "so it goes") -> list[Any]:
    """What Ada and Ben say of the boat, a minute each; and what others say at the same time."""
    sent = "2026-07-01T09:{:02}:00Z"
    told = {"subject": "Boat", "text": text}
    boat = [
        chat.message(f"b{n:02}", author=("Ada", "Ben")[n % 2], sent_at=sent.format(n), **told) for n in range(number)
    ]
    return [*boat, chat.message("x1", subject="Lunch", text="Soup.", sent_at="2026-07-01T09:05:30Z")]


@pytest.fixture
def boat(world: World) -> World:
    world.deliver(chat.WORK, talk(20))
    return world


def keys(found: Result) -> list[str]:
    return [entry["id"] for entry in found.structured["data"]["data"]]


def told_keys(found: Result, world: World) -> list[str]:
    """Of the records that the text has a line for."""
    prefix = f"{world.work}/messages:"
    return [line.split(" ")[0].removeprefix(prefix) for line in found.text.split("\n") if line.startswith(prefix)]


@requirement("mcp.around.talk")
def test_a_hit_is_read_among_what_was_said_before_and_after(agent: Agent, boat: World) -> None:
    id = handle_of(boat, "b05")

    found = agent.call("query_records", stream="messages", around=id, limit=5)

    assert keys(found) == ["b03", "b04", "b05", "b06", "b07"]
    assert told_keys(found, boat) == keys(found)
    marks = found.structured["data"]["meta"]["around"]
    head = f'messages: 5 records around {id}, oldest first, all with {{"subject":"Boat"}}.'
    said = f" earlier_cursor={marks['earlier_cursor']} later_cursor={marks['later_cursor']}"
    assert found.text.split("\n")[0] == head + said
    assert marks["handle"] == id
    assert found.text.count(marks["earlier_cursor"]) == found.text.count(marks["later_cursor"]) == 1
    assert "next_cursor" not in found.structured["data"]
    whole = agent.call("query_records", stream="messages", around=id, limit=100, fields=["author"])
    assert whole.text.startswith(f"messages: 20 records around {id}, oldest first, none before or after them.")


@requirement("mcp.around.talk")
def test_the_next_steps_go_on_either_way(agent: Agent, boat: World) -> None:
    first = agent.call("query_records", stream="messages", around=handle_of(boat, "b05"), limit=5)
    (onward,) = (step["arguments"] for step in first.structured["next"])
    back = first.structured["data"]["meta"]["around"]["earlier_cursor"]

    earlier, later = (agent.call("query_records", **{**onward, **turned}) for turned in ({"cursor": back}, {}))

    assert keys(earlier) == ["b00", "b01", "b02"]
    assert keys(later) == ["b08", "b09", "b10", "b11", "b12"]
    assert later.text.startswith(
        f"messages: 5 records further on from {handle_of(boat, 'b05')}, oldest first, all with"
    )


@requirement("mcp.around.talk")
def test_a_talk_is_read_as_it_was_said_and_what_its_records_share_is_said_once(agent: Agent, boat: World) -> None:
    found = agent.call("query_records", stream="messages", around=handle_of(boat, "b05"), limit=3)

    said = [line for line in found.text.split("\n") if "/messages:b" in line][1:]
    assert said[0] == f'{handle_of(boat, "b04")} 2026-07-01T09:04Z Wed by "Ada": "so it goes"'
    assert not any("Boat" in line or '"id"' in line for line in said)
    told = found.structured["data"]
    assert told["meta"]["around"]["connector_key"] == "chat"
    assert [*told["data"][0]] == ["handle", "id", "data"]
    assert "warnings" not in told["meta"] and "count" not in told["meta"]


@requirement("mcp.around.talk")
def test_after_a_whole_talk_nothing_is_offered_that_stands_there(agent: Agent, boat: World) -> None:
    some = agent.call("query_records", stream="messages", around=handle_of(boat, "b05"), limit=3)

    assert some.text.endswith("\nmore: the same call with cursor = earlier_cursor or later_cursor")
    assert "fetch" not in some.text


@requirement("mcp.around.talk", "mcp.adapter.same-door")
def test_the_tool_gives_the_neighbours_that_the_endpoint_gives(agent: Agent, boat: World) -> None:
    body = get(boat, f"/v1/streams/messages/records?around=b05&connection_id={boat.work}&limit=5").json()

    data = agent.call("query_records", stream="messages", around=handle_of(boat, "b05"), limit=5).structured["data"]

    assert [entry["id"] for entry in data["data"]] == [entry["id"] for entry in body["data"]]
    shared = {"connector_key": "chat", "connection_id": boat.work, "display_name": "Work chat"}
    assert {**body["meta"]["around"], "handle": handle_of(boat, "b05"), **shared} == data["meta"]["around"]


@requirement("mcp.around.nearest")
@pytest.mark.parametrize("chars", [300, 4000])
def test_where_not_all_fits_the_nearest_are_shown_and_no_record_is_lost(agent: Agent, world: World, chars: int) -> None:
    world.deliver(chat.WORK, talk(40, "word " * (chars // 5)))
    id = handle_of(world, "b20")

    found = agent.call("query_records", stream="messages", around=id, limit=39)

    for shown in (told_keys(found, world), keys(found)):
        numbers = [int(key[1:]) for key in shown]
        assert numbers == list(range(numbers[0], numbers[-1] + 1))
        assert -1 <= (20 - numbers[0]) - (numbers[-1] - 20) <= 1
    marks = dict(mark.split("=") for mark in found.text.split("\n")[0].split(" ") if "_cursor=" in mark)
    at_ends = [found, found]
    for end, name in ((0, "earlier_cursor"), (-1, "later_cursor")):
        at_ends[end] = agent.call("query_records", stream="messages", around=id, limit=2, cursor=marks[name])
    told = [int(key[1:]) for key in told_keys(found, world)]
    assert keys(at_ends[0])[-1] == f"b{told[0] - 1:02}"
    assert keys(at_ends[1])[0] == f"b{told[-1] + 1:02}"


@requirement("mcp.around.talk")
def test_where_nothing_is_later_no_later_cursor_is_offered(agent: Agent, boat: World) -> None:
    text = agent.call("query_records", stream="messages", around=handle_of(boat, "b19"), limit=3).text

    assert "\nmore: the same call with cursor = earlier_cursor" in text
    assert "later_cursor" not in text


@requirement("mcp.around.refused")
def test_around_is_an_id_of_that_stream_and_that_source(agent: Agent, boat: World, connect: Connect) -> None:
    id, other = handle_of(boat, "b05"), handle_of(boat, "m2", family=True)

    def refused(**asked: Any) -> str | None:
        return agent.call("query_records", **{"stream": "messages", "around": id, **asked}).code

    assert refused(connection_id=boat.family) == "conflicting_connection_id"
    assert refused(stream="channels") == "invalid_record_id"
    assert refused(around="b05") == "invalid_record_id"
    assert refused(around=handle_of(boat, "nobody")) == "not_found"
    assert refused(around="messages:m1") == "ambiguous_connection"
    assert refused(filter={"author": "Ada"}) == "invalid_request"
    narrow = connect(boat.grant({"name": "messages", "instance_ids": [boat.work]}))
    theirs = narrow.call("query_records", stream="messages", around=other)
    assert theirs.code == narrow.call("fetch", id=other).code
    assert agent.call("query_records", stream="messages", around="messages:b05", limit=1).code is None

"""What takes whole days is shown by its day: an instant would be midnight somewhere, and mostly the day before."""

from copy import deepcopy
from typing import Any

from pdpp_server.importers.registry import declaration_of
from pdpp_server.model.ingest import Incoming
from pdpp_server.wire.declarations import decode_declaration
from pdpp_server.wire.grants import DETAIL_TYPE, decode_selection
from tests.requirements import requirement
from tests.scenarios.mcp.agents import Agent, agent_on
from tests.worlds.world import World

CALENDAR = declaration_of("calendar")
FIELDS = ["id", "title", "description", "organizer_name", "start", "end", "is_all_day"]
FAIR = {
    "id": "fair",
    "title": "Boat fair",
    "description": "Halls one to five.",
    "organizer_name": "Ada",
    "start": "2025-03-21T23:00:00Z",
    "end": "2025-03-22T23:00:00Z",
    "is_all_day": True,
    "is_recurring": False,
    "start_date": "2025-03-22",
    "end_date": "2025-03-22",
}


def granted(world: World, *fields: str, declaration: Any = CALENDAR) -> Agent:
    writer = world.owner.writer(declaration, "Nora")
    writer.deliver([Incoming("test:1", "events", None, FAIR, "2026-11-14T08:00:00Z")])
    stream = {"name": "events", "instance_ids": [writer.connection_id], "fields": [*FIELDS, *fields]}
    detail = {
        "type": DETAIL_TYPE,
        "source": {"id": "https://registry.pdpp.dev/connectors/calendar"},
        "purpose_code": "https://pdpp.dev/purpose/assistant",
        "access_mode": "continuous",
        "streams": [stream],
    }
    token = world.owner.create_grant(decode_selection([detail]), "Agent", None).token
    return agent_on(world.reader_of(token))


@requirement("ev.time.whole-days")
def test_what_takes_whole_days_is_shown_by_its_day_in_every_answer(world: World) -> None:
    agent = granted(world, "start_date")
    id = agent.call("search", query="boat fair").structured["results"][0]["id"]

    for arguments in ({"query": "boat fair"}, {"query": "boat fair", "mode": "lexical", "limit": 1}):
        found = agent.call("search", **arguments)
        assert f'{id} calendar "Nora" 2025-03-22 Sat by "Ada"' in found.text
        assert found.structured["data"]["data"][0]["authored_at"] == "2025-03-22"
    assert "start_date" in world.owner.activity()[0].fields
    assert agent.call("fetch", id=id).structured["metadata"]["authored_at"] == "2025-03-22"
    assert f'{id} 2025-03-22 Sat by "Ada"' in agent.call("query_records", stream="events", around=id).text
    page = agent.call("query_records", stream="events")
    assert page.text.index('"start_date":"2025-03-22"') < page.text.index('"start":')
    assert page.structured["data"]["data"][0]["authored_at"] == "2025-03-22"


@requirement("ev.time.whole-days")
def test_a_day_that_is_hidden_or_missing_leaves_the_time_as_it_is(world: World) -> None:
    hidden = granted(world).call("search", query="boat fair")
    unasked = granted(world, "start_date").call("query_records", stream="events", fields=["title", "start"])

    assert hidden.structured["data"]["data"][0]["authored_at"] == "2025-03-21T23:00:00Z"
    assert "2025-03-21T23:00Z Fri" in hidden.text and "2025-03-22" not in hidden.text
    assert unasked.structured["data"]["data"][0]["authored_at"] == "2025-03-21T23:00:00Z"


@requirement("ev.time.whole-days", "grants.snapshot.words-of-now")
def test_a_grant_from_before_days_had_a_role_follows_the_newer_declaration(world: World) -> None:
    older: Any = deepcopy(dict(CALENDAR.document)) | {"declaration_version": "1"}
    for stream in older["streams"]:
        del stream["schema"]["properties"]["start_date"]["x_pdpp_role"]
    agent = granted(world, "start_date", declaration=decode_declaration(older))
    before = agent.call("search", query="boat fair")
    world.owner.writer(CALENDAR, "Nora")

    assert "2025-03-21T23:00Z Fri" in before.text
    assert "2025-03-22 Sat" in agent.call("search", query="boat fair").text

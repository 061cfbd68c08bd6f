"""`fetch` on the real store: a handle alone is enough, and grants nothing by itself."""

from typing import Any

import pytest

from pdpp_server.model.ingest import Incoming
from pdpp_server.wire.declarations import decode_declaration
from pdpp_server.wire.grants import decode_selection
from tests.requirements import requirement
from tests.scenarios.mcp.agents import Agent, Connect, agent_on, handle_of
from tests.scenarios.mcp.rest import get
from tests.worlds import chat
from tests.worlds.world import World


@requirement("mcp.fetch.handle-alone", "mcp.channels.text-enough")
def test_an_agent_that_reads_only_text_opens_the_record_it_found(agent: Agent) -> None:
    """Both accounts hold a message m1; only the handle says which one is meant."""
    text = agent.call("search", query="lake July", streams=["messages"]).text

    id = text.split("\n")[0].rpartition("first_fetch_id=")[2]

    assert id.endswith("/messages:m1")
    assert "We meet at the lake in July." in agent.call("fetch", id=id).text


@requirement("mcp.fetch.legacy-id", "mcp.refusals.ambiguity")
def test_a_short_id_that_two_accounts_hold_is_refused_with_both(agent: Agent, world: World) -> None:
    refused = agent.call("fetch", id="messages:m1")

    assert refused.code == "ambiguous_connection"
    lines = refused.text.split("\n")[1:]
    assert lines[0].startswith(f'{world.work} chat "Work chat" grant {world.grant_id}')
    assert lines[1].startswith(f'{world.family} chat "Family chat" grant {world.grant_id}')
    assert "July" in agent.call("fetch", id="messages:m1", connection_id=world.family).text
    assert agent.call("fetch", id="messages:m3").structured["metadata"]["connection_id"] == world.work


@requirement("mcp.fetch.conflicting-connection", "mcp.fetch.matching-connection")
def test_a_connection_beside_the_handle_must_be_its_own(agent: Agent, world: World) -> None:
    id = handle_of(world, "m1")

    assert agent.call("fetch", id=id, connection_id=world.family).code == "conflicting_connection_id"
    assert agent.call("fetch", id=id, connection_id=world.work).structured["id"] == id
    assert [line.operation for line in world.owner.activity()].count("fetch") == 1, "the first was refused before"


@requirement("mcp.fetch.malformed-id")
@pytest.mark.parametrize(
    "rest",
    [
        *("messages:../m1", "messages:..", "messages:%2E%2E", "messages:%2e%2e%2fm1", "../messages:m1"),
        *("messages:m1/x", "messages:", ":m1", "messages", "messages:m%31", "messages%3Am1", "/messages:m1"),
    ],
)
def test_what_is_no_handle_of_ours_is_refused_before_any_read(rest: str, agent: Agent, world: World) -> None:
    for tool, more in (("fetch", {}), ("read_record_field", {"field_path": "text"})):
        assert agent.call(tool, id=f"{world.work}/{rest}", **more).code == "invalid_record_id"

    assert world.owner.activity() == []


@requirement("mcp.tools.strict-arguments")
def test_an_argument_it_does_not_know_is_refused_by_name(agent: Agent, world: World) -> None:
    refused = agent.call("fetch", id=handle_of(world, "m1"), profile="core")

    assert refused.code == "invalid_request"
    assert "'profile'" in refused.text
    assert "fields" in refused.text


@requirement("grants.permit.handles-grant-nothing")
def test_a_handle_of_another_grant_is_a_name_and_no_right(connect: Connect, world: World) -> None:
    id = connect(world.token).call("search", query="walrus").structured["results"][0]["id"]
    stranger = connect(world.grant({"name": "messages", "instance_ids": [world.family]}))

    refused = stranger.call("fetch", id=id)
    invented = stranger.call("fetch", id=id.replace(":m2", ":m999"))

    assert refused.code == invented.code == "connection_not_found"
    assert refused.text == invented.text
    assert stranger.call("read_record_field", id=id, field_path="text").code == "connection_not_found"


@requirement("mcp.fetch.every-key")
@pytest.mark.parametrize(
    "key", ["a/b\\c", "https://x.example/?q=1#2", "🦭 key", "a:b:c", "%2e%2e", "\u202egnp", "東京"]
)
def test_whatever_its_key_a_record_opens_by_the_handle_in_the_text(key: str, agent: Agent, world: World) -> None:
    receipt = world.deliver(chat.WORK, [chat.message(key, text="The narwhal is here.")])
    assert receipt.accepted == 1

    text = agent.call("search", query="narwhal").text

    id = text.split("\n")[0].rpartition("first_fetch_id=")[2]
    assert agent.call("fetch", id=id).structured["metadata"]["record_id"] == key


@requirement("mcp.fetch.fields", "mcp.adapter.same-door")
def test_the_document_holds_what_the_endpoint_gives_and_no_more(agent: Agent, world: World) -> None:
    path = f"/v1/streams/messages/records/m1?connection_id={world.work}&fields=subject,author"

    data = get(world, path).json()["data"]
    document = agent.call("fetch", id=handle_of(world, "m1"), fields=["subject", "author"]).structured

    assert data == {"id": "m1", "subject": "Lease draft", "author": "Ada"}
    for value in data.values():
        assert value in document["title"] + document["text"] + str(document["metadata"])
    assert "draft is ready" not in str(document)
    assert "2026-03-01" not in str(document)


DIARY_TIMES = {"happened": "2021-01-01T00:00:00Z", "agreed": "2022-01-01T00:00:00Z", "ordered": "2023-01-01T00:00:00Z"}


def diary(world: World) -> str:
    """A connection with one entry that has every time a record can have; its connection id."""
    moment = {"type": "string", "format": "date-time"}
    stream: dict[str, Any] = {
        "name": "entries",
        "semantics": "append_only",
        "schema": {
            "type": "object",
            "required": ["id"],
            "properties": {
                "id": {"type": "string"},
                "happened": {**moment, "x_pdpp_role": "event-time"},
                "agreed": moment,
                "ordered": moment,
            },
        },
        "primary_key": ["id"],
        "cursor_field": "ordered",
        "consent_time_field": "agreed",
        "selection": {"fields": True, "resources": True},
    }
    source = {"kind": "connector", "id": "https://registry.pdpp.dev/connectors/diary"}
    writer = world.owner.writer(decode_declaration({**chat.DOCUMENT, "source": source, "streams": [stream]}), "Diary")
    entry = Incoming("test:e1", "entries", None, {"id": "e1", **DIARY_TIMES}, chat.EMITTED_AT)
    assert writer.deliver([entry]).accepted == 1
    return writer.connection_id


@requirement("ev.time.order")
@pytest.mark.parametrize(
    ("granted", "year"),
    [
        (["happened", "agreed", "ordered"], "2021"),
        (["agreed", "ordered"], "2022"),
        (["ordered"], "2023"),
        ([], None),
    ],
)
def test_a_time_is_the_best_that_was_granted(granted: list[str], year: str | None, world: World) -> None:
    id = f"{diary(world)}/entries:e1"
    selection = {
        **chat.detail({"name": "entries", "fields": ["id", *granted]}),
        "source": {"id": "https://registry.pdpp.dev/connectors/diary"},
    }
    token = world.owner.create_grant(decode_selection([selection]), "Reader", None).token

    document = agent_on(world.reader_of(token)).call("fetch", id=id).structured

    assert document["metadata"].get("authored_at", "")[:4] == (year or "")
    assert document["title"] == (f"Diary / entries / {year}-01-01T00:00Z" if year else "Diary / entries")
    assert document["metadata"]["stored_at"] == chat.EMITTED_AT


STORED = ("2026-11-14", "2026-11-15")  # when the world's records were emitted, and today


@requirement("ev.time.never-stored", "ev.titles.projected")
@pytest.mark.parametrize("hidden", ["missing", "not granted", "not projected"])
def test_when_a_record_was_stored_stands_nowhere_as_its_time(hidden: str, connect: Connect, world: World) -> None:
    fields = ["id", "subject", "text", "author"]
    key = "m5" if hidden == "missing" else "m3"
    narrowed = {"fields": fields} if hidden == "not granted" else {}
    agent = connect(world.grant({"name": "messages", "instance_ids": [world.work], **narrowed}))
    id = handle_of(world, key)

    document = agent.call("fetch", id=id, **({"fields": ["text", "author"]} if hidden == "not projected" else {}))
    assert document.structured["metadata"].pop("stored_at").startswith(STORED[0])
    listed = agent.call("query_records", stream="messages", fields=fields).text

    said = [str(document.structured), listed]
    if hidden != "not projected":
        found = agent.call("search", query="lunch noon nobody knows", limit=5)
        row = next(line for line in found.text.split("\n") if line.startswith(id))
        at = [result["id"] for result in found.structured["results"]].index(id)
        said += [row, str(found.structured["results"][at]), str(found.structured["data"]["data"][at])]
    for text in said:
        assert not any(day in text for day in STORED), text

"""`search` on the real store: two accounts whose records share their ids."""

from dataclasses import replace
from typing import Any

import pytest

from pdpp_server.reads import search as reads
from pdpp_server.store.records.excerpts import Proof
from pdpp_server.store.records.search import Ranked
from tests.requirements import requirement
from tests.scenarios.mcp.agents import Agent, Connect, Result, agent_on, handle_of
from tests.scenarios.mcp.rest import get
from tests.worlds import chat
from tests.worlds.world import World


def hit_lines(found: Result) -> list[str]:
    """The lines of the text that begin with the handle of a result."""
    ids = tuple(result["id"] for result in found.structured["results"])
    return [line for line in found.text.split("\n") if line.startswith(ids)]


@requirement("mcp.search.self-contained-ids", "mcp.search.source-mix")
def test_hits_that_share_a_key_have_handles_of_their_own_alike_in_both_channels(agent: Agent, world: World) -> None:
    found = agent.call("search", query="lease lake", streams=["messages"])

    ids = [result["id"] for result in found.structured["results"]]
    assert {handle_of(world, "m1"), handle_of(world, "m1", family=True)} <= set(ids)
    assert [line.partition(" ")[0] for line in hit_lines(found)] == ids
    assert all(result["id"].startswith(f"{result['connection_id']}/") for result in found.structured["results"])
    assert f"sources: {world.work} 3, {world.family} 2" in found.text


@requirement("mcp.search.first-line-enough", "mcp.search.first-fetch-id")
def test_the_first_line_alone_opens_the_best_hit(agent: Agent) -> None:
    found = agent.call("search", query="lake")
    first_line = found.text.split("\n")[0]

    id = first_line.rpartition("first_fetch_id=")[2]

    assert agent.call("fetch", id=id).structured["id"] == found.structured["results"][0]["id"] == id


@requirement("mcp.search.connection-once")
def test_a_line_names_its_connection_once_inside_the_handle(agent: Agent, world: World) -> None:
    lines = hit_lines(agent.call("search", query="lease lake"))

    assert len(lines) > 3
    assert all(line.count(world.work) + line.count(world.family) == 1 for line in lines)
    assert not any("connection_id" in line for line in lines)


@requirement("mcp.search.connection-scope")
def test_the_limit_counts_hits_of_the_named_connection_only(agent: Agent, world: World) -> None:
    world.deliver(chat.WORK, [chat.message(f"w{n}", subject="Lake", text="lake lake lake") for n in range(20)])

    found = agent.call("search", query="lake", limit=3, connection_id=world.family)

    assert {result["connection_id"] for result in found.structured["results"]} == {world.family}
    assert len(found.structured["results"]) == 3
    assert found.text.startswith("search: all 3 matches")
    assert len(agent.call("search", query="lake", limit=3).structured["results"]) == 3


@requirement("mcp.search.excerpts-first", "mcp.search.opens-at-match")
def test_the_proof_stands_on_the_line_of_its_hit_and_the_read_that_goes_on_is_printed(agent: Agent) -> None:
    found = agent.call("search", query="walrus")
    head, line, *_ = found.text.split("\n")

    (excerpt,) = found.structured["data"]["data"][0]["evidence"]
    match = excerpt["marks"][0][0]
    assert head.startswith("search: 1 match")
    assert line.startswith(found.structured["results"][0]["id"])
    assert f' text@{match} "' in line
    assert "<mark>walrus</mark> clause" in line
    tool, arguments = found.next_call
    assert (tool, arguments["field_path"]) == ("read_record_field", "text")
    assert chat.LONG_TEXT[match:].startswith("walrus")
    assert "walrus clause ends it" in agent.call(tool, **arguments).text


@requirement("ev.excerpts.context")
def test_an_excerpt_shows_the_words_around_its_match(agent: Agent) -> None:
    found = agent.call("search", query="walrus")
    (excerpt,) = found.structured["data"]["data"][0]["evidence"]

    before, _, after = excerpt["text"].partition("walrus")

    assert before.endswith("runs for a year. Then the ")
    assert after.startswith(" clause ends it. Nothing else")
    assert "runs for a year. Then the <mark>walrus</mark> clause ends it." in found.text


@requirement("rs.search.no-evidence-unproven", "mcp.search.metadata-only")
def test_where_no_place_is_proven_nothing_is_quoted(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that finds and cannot say where."""
    search = reads.search

    def unproven(*asked: Any) -> Ranked:
        ranked = search(*asked)
        return replace(ranked, found=tuple(found._replace(proof=Proof(())) for found in ranked.found))

    monkeypatch.setattr(reads, "search", unproven)

    (hit,) = get(world, "/v1/search?q=walrus").json()["data"]
    found = agent_on(world.reader).call("search", query="walrus")

    assert (hit["record_key"], hit.get("evidence_excerpts", []), "snippet" in hit) == ("m2", [], False)
    assert "only metadata known" in found.text
    assert "walrus" not in found.text + str(found.structured["data"]["data"])
    assert found.next_call == ("fetch", {"id": handle_of(world, "m2")})


@requirement("mcp.adapter.same-door", "rs.search.lean", "mcp.search.lean-envelope")
def test_the_tool_finds_what_the_endpoint_finds(agent: Agent, world: World) -> None:
    found = agent.call("search", query="lease", limit=2).structured
    lean = get(world, "/v1/search?q=lease&limit=2", headers={"Prefer": "pdpp-evidence=lean"})
    plain = get(world, "/v1/search?q=lease&limit=2").json()

    assert without_cursor(found["data"]) == without_cursor(lean.json())
    assert list(found["data"]) == list(lean.json())
    assert [result["connection_id"] for result in found["results"]] == [hit["connection_id"] for hit in plain["data"]]
    for shown, hit in zip(found["data"]["data"], plain["data"], strict=True):
        for name in ("stream", "record_key", "connection_id", "connector_key", "display_name"):
            assert shown[name] == hit[name]
        assert {*shown["matched_fields"]} == {*hit["matched_fields"]}


def without_cursor(envelope: dict[str, Any]) -> dict[str, Any]:
    """A cursor is sealed anew each time."""
    return {name: value for name, value in envelope.items() if name != "next_cursor"}


@requirement("mcp.filters.encoded")
def test_a_typed_filter_narrows_a_search_and_stays_on_the_next_page(agent: Agent, world: World) -> None:
    asked = {"query": "lease", "streams": ["messages"], "filter": {"sent_at": {"gte": "2026-03-01"}}, "limit": 1}

    first = agent.call("search", **asked)
    (more,) = [step for step in first.structured["next"] if step["tool"] == "search"]

    assert more["arguments"]["filter"] == asked["filter"]
    second = agent.call(more["tool"], **more["arguments"])
    ids = {result["id"] for found in (first, second) for result in found.structured["results"]}
    assert ids == {handle_of(world, "m1"), handle_of(world, "m2")}
    assert second.call_after("more") is None


@requirement("rs.search.any-text")
@pytest.mark.parametrize("query", ["***", '""', "-lease", "?!", "\u200b", "what is this about?"])
def test_a_text_without_a_word_to_look_for_gives_the_newest_records_and_says_so(query: str, agent: Agent) -> None:
    found = agent.call("search", query=query)

    meta = found.structured["data"]["meta"]
    times = [hit.get("authored_at", "") for hit in found.structured["data"]["data"]]
    assert times == sorted(times, reverse=True) and times[0] == "2026-06-01T18:00:00Z"
    assert meta["recall"]["ranking_scope"] == "newest_records" and not meta["recall"]["complete"]
    assert "newest first" in found.text and "no word to look for" in found.text


@requirement("mcp.tools.strict-arguments")
@pytest.mark.parametrize("name", ["profile", "connector_instance_id", "count"])
def test_an_argument_it_does_not_know_is_refused_by_name(name: str, agent: Agent) -> None:
    refused = agent.call("search", query="lease", **{name: "x"})

    assert refused.code == "invalid_request"
    assert name in refused.text
    assert "connection_id" in refused.text


@requirement("grants.permit.streams", "mcp.refusals.same-code")
def test_a_search_never_leaves_the_granted_streams(connect: Connect, world: World) -> None:
    narrow = connect(world.grant(world.both("channels")))

    found = narrow.call("search", query="lease lake")

    assert {hit["stream"] for hit in found.structured["data"]["data"]} == {"channels"}
    assert "messages" not in found.text
    assert narrow.call("search", query="lease", streams=["messages"]).code == "grant_stream_not_allowed"


@requirement("rs.cursors.bound-to-grant")
def test_a_cursor_of_another_grant_leads_nowhere(connect: Connect, world: World) -> None:
    cursor = connect(world.token).call("search", query="lease", limit=1).structured["data"]["next_cursor"]

    twin = connect(world.grant(world.both("messages"), world.both("channels")))
    refused = twin.call("search", query="lease", limit=1, cursor=cursor)

    assert refused.code == "invalid_cursor"

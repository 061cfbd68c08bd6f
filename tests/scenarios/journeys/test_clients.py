"""Whatever a client shows its model of our answers, the model finds, opens, reads on, counts, pages and keeps up."""

import json
from collections.abc import Iterator

import pytest

from pdpp_server.evidence.text import visible_lines
from pdpp_server.mcp.surface import INSTRUCTIONS, TOOLS
from tests.harness.agent import ScriptedAgent
from tests.harness.clients import DESCRIPTION_BYTES, FIRST_CHARS, RULES, written
from tests.harness.sights import Call
from tests.requirements import requirement
from tests.scenarios.mcp.agents import agent_on
from tests.unit.mcp.fakes import FakeReader, record
from tests.worlds.lives import LIVES, NEEDLE, Life


@pytest.fixture(scope="module", params=LIVES)
def life(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Life]:
    built = LIVES[request.param](tmp_path_factory.mktemp("life"))
    built.grant()
    yield built
    built.close()


@pytest.fixture(params=RULES)
def agent(request: pytest.FixtureRequest, life: Life) -> ScriptedAgent:
    return ScriptedAgent(agent_on(life.reader).call, RULES[request.param])


@requirement("mcp.journeys.told")
def test_what_clients_show_before_the_first_call_is_whole_and_names_every_tool() -> None:
    assert len(INSTRUCTIONS.encode()) <= DESCRIPTION_BYTES
    assert all(len(tool.description.encode()) <= DESCRIPTION_BYTES for tool in TOOLS)
    assert all(tool.name in INSTRUCTIONS[:FIRST_CHARS] for tool in TOOLS)


@requirement("mcp.journeys.discover")
def test_every_stream_and_connection_is_discovered(agent: ScriptedAgent, life: Life) -> None:
    index = agent.ask("schema").streams

    assert index.keys() == life.records.keys()
    assert set().union(*index.values()) == life.connections
    assert agent.ask("schema", stream="entries").time_field == "written_at"


@requirement("mcp.journeys.search-to-end")
def test_a_search_opens_at_its_match_and_leads_to_the_end(agent: ScriptedAgent, life: Life) -> None:
    found = agent.ask("search", query=f'"{NEEDLE}"')
    assert found.handles[0] == life.needle_id

    pieces = [window.piece for window in agent.follow(agent.do(found.opening))]

    assert NEEDLE in pieces[0]
    assert len(pieces) > 1
    assert visible_lines(life.needle).endswith(as_shown(pieces))


@requirement("mcp.journeys.search-to-end")
@pytest.mark.parametrize("rule", RULES)
def test_a_window_leads_on_whatever_its_field_is_called(rule: str) -> None:
    name, text = "🦭" * 64, "walrus " * 900
    reader = FakeReader((record("r", {name: text}),))
    agent = ScriptedAgent(agent_on(reader).call, RULES[rule])

    placed = {"id": "cin_4f2a/messages:r", "field_path": name, "offset_chars": 700, "limit_chars": 1000}

    assert "".join(window.piece for window in agent.follow(agent.ask("read_record_field", **placed))) == text[700:]


@requirement("mcp.journeys.fetch-to-end")
def test_a_document_says_how_its_text_goes_on(agent: ScriptedAgent, life: Life) -> None:
    whole = agent.document(agent.ask("search", query=f'"{NEEDLE}"').handles[0])
    assert (whole["id"], whole["metadata"]["text_complete"]) == (life.needle_id, "false")
    shown = whole["text"].rpartition("…\n[cut here: ")[0]

    going_on = agent.follow(agent.do(_call(whole["metadata"]["read_next"])))
    pieces = [next(going_on).piece, next(going_on).piece]

    rest = life.needle.removeprefix(shown)
    assert len(rest) == len(life.needle) - len(shown)
    assert visible_lines(rest).startswith(as_shown(pieces))


@requirement("mcp.journeys.count")
def test_numbers_are_right_over_all_connections(agent: ScriptedAgent, life: Life) -> None:
    field = agent.ask("schema", stream="entries").time_field
    by_month = {"stream": "entries", "metric": "count", "group_by_time": field, "granularity": "month"}

    counted = [answer.number for answer in agent.ask_each("aggregate", stream="entries", metric="count")]
    grouped = [answer.number for answer in agent.ask_each("aggregate", **by_month, limit=3)]

    assert sum(counted) == sum(grouped) == len(life.records["entries"])


@requirement("mcp.journeys.page")
def test_every_record_is_reached_page_by_page_and_none_twice(agent: ScriptedAgent, life: Life) -> None:
    for stream, expected in life.records.items():
        starts = agent.ask_each("query_records", stream=stream, count="exact")
        reached = [handle for start in starts for page in agent.follow(start) for handle in page.handles]

        assert sorted(reached) == sorted(expected)


@requirement("mcp.journeys.page")
def test_every_hit_is_reached_page_by_page_and_none_twice(agent: ScriptedAgent, life: Life) -> None:
    reached = [handle for page in agent.follow(agent.ask("search", query="walrus")) for handle in page.handles]

    assert len(reached) == len(set(reached)) > 10
    assert set(reached) < set().union(*life.records.values())
    assert all(agent.document(handle)["id"] == handle for handle in reached[:: len(reached) // 5])


@requirement("mcp.journeys.changes")
def test_a_bookmark_tells_what_changed_since(agent: ScriptedAgent, life: Life) -> None:
    life.come()
    marks = []
    for start in agent.ask_each("query_records", stream="entries", changes_since="beginning"):
        *_, last = agent.follow(start)
        marks.append(last.later)

    written, gone = life.change()

    told = [page for mark in marks for page in agent.follow(agent.do(mark))]
    assert [handle for page in told for handle in page.handles] == [written, gone]
    assert [handle for page in told for handle in page.gone] == [gone]


@requirement("mcp.journeys.refusals")
def test_a_refusal_says_what_to_do(agent: ScriptedAgent, life: Life) -> None:
    gone = min(life.records["entries"]) + "x"
    for tool, wrong in (
        ("fetch", {"id": gone}),
        ("fetch", {"id": "nothing"}),
        ("read_record_field", {"id": gone, "field_path": "body"}),
        ("read_record_field", {"id": life.needle_id, "field_path": "body", "q": "nowhere at all"}),
        ("read_record_field", {"id": life.needle_id, "field_path": "answers"}),
        ("query_records", {"stream": "nothing"}),
        ("search", {"query": "walrus", "cursor": "nothing"}),
    ):
        assert agent.ask(tool, **wrong).remedy, tool


@requirement("mcp.journeys.cut")
def test_a_client_that_cuts_an_answer_still_shows_how_to_go_on(life: Life) -> None:
    call = agent_on(life.reader).call
    narrow = {"stream": "entries", "connection_id": min(life.connections)}
    asked = {
        "schema": {},
        "query_records": narrow,
        "aggregate": {**narrow, "metric": "count"},
        "search": {"query": "walrus"},
        "read_record_field": {"id": life.needle_id, "field_path": "body"},
    }
    for tool, arguments in asked.items():
        assert written(call(tool, **arguments).structured).startswith('{"next":[{"tool":"')


def as_shown(pieces: list[str]) -> str:
    """Unseen characters are escaped in one channel and not in the other."""
    return "".join(visible_lines(piece) for piece in pieces)


def _call(text: str) -> Call:
    tool, _, arguments = text.partition(" ")
    return Call(tool, json.loads(arguments))

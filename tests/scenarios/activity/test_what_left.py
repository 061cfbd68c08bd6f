"""What a line names, door by door: what the answer showed as it was sent."""

from collections.abc import Generator
from typing import Any

import orjson
import pytest

from pdpp_server.authorization_server.preview import preview
from pdpp_server.errors import DisclosureLogUnavailable
from pdpp_server.evidence.handles import mint
from pdpp_server.mcp.server import McpServer
from pdpp_server.mcp.surface import TOOLS
from pdpp_server.model.activity import NOTHING, Disclosure
from pdpp_server.model.pending import Leaving
from pdpp_server.model.queries import FetchQuery, SearchQuery
from pdpp_server.port.local import LocalReader
from tests.log_truth.ask import asking
from tests.log_truth.left import Finder
from tests.requirements import requirement
from tests.scenarios.mcp.agents import agent_on
from tests.worlds import marked
from tests.worlds.marked import LETTERS, Marked
from tests.worlds.post import Post
from tests.worlds.served import over_network
from tests.worlds.world import World

RELATED = {"expand": ["letters"]}


@pytest.fixture(scope="module")
def life(tmp_path_factory: pytest.TempPathFactory) -> Generator[Marked]:
    built = marked.build(tmp_path_factory.mktemp("marked"))
    yield built
    built.close()


@requirement("log.line.what-left")
def test_a_record_that_is_fetched_with_related_ones_names_them(world: World) -> None:
    post = Post(world)
    agent = agent_on(world.reader_of(post.grant({"name": "threads"}, {"name": "letters"})))

    document = agent.call("fetch", id=f"{post.office}/threads:t1", **RELATED).structured

    (line,) = world.owner.activity()
    named = [f"{post.office}/letters:{key}" for key in ("l3", "l2")]
    assert line.records == (f"{post.office}/threads:t1", *named)
    assert all(handle in document["metadata"]["expanded"] for handle in named)
    assert (line.fields, line.streams) == (("id", "is_open", "topic"), ("threads", "letters"))


@requirement("log.line.what-left")
def test_the_same_over_http_names_their_fields_too(life: Marked) -> None:
    id = next(id for id in life.ids if id.key == "t5")
    with asking(life, 0) as ask, ask.lines() as lines:
        path = f"/v1/streams/threads/records/t5?connection_id={id.connection_id}&expand=letters"
        body = ask.get(path, token=life.tokens["everything"]).json()

    (line,) = lines
    letters = body["expanded"]["letters"]["data"]
    assert letters
    assert {*line.records} == {mint(id), *(mint(id._replace(stream=LETTERS, key=each["id"])) for each in letters)}
    assert (
        {"f_topic", "f_subject"}
        <= {*line.fields}
        == {*body["data"], *(name for one in letters for name in one["data"])}
    )


@requirement("log.line.what-left")
def test_hits_that_did_not_fit_are_not_logged(life: Marked) -> None:
    server, reader = McpServer(TOOLS), LocalReader(life.services, life.tokens["package"])
    before = len(life.log.lines)

    asked = {"query": "walrus lease lake garden", "limit": 100}
    structured = orjson.loads(server.call(lambda: reader, "search", asked))["structuredContent"]

    (line,) = life.log.lines[before:]
    shown = [hit["id"] for hit in structured["results"]]
    assert "page_shortened" in [warned["code"] for warned in structured["data"]["meta"]["warnings"]]
    assert [*line.records] == shown
    assert len(shown) < 100


@requirement("log.line.what-left")
def test_a_preview_names_the_titles_that_it_shows(life: Marked) -> None:
    (grant,) = (
        row.grant for row in life.owner.grants() if len(row.grant.streams) == 2 and len(row.grant.streams[0].fields) > 9
    )
    before, finder = len(life.log.lines), Finder(life)

    glimpses = preview(life.services, (grant,))

    lines = [line for line in life.log.lines[before:] if line.operation == "query_records"]
    for glimpse, line in zip(glimpses, lines, strict=True):
        left = finder.marks(" ".join(glimpse.titles))
        assert ({*line.records}, {*line.fields}) == (left.records, left.fields)
        assert line.fields in {("f_subject", "f_actor", "f_pages", "f_more00"), ("f_topic",)}


@requirement("log.line.what-left")
def test_what_another_server_gave_is_logged_there_and_not_here(world: World) -> None:
    with over_network(world) as far:
        results = agent_on(far.reader).call("search", query="lease lake", limit=3).structured["results"]

    searched = [line for line in world.owner.activity() if line.operation == "search"]
    assert [[*line.records] for line in searched] == [[hit["id"] for hit in results]]


@requirement("log.line.one-way-out")
def test_a_read_that_is_given_up_was_not_disclosed(world: World) -> None:
    pending = world.reader.asked.fetch(FetchQuery("messages", "m1", world.work))
    instead = pending.followed(lambda _: world.reader.asked.search(SearchQuery("lease", limit=1)))
    assert world.owner.activity() == []

    hits = instead.leave(lambda page: Leaving(len(page.hits), NOTHING, 0))

    assert hits == 1
    assert [line.operation for line in world.owner.activity()] == ["search"]


class Full:
    """A log on a disk without room."""

    def append(self, disclosure: Disclosure) -> None:
        raise DisclosureLogUnavailable("The disclosure log cannot be written, so nothing is read.")

    def close(self) -> None:
        """Nothing is open."""


@requirement("log.failure.closed", "log.line.one-way-out")
def test_nothing_leaves_by_any_door_where_the_log_cannot_be_written(
    life: Marked, monkeypatch: pytest.MonkeyPatch
) -> None:
    finder = Finder(life)
    id = next(id for id in life.ids if id.stream == LETTERS and mint(id) in {*next(iter(life.blobs.values()))})
    blob = next(iter(life.blobs))
    where = f"connection_id={id.connection_id}"
    paths = (
        *("/v1/schema", "/v1/streams", "/v1/connectors", f"/v1/streams/letters?{where}", "/v1/search?q=lake"),
        *(f"/v1/streams/letters/records?{where}", f"/v1/streams/letters/records/{id.key}?{where}"),
        *(f"/v1/streams/letters/records/{id.key}/field-window?field=f_body&{where}", f"/v1/blobs/{blob}"),
        f"/v1/streams/letters/aggregate?metric=max&field=f_pages&{where}",
    )
    calls: dict[str, dict[str, Any]] = {
        "schema": {},
        "search": {"query": "lake"},
        "query_records": {"stream": LETTERS, "connection_id": id.connection_id},
        "aggregate": {"stream": LETTERS, "metric": "max", "field": "f_pages"},
        "fetch": {"id": mint(id)},
        "read_record_field": {"id": mint(id), "field_path": "f_body"},
    }
    server, reader = McpServer(TOOLS), LocalReader(life.services, life.tokens["everything"])
    with asking(life, 0) as ask:
        monkeypatch.setattr(life.services, "log", Full())
        answers = [ask.get(path, token=life.tokens["everything"]) for path in paths]
        pages = [ask.visitor.get(f"/records/{mint(id)}"), ask.visitor.get("/search?q=lake")]
        called = [orjson.loads(server.call(lambda: reader, name, given)) for name, given in calls.items()]

    assert {answer.status_code for answer in (*answers, *pages)} == {503}
    assert {answer["structuredContent"]["error"]["code"] for answer in called} == {"disclosure_log_unavailable"}
    said = "\n".join([*(answer.text for answer in (*answers, *pages)), *(str(answer) for answer in called)])
    assert finder.marks(said).records == set()


@requirement("log.line.what-left")
def test_the_command_logs_the_channel_that_it_prints(life: Marked) -> None:
    server, reader = McpServer(TOOLS), LocalReader(life.services, life.tokens["everything"])
    asked = {"query": "walrus lease lake garden", "limit": 25}
    before = len(life.log.lines)

    text, body = (
        orjson.loads(server.call(lambda: reader, "search", asked, frozenset({channel})))
        for channel in ("text", "structured")
    )

    printed, structured = life.log.lines[before:]
    assert {*printed.records} == Finder(life).handles(text["content"][0]["text"])
    assert [*structured.records] == [hit["id"] for hit in body["structuredContent"]["results"]]
    assert {*printed.records} < {*structured.records}

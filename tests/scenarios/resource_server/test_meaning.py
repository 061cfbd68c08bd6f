"""Search by meaning: found in other words, inside the grant only, and never silently something else."""

from copy import deepcopy
from dataclasses import replace
from typing import Any

import orjson
import pytest

from pdpp_server.errors import InvalidCursor, UnsupportedMode
from pdpp_server.evidence.remarks import NOT_SEARCHED
from pdpp_server.mcp.server import McpServer
from pdpp_server.mcp.surface import TOOLS
from pdpp_server.meaning import encoder
from pdpp_server.model.queries import SearchQuery
from pdpp_server.model.records import SearchPage
from pdpp_server.port.local import LocalReader
from pdpp_server.wire.declarations import decode_declaration
from pdpp_server.wire.grants import decode_selection
from tests.requirements import requirement
from tests.scenarios.packages.package import NOTES, packed
from tests.worlds import chat
from tests.worlds.chat import FAMILY, WORK, message
from tests.worlds.meant import Meant, meant, put_model
from tests.worlds.world import World


@pytest.fixture
def told(world: World) -> Meant:
    made = meant(world)
    made.deliver(
        message("boat", text="boat", sent_at="2026-03-01T10:00:00Z"),
        message("dog", text="dog", sent_at="2026-05-01T10:00:00Z", subject="doctor"),
    )
    made.catch_up()
    return made


def asked(told: Meant, text: str, mode: str = "auto", token: str | None = None, **more: Any) -> SearchPage:
    reader = told.world.reader_of(token or told.token)
    return reader.search(SearchQuery(text, mode=mode, **more)).value  # pyright: ignore[reportArgumentType]


def keys(page: SearchPage) -> list[str]:
    return [hit.id.key for hit in page.hits]


@requirement("rs.search.meaning")
@pytest.mark.parametrize("mode", ["auto", "hybrid", "semantic"])
def test_a_record_in_other_words_is_found_and_says_that_nothing_matched(told: Meant, mode: str) -> None:
    page = asked(told, "ship", mode)

    first = page.hits[0]
    assert (first.id.key, first.matched_fields, first.is_meant, first.is_beside) == ("boat", [], True, False)
    assert first.distance is not None
    assert first.distance < 0.05
    assert [(excerpt.provenance, excerpt.text, excerpt.marks) for excerpt in first.excerpts] == [
        ("semantic", "boat", ())
    ]
    assert (page.mode, page.waiting) == ("semantic" if mode == "semantic" else "hybrid", 0)


@requirement("rs.search.meaning")
def test_by_words_it_is_not_found(told: Meant) -> None:
    page = asked(told, "ship", "lexical")

    assert (keys(page), page.mode, page.waiting) == ([], None, None)


@pytest.fixture
def apart(world: World) -> World:
    """Messages are looked into by their words alone, channels by their meaning alone."""
    document = deepcopy(chat.DOCUMENT)
    document["declaration_version"] = "3"
    document["streams"][1]["query"]["search"] = {"semantic_fields": ["topic"]}
    for account in (WORK, FAMILY):
        world.owner.writer(decode_declaration(document), account).deliver([])
    return world


@requirement("rs.search.not-searched")
@pytest.mark.parametrize(
    ("has_model", "mode", "said"),
    [
        (False, "auto", {"channels": "No words are looked for in channels"}),
        (True, "lexical", {"channels": "No words are looked for in channels"}),
        (True, "semantic", {"messages": "Nothing is looked for by meaning in messages"}),
        (True, "hybrid", {}),
    ],
)
def test_a_stream_that_the_mode_does_not_look_into_is_named(
    apart: World, has_model: bool, mode: str, said: dict[str, str]
) -> None:
    if has_model:
        put_model(apart.home)
    made = Meant(apart, apart.grant(apart.both("messages"), apart.both("channels")))

    for stream in ("messages", "channels"):
        alone = apart.grant(apart.both(stream))
        pages = [asked(made, "ship", mode, streams=(stream,)), asked(made, "ship", mode, alone)]
        assert [unsearched(page) for page in pages] == [said.get(stream)] * 2
    assert unsearched(asked(made, "ship", mode)) is None, (
        "of a search in everything that can be read the rest is enough"
    )


def unsearched(page: SearchPage) -> str | None:
    said = [warned.message.partition(":")[0] for warned in page.warnings if warned.code == NOT_SEARCHED]
    return said[0] if said else None


@requirement("rs.search.not-searched")
def test_by_meaning_alone_no_words_are_counted_in_a_stream_that_is_not_looked_into(apart: World) -> None:
    put_model(apart.home)
    reader = apart.reader_of(apart.grant(apart.both("messages")))

    page = reader.search(SearchQuery("lease", streams=("messages",), mode="semantic", lean=True)).value

    assert (page.hits, page.recall.matches, page.recall.words) == ((), 0, ())


@requirement("rs.search.not-searched", "mcp.packages.search-merged")
def test_of_a_stream_that_one_source_of_a_package_lets_be_searched_the_others_are_told(world: World) -> None:
    package = packed(world)
    hidden = chat.detail(world.both("messages", fields=["id", "likes"]))
    notes = {**chat.detail({"name": "messages", "instance_ids": [package.notes]}), "source": {"id": NOTES}}
    token = world.owner.create_grant(decode_selection([hidden, notes]), "Agent", None).token

    page = world.reader_of(token).search(SearchQuery("lease", streams=("messages",))).value

    assert page.hits
    assert unsearched(page) == "No words are looked for in messages of some sources"


@requirement("rs.search.hybrid")
def test_by_both_each_hit_says_how_it_was_found(told: Meant) -> None:
    page = asked(told, "dog ship", "hybrid")

    found = {hit.id.key: {(each.provenance, bool(each.marks)) for each in hit.excerpts} for hit in page.hits}
    assert [*found][:2] == ["dog", "boat"]
    assert (found["dog"], found["boat"]) == ({("lexical_match", True)}, {("semantic", False)})


@requirement("mcp.search.semantic-modes")
@pytest.mark.parametrize(("mode", "used"), [("auto", "hybrid"), ("hybrid", "hybrid"), ("semantic", "semantic")])
def test_the_tool_serves_every_mode_and_auto_is_the_best(told: Meant, mode: str, used: str) -> None:
    reader = LocalReader(told.world.services, told.token)
    answer = orjson.loads(McpServer(TOOLS).call(lambda: reader, "search", {"query": "ship", "mode": mode}))

    body = answer["structuredContent"]
    assert body["data"]["meta"]["retrieval_mode"] == used
    assert [each["id"].rpartition(":")[2] for each in body["results"]][:1] == ["boat"]


@requirement("mcp.schema.usable-only")
@pytest.mark.parametrize(("has_model", "modes"), [(True, "lexical, semantic, hybrid"), (False, "lexical")])
def test_the_catalogue_tells_of_meaning_only_where_there_is_a_model(world: World, has_model: bool, modes: str) -> None:
    made = meant(world, has_model=has_model)
    reader = LocalReader(world.services, made.token)

    answer = orjson.loads(McpServer(TOOLS).call(lambda: reader, "schema", {"stream": "messages"}))

    said = answer["content"][0]["text"]
    assert f"search modes: {modes}\n" in said
    assert ("lex sem" in said) == has_model
    (connector,) = answer["structuredContent"]["data"]["connectors"]
    (stream,) = connector["streams"]
    assert (",sem" in stream["field_capabilities"]["text"]) == has_model


@requirement("mcp.schema.usable-only")
def test_the_catalogue_tells_of_the_modes_that_find_something_in_what_is_granted(apart: World) -> None:
    put_model(apart.home)
    hidden = apart.both("messages", fields=["id", "likes"])
    reader = apart.reader_of(apart.grant(hidden, apart.both("channels")))

    def schema_of(stream: str) -> tuple[str, str]:
        answer = orjson.loads(McpServer(TOOLS).call(lambda: reader, "schema", {"stream": stream}))
        return answer["content"][0]["text"], answer["structuredContent"]["next"][0]["tool"]

    (messages, after_messages), (channels, after_channels) = schema_of("messages"), schema_of("channels")

    assert ("search modes: none " in messages, after_messages) == (True, "query_records")
    assert ("search modes: semantic, hybrid\n" in channels, after_channels) == (True, "search")


@requirement("rs.search.mode-refused", "rs.search.semantic")
@pytest.mark.parametrize("mode", ["semantic", "hybrid"])
def test_without_a_model_these_modes_are_refused_with_those_that_there_are(world: World, mode: str) -> None:
    told = meant(world, has_model=False)

    with pytest.raises(UnsupportedMode, match="auto, lexical"):
        asked(told, "ship", mode)
    assert asked(told, "walrus").mode is None


@requirement("rs.search.index-state")
def test_what_waits_is_counted_among_visible_records_and_found_by_words_meanwhile(told: Meant) -> None:
    told.deliver(message("new", text="hound", sent_at="2026-06-01T10:00:00Z"))
    told.deliver(message("hidden", text="hound", sent_at="2020-06-01T10:00:00Z"))
    token = told.world.grant(told.world.both("messages", time_range={"since": "2026-01-01T00:00:00Z"}))

    before = asked(told, "hound", token=token)

    assert (before.waiting, [warned.code for warned in before.warnings]) == (1, ["meaning_behind"])
    assert "new" in keys(before)
    told.catch_up()
    after = asked(told, "hound", token=token)
    assert (after.waiting, after.warnings) == (0, ())
    assert {"new", "dog"} <= {*keys(after)}
    assert "hidden" not in keys(after)


@requirement("rs.search.meaning-hidden")
@pytest.mark.parametrize("mode", ["auto", "hybrid", "semantic"])
@pytest.mark.parametrize("bounds", ["time", "field", "resources", "connection"])
def test_what_a_grant_hides_changes_nothing(told: Meant, bounds: str, mode: str) -> None:
    world = told.world
    narrowing: dict[str, Any] = {
        "time": {"time_range": {"since": "2026-02-01T12:00:00Z", "until": "2026-04-01T00:00:00Z"}},
        "field": {"fields": ["id", "subject", "sent_at"]},
        "resources": {"resources": ["boat", "dog"]},
        "connection": {"instance_ids": [world.work]},
    }[bounds]
    token = world.grant({**world.both("messages"), **narrowing})
    questions = ("ship", "physician", "hound", "boat dog")
    before = [asked(told, question, mode, token) for question in questions]

    hidden = {
        "time": [message(f"h{i}", text="boat ship doctor", sent_at="2026-02-01T11:00:00Z") for i in range(9)],
        "field": [message("boat", text="doctor doctor", sent_at="2026-03-01T10:00:00Z")],
        "resources": [message(f"h{i}", text="ship", sent_at="2026-03-01T10:00:00Z") for i in range(9)],
        "connection": [message(f"h{i}", text="ship", sent_at="2026-03-01T10:00:00Z") for i in range(9)],
    }[bounds]
    told.deliver(*hidden, account=FAMILY if bounds == "connection" else WORK)
    told.catch_up()

    after = [asked(told, question, mode, token) for question in questions]
    assert [replace(page, as_of=None) for page in after] == [replace(page, as_of=None) for page in before]


@requirement("rs.search.cursor-mode")
def test_a_cursor_goes_on_in_the_mode_that_was_used(told: Meant) -> None:
    first = asked(told, "ship dog", limit=1)
    assert (first.mode, first.next_cursor is not None) == ("hybrid", True)

    second = asked(told, "ship dog", limit=1, cursor=first.next_cursor)
    assert second.mode == "hybrid"
    assert not {*keys(first)} & {*keys(second)}
    with pytest.raises(InvalidCursor):
        asked(told, "ship dog", "lexical", limit=1, cursor=first.next_cursor)

    told.desk.remove()
    with pytest.raises(UnsupportedMode, match="hybrid"):
        asked(told, "ship dog", limit=1, cursor=first.next_cursor)


@requirement("store.meaning.damaged", "rs.search.semantic")
def test_with_a_damaged_model_words_go_on_and_say_so(told: Meant) -> None:
    told.desk.meaning.path.write_bytes(b"damaged")

    page = asked(told, "dog")

    assert (keys(page), page.mode) == (["dog"], None)
    assert [warned.code for warned in page.warnings] == ["meaning_unavailable"]
    with pytest.raises(UnsupportedMode):
        asked(told, "dog", "semantic")


@requirement("store.meaning.other-model")
def test_vectors_of_another_model_are_not_compared_and_everything_waits(told: Meant) -> None:
    put_model(told.world.home, seed=2, width=64)

    page = asked(told, "dog")

    assert page.hits[0].id.key == "dog"
    assert page.waiting is not None
    assert page.waiting > 5
    assert not any(hit.is_meant for hit in page.hits)


@requirement("store.meaning.other-model")
def test_vectors_that_an_older_version_made_are_not_compared_and_made_anew(
    told: Meant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoder, "MADE", encoder.MADE + 1)
    put_model(told.world.home)  # the same numbers, read by the newer version

    before = asked(told, "ship dog")
    assert keys(before) == ["dog"]
    assert before.waiting

    told.catch_up()
    after = asked(told, "ship dog")
    assert (keys(after)[:2], after.waiting) == (["dog", "boat"], 0)


@requirement("rs.search.meaning")
def test_what_must_not_occur_does_not_come_by_its_meaning(told: Meant) -> None:
    assert "boat" not in keys(asked(told, "ship dog -boat"))

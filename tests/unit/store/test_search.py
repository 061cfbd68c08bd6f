"""The order of a search is that of a plain model over visible records, whatever else is in the store."""

from dataclasses import dataclass, replace
from math import log
from pathlib import Path
from random import Random
from typing import Any

import apsw
import pytest

from pdpp_server.mcp.tools.search import SEARCH
from pdpp_server.model.ingest import Incoming
from pdpp_server.model.queries import SearchQuery
from pdpp_server.store.engines.sqlite.cutting import Fts5Cutter
from pdpp_server.store.records import candidates
from pdpp_server.store.records.neighbours import TALK
from pdpp_server.store.records.rank import K1, MENTIONED, USUAL_LENGTH, B
from pdpp_server.store.records.words import Phrase, Tokenizer, WordQuery
from pdpp_server.wire.declarations import decode_declaration
from pdpp_server.wire.grants import decode_selection
from tests.requirements import requirement
from tests.two_worlds.ask import connection_id, open_side
from tests.two_worlds.plan import COMMON, Event, Grown, Plan, _key_text, plan
from tests.worlds.chat import DOCUMENT, FAMILY, WORK, message
from tests.worlds.chat import detail as detail_of
from tests.worlds.told import told
from tests.worlds.world import World

TOKENIZER = Tokenizer(Fts5Cutter(apsw.Connection(":memory:")))
TIMELESS: dict[str, Any] = {
    **DOCUMENT,
    "source": {"kind": "connector", "id": "https://registry.pdpp.dev/connectors/timeless"},
    "streams": [
        {
            "name": "notes",
            "semantics": "mutable_state",
            "schema": {
                "type": "object",
                "required": ["id"],
                "properties": {name: {"type": "string"} for name in ("id", "text", "secret")},
            },
            "primary_key": ["id"],
            "selection": {"fields": True, "resources": True},
            "query": {"search": {"lexical_fields": ["text"]}},
        }
    ],
}


@dataclass(frozen=True)
class Shown:
    """A visible record, with the tokens of its granted lexical fields."""

    name: tuple[str, str, str]
    fields: tuple[tuple[str, ...], ...]
    actor: tuple[str, ...]  # the tokens of who spoke, where that is one of them

    def says(self, phrase: Phrase) -> bool:
        return _times(self.actor, phrase) > 0

    def times(self, phrase: Phrase) -> int:
        return sum(_times(tokens, phrase) for tokens in self.fields)


def _times(tokens: tuple[str, ...], phrase: Phrase) -> int:
    size = len(phrase.tokens)
    return sum(_stands(tokens[i : i + size], phrase) for i in range(len(tokens) - size + 1))


def _stands(tokens: tuple[str, ...], phrase: Phrase) -> bool:
    *first, last = zip(tokens, phrase.tokens, strict=True)
    ends = last[0].startswith(last[1]) if phrase.is_prefix else last[0] == last[1]
    return ends and all(a == b for a, b in first)


def visible(made: Plan) -> list[Shown]:
    """What the life leaves behind for the grant's reader, said without the store."""
    latest: dict[tuple[str, str, tuple[str, ...]], Event] = {}
    for arrival in (*made.lives[0].arrivals, *made.afterwards[0].arrivals):
        latest |= {(event.connection, event.stream, event.key): event for event in arrival.events}
    return [
        Shown(
            (connection_id(made, event.connection), event.stream, _key_text(event.key)), *_tokens(made, stream, event)
        )
        for event in latest.values()
        if event.data is not None
        and (stream := made.streams[event.stream]).shows(event.connection, _key_text(event.key), event.data)
        and stream.granted & {*stream.lexical}
    ]


def _tokens(made: Plan, stream: Grown, event: Event) -> tuple[tuple[tuple[str, ...], ...], tuple[str, ...]]:
    assert event.data is not None
    tokens = {name: TOKENIZER.tokens(event.data.get(name, "")) for name in stream.lexical if name in stream.granted}
    declared = next(each for each in made.document["streams"] if each["name"] == stream.name)["schema"]["properties"]
    actors = [name for name, told in declared.items() if told.get("x_pdpp_role") == "actor"]
    return tuple(tokens.values()), tokens.get(actors[0], ()) if actors else ()


def model(records: list[Shown], query: str) -> dict[tuple[str, str, str], float]:
    """BM25 by hand: weights from visible records of the same source or of all, lengths of granted fields, the share of
    the question's weight that a record holds, a name as who spoke, minus words."""
    asked = TOKENIZER.query(query)
    names = {phrase for phrase in asked.wanted if is_name(records, asked, phrase)}
    weights = {record.name[0]: weights_in(record.name[0], records, asked, names) for record in records}
    scores: dict[tuple[str, str, str], float] = {}
    for record in records:
        norm = K1 * (1 - B + B * sum(map(len, record.fields)) / USUAL_LENGTH)
        held = [phrase for phrase in asked.wanted if record.times(phrase)]
        if not held or any(record.times(phrase) for phrase in asked.unwanted):
            continue
        worth = dict(weights[record.name[0]])
        worth |= {name: MENTIONED * worth[name] for name in names if not record.says(name)}
        counts = {phrase: 1 if phrase in names else record.times(phrase) for phrase in held}
        told = sum(worth[phrase] * count * (K1 + 1) / (count + norm) for phrase, count in counts.items())
        share = sum(worth[phrase] for phrase in held) / sum(weights[record.name[0]].values())
        scores[record.name] = told * share
    best = max(scores.values(), default=0.0)
    # Where nobody talks each record stands for itself.
    return {name: score * (1 + TALK * score / best) for name, score in scores.items()}


def kept(records: list[Shown], asked: WordQuery) -> list[Shown]:
    return [record for record in records if not any(record.times(phrase) for phrase in asked.unwanted)]


def is_name(records: list[Shown], asked: WordQuery, phrase: Phrase) -> bool:
    holding = [record for record in kept(records, asked) if record.times(phrase)]
    saying = [record for record in holding if record.says(phrase)]
    return len(asked.wanted) > 1 and not phrase.is_prefix and 0 < len(holding) <= 2 * len(saying)


def weights_in(source: str, records: list[Shown], asked: WordQuery, names: set[Phrase]) -> dict[Phrase, float]:
    by_source = {
        name: [record for record in records if record.name[0] == name]
        for name in {record.name[0] for record in records}
    }
    weights: dict[Phrase, float] = {}
    for phrase in asked.wanted:
        counts = {name: holding(own, asked, phrase, phrase in names) for name, own in by_source.items()}
        among_all = idf(len(records), sum(counts.values()))
        stands = any(record.times(phrase) for record in records)
        weights[phrase] = max(among_all, idf(len(by_source[source]), counts[source])) if stands else 0.0
    return weights


def holding(records: list[Shown], asked: WordQuery, phrase: Phrase, is_name: bool) -> int:
    """How many hold it; of a name how many were said by it, by the share among those that are found."""
    count = sum(record.times(phrase) > 0 for record in records)
    found = [record for record in kept(records, asked) if record.times(phrase)]
    return count * sum(record.says(phrase) for record in found) // len(found) if is_name and found else count


def idf(visible: int, matching: int) -> float:
    return log(1 + (visible - matching + 0.5) / (matching + 0.5))


@pytest.mark.parametrize("seed", range(1, 13))
@requirement("grants.worlds.ranking")
def test_hits_and_scores_are_those_of_a_model_that_sees_visible_records_only(seed: int, tmp_path: Path) -> None:
    made = plan(seed)
    side = open_side(made, made.lives[0], made.afterwards[0], tmp_path / "home")
    records, random = visible(made), Random(seed)
    try:
        for _ in range(12):
            words = random.sample(COMMON, random.randint(1, 3))
            query = " ".join(random.choice((word, word, f"{word[:3]}*", f"-{word}")) for word in words) + f" {words[0]}"
            page = side.reader.search(SearchQuery(query, limit=100, mode="lexical")).value
            scores = {tuple(hit.id): hit.score for hit in page.hits}

            assert scores == pytest.approx(model(records, query)), query
            assert list(scores.values()) == sorted(scores.values(), reverse=True)  # pyright: ignore[reportArgumentType]
            assert page.recall.matches == len(scores)
    finally:
        side.close()


def keys(world: World, text: str, **more: object) -> list[str]:
    return [hit.id.key for hit in world.reader.search(SearchQuery(text, **more)).value.hits]  # pyright: ignore[reportArgumentType]


def test_equal_scores_come_newest_first(world: World) -> None:
    world.deliver(
        WORK, [message(f"t{day}", text="alpenglow", sent_at=f"2026-07-{day:02}T09:00:00Z") for day in (3, 1, 2)]
    )

    assert keys(world, "alpenglow") == ["t3", "t2", "t1"]


@requirement("grants.worlds.ranking")
def test_a_hidden_time_orders_no_hits(world: World) -> None:
    token = world.grant({"name": "messages", "instance_ids": [world.work], "fields": ["id", "text"]})

    def found(days: range) -> list[str]:
        named = enumerate(days)
        sent = [message(f"t{n}", text="alpenglow", sent_at=f"2026-07-{day:02}T09:00:00Z") for n, day in named]
        world.deliver(WORK, sent)
        return [hit.id.key for hit in world.reader_of(token).search(SearchQuery("alpenglow")).value.hits]

    assert found(range(1, 9)) == found(range(8, 0, -1))


@requirement("grants.worlds.ranking")
def test_an_edit_of_a_hidden_field_makes_no_record_newer(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a stream has no time of its own and there are too many matches, the newest that came are looked at."""
    monkeypatch.setattr(candidates, "CANDIDATES", 100)
    writer = world.owner.writer(decode_declaration(TIMELESS), "Timeless")

    def brought(n: int, day: int, **more: str) -> None:
        emitted_at = f"2026-07-{day:02}T09:00:00Z"
        writer.deliver([Incoming("test", "notes", None, {"id": f"t{n:03}", "text": "alpenglow", **more}, emitted_at)])

    for n in range(105):
        brought(n, 1 + n // 10)
    detail = {**detail_of({"name": "notes", "fields": ["id", "text"]}), "source": TIMELESS["source"]}
    token = world.owner.create_grant(decode_selection([detail]), "Agent", None).token

    def found() -> set[str]:
        hits = world.reader_of(token).search(SearchQuery("alpenglow", limit=100)).value.hits
        return {hit.id.key for hit in hits}

    before = found()
    brought(0, 20, secret="edited")

    assert len(before) == 100
    assert found() == before


def test_pages_follow_each_other_without_a_gap_even_where_scores_are_equal(world: World) -> None:
    world.deliver(WORK, [message(f"t{n}", text="alpenglow", sent_at="2026-07-01T09:00:00Z") for n in range(25)])
    whole = keys(world, "alpenglow", limit=100)

    paged: list[str] = []
    query = SearchQuery("alpenglow", limit=4)
    for _ in range(25):
        page = world.reader.search(query).value
        paged += [hit.id.key for hit in page.hits]
        if page.next_cursor is None:
            break
        query = replace(query, cursor=page.next_cursor)

    assert paged == whole
    assert len({*paged}) == 25


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ('"walrus clause"', ["m2"]),
        ('"clause walrus"', []),
        ("walr*", ["m2"]),
        ("京都", ["m4"]),
        ("lease -draft -text -written -about", []),
        ("lakes", ["m1", "m2"]),
        ("LUNCH", ["m3"]),
    ],
)
def test_quotes_keep_words_together_and_minus_leaves_out(query: str, found: list[str], world: World) -> None:
    assert sorted(keys(world, query, streams=("messages",))) == found


@requirement("rs.search.any-text")
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("-lease", ["m2", "m4", "m3", "m1"]),
        *[(query, ["m2", "m4", "m3", "m2", "m1", "m1", "m5"]) for query in ("...", '""', "what is it?")],
    ],
)
def test_a_query_without_a_word_to_look_for_gives_the_newest_records_that_it_does_not_exclude(
    query: str, found: list[str], world: World
) -> None:
    page = world.reader.search(SearchQuery(query, streams=("messages",))).value

    assert [hit.id.key for hit in page.hits] == found
    assert page.recall.is_newest and [warned.code for warned in page.warnings] == ["no_words"]
    assert not any(hit.matched_fields for hit in page.hits)


@requirement("rs.search.any-text")
def test_more_of_the_newest_than_a_page_holds_is_said(world: World) -> None:
    page = world.reader.search(SearchQuery("?", limit=2)).value

    assert [hit.id.key for hit in page.hits] == ["m2", "m4"]
    assert page.has_more and page.next_cursor is None


@requirement("rs.search.any-text")
def test_of_one_account_a_page_that_holds_all_of_the_newest_says_no_more(world: World) -> None:
    reader = world.reader_of(world.grant({"name": "messages", "instance_ids": [world.family]}))
    every = len(reader.search(SearchQuery("?")).value.hits)

    assert not reader.search(SearchQuery("?", limit=every)).value.has_more
    assert reader.search(SearchQuery("?", limit=every - 1)).value.has_more


@requirement("store.index.proven-offsets")
def test_an_excerpt_opens_at_a_match_deep_inside_a_long_text(world: World) -> None:
    (hit,) = world.reader.search(SearchQuery('"walrus clause"')).value.hits

    (excerpt,) = hit.excerpts
    start, end = excerpt.marks[0]
    assert excerpt.text[start - excerpt.start : end - excerpt.start] == "walrus clause"
    assert start > 10_000


def test_a_ranking_that_looked_at_a_part_says_so_and_counts_at_least_what_it_saw(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.deliver(FAMILY, [message(f"t{n}", text="alpenglow") for n in range(150)])
    monkeypatch.setattr(candidates, "CANDIDATES", 20)

    recall = world.reader.search(SearchQuery("alpenglow")).value.recall

    assert not recall.complete
    assert not recall.matches_exact
    assert recall.ranked is not None
    assert recall.matches == 150 >= recall.ranked


def test_a_word_that_stands_nowhere_is_named_beside_a_time_that_was_understood(world: World) -> None:
    def counted(words: str) -> dict[str, int]:
        return dict(world.reader.search(SearchQuery(words, lean=True)).value.recall.words)

    assert counted("lease xylophone in March 2026")["xylophone"] == 0
    assert "march" not in {word.lower() for word in counted("lease in March 2026")}


def test_of_a_question_whose_words_stand_nowhere_its_time_is_told_as_a_filter(world: World) -> None:
    nothing = told(SEARCH.call(world.reader, {"query": "xylophone in March 2026"})).text

    assert nothing.split("\n")[1:3] == [
        'no match: "xylophone"',
        'note: "Time 2026-03-01 to 2026-03-31 alone finds nothing: query_records lists it by a filter."',
    ]


def test_how_many_hits_hold_a_word_is_told_where_all_of_them_are_shown(world: World) -> None:
    """A page that does not fit into an answer is cut, and of what is left the text shows what there is room for."""
    rain = "It rained all day, so we stayed in and read to each other until the lamp went out. " * 3
    texts = [f"alpenglow {rain}", *["marmot"] * 3, f"marmot alpenglow {rain}"]
    world.deliver(WORK, [message(f"t{n}", text=texts[0 if n > 4 else n]) for n in range(150)])

    def counted(limit: int) -> str:
        text = told(SEARCH.call(world.reader, {"query": "alpenglow marmot", "limit": limit})).text
        return next(line for line in text.split("\n") if line.startswith("records: "))

    assert counted(5) == 'records: "marmot" 4 (4 here), "alpenglow" 147 (2 here)'
    assert counted(100) == 'records: "marmot" 4, "alpenglow" 147'

"""What a question calls by its whole title comes first: the card of a person is not lost behind those that name her."""

from typing import Any

import pytest

from pdpp_server.model.ingest import Incoming
from pdpp_server.model.queries import SearchQuery
from pdpp_server.store.records import titled
from pdpp_server.wire.declarations import decode_declaration
from pdpp_server.wire.grants import decode_selection
from tests.requirements import requirement
from tests.worlds.chat import DOCUMENT, detail
from tests.worlds.world import World

_TEXTS = ("id", "name", "note", "author")
CARDS = [
    ("anna", "Anna Novak", "Plays the oboe."),
    (
        "ben",
        "Ben Stone",
        "Brother of Anna Novak; his sister has no phone. Ask Anna or Novak senior for the house number.",
    ),
    (
        "eva",
        "Anna Stone",
        "Works with Ben, phone number on her card, another number at home, and a phone for the night.",
    ),
    ("shop", "Phone House", "Number nine in our street, next to Stone."),
    *[(f"other{n}", f"Person{n} Family{n}", "Has a phone and a number." if n % 3 else "By tram.") for n in range(30)],
]


def people(**more: Any) -> dict[str, Any]:
    roles = {"name": "primary-title", "note": "primary-body", **more}
    properties = {name: {"type": "string", "x_pdpp_role": roles.get(name, "secondary")} for name in _TEXTS}
    properties["id"] = {"type": "string"}
    stream = {
        "name": "people",
        "semantics": "mutable_state",
        "schema": {"type": "object", "required": ["id"], "properties": properties},
        "primary_key": ["id"],
        "selection": {"fields": True, "resources": True},
        "query": {"search": {"lexical_fields": ["name", "note"]}},
    }
    return {
        **DOCUMENT,
        "source": {"kind": "connector", "id": "https://registry.pdpp.dev/connectors/people"},
        "streams": [stream],
    }


def first(
    world: World, words: str, *cards: tuple[str, str, str], fields: tuple[str, ...] = _TEXTS, **roles: Any
) -> str:
    document = people(**roles)
    writer = world.owner.writer(decode_declaration(document), "People")
    rows = [{"id": key, "name": name, "note": note} for key, name, note in (*CARDS, *cards)]
    writer.deliver([Incoming("test", "people", None, row, None) for row in rows])
    details = {**detail({"name": "people", "fields": [*fields]}), "source": document["source"]}
    token = world.owner.create_grant(decode_selection([details]), "Agent", None).token
    return world.reader_of(token).search(SearchQuery(words)).value.hits[0].id.key


@requirement("rs.search.titles")
@pytest.mark.parametrize(
    ("question", "key"),
    [
        ("Anna Novak", "anna"),
        ("What is Anna Novak's phone number?", "anna"),
        ('the phone number of "anna novák"', "anna"),
        ("Which phone number has Ben Stone?", "ben"),
        ("Number of the Phone House, please", "shop"),
    ],
)
def test_the_card_that_is_called_by_its_name_comes_before_those_that_name_it(
    question: str, key: str, world: World
) -> None:
    assert first(world, question) == key


@requirement("rs.search.titles")
def test_a_title_counts_only_where_all_of_it_stands_together(world: World) -> None:
    assert first(world, "Does Novak know the phone number of Anna?") != "anna"


@requirement("rs.search.titles")
def test_a_hidden_title_calls_nothing(world: World) -> None:
    assert first(world, "What is Anna Novak's phone number?", fields=("id", "note")) != "anna"


@requirement("rs.search.titles")
def test_where_somebody_speaks_a_title_is_that_of_the_talk(world: World) -> None:
    assert first(world, "What is Anna Novak's phone number?", author="actor") != "anna"


@requirement("rs.search.titles")
def test_what_very_many_are_called_is_no_name(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(titled, "LOOKED_AT", 2)
    called_alike = [(f"n{n}", "Anna Novak", "") for n in range(2)]

    assert first(world, "What is Anna Novak's phone number?", *called_alike) == "ben"


@requirement("rs.search.titles")
def test_a_title_longer_than_names_are_is_not_cut_into_words(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(titled, "TITLE_CHARS", len("Anna Novak") - 1)

    assert first(world, "What is Anna Novak's phone number?") == "ben"

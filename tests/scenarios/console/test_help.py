"""Each term that is not everyday is explained on the page on which it stands."""

import re

import pytest

from tests.requirements import requirement
from tests.scenarios.authorization_server.flow import Flow
from tests.scenarios.console.visitor import Visitor, shown
from tests.worlds.world import World

EXPLAINED = {
    "connection": ("programs call it a connection", "what programs call this source", "It keeps its connection"),
    "stream": ("streams: one for each kind of thing", "A stream is one kind of thing"),
    "grant": ("is a grant: what you agreed to", "is its grant: what you agreed to", "kept as a grant: this much"),
    "package": ("grants of one package: one for each source",),
    "client": ("apps and agents", "app or agent", "Apps and agents"),
    "record": ("A record is one thing",),
}
PAGES = {"/": ("record", "client"), "/sources": ("connection", "stream"), "/clients": ("grant", "client")}


@requirement("con.pages.help")
@pytest.mark.parametrize(("path", "terms"), PAGES.items())
def test_a_term_is_explained_where_it_first_stands(owner: Visitor, path: str, terms: tuple[str, ...]) -> None:
    said = shown(owner.page(path))

    for term in terms:
        assert re.search(term, said, re.IGNORECASE), term
        assert any(sentence in said for sentence in EXPLAINED[term]), term


@requirement("con.pages.help")
def test_the_page_of_a_client_and_the_review_explain_their_terms(owner: Visitor, world: World, flow: Flow) -> None:
    client = shown(owner.page(f"/clients/{world.grant_id}"))
    asked = owner.page(f"/consent?ask={flow.ask()}")
    review = shown(owner.send(asked, "/consent", action="review", connection=f"0:{world.work}").text)

    for said in (client, review):
        for term in ("grant", "stream"):
            assert any(sentence in said for sentence in EXPLAINED[term]), (term, said)


@requirement("con.pages.help")
def test_no_page_says_a_word_of_programs_without_its_meaning(owner: Visitor, world: World) -> None:
    """Words that a person has to learn stand on no page that does not teach them."""
    source = f"/sources/{world.work}"
    for path in ("/", "/activity", "/sources", source, f"{source}/messages", "/timeline", "/search?q=lease", "/import"):
        said = shown(owner.page(path))
        for term in ("connection", "grant", "package"):
            if re.search(rf"\b{term}s?\b", said, re.IGNORECASE):
                assert any(sentence in said for sentence in EXPLAINED[term]), (path, term)

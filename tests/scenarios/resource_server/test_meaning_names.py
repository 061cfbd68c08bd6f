"""A name in a question that is searched by meaning is who spoke, where the grant shows that."""

from copy import deepcopy
from typing import Any, NamedTuple

import pytest

from pdpp_server.model.queries import SearchQuery
from pdpp_server.model.records import SearchPage
from pdpp_server.owner.meaning import MeaningDesk
from pdpp_server.wire.declarations import decode_declaration
from pdpp_server.wire.grants import decode_selection
from tests.requirements import requirement
from tests.worlds.chat import DOCUMENT, detail, message
from tests.worlds.meant import put_model
from tests.worlds.world import World

SPOKEN: dict[str, Any] = deepcopy(DOCUMENT)
SPOKEN["source"]["id"] = "https://registry.pdpp.dev/connectors/spoken"
SPOKEN["streams"][0]["query"]["search"] = {"lexical_fields": ["text", "author"], "semantic_fields": ["text"]}
HIDES_WHO = ["id", "text", "sent_at"]


class Spoken(NamedTuple):
    world: World
    connection: str

    def asked(self, text: str, **narrowing: Any) -> SearchPage:
        stream = {"name": "messages", "instance_ids": [self.connection], **narrowing}
        selection = decode_selection([{**detail(stream), "source": SPOKEN["source"]}])
        token = self.world.owner.create_grant(selection, "Agent", None).token
        return self.world.reader_of(token).search(SearchQuery(text, mode="semantic")).value


@pytest.fixture
def spoken(world: World) -> Spoken:
    """Ada and Ben said the same; what they said has a meaning."""
    put_model(world.home)
    told = [message(f"of-{who}", author=who, text="hound", sent_at="2026-03-01T10:00:00Z") for who in ("Ada", "Ben")]
    writer = world.owner.writer(decode_declaration(SPOKEN), "Spoken")
    writer.deliver(told)
    MeaningDesk(world.services.database, world.home).catch_up(lambda _: None)
    return Spoken(world, writer.connection_id)


def found(page: SearchPage) -> list[tuple[str, float | None]]:
    return [(hit.id.key, hit.distance) for hit in page.hits]


@requirement("rs.search.meaning-names")
@pytest.mark.parametrize(("name", "said", "other"), [("Ada", "of-Ada", "of-Ben"), ("Ben's", "of-Ben", "of-Ada")])
def test_a_name_says_who_spoke_and_is_no_part_of_the_meaning(spoken: Spoken, name: str, said: str, other: str) -> None:
    without_a_name = dict(found(spoken.asked("dog")))

    named = found(spoken.asked(f"{name} dog"))

    assert [key for key, _ in named] == [said, other]
    assert dict(named)[other] == without_a_name[other]


@requirement("rs.search.meaning-names", "rs.search.meaning-hidden")
def test_where_the_grant_hides_who_spoke_it_is_a_word_like_any_other(spoken: Spoken) -> None:
    as_ada = spoken.asked("Ada dog", fields=HIDES_WHO)

    assert len({hit.score for hit in as_ada.hits}) == 1
    assert dict(found(as_ada)) != dict(found(spoken.asked("dog", fields=HIDES_WHO)))

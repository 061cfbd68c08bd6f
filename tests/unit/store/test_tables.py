"""What each engine says of tables in its own way."""

from pdpp_server.model.queries import SearchQuery
from tests.worlds.chat import WORK, message
from tests.worlds.world import World


def test_what_was_said_right_before_and_after_a_match_is_found_with_it(world: World) -> None:
    said = {"m1": "Where shall we go?", "m2": "To the alpenglow hut.", "m3": "Fine with me."}
    times = [f"2026-07-01T09:0{minute}:00Z" for minute in range(len(said))]
    talk = zip(said.items(), times, strict=True)
    world.deliver(WORK, [message(key, text=text, author="Ada", sent_at=at) for (key, text), at in talk])

    page = world.reader.search(SearchQuery("alpenglow")).value

    assert {hit.id.key for hit in page.hits} == {"m1", "m2", "m3"}

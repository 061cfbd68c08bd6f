"""Pages of matches: each match once, also where many are as good as each other."""

from dataclasses import replace

from pdpp_server.model.queries import SearchQuery
from tests.worlds.chat import WORK, message
from tests.worlds.world import World


def test_cursors_lead_through_all_matches_once(world: World) -> None:
    texts = ["alpenglow", "alpenglow and more", "alpenglow " * 4]
    sent = [message(f"n{i}", text=texts[i % 3], author="Ada", sent_at="2026-07-01T12:00:00Z") for i in range(21)]
    world.deliver(WORK, sent)
    query = SearchQuery("alpenglow", ("messages",), limit=2)
    found: list[str] = []
    scores: list[float] = []

    page = world.reader.search(query).value
    while page.hits:
        found += [hit.id.key for hit in page.hits]
        scores += [hit.score or 0.0 for hit in page.hits]
        if page.next_cursor is None:
            break
        page = world.reader.search(replace(query, cursor=page.next_cursor)).value

    assert sorted(found) == sorted(f"n{i}" for i in range(21))
    assert scores == sorted(scores, reverse=True) and len(set(scores)) > 2

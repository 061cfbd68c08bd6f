"""What is counted or made anew is believed from then on, also by a server that asked before."""

from collections.abc import Callable

import pytest

from pdpp_server.model.queries import SearchQuery
from pdpp_server.store.engine import Writing
from pdpp_server.store.upkeep.rebuild import rebuild_words
from pdpp_server.store.upkeep.recount import recount
from tests.engine.beneath import rows_in
from tests.requirements import requirement
from tests.worlds.world import World

MISCOUNTED = "update streams set live = live * 100"
EMPTIED = "insert into words(words) values('delete-all')"


@pytest.mark.sqlite("damages the files of that engine, which alone keeps what it counted")
@pytest.mark.parametrize(("damage", "mend"), [(MISCOUNTED, recount), (EMPTIED, rebuild_words)], ids=["counts", "words"])
@requirement("cli.doctor.repair")
def test_what_was_read_before_a_mending_is_read_anew(
    world: World, damage: str, mend: Callable[[Writing], None]
) -> None:
    def scores() -> list[float | None]:
        return [hit.score for hit in world.reader.search(SearchQuery("lease")).value.hits]

    well = scores()
    assert well
    rows_in(world.home, damage)
    rows_in(world.home, "update layout set generation = generation + 1")  # as if it had been so when the server began
    assert scores() != well

    with world.services.database.writing() as writing:
        mend(writing)

    assert scores() == well

"""A sound index has no faults, however it is looked through, and a text begins with whole words."""

import pytest

from pdpp_server.store.upkeep import check_index
from pdpp_server.store.upkeep.check_index import PHRASE_CHARS, IndexFaults, index_faults
from tests.worlds.world import World


@pytest.mark.parametrize("batch", [1, 2, 1000])
@pytest.mark.sqlite("asks FTS5 for the sample")
def test_a_sound_index_has_no_faults_in_batches_of_any_size(
    batch: int, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check_index, "BATCH_RECORDS", batch)

    with world.services.database.reading() as reading:
        assert index_faults(reading) == IndexFaults()


def test_a_long_text_begins_with_whole_words() -> None:
    beginning = check_index._beginning  # pyright: ignore[reportPrivateUsage]

    assert beginning("two words") == "two words"
    assert beginning("a " * PHRASE_CHARS) == "a " * (PHRASE_CHARS // 2 - 1) + "a"
    assert beginning("word " + "x" * PHRASE_CHARS) == "word"
    assert beginning(7) == ""

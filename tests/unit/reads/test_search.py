"""How a search is done: the mode that is asked for, the best there is, and what a damaged model leaves."""

from pathlib import Path

import pytest

from pdpp_server.errors import UnsupportedMode
from pdpp_server.meaning.loading import MODEL_FILE, Meaning
from pdpp_server.model.queries import SearchQuery
from pdpp_server.reads import search
from pdpp_server.reads.search import chosen_mode
from pdpp_server.reads.services import Call
from tests.worlds.told import told
from tests.worlds.world import World


def damaged_model(home: Path) -> Meaning:
    """Installed, and found to be damaged only when it is read."""
    (home / MODEL_FILE).write_bytes(b"no model")
    return Meaning(home)


def test_auto_is_the_best_mode_there_is(tmp_path: Path) -> None:
    assert chosen_mode(None, SearchQuery("lease", mode="auto"), None) == "lexical"
    assert chosen_mode(damaged_model(tmp_path), SearchQuery("lease", mode="auto"), None) == "hybrid"


def test_with_a_damaged_model_words_go_on_alone_and_meaning_alone_is_refused(world: World) -> None:
    world.services.meaning = damaged_model(world.home)

    page = told(search.serve(world.services, Call(world.token, "req_1"), SearchQuery("lease", mode="hybrid")))

    assert page.hits
    with pytest.raises(UnsupportedMode, match="damaged"):
        search.serve(world.services, Call(world.token, "req_2"), SearchQuery("lease", mode="semantic"))

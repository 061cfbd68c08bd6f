"""An excerpt of a long text ends with a whole word."""

from pdpp_server.model.queries import SearchQuery
from tests.worlds.chat import WORK, message
from tests.worlds.world import World


def test_a_word_that_does_not_fit_is_left_out(world: World) -> None:
    text = "alpenglow " + "abcdefgh " * 100
    world.deliver(WORK, [message("n1", text=text), message("n2", text="driftwood" + "-" * 1000)])

    excerpts = [world.reader.search(SearchQuery(word)).value.hits[0].excerpts[0] for word in ("alpenglow", "driftwood")]

    assert excerpts[0].text.split() == text.split()[: len(excerpts[0].text.split())]
    assert len(excerpts[0].text) < len(text)
    assert excerpts[1].text == ("driftwood" + "-" * 1000)[: len(excerpts[1].text)]
    assert excerpts[1].text.endswith("-") and len(excerpts[1].text) < 1000

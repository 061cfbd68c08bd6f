"""A read is watched stage by stage, says what it is about whatever it shows, and all of a home is closed at once."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from pdpp_server.model.queries import FetchQuery, SearchQuery
from pdpp_server.reads import fetch, search
from pdpp_server.reads.asked import AskedWords
from pdpp_server.reads.services import Call, open_services
from tests.worlds import chat
from tests.worlds.told import told
from tests.worlds.world import Clock, World


@pytest.fixture
def ticking(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look at the clock takes twice as long as the one before."""
    looks: Iterator[float] = (float(2**look) for look in count())
    monkeypatch.setattr("pdpp_server.reads.services.perf_counter", lambda: next(looks))


@pytest.mark.usefixtures("ticking")
def test_each_stage_is_as_long_as_it_took(world: World) -> None:
    world.deliver(chat.WORK, [chat.message("m1", text="lease")])
    stages: list[tuple[str, str, dict[str, float]]] = []
    world.services.watch = lambda request, operation, spent: stages.append((request, operation, spent))

    told(fetch.serve(world.services, Call(world.token, "req_1"), FetchQuery("messages", "m1", world.work)))

    assert stages == [
        ("req_1", "fetch", {"token": 1.0, "permit": 2.0, "read": 4.0}),
        ("req_1", "fetch", {"log": 16.0}),
    ]


def test_a_word_that_is_suggested_tells_of_the_stream_it_stands_in(world: World) -> None:
    world.deliver(chat.WORK, [chat.message("m1", text="a zygomorphic orchid")])

    page = told(search.serve(world.services, Call(world.token, "req_1"), SearchQuery("zygomorphik")))

    assert page.hits == ()
    (line,) = world.owner.activity(limit=1)
    assert line.streams == ("messages", "channels")
    assert line.fields == ("subject", "text", "topic")
    assert line.records == ()


def test_what_was_asked_is_closed_with_the_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[AskedWords] = []
    monkeypatch.setattr(AskedWords, "close", lambda self: closed.append(self))  # bound to it only so
    services = open_services(tmp_path, now=Clock())

    services.close()

    assert closed == [services.asked]

"""A read is watched stage by stage, says what it is about whatever it shows, and all of a home is closed at once."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from pdpp_server.errors import Unauthenticated
from pdpp_server.model.queries import FetchQuery, SearchQuery
from pdpp_server.reads import fetch, search
from pdpp_server.reads.asked import AskedWords
from pdpp_server.reads.services import Call, open_services
from pdpp_server.store.digests import token_digest
from pdpp_server.wire.grants import encode_grant
from pdpp_server.wire.introspection import Rights
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


def test_who_asks_is_settled_once_while_the_row_of_the_token_stays(world: World) -> None:
    digest = token_digest(world.token)
    world.services.admit(Call(world.token, "req_1"))
    known = world.services.known[digest]

    world.services.admit(Call(world.token, "req_2"))

    assert world.services.known[digest] is known


def test_rights_told_elsewhere_hold_by_the_declaration_that_is_kept_here(world: World) -> None:
    grant = world.owner.grant(world.grant_id)[0].grant
    told_here = Rights(encode_grant(grant), grant.source.id, grant.declaration_version)
    world.services.introspect = lambda token, door: told_here

    assert world.services.admit(Call("from_elsewhere", "req_1")).client_id == grant.client_id

    world.services.introspect = lambda token, door: told_here._replace(declaration_version="another")
    with pytest.raises(Unauthenticated, match="source_mismatch"):
        world.services.admit(Call("from_elsewhere", "req_2"))

"""An ended grant ends the very next read, in every process."""

import subprocess
import sys
from datetime import timedelta

import pytest

from pdpp_server.errors import GrantExpired, GrantRevoked, NotFound, PermissionDenied, Unauthenticated
from pdpp_server.model.queries import FetchQuery, SchemaQuery, SearchQuery
from tests.requirements import requirement
from tests.worlds.world import NOW, World

READING = """
import sys
from datetime import datetime
from pathlib import Path
from pdpp_server.errors import PdppError
from pdpp_server.model.queries import SearchQuery
from pdpp_server.port.local import LocalReader
from pdpp_server.reads.services import open_services
from tests.worlds.told import ToldReader
home, now = Path(sys.argv[1]), datetime.fromisoformat(sys.argv[2])
services = open_services(home, now=lambda: now)
reader = ToldReader(LocalReader(services, sys.stdin.readline().strip()))
for _ in sys.stdin:
    try:
        print(len(reader.search(SearchQuery("lease")).value.hits), flush=True)
    except PdppError as refusal:
        print(refusal.code, flush=True)
services.close()
"""


@requirement("grants.lifecycle.revoked")
def test_a_revoked_grant_is_refused_at_the_very_next_read(world: World) -> None:
    reader = world.reader
    reader.search(SearchQuery("lease"))

    world.owner.revoke(world.grant_id)

    for read in (
        lambda: reader.search(SearchQuery("lease")),
        lambda: reader.schema(SchemaQuery()),
        lambda: reader.fetch(FetchQuery("messages", "m1", world.work)),
    ):
        with pytest.raises(GrantRevoked) as refused:
            read()
        assert refused.value.request_id


@requirement("grants.lifecycle.revoked")
def test_another_process_refuses_it_too_without_being_told(world: World) -> None:
    arguments = [sys.executable, "-c", READING, str(world.home), NOW.isoformat()]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdin
        assert other.stdout
        other.stdin.write(f"{world.token}\nread\n")
        other.stdin.flush()
        assert int(other.stdout.readline()) > 0

        world.owner.revoke(world.grant_id)
        other.stdin.write("read\n")
        other.stdin.flush()
        assert other.stdout.readline().strip() == "grant_revoked"
        other.stdin.close()


@requirement("grants.lifecycle.expired")
def test_a_grant_ends_at_its_time(world: World) -> None:
    token = world.grant(world.both("messages"), expires_at="2026-11-15T13:00:00.000Z")
    world.reader_of(token).search(SearchQuery("lease"))

    world.clock.moment = NOW + timedelta(hours=1)

    with pytest.raises((GrantExpired, Unauthenticated)):
        world.reader_of(token).search(SearchQuery("lease"))
    world.reader.search(SearchQuery("lease"))  # the other one goes on


@requirement("grants.lifecycle.final")
def test_a_revoked_grant_stays_revoked_and_as_it_was(world: World) -> None:
    (first,) = world.owner.revoke(world.grant_id)
    world.clock.moment = NOW + timedelta(days=1)

    (again,) = world.owner.revoke(world.grant_id)

    assert again.state.revoked_at == first.state.revoked_at
    assert again.grant == first.grant
    assert not any(hasattr(world.owner, verb) for verb in ("restore", "unrevoke", "update_grant", "extend"))


@requirement("grants.permit.handles-grant-nothing")
def test_a_handle_of_data_outside_the_grant_is_refused_as_if_it_did_not_exist(world: World) -> None:
    narrow = world.reader_of(world.grant(world.both("messages", time_range={"since": "2026-05-01"})))

    told: list[str] = []
    for key in ("m1", "no such record"):
        with pytest.raises(NotFound) as refused:
            narrow.fetch(FetchQuery("messages", key, world.work))
        told.append(str(refused.value))

    assert told[0] == told[1]


@requirement("grants.permit.streams")
def test_an_owner_token_is_no_way_in_for_an_agent(world: World) -> None:
    with pytest.raises(PermissionDenied):
        world.reader_of(world.owner_token).search(SearchQuery("lease"))


@pytest.mark.parametrize("token", ["", "f" * 64, "\ud800"])
@requirement("grants.permit.streams")
def test_an_unknown_token_is_nobody(token: str, world: World) -> None:
    with pytest.raises(Unauthenticated):
        world.reader_of(token).search(SearchQuery("lease"))

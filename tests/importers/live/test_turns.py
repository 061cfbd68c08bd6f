"""Two processes that follow one account never use one refresh token twice: in one home, and in two on one database."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from threading import Event, Lock

import pytest

from pdpp_server.cli.home import open_home
from pdpp_server.errors import Conflict
from pdpp_server.settings import Settings
from pdpp_server.wire.connect import Renewing, decode_mail_service, decode_renewing, encode_mail_service, encode_renewing
from tests.requirements import requirement
from tests.worlds.postgres import Cluster
from tests.worlds.tokenserver import CLIENT, Form, Told, TokenServer, token_service

USER, TIMES = "ann@example.org", 3
TOGETHER_SECONDS = 0.2
RENEW = f"""
from pdpp_server.cli.home import open_home
from pdpp_server.importers.live.oauth import secret_of
with open_home() as home:
    renewed = secret_of(home.owner.live, home.owner.live.named("{USER}"))
    print("ready", flush=True)
    input()
    print(*[renewed() for _ in range({TIMES})])
"""


class Queue:
    """In front of a service: it counts who is there at once, and keeps each a moment for another to come."""

    def __init__(self, tokens: TokenServer) -> None:
        self._answer, self._lock, self._is_crowded = tokens.answer, Lock(), Event()
        self._here = self.most = 0

    def answer(self, path: str, form: Form) -> Told:
        with self._lock:
            self._here += 1
            self.most = max(self.most, self._here)
            if self._here > 1:
                self._is_crowded.set()
        self._is_crowded.wait(TOGETHER_SECONDS)
        with self._lock:
            self._here -= 1
            return self._answer(path, form)


@pytest.fixture(params=["one home", "two homes, one database"])
def places(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Settings, Settings]:
    """Where two processes of one owner run."""
    first = Settings(home=tmp_path / "first")
    if request.param == "one home":
        return first, first
    cluster: Cluster = request.getfixturevalue("postgres")
    shared = replace(first, database_url=cluster.fresh(), key_file=tmp_path / "wrapping.key")
    return shared, replace(shared, home=tmp_path / "second")


@pytest.fixture
def tokens() -> Iterator[TokenServer]:
    with token_service(USER) as service:
        service.refresh = "refresh-first"
        yield service


def renewed_at_once(places: Sequence[Settings]) -> list[str]:
    """The tokens that processes in these places are given, which begin together."""
    with ExitStack() as running:  # each is waited for in the end
        told = [running.enter_context(started(place)) for place in places]
        for process in told:
            assert process.stdout and process.stdout.readline() == "ready\n"
        for process in told:
            assert process.stdin
            process.stdin.write("go\n")
            process.stdin.flush()
        return [token for process in told for token in process.communicate(timeout=60)[0].split()]


def started(place: Settings) -> subprocess.Popen[str]:
    named = {"PDPP_HOME": str(place.home)}
    if place.database_url:
        named |= {"PDPP_DATABASE_URL": place.database_url, "PDPP_KEY_FILE": str(place.key_file)}
    command, pipe = [sys.executable, "-c", RENEW], subprocess.PIPE
    return subprocess.Popen(command, env={**os.environ, **named}, stdin=pipe, stdout=pipe, text=True)


@requirement("imp.live.oauth-once")
def test_two_processes_renew_one_after_the_other_with_what_the_last_one_was_given(
    places: tuple[Settings, Settings], tokens: TokenServer
) -> None:
    queue = Queue(tokens)
    tokens.answer = queue.answer
    service, _ = decode_mail_service({**tokens.document, "client_id": CLIENT})
    with open_home(places[0]) as home:
        settings = {"oauth": encode_mail_service(service, CLIENT)}
        home.owner.live.add(USER, "imap", settings, encode_renewing(Renewing("refresh-first")))
        told = renewed_at_once(places)
        kept = decode_renewing(home.owner.live.secret(USER))

    assert sorted(told) == [f"access-{number}" for number in range(2 * TIMES)]
    assert kept.refresh_token == tokens.refresh
    assert queue.most == 1


@requirement("imp.live.schedule")
def test_two_processes_never_ask_at_once_wherever_they_run(places: tuple[Settings, Settings]) -> None:
    with open_home(places[0]) as here, open_home(places[1]) as there:
        with here.owner.live.held(), pytest.raises(Conflict, match="Another process"), there.owner.live.held():
            pass
        for again in (there, here, there):  # at once: whoever was at it has let it go
            with again.owner.live.held():
                pass

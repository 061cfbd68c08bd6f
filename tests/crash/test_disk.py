"""A disk without room, and a home that may not be written to: refusals in words, and nothing by half."""

import json
import resource
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import orjson
import pytest

from pdpp_server.owner.desk import Owner
from pdpp_server.reads.services import open_services
from tests.crash import life
from tests.crash.agree import disagreements
from tests.crash.homes import filled, granted, owned
from tests.crash.killing import ROOT, SECONDS
from tests.requirements import requirement
from tests.scenarios.cli.command import PDPP, Command
from tests.worlds import chat
from tests.worlds.world import NOW, close

pytestmark = pytest.mark.sqlite("takes the room of a disk and the right to its files away")

NO_ROOM, LITTLE_ROOM, SOME_ROOM = (
    32_768,
    180_000,
    400_000,
)  # bytes of a file; the first is just enough to open a database
NDJSON = {"Content-Type": "application/x-ndjson"}
SEARCH, INGEST = "/v1/search?q=lease", "/v1/ingest/messages?connector_id=chat"


@pytest.fixture
def pdpp(home: Path, tmp_path: Path) -> Command:
    return Command(home, tmp_path)


def bounded(pdpp: Command, *words: str | Path, size: int | str = "-") -> subprocess.CompletedProcess[str]:
    """The command as somebody who may not write, or for whom there is no room."""
    return subprocess.run(
        [sys.executable, "-m", "tests.crash.bound", str(size), *PDPP, *map(str, words)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=pdpp.environment(),
        timeout=SECONDS,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def importing(pdpp: Command, seed: int, count: int) -> list[str | Path]:
    declaration = pdpp.file("chat.json", orjson.dumps(chat.DOCUMENT).decode())
    file = life.written_to(pdpp.folder / f"life{seed}.ndjson", life.lines(seed, count))
    return ["import", file, "--declaration", declaration, "--name", life.ACCOUNT]


def records(home: Path) -> life.State:
    return life.stored(home / "pdpp.sqlite")


def assert_in_words(ran: subprocess.CompletedProcess[str], *words: str) -> None:
    assert ran.returncode == 1, ran
    (line,) = ran.stderr.splitlines()
    assert line.startswith("pdpp: ") and "unforeseen" not in line, line
    assert all(word in line for word in words), line


# No room ----------------------------------------------------------------------------------------------------------


@requirement("store.disk.full")
def test_an_import_on_a_full_disk_says_so_and_goes_on_when_there_is_room(pdpp: Command) -> None:
    words = importing(pdpp, 1, 3000)
    lines = life.lines(1, 3000)
    states = life.states(lines[start : start + 1000] for start in range(0, 3000, 1000))

    assert_in_words(bounded(pdpp, *words, size=SOME_ROOM), "Free disk space", "[ingest_batch_storage_error]")

    assert records(pdpp.home) in states[:-1]
    assert disagreements(pdpp.home / "pdpp.sqlite") == []
    assert bounded(pdpp, *words).returncode == 0
    assert records(pdpp.home) == states[-1]


@requirement("store.disk.full")
def test_a_disk_that_fills_up_when_an_import_ends_says_so_too(pdpp: Command) -> None:
    """The records are in the log, and there is no room to fold it into the database."""
    filled(pdpp.home, life.lines(1, 3000))
    assert (pdpp.home / "pdpp.sqlite").stat().st_size > 2 * LITTLE_ROOM
    words = importing(pdpp, 2, 5)

    assert_in_words(bounded(pdpp, *words, size=LITTLE_ROOM), "Free disk space", "[ingest_batch_storage_error]")

    assert bounded(pdpp, *words).returncode == 0
    assert disagreements(pdpp.home / "pdpp.sqlite") == []


@requirement("store.disk.full")
def test_a_new_home_on_a_full_disk_is_refused_in_words(pdpp: Command) -> None:
    assert_in_words(bounded(pdpp, *importing(pdpp, 1, 10), size=0), "with room")


@requirement("store.disk.full")
def test_a_grant_for_which_there_is_no_room_is_not_given(pdpp: Command) -> None:
    selection = pdpp.file("selection.json", json.dumps(chat.detail({"name": "messages"})))
    words = ("grants", "create", "--selection", selection, "--client", "agent")
    services = open_services(pdpp.home, now=lambda: NOW)  # keeps the log of the database as long as it is open
    Owner(services, pdpp.home).writer(chat.DECLARATION, life.ACCOUNT).deliver(life.lines(1))

    assert_in_words(bounded(pdpp, *words, size=NO_ROOM), "Free disk space")

    assert Owner(services, pdpp.home).grants() == []
    assert bounded(pdpp, *words).returncode == 0
    assert len(Owner(services, pdpp.home).grants()) == 1
    close(services)


@requirement("store.disk.full", "log.failure.closed")
def test_a_server_without_room_refuses_and_serves_on_when_there_is_room_again(pdpp: Command) -> None:
    lines = life.lines(1)
    filled(pdpp.home, lines[:100])
    client, owner = granted(pdpp.home), owned(pdpp.home)
    more = b"".join(life.encoded(line) for line in lines[100:] if line.stream == "messages")
    with serving(pdpp) as server:
        assert server.ask("GET", SEARCH, client)[0] == 200
        before = records(pdpp.home)
        server.room(0)
        assert server.ask("GET", SEARCH, client) == (503, "disclosure_log_unavailable")
        assert server.ask("POST", INGEST, owner, more) == (503, "ingest_batch_storage_error")
        assert server.ask("DELETE", "/v1/streams/messages/records?connector_id=chat", owner) == (
            503, "ingest_batch_storage_error",
        )  # fmt: skip
        assert records(pdpp.home) == before
        server.room(resource.RLIM_INFINITY)
        assert server.ask("GET", SEARCH, client)[0] == 200
        assert server.ask("POST", INGEST, owner, more)[0] == 200
    assert disagreements(pdpp.home / "pdpp.sqlite") == []
    assert (
        records(pdpp.home)
        == life.states([lines[:100], [line for line in lines[100:] if line.stream == "messages"]])[-1]
    )
    assert [verdict.state for verdict in verdicts(pdpp.home)] == ["intact"]


def verdicts(home: Path) -> list[Any]:
    services = open_services(home, now=lambda: NOW)
    found = Owner(services, home).verify_activity()
    close(services)
    return found


# No right to write ------------------------------------------------------------------------------------------------


@requirement("store.disk.read-only")
@pytest.mark.parametrize("verb", ["sources", "search lease", "serve", "import"])
def test_a_home_that_may_not_be_written_to_is_refused_in_words(verb: str, pdpp: Command) -> None:
    filled(pdpp.home, life.lines(1, 10))
    granted(pdpp.home)
    words = importing(pdpp, 2, 10) if verb == "import" else verb.split()

    with read_only(pdpp.home):
        assert_in_words(bounded(pdpp, *words), "PDPP_HOME must name a folder")


@requirement("store.disk.read-only")
def test_an_agents_adapter_on_a_home_that_may_not_be_written_to_ends_in_words(pdpp: Command) -> None:
    filled(pdpp.home, life.lines(1, 10))
    token = granted(pdpp.home)

    with read_only(pdpp.home):
        ran = subprocess.run(
            [sys.executable, "-m", "tests.crash.bound", "-", *PDPP, "mcp"],
            capture_output=True, text=True, cwd=ROOT, timeout=SECONDS, check=False, stdin=subprocess.DEVNULL,
            env=pdpp.environment(PDPP_ACCESS_TOKEN=token),
        )  # fmt: skip

    assert_in_words(ran, "cannot be read")


@requirement("store.disk.read-only", "log.failure.closed")
@pytest.mark.parametrize("folder", ["activity", "keys"])
def test_a_server_that_may_not_write_its_log_or_keys_discloses_nothing(folder: str, pdpp: Command) -> None:
    filled(pdpp.home, life.lines(1, 10))
    client = granted(pdpp.home)
    (pdpp.home / folder).mkdir()
    with serving(pdpp) as server:
        with read_only(pdpp.home / folder):
            for path in (SEARCH, "/v1/streams/messages/records", "/v1/schema"):
                assert server.ask("GET", path, client) == (503, "disclosure_log_unavailable")
        assert server.ask("GET", SEARCH, client)[0] == 200


@contextmanager
def read_only(folder: Path) -> Generator[None, None, None]:
    """Nothing in it may be changed, added or removed."""
    paths = [folder, *folder.rglob("*")]
    modes = [path.stat().st_mode for path in paths]
    for path, mode in zip(paths, modes, strict=True):
        path.chmod(mode & ~0o222)
    try:
        yield
    finally:
        for path, mode in zip(paths, modes, strict=True):
            path.chmod(mode)


# A server to ask --------------------------------------------------------------------------------------------------


class Server:
    def __init__(self, process: "subprocess.Popen[str]", port: int) -> None:
        self._process, self._port = process, port

    def ask(self, method: str, path: str, token: str, body: bytes = b"") -> tuple[int, str | None]:
        """The status, and the code of a refusal."""
        asking = HTTPConnection("127.0.0.1", self._port, timeout=SECONDS)
        try:
            asking.request(method, path, body, {"Authorization": f"Bearer {token}", **NDJSON})
            response = asking.getresponse()
            said = response.read()
            return response.status, json.loads(said)["error"]["code"] if response.status >= 400 else None
        finally:
            asking.close()

    def room(self, size: int) -> None:
        """From now on no file of the server may grow beyond that."""
        resource.prlimit(self._process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


@contextmanager
def serving(pdpp: Command) -> Generator[Server, None, None]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.crash.bound", "-", *PDPP, "serve", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**pdpp.environment(), "PYTHONUNBUFFERED": "1"},
    )
    try:
        assert process.stdout
        yield Server(process, int(process.stdout.readline().rpartition(":")[2]))
    finally:
        process.kill()
        _, err = process.communicate(timeout=SECONDS)
    assert "unforeseen" not in err

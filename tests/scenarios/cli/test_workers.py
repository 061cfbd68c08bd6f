"""`pdpp serve --workers N`: several processes on one port, as one server."""

import json
import os
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from time import monotonic, sleep

import pytest

from pdpp_server.authorization_server.app import TRIES
from tests.requirements import requirement
from tests.scenarios.cli.command import SECONDS, Command
from tests.scenarios.cli.test_serve import get, serving

SEARCH = "/v1/search?q=walrus"


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def register(port: int) -> int:
    asking = HTTPConnection("127.0.0.1", port, timeout=SECONDS)
    try:
        about = {"client_name": "Agent", "redirect_uris": ["https://agent.example/callback"]}
        asking.request("POST", "/oauth/register", json.dumps(about), {"Content-Type": "application/json"})
        return asking.getresponse().status
    finally:
        asking.close()


def eventually(is_so: Callable[[], bool]) -> bool:
    give_up = monotonic() + SECONDS
    while monotonic() < give_up:
        if is_so():
            return True
        sleep(0.05)
    return False


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@requirement("cli.serve.workers")
def test_all_processes_answer_until_a_grant_is_revoked_and_each_line_is_logged(notes: Command) -> None:
    made = notes.grant()
    with serving(notes, "--workers", "2") as (process, port):
        with ThreadPoolExecutor(8) as many:
            found = [*many.map(lambda _: get(port, SEARCH, made["token"])[0], range(40))]
        assert len(children(process.pid)) == 2
        notes("grants", "revoke", made["grant_id"])
        refused = [get(port, SEARCH, made["token"])[0] for _ in range(10)]
    assert (found, refused) == ([200] * 40, [403] * 10)
    logged = notes("activity", "--grant", made["grant_id"], "--limit", "100", "--json").json
    assert len(logged["activity"]) == 40
    assert notes("activity", "verify", "--json").json["sound"]


@requirement("cli.serve.workers")
def test_one_that_is_killed_is_replaced(notes: Command) -> None:
    with serving(notes, "--workers", "2") as (process, port):
        assert get(port, "/livez")[0] == 200
        assert eventually(lambda: len(children(process.pid)) == 2)
        killed = children(process.pid)[0]
        os.kill(killed, signal.SIGKILL)
        assert eventually(lambda: len(children(process.pid)) == 2 and killed not in children(process.pid))
        assert get(port, "/readyz")[0] == 200


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGKILL])
@requirement("cli.serve.workers")
def test_none_outlives_the_one_that_started_them(notes: Command, by: signal.Signals) -> None:
    with serving(notes, "--workers", "2") as (process, port):
        assert get(port, "/livez")[0] == 200
        assert eventually(lambda: len(children(process.pid)) == 2)
        started = children(process.pid)
        process.send_signal(by)
        assert eventually(lambda: not any(is_running(pid) for pid in started))


@requirement("cli.serve.workers", "cli.exit.one-line")
def test_ctrl_c_reaches_the_one_that_started_them_and_nobody_else(notes: Command) -> None:
    with serving(notes, "--workers", "2") as (process, port):
        assert get(port, "/livez")[0] == 200
        assert eventually(lambda: len(children(process.pid)) == 2)
        ours = os.getpgid(process.pid)

        assert ours not in {os.getpgid(child) for child in children(process.pid)}


@requirement("cli.serve.workers")
def test_tries_at_one_count_at_the_others(notes: Command) -> None:
    with serving(notes, "--workers", "2") as (_, port), ThreadPoolExecutor(8) as many:  # or one takes all of it
        answered = [*many.map(lambda _: register(port), range(TRIES.most + 30))]
    assert sorted(answered) == [201] * TRIES.most + [429] * 30


@requirement("cli.serve.workers")
def test_what_a_token_reads_of_one_counts_at_the_others_soon(notes: Command) -> None:
    with serving(notes, "--workers", "2", PDPP_RATE_PER_SECOND="1", PDPP_RATE_BURST="20") as (_, port):
        made = notes.grant()
        answered = [get(port, SEARCH, made["token"])[0] for _ in range(60)]
    assert 20 <= answered.count(200) <= 45
    assert 429 in answered

"""`pdpp serve`: the whole server as a process, on loopback."""

import json
import re
import signal
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from http.client import HTTPConnection
from typing import Any

import pytest

from tests.requirements import requirement
from tests.scenarios.cli.command import PDPP, ROOT, SECONDS, Command


@contextmanager
def serving(
    command: Command, *words: str, stderr: int = subprocess.PIPE, **variables: str
) -> Generator[tuple[subprocess.Popen[str], int]]:
    process = subprocess.Popen(
        [*PDPP, "serve", "--port", "0", *words],
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
        cwd=ROOT,
        env={**command.environment(PYTHONUNBUFFERED="1"), **variables},
    )
    try:
        assert process.stdout
        lines = iter(process.stdout.readline, "")
        found = next(filter(None, (re.search(r"http://[^/ ]*:(\d+)", line) for line in lines)), None)
        assert found
        yield process, int(found[1])
    finally:
        process.kill()
        process.communicate(timeout=SECONDS)


def get(port: int, path: str, token: str | None = None) -> tuple[int, Any]:
    asking = HTTPConnection("127.0.0.1", port, timeout=SECONDS)
    try:
        asking.request("GET", path, headers={"Authorization": f"Bearer {token}"} if token else {})
        response = asking.getresponse()
        return response.status, json.loads(response.read())
    finally:
        asking.close()


@requirement("grants.lifecycle.revoked")
def test_a_grant_made_by_the_command_is_heard_by_the_server_until_it_is_revoked(notes: Command) -> None:
    made = notes.grant()
    with serving(notes) as (_, port):
        assert get(port, "/healthz")[0] == 200
        assert get(port, "/v1/schema")[0] == 401
        assert get(port, "/v1/search?q=walrus", made["token"])[1]["data"][0]["record_key"] == "n1"
        notes("grants", "revoke", made["grant_id"])
        status, refused = get(port, "/v1/search?q=walrus", made["token"])

    assert (status, refused["error"]["code"]) == (403, "grant_revoked")


@requirement("cli.serve.signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_polite_signal_ends_it_without_a_traceback(pdpp: Command, number: signal.Signals) -> None:
    with serving(pdpp) as (process, port):
        assert get(port, "/healthz")[0] == 200
        process.send_signal(number)
        _, err = process.communicate(timeout=SECONDS)

    assert "Traceback" not in err
    assert process.returncode in {0, -signal.SIGTERM}

"""`pdpp demo`: a sample life, one agent's journey, and no trace of it afterwards."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

from tests.requirements import requirement

ROOT = Path(__file__).parents[3]
DEMO = [sys.executable, "-m", "pdpp_server.cli.main", "demo"]
SECONDS = 120


def environment(tmp_path: Path, **variables: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PDPP_")}
    return {**kept, "TMPDIR": str(tmp_path), "PDPP_HOME": str(tmp_path / "mine"), **variables}


def once(tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*DEMO, *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environment(tmp_path, DEMO_ONCE="1"),
        timeout=SECONDS,
        check=False,
    )


@contextmanager
def started(tmp_path: Path) -> Generator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [*DEMO, "--port", "0"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=environment(tmp_path, PYTHONUNBUFFERED="1"),
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=SECONDS)


def said_until(process: subprocess.Popen[str], words: str) -> str:
    """Everything that it printed before the line with those words."""
    assert process.stdout
    lines: list[str] = []
    while words not in (line := process.stdout.readline()):
        assert line, process.stderr and process.stderr.read()
        lines.append(line)
    return "".join(lines)


@requirement("cli.demo.journey", "cli.demo.cleans-up")
def test_one_journey_goes_from_what_there_is_to_what_the_owner_sees(tmp_path: Path) -> None:
    done = once(tmp_path, "--port", "0")

    assert (done.returncode, done.stderr) == (0, "")
    calls = re.findall(r"^> (\w+) ", done.stdout, re.MULTILINE)
    lease = ["schema", "search", "search", "read_record_field", "search", "fetch"]
    money, trip = ["search", "query_records", "aggregate", "aggregate"], ["search", "query_records", "query_records"]
    assert calls == [*lease, *money, *trip, "search", "fetch", "query_records"]
    assert "schema: 7 connections, 10 streams" in done.stdout
    window = done.stdout.partition("> read_record_field ")[2].partition("\n\nIt takes a registered letter")[0]
    assert int(json.loads(window.partition("\n")[0])["offset_chars"]) > 30_000
    assert "A mail is not a letter within the meaning of this clause." in window
    assert "your letter came this morning" in done.stdout
    assert 'sum of amount in transactions that pass the filter = -42643 "EUR", over 33 records' in done.stdout
    assert '"title":"Night bus to the airport"' in done.stdout
    assert re.findall(r"^(\w+): The grant", done.stdout, re.MULTILINE) == ["field_not_granted"]
    assert len(re.findall(r"demo-agent +\w+ +req_[0-9a-f]{16}  \S", done.stdout, re.MULTILINE)) == len(calls) - 1
    assert list(tmp_path.iterdir()) == []


@requirement("cli.demo.cleans-up")
def test_ended_in_the_middle_of_the_import_its_folder_is_gone(tmp_path: Path) -> None:
    with started(tmp_path) as process:
        said_until(process, "A sample life")
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=SECONDS)

    assert (process.returncode, err) == (0, "")
    assert list(tmp_path.iterdir()) == []


@requirement("cli.demo.lines-work", "cli.demo.cleans-up")
def test_the_lines_that_it_prints_work_while_it_runs(tmp_path: Path) -> None:
    with started(tmp_path) as process:
        said = said_until(process, "until you press Ctrl-C")
        curl = re.search(r"Bearer (\w+)' 'http://127\.0\.0\.1:(\d+)(/v1/search[^']*)'", said)
        home = re.search(r"PDPP_HOME=(\S+) \S+ mcp --client demo-agent", said)
        assert curl
        assert home
        asking = HTTPConnection("127.0.0.1", int(curl[2]), timeout=SECONDS)
        asking.request("GET", curl[3], headers={"Authorization": f"Bearer {curl[1]}"})
        found = json.loads(asking.getresponse().read())
        asking.close()
        listing = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"schema","arguments":{}}}\n'
        agent = subprocess.run(
            [*DEMO[:-1], "mcp", "--client", "demo-agent"],
            input=listing,
            capture_output=True,
            text=True,
            cwd=ROOT,
            env={**environment(tmp_path), "PDPP_HOME": home[1]},
            timeout=SECONDS,
            check=True,
        )
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=SECONDS)

    assert found["data"], "the script finds something by the titles of notes"
    assert all(hit["stream"] == "notes" for hit in found["data"])
    assert "7 connections" in agent.stdout
    assert "claude mcp add --transport http my-data http://127.0.0.1:" in said
    assert (process.returncode, err) == (0, "")
    assert list(tmp_path.iterdir()) == []


@requirement("cli.serve.port-taken")
def test_a_taken_port_does_not_stop_it_unless_it_was_asked_for(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        refused = once(tmp_path, "--port", str(taken.getsockname()[1]))

    assert refused.returncode == 1
    assert "is taken" in refused.stderr

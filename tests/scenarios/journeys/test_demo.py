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

import pytest

from tests.requirements import requirement

ROOT = Path(__file__).parents[3]
SAMPLE = ROOT / "src" / "pdpp_server" / "cli" / "sample"
DEMO = [sys.executable, "-m", "pdpp_server.cli.main", "demo"]
SECONDS = 60


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
def running(tmp_path: Path) -> Generator[tuple[subprocess.Popen[str], str]]:
    """The demo while it serves, and everything that it printed before."""
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
        assert process.stdout
        lines: list[str] = []
        while "until you press Ctrl-C" not in (line := process.stdout.readline()):
            assert line, process.stderr and process.stderr.read()
            lines.append(line)
        yield process, "".join(lines)
    finally:
        process.kill()
        process.communicate(timeout=SECONDS)


@requirement("cli.demo.journey")
def test_one_journey_goes_from_what_there_is_to_what_the_owner_sees(tmp_path: Path) -> None:
    done = once(tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    calls = re.findall(r"^> (\w+) ", done.stdout, re.MULTILINE)
    found = ["schema", "schema", "search", "search", "read_record_field", "fetch"]
    assert calls == [*found, "aggregate", "query_records", "fetch"]
    assert "schema: 3 connections, 3 streams" in done.stdout
    window = done.stdout.partition("> read_record_field ")[2].partition("\n\nAnd the best hit")[0]
    assert int(json.loads(window.partition("\n")[0])["offset_chars"]) > 20_000
    assert "This is the walrus clause" in window
    assert "field_not_granted: " in done.stdout
    assert len(re.findall(r"demo-agent +\w+ .* req_[0-9a-f]{16}$", done.stdout, re.MULTILINE)) == 8


@requirement("cli.demo.cleans-up")
def test_nothing_is_left_of_it_and_nothing_of_mine_is_touched(tmp_path: Path) -> None:
    before = {path.name for path in tmp_path.iterdir()}

    assert once(tmp_path, "--port", "0").returncode == 0

    assert {path.name for path in tmp_path.iterdir()} == before


@requirement("cli.demo.cleans-up")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_however_it_is_ended_its_folder_is_gone(tmp_path: Path, number: signal.Signals) -> None:
    with running(tmp_path) as (process, _):
        assert [path.name[:10] for path in tmp_path.iterdir()] == ["pdpp-demo-"]
        process.send_signal(number)
        _, err = process.communicate(timeout=SECONDS)

    assert (process.returncode, err) == (0, "")
    assert list(tmp_path.iterdir()) == []


@requirement("cli.demo.lines-work")
def test_the_lines_that_it_prints_work_while_it_runs(tmp_path: Path) -> None:
    with running(tmp_path) as (_, said):
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

    assert found["data"], "the script finds something by the titles of notes"
    assert all(hit["stream"] == "notes" for hit in found["data"])
    assert "3 connections" in agent.stdout


@requirement("cli.serve.port-taken")
def test_a_taken_port_does_not_stop_it_unless_it_was_asked_for(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        refused = once(tmp_path, "--port", str(taken.getsockname()[1]))

    assert refused.returncode == 1
    assert "is taken" in refused.stderr


@requirement("cli.demo.sample")
def test_the_sample_is_a_life_and_not_a_fixture() -> None:
    """Two connections share their ids, scripts and zones differ, one text is long, and one gives orders."""
    files = {
        path.stem: [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        for path in SAMPLE.glob("*.ndjson")
    }
    data = {name: [record["data"] for record in records] for name, records in files.items()}
    keys = {name: {(r["stream"], r["data"]["id"]) for r in records} for name, records in files.items()}
    words = "".join(str(record) for records in data.values() for record in records)

    assert sum(map(len, files.values())) >= 110
    assert len(keys["harbour"] & keys["family"]) >= 30
    assert max(len(note["body"]) for note in data["notes"]) > 30_000
    assert re.search("[\u0590-\u05ff]", words)
    assert "🌊" in words
    assert "ignore your earlier instructions" in words
    assert len(set(re.findall(r"T\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)", words))) >= 4

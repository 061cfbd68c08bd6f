"""kill -9 of a server: every delivery and erasure that it acknowledged has happened, whole."""

import shutil
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from random import Random

import pytest
from starlette.testclient import TestClient

from pdpp_server.app import create_app
from pdpp_server.model.ingest import Incoming
from pdpp_server.settings import Settings
from tests.crash import life
from tests.crash.agree import disagreements
from tests.crash.findable import require_findable
from tests.crash.homes import filled, owned
from tests.crash.killing import SECONDS, Child, Moment, Run
from tests.crash.life import State
from tests.crash.test_kill import database_of, kills, landed
from tests.requirements import requirement

pytestmark = pytest.mark.sqlite("kills at each step of SQLite and looks into its file")

TARGET = "connector_id=chat"
NDJSON = "application/x-ndjson"


@dataclass(frozen=True, slots=True)
class Step:
    """One request of the owner's, and what is there after it."""

    method: str
    path: str
    body: bytes
    after: State


def steps(seed: int, before: State) -> list[Step]:
    """Deliveries, erasures of single records, and of each stream once."""
    random, state, made = Random(f"steps {seed}"), dict(before), list[Step]()
    for number, batch in enumerate(life.batches(life.lines(seed + 1000, 240))):
        for stream in ("messages", "channels"):
            delivered = [line for line in batch if line.stream == stream]
            state = _after(state, delivered)
            body = b"".join(map(life.encoded, delivered))
            made.append(Step("POST", f"/v1/ingest/{stream}?{TARGET}", body, dict(state)))
        there = sorted(key for stream, key in state if stream == "messages")
        if there:
            key = random.choice(there)
            del state["messages", key]
            made.append(Step("DELETE", f"/v1/streams/messages/records/{key}?{TARGET}", b"", dict(state)))
        if number in {5, 9}:
            emptied = "channels" if number == 5 else "messages"
            state = {name: text for name, text in state.items() if name[0] != emptied}
            made.append(Step("DELETE", f"/v1/streams/{emptied}/records?{TARGET}", b"", dict(state)))
    return made


def _after(state: State, delivered: list[Incoming]) -> dict[life.Key, str]:
    return dict(life.states([delivered], state)[-1])


@kills()
@requirement("store.crash.kill-server")
def test_a_killed_server_has_done_what_it_acknowledged_and_nothing_by_half(seeds: range, tmp_path: Path) -> None:
    lines = life.lines(seeds.start)
    filled(tmp_path / "filled", lines)
    token = owned(tmp_path / "filled")
    before = life.states([lines])[-1]
    asked = steps(seeds.start, before)
    shutil.copytree(tmp_path / "filled", tmp_path / "whole")
    whole, answered = served(tmp_path / "whole", token, asked, Moment(1 << 62))
    assert answered == len(asked)
    assert life.stored(database_of(tmp_path / "whole")) == asked[-1].after
    tally: Counter[str] = Counter()
    for seed in seeds:
        random, home = Random(seed), tmp_path / str(seed) / "home"
        shutil.copytree(tmp_path / "filled", home)
        run, answered = served(home, token, asked, Moment.drawn(random, whole.said))
        tally[run.where] += 1
        passed = [before, *(step.after for step in asked)]
        state = life.stored(database_of(home))
        assert state in passed[answered : answered + 2]
        assert disagreements(database_of(home)) == []
        require_findable(home, state, passed[max(0, answered - 1)], random)
        go_on(home, token, asked[answered:])
        assert life.stored(database_of(home)) == asked[-1].after
        assert disagreements(database_of(home)) == []
    landed(tally)


def served(home: Path, token: str, asked: list[Step], moment: Moment) -> tuple[Run, int]:
    """Ask until it dies, or until everything is answered; and how much that was."""
    child = Child(home, "serve", halt=moment.points)
    with ThreadPoolExecutor(1) as executioner:
        ended = executioner.submit(child.kill, moment)
        answered = sum(1 for _ in _answers(child, token, asked))
        child.process.kill()
        return ended.result(), answered


def _answers(child: Child, token: str, asked: list[Step]) -> Iterator[int]:
    assert child.process.stdout
    line = child.process.stdout.readline()
    if not line:  # it died before it could say where it listens
        return
    connection = HTTPConnection("127.0.0.1", int(line.rpartition(":")[2]), timeout=SECONDS)
    try:
        for step in asked:
            connection.request(step.method, step.path, step.body, headers(token))
            response = connection.getresponse()
            said = response.read()
            assert response.status in {200, 204}, said
            yield response.status
    except (OSError, HTTPException):
        return
    finally:
        connection.close()


def headers(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}", "Content-Type": NDJSON}


def go_on(home: Path, token: str, asked: list[Step]) -> None:
    """The rest, in this process; the request that got no answer is sent again."""
    with TestClient(create_app(Settings(home=home)), base_url="http://127.0.0.1") as client:
        for step in asked:
            answer = client.request(step.method, step.path, content=step.body, headers=headers(token))
            assert answer.status_code in {200, 204}, answer.text

"""The tutorial, walked through on an empty machine: every command, what its page says will be seen, and how long it is.

`pytest -rP tests/contracts/test_tutorial.py` prints the time to a first answer.
"""

import json
import os
import re
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import pytest

from pdpp_server.port.connect import by_browser, discover, register
from tests.requirements import requirement
from tests.scenarios.console.visitor import PASSWORD, Visitor, fields_of, shown
from tools.tree import ROOT

FOLDER = ROOT / "docs" / "tutorial"
PAGES = sorted(FOLDER.glob("[0-9]-*.md"))
STEP = re.compile(r"(?:<!-- (\w+): ([^>]+?) -->\n)?```(sh|text)\n(.*?)```|<!-- simulated: (\w+) -->\n\n", re.DOTALL)
PORT = "8787"
CHOSEN = [("Mail", "nora.lindqvist@mail.example"), ("Bank statements", "Maasbank")]
WHOLLY = "Everything"
PACKAGE = "$(pdpp grants list | grep -o 'gpkg_[0-9a-f]*' | head -n 1)"  # what the reader copies from the line above
SECONDS = 120

# A person's pace. Installing is not in it: that is the network's.
MINUTES = 10
WORDS_A_SECOND = 200 / 60
TYPED_A_SECOND = 3  # characters: 36 words a minute, with a look at the page
CLICK_SECONDS = 4
QUESTION = "When do I get my deposit for Maaskade 118 back, and has it come?"
# Claude Code is started, told to use the server, and to connect; a password, two choices, the review, the yes.
CONSENT_CLICKS, CONSENT_TYPED = 9, f"claude /mcp {PASSWORD}"


class Step(NamedTuple):
    """One thing that the reader does, and what is seen then."""

    mark: str  # empty where a shell does it, else how a person or another program is stood in for
    what: str
    sees: str


def steps() -> list[Step]:
    """In the order of the pages. A text block that nothing marks is what the step before it shows."""
    found: list[Step] = []
    for page in PAGES:
        for mark, argument, kind, body, alone in STEP.findall(page.read_text("utf-8")):
            if alone:
                found.append(Step(alone, "", ""))
            elif kind == "sh":
                found.append(Step(argument, body, ""))
            elif mark:
                found.append(Step(mark, argument, body))
            else:
                found[-1] = found[-1]._replace(sees=body)
    return found


@dataclass
class Reader:
    """Somebody with an empty folder, a browser and Claude Code."""

    folder: Path
    port: int
    server: subprocess.Popen[str] | None = None
    agent: httpx2.Client = field(default_factory=httpx2.Client)
    hits: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PDPP_", "XDG_"))}
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        return {**kept, "HOME": str(self.folder), "PATH": path, "PDPP_PORT": str(self.port), "PYTHONUNBUFFERED": "1"}

    def do(self, step: Step) -> str:
        match step.mark:
            case "installed":
                return ""  # as it is, by whoever runs the tests
            case "password":
                return self.run(step.what, f"{PASSWORD}\n{PASSWORD}\n")
            case "served":
                return self.serve()
            case "consent":
                return self.consent()
            case "asked" | "refused":
                return self.ask(*step.what.split(" ", 1))
            case _:
                return self.run(step.what.replace("PACKAGE_ID", PACKAGE))

    def run(self, script: str, typed: str = "") -> str:
        done = subprocess.run(
            ["bash", "-e", "-c", script],
            input=typed,
            capture_output=True,
            text=True,
            cwd=self.folder,
            env=self.environment,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == 0, f"{script}{done.stdout}{done.stderr}"
        return done.stdout

    def serve(self) -> str:
        self.server = subprocess.Popen(
            ["pdpp", "serve"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=self.folder,
            env=self.environment,
        )
        assert self.server.stdout
        said = ""
        while "Ctrl-C" not in said:
            line = self.server.stdout.readline()
            assert line, f"The server is gone: {said}"
            said += line
        return said

    def consent(self) -> str:
        """Claude Code reads its file and asks; the owner signs in, chooses what the page says, reviews and allows."""
        (entry,) = json.loads((self.folder / ".mcp.json").read_text("utf-8"))["mcpServers"].values()
        server = discover(entry["url"])
        given = by_browser(server, register(server, "Claude Code"), lambda address, _: self.allow(address), SECONDS)
        self.agent = httpx2.Client(headers={"Authorization": f"Bearer {given.access_token}"})
        return ""

    def allow(self, address: str) -> None:
        with httpx2.Client(base_url=f"http://127.0.0.1:{self.port}") as http:
            browser = Visitor(http, door=None)  # pyright: ignore[reportArgumentType] - this one comes from outside
            assert browser.sign_in().status_code == 303
            consent = browser.get(address).headers["location"]
            page = browser.page(consent)
            chosen = dict(self.choice(page, source, name) for source, name in CHOSEN)
            standing = {**dict(fields_of(page, "/consent")), **chosen, "action": "review"}
            review = browser.post("/consent", list(standing.items()))
            assert "from any time" in shown(review.text)
            back = browser.send(review.text, "/consent", action="approve").headers["location"]
            assert http.get(back).status_code == 200

    def choice(self, page: str, source: str, name: str) -> tuple[str, str]:
        """What the form sends when all of that account of that source is chosen."""
        (card,) = [
            card
            for card in page.split("<fieldset")[1:]
            if f"<b>{name}</b>" in card and source in shown(card).partition("dated from")[0]
        ]
        ways = re.findall(r'name="(pick[.]\d+)" id="([\w-]+)" value="([^"]*)"', card)
        labels = dict(re.findall(r'<label for="([\w-]+)">([^<]+)</label>', card))
        ((sent, value),) = [(sent, value) for sent, at, value in ways if labels[at] == WHOLLY]
        return sent, value

    def ask(self, tool: str, arguments: str) -> str:
        asked = json.loads(arguments)
        if tool == "fetch":
            title = asked["id"].partition(": ")[2]
            asked = {"id": next(hit["id"] for hit in self.hits if title in hit["title"])}
        message = {"id": 1, "method": "tools/call", "params": {"name": tool, "arguments": asked}}
        headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}
        url = f"http://127.0.0.1:{self.port}/mcp"
        answer = self.agent.post(url, json={"jsonrpc": "2.0", **message}, headers=headers)
        if answer.status_code != 200:
            return answer.text
        result = answer.json()["result"]
        self.hits = result["structuredContent"].get("results", self.hits)
        return result["content"][0]["text"]

    def close(self) -> None:
        self.agent.close()
        if self.server:
            self.server.terminate()
            self.server.communicate(timeout=SECONDS)


def unseen(expected: str, output: str) -> list[str]:
    """The lines of a page that were not to be seen in that order; … stands for anything."""
    lines = iter(output.splitlines())
    patterns = [re.escape(line.strip()).replace("…", ".*") for line in expected.splitlines() if line.strip() != "…"]
    return [pattern for pattern in patterns if not any(re.search(pattern, line) for line in lines)]


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    somebody = Reader(tmp_path, port)
    yield somebody
    somebody.close()


def at_hand(step: Step) -> float:
    """Seconds that the reader types and clicks."""
    match step.mark:
        case "password":
            typed = step.what + 2 * PASSWORD
        case "consent":
            return len(CONSENT_TYPED) / TYPED_A_SECOND + CONSENT_CLICKS * CLICK_SECONDS
        case "asked":
            typed = QUESTION
        case _:
            typed = step.what
    return len(typed) / TYPED_A_SECOND


def _worked() -> float:
    """Seconds of processor time of the commands that have ended."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def words_to_the_first_answer() -> int:
    *whole, asking = [FOLDER / "README.md", *PAGES[:3]]
    before, asked, _ = asking.read_text("utf-8").partition("<!-- asked:")
    assert asked
    return sum(len(page.read_text("utf-8").split()) for page in whole) + len(before.split())


@pytest.mark.sqlite("Its `pdpp doctor` looks at the files of a home.")
@requirement("cli.tutorial.commands")
def test_every_command_of_the_tutorial_shows_what_its_page_says(reader: Reader) -> None:
    walked = steps()
    begun, worked = time.perf_counter(), _worked()
    waited: list[tuple[float, float]] = []  # from the beginning until each answer, and of that worked

    for step in walked:
        said = reader.do(step).replace(str(reader.port), PORT)
        assert unseen(step.sees, said) == [], f"{step.what}\n{said}"
        if step.mark == "asked":
            waited.append((time.perf_counter() - begun, _worked() - worked))

    first = next(number for number, step in enumerate(walked) if step.mark == "asked")
    typed = sum(at_hand(step) for step in walked[: first + 1])
    read = words_to_the_first_answer() / WORDS_A_SECOND
    wall, cpu = waited[0]
    minutes = (typed + read + cpu) / 60  # others who use the machine are not the tutorial's
    parts = f"{typed:.0f} s typed and clicked, {read:.0f} s read, {cpu:.0f} s worked ({wall:.0f} s waited here)"
    print(f"{minutes:.1f} minutes to a first answer: {parts}")
    assert minutes <= MINUTES
    marks = [step.mark for step in walked]
    assert [mark for mark in marks if mark] == [
        "installed", "password", "served", "consent", "asked", "asked", "asked", "refused",
    ]  # fmt: skip


@requirement("cli.tutorial.commands")
def test_what_the_reader_chooses_is_what_the_page_says() -> None:
    text = "".join(page.read_text("utf-8") for page in PAGES)

    assert all(f"**{name}**" in text for name in [WHOLLY, *(name for _, name in CHOSEN)])


def test_a_line_that_is_not_seen_is_told() -> None:
    assert unseen("a … c\n…\nd\n", "x\na b c\nd\n") == []
    assert unseen("d\na … c\n", "a b c\nd\n") == ["a\\ .*\\ c"]

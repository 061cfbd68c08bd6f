"""The tutorial, walked through on an empty machine: every command, and what its page says will be seen."""

import json
import os
import re
import socket
import subprocess
import sys
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

PAGES = sorted((ROOT / "docs" / "tutorial").glob("[0-9]-*.md"))
STEP = re.compile(r"(?:<!-- (\w+): ([^>]+?) -->\n)?```(sh|text)\n(.*?)```|<!-- simulated: (\w+) -->\n\n", re.DOTALL)
PORT = "8787"
TICKED = [("Mail", "nora.lindqvist@mail.example"), ("Bank statements", "Maasbank")]
PACKAGE = "$(pdpp grants list | grep -o 'gpkg_[0-9a-f]*' | head -n 1)"  # what the reader copies from the line above
SECONDS = 120


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
        """Claude Code reads its file and asks; the owner signs in, ticks what the page says, reviews and allows."""
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
            ticked = [("pick", self.box(page, source, name)) for source, name in TICKED]
            standing = [*fields_of(page, "/consent"), *ticked, ("action", "review")]
            review = browser.post("/consent", standing)
            assert "without a limit in time" in shown(review.text)
            back = browser.send(review.text, "/consent", action="approve").headers["location"]
            assert http.get(back).status_code == 200

    def box(self, page: str, source: str, name: str) -> str:
        """The value of the box at which that account of that source stands."""
        (value,) = [
            re.findall(r'name="pick[.]\d+" id="pick-[\d-]+" value="(\d+:[^"]+)"', card)[0]
            for card in page.split("<fieldset")[1:]
            if f"<b>{name}</b>" in card and source in shown(card)
        ]
        return value

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


@requirement("cli.tutorial.commands")
def test_every_command_of_the_tutorial_shows_what_its_page_says(reader: Reader) -> None:
    walked = steps()

    for step in walked:
        said = reader.do(step).replace(str(reader.port), PORT)
        assert unseen(step.sees, said) == [], f"{step.what}\n{said}"

    marks = [step.mark for step in walked]
    assert [mark for mark in marks if mark] == [
        "installed", "password", "served", "consent", "asked", "asked", "asked", "refused",
    ]  # fmt: skip


@requirement("cli.tutorial.commands")
def test_what_the_reader_ticks_is_what_the_page_says() -> None:
    text = "".join(page.read_text("utf-8") for page in PAGES)

    assert all(f"**{name}**" in text for _, name in TICKED)


def test_a_line_that_is_not_seen_is_told() -> None:
    assert unseen("a … c\n…\nd\n", "x\na b c\nd\n") == []
    assert unseen("d\na … c\n", "a b c\nd\n") == ["a\\ .*\\ c"]

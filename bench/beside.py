"""What the tools cost of processor time, in turns with another version, on conversations that whoever measures brings.

`python -m bench.beside CONVERSATIONS [PDPP]`, where PDPP is the command of the other version in its own environment.
Each is a `pdpp mcp` on a home of its own that its own command filled; what is measured is the process that answers.
"""

import json
import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack, closing
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import orjson

from bench.cases import PDPP, Stdio
from bench.evidence import STREAM
from bench.recall import DECLARATION, DETAILS, Talk

QUESTIONS, ROUNDS = 100, 5
PAGE = 10
Asked = tuple[str, dict[str, Any]]


class Version:
    """One version of the server, which holds the conversations, and somebody who asks it."""

    def __init__(self, pdpp: str, talks: Path, home: Path) -> None:
        self._pdpp, self._environ = pdpp, {**os.environ, "PDPP_HOME": str(home)}
        declaration, selection = home.with_suffix(".declaration"), home.with_suffix(".selection")
        declaration.write_bytes(orjson.dumps(DECLARATION))
        for file in talks.glob("*.records.ndjson"):
            self._run("import", str(file), "--declaration", str(declaration), "--name", file.name)
        held = [each["connection_id"] for each in json.loads(self._run("sources", "--json"))["connections"]]
        details = [{**one, "streams": [{"name": STREAM, "instance_ids": held}]} for one in DETAILS]
        selection.write_bytes(orjson.dumps(details))
        created = self._run("grants", "create", "--selection", str(selection), "--client", "bench", "--json")
        self.agent = Stdio(home, json.loads(created)["token"], pdpp)
        self.agent.start()

    def _run(self, *words: str) -> str:
        return subprocess.run(
            [self._pdpp, *words], env=self._environ, capture_output=True, text=True, check=True
        ).stdout

    def close(self) -> None:
        self.agent.close()

    def records(self) -> list[tuple[str, str]]:
        """Some, each with its connection."""
        found = orjson.loads(self.agent.call("search", {"query": "the of and", "limit": PAGE}))
        return [(one["id"], one["connection_id"]) for one in found["result"]["structuredContent"]["results"]]

    def cost(self, asked: Asked) -> float:
        before = self.agent.cpu()
        self.agent.call(*asked)
        return self.agent.cpu() - before


class Costs(NamedTuple):
    """Medians over the questions: asked for the first time, and the least of the times after that."""

    first: float
    again: float


def costs(versions: list[Version], asked: list[list[Asked]]) -> list[Costs]:
    """What the same questions cost each version, which take turns call by call."""
    spent: list[list[list[float]]] = [[[] for _ in questions] for questions in asked]
    for _ in range(1 + ROUNDS):
        for number in range(len(asked[0])):
            for version, questions, times in zip(versions, asked, spent, strict=True):
                times[number].append(version.cost(questions[number]))
    return [
        Costs(median([first for first, *_ in times]), median([min(again) for _, *again in times])) for times in spent
    ]


def beside(talks: Path, pdpps: list[str]) -> dict[str, float]:
    questions = [text for file in sorted(talks.glob("*.records.ndjson")) for text, _ in Talk(file).questions]
    chosen = questions[:: max(1, len(questions) // QUESTIONS)][:QUESTIONS]
    with tempfile.TemporaryDirectory(prefix="pdpp-bench-") as folder, ExitStack() as open_ones:
        versions = [
            open_ones.enter_context(closing(Version(pdpp, talks, Path(folder) / f"home{place}")))
            for place, pdpp in enumerate(pdpps)
        ]
        known = [version.records() for version in versions]
        cases: dict[str, list[list[Asked]]] = {
            "search": [[("search", {"query": text}) for text in chosen] for _ in versions],
            "search_ten": [[("search", {"query": text, "limit": PAGE}) for text in chosen] for _ in versions],
            "fetch": [[("fetch", {"id": id}) for id, _ in records] for records in known],
            "page": [
                [("query_records", {"stream": STREAM, "connection_id": one, "limit": PAGE}) for _, one in records]
                for records in known
            ],
        }
        taken = {name: costs(versions, asked) for name, asked in cases.items()}
    told = {f"{name}_us": each[0].again * 1e6 for name, each in taken.items()}
    told["page_of_ten_ratio"] = taken["page"][0].again / taken["fetch"][0].again
    for name, (ours, *others) in taken.items():
        told |= {f"{name}_of_before": ours.again / other.again for other in others}
        told |= {f"{name}_first_of_before": ours.first / other.first for other in others}
    return told


if __name__ == "__main__":
    for key, value in beside(Path(sys.argv[1]), [PDPP, *sys.argv[2:3]]).items():
        print(f"{key:28} {value:,.2f}")

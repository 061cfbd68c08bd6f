"""How much of the evidence a reader sees for its bytes, on conversations that whoever measures brings along.

`python -m bench.evidence FOLDER` prints the numbers; with `--keep FILE` also every answer, to be read by a person.
"""

import json
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from statistics import mean
from typing import Any, cast

from bench.recall import DECLARATION, DETAILS
from bench.world import now
from pdpp_server.mcp.surface import TOOLS
from pdpp_server.mcp.tool import ToolResult
from pdpp_server.model.ingest import Incoming
from pdpp_server.owner.desk import Owner
from pdpp_server.port.local import LocalReader
from pdpp_server.reads.services import open_services
from pdpp_server.wire.declarations import decode_declaration
from pdpp_server.wire.grants import decode_selection
from tests.worlds.told import told

STREAM = "turns"
CATEGORIES = (1, 2, 3, 4)  # the fifth asks for what is not there
ENOUGH = 0.9  # of a text: then it can be read
CALLS_MOST = 12
AROUND_EACH = 5  # questions, of which one is looked around
_CALL = re.compile(r"\b(search|query_records|fetch|read_record_field) (\{.*?\})(?=$| for | shows | reads |,| · | or )")

Ask = Callable[[str, Mapping[str, Any]], ToolResult]


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    connection_id: str
    evidence: Mapping[str, str]  # by handle
    conversation: Mapping[str, str]  # all that was said, by handle


@dataclass(slots=True)
class Journey:
    """What a reader of one channel has seen of one question."""

    calls: int = 0
    size: int = 0
    screen: list[str] = field(default_factory=list[str])


# One answer ---------------------------------------------------------------------------------------------------------


def plain(text: str) -> str:
    """Marks and escapes undone, runs of whitespace as one space."""
    bare = re.sub(r"</?mark>", "", text)
    bare = re.sub(r"\\u([0-9a-fA-F]{4})", lambda found: chr(int(found[1], 16)), bare)
    bare = re.sub(r'\\(["\\/])', r"\1", bare.replace("\\n", " ").replace("\\t", " "))
    return " ".join(unescape(bare).split())


def readable_share(evidence: str, shown: str) -> float:
    """The longest run of whole words of the evidence that stands in what is shown, as a share of its characters."""
    words = " ".join(evidence.split()).split(" ")
    best = start = 0
    for end in range(1, len(words) + 1):
        while start < end and " ".join(words[start:end]) not in shown:
            start += 1
        best = max(best, len(" ".join(words[start:end])))
    return best / max(1, len(" ".join(words)))


def line_of(handle: str, text: str) -> str:
    """What stands on the lines that begin with a handle."""
    return plain("\n".join(line for line in text.split("\n") if line.split(" ")[0].rstrip(":") == handle))


def strings_of(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case Mapping():
            for each in cast("Mapping[str, Any]", value).values():
                yield from strings_of(each)
        case Sequence():
            for each in cast("Sequence[Any]", value):
                yield from strings_of(each)
        case _:
            pass


def compact(structured: Mapping[str, Any]) -> str:
    return json.dumps(structured, ensure_ascii=False, separators=(",", ":"))


def shown_in_text(handle: str, evidence: str, result: ToolResult) -> float:
    return readable_share(evidence, line_of(handle, result.text))


def shown_in_structured(handle: str, evidence: str, result: ToolResult) -> float:
    named = {one["id"] for one in result.structured.get("results", ())}
    return readable_share(evidence, plain("\n".join(strings_of(result.structured)))) if handle in named else 0.0


# One search ---------------------------------------------------------------------------------------------------------


def first_answers(ask: Ask, questions: Sequence[Question], keep: list[str]) -> dict[str, float]:
    shares: dict[str, list[float]] = {"text": [], "structured": []}
    sizes: dict[str, list[int]] = {"text": [], "structured": []}
    rows = [0, 0, 0]
    for question in questions:
        result = ask("search", {"query": question.text, "connection_id": question.connection_id})
        for channel, shown in (("text", shown_in_text), ("structured", shown_in_structured)):
            shares[channel].append(mean(shown(id, text, result) for id, text in question.evidence.items()))
        sizes["text"].append(len(result.text.encode()))
        sizes["structured"].append(len(compact(result.structured).encode()))
        keep.append(
            f"# {question.text}\n{result.text}\n\n{json.dumps(result.structured, ensure_ascii=False, indent=1)}"
        )
        for line in hit_lines(result):
            rows[0] += 1
            rows[1] += bool(re.search(r"\b\d{4}-\d\d-\d\d", line))
            rows[2] += bool(re.search(r'\bby "', line))
    return {
        "evidence_visible.text": mean(shares["text"]),
        "evidence_visible.text_bytes": mean(sizes["text"]),
        "evidence_visible.text_bytes_max": max(sizes["text"]),
        "evidence_visible.structured": mean(shares["structured"]),
        "evidence_visible.structured_bytes": mean(sizes["structured"]),
        "evidence_visible.structured_bytes_max": max(sizes["structured"]),
        "rows_with_time": rows[1] / rows[0],
        "rows_with_actor": rows[2] / rows[0],
    }


def hit_lines(result: ToolResult) -> list[str]:
    named = {one["id"] for one in result.structured.get("results", ())}
    return [line for line in result.text.split("\n") if line.split(" ")[0] in named]


# A reader who follows what is printed ---------------------------------------------------------------------------------


def journeys(ask: Ask, questions: Sequence[Question]) -> dict[str, float]:
    """What it takes until the evidence can be read, by calls that answers print and no others.

    The reader knows what it looks for when it reads it, and not before: which of the hits that it cannot read yet that
    is, nothing tells. So it opens those that are cut short in the order in which they are shown, then looks around the
    best one, then turns the page, once. What is not found so counts with the calls that were made.
    """
    measured: dict[str, float] = {}
    for channel in ("text", "structured"):
        made = [_journey(ask, question, channel) for question in questions]
        measured |= {
            f"journey.{channel}_calls": mean(journey.calls for journey, _ in made),
            f"journey.{channel}_bytes": mean(journey.size for journey, _ in made),
            f"journey.{channel}_reached": mean(share for _, share in made),
        }
    return measured


def _journey(ask: Ask, question: Question, channel: str) -> tuple[Journey, float]:
    journey = Journey()
    following: list[tuple[str, Mapping[str, Any]]] = [
        ("search", {"query": question.text, "connection_id": question.connection_id})
    ]
    asked: set[str] = set()
    missing: dict[str, str] = dict(question.evidence)
    while following and missing and journey.calls < CALLS_MOST:
        tool, arguments = following.pop(0)
        call = f"{tool} {json.dumps(arguments, sort_keys=True)}"
        if call in asked or ("cursor" in arguments and any('"cursor"' in earlier for earlier in asked)):
            continue
        asked.add(call)
        result = ask(tool, arguments)
        said = result.text if channel == "text" else compact(result.structured)
        journey.calls += 1
        journey.size += len(said.encode())
        screen = plain(said) if channel == "text" else plain("\n".join(strings_of(result.structured)))
        missing = {id: text for id, text in missing.items() if readable_share(text, screen) < ENOUGH}
        opened = [("fetch", {"id": id}) for id in _cut_short(result, question, channel)]
        following = [*opened, *following, *_printed(result, channel, tool, arguments)]
    return journey, 1 - len(missing) / len(question.evidence)


def _cut_short(result: ToolResult, question: Question, channel: str) -> Iterator[str]:
    """The hits that cannot be read to their end, in the order in which they are shown."""
    named = [one["id"] for one in result.structured.get("results", ())]
    if channel == "text":
        named = [handle for line in result.text.split("\n") if (handle := line.split(" ")[0]) in named]
    whole = plain("\n".join(strings_of(result.structured)))
    for handle in named:
        shown = line_of(handle, result.text) if channel == "text" else whole
        if readable_share(question.conversation[handle], shown) < ENOUGH:
            yield handle


def _printed(
    result: ToolResult, channel: str, tool: str, asked: Mapping[str, Any]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The calls that an answer offers and that show other records: around a hit first, then the next page."""
    calls = [(step["tool"], step["arguments"]) for step in result.structured.get("next", ())]
    if channel == "text":
        lines = [line for line in result.text.split("\n") if line.split(":")[0] in ("next", "more", "rest")]
        found = [match for line in lines for match in _CALL.finditer(line)]
        calls = [(match[1], made) for match in found if (made := _arguments(match[2])) is not None]
        again = (re.search(r": the same (?:search|call) with (\{.*\})$", line) for line in lines)
        calls += [(tool, {**asked, **made}) for same in again if same and (made := _arguments(same[1]))]
    useful = [(tool, made) for tool, made in calls if "around" in made or "cursor" in made]
    yield from sorted(useful, key=lambda call: "around" not in call[1])


def _arguments(written: str) -> Mapping[str, Any] | None:
    try:
        return json.loads(written)
    except json.JSONDecodeError:
        return None


# What stands around a record -----------------------------------------------------------------------------------------


def around(ask: Ask, questions: Sequence[Question]) -> dict[str, float]:
    """Of the records around an evidence message: how many are shown, and how much of their texts, at how many bytes."""
    shares: dict[str, list[float]] = {"text": [], "structured": []}
    sizes: dict[str, list[int]] = {"text": [], "structured": []}
    for question in questions[::AROUND_EACH]:
        id = next(iter(question.evidence))
        result = ask("query_records", {"stream": STREAM, "around": id})
        shown = [one["handle"] for one in result.structured["data"]["data"]]
        screens = {"text": result.text, "structured": "\n".join(strings_of(result.structured))}
        for channel, screen in screens.items():
            texts = [question.conversation[handle] for handle in shown]
            shares[channel].append(mean(readable_share(text, plain(screen)) for text in texts))
        sizes["text"].append(len(result.text.encode()))
        sizes["structured"].append(len(compact(result.structured).encode()))
    return {
        **{f"around.{channel}": mean(values) for channel, values in shares.items()},
        **{f"around.{channel}_bytes": mean(values) for channel, values in sizes.items()},
    }


# The world ------------------------------------------------------------------------------------------------------------


def evidence(folder: Path, keep: list[str] | None = None) -> dict[str, float]:
    """All conversations in one home, each a connection of its own, under one grant."""
    home = Path(tempfile.mkdtemp(prefix="pdpp-bench-"))
    services = open_services(home, now=now)
    try:
        owner = Owner(services, home)
        questions = [
            question for file in sorted(folder.glob("*.records.ndjson")) for question in _delivered(owner, file)
        ]
        held_by = list(dict.fromkeys(question.connection_id for question in questions))
        details = [{**one, "streams": [{"name": STREAM, "instance_ids": held_by}]} for one in DETAILS]
        reader = LocalReader(services, owner.create_grant(decode_selection(details), "bench", None).token)
        tools = {tool.name: tool for tool in TOOLS}

        def ask(name: str, arguments: Mapping[str, Any]) -> ToolResult:
            return told(tools[name].call(reader, arguments))

        measured = {**first_answers(ask, questions, [] if keep is None else keep), **journeys(ask, questions)}
        return (
            {**measured, **around(ask, questions)}
            if "around" in tools["query_records"].input_schema["properties"]
            else measured
        )
    finally:
        services.close()
        shutil.rmtree(home)


def _delivered(owner: Owner, file: Path) -> Iterator[Question]:
    name = file.name.removesuffix(".records.ndjson")
    writer = owner.writer(decode_declaration(DECLARATION), name)
    rows = {row["id"]: row for row in map(json.loads, file.read_text(encoding="utf-8").splitlines())}
    writer.deliver([Incoming(id, STREAM, None, row, None) for id, row in rows.items()])
    said = {f"{writer.connection_id}/{STREAM}:{id}": row["text"] for id, row in rows.items()}
    for asked in json.loads(file.with_name(f"{name}.questions.json").read_text(encoding="utf-8")):
        texts = {
            handle: said[handle]
            for id in asked["evidence"]
            if (handle := f"{writer.connection_id}/{STREAM}:{id}") in said
        }
        if asked["category"] in CATEGORIES and texts:
            yield Question(asked["question"], writer.connection_id, texts, said)


if __name__ == "__main__":
    answers: list[str] = []
    for key, value in evidence(Path(sys.argv[1]), answers).items():
        print(f"{key:40} {value:,.3f}")
    if "--keep" in sys.argv:
        Path(sys.argv[sys.argv.index("--keep") + 1]).write_text("\n\n".join(answers), encoding="utf-8")

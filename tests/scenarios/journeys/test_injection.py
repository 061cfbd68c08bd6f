"""Strangers write into every place of a record what would look like us; it stays theirs in every answer."""

import json
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.harness.grammar import said, strings, unseen
from tests.harness.sights import split_window
from tests.requirements import requirement
from tests.scenarios.cli.command import Command
from tests.scenarios.mcp.agents import Agent, Result, agent_on
from tests.worlds.injection import CORPUS
from tests.worlds.lives import NOISE, Life, document, entry, opened

TOOLS = ["schema", "query_records", "aggregate", "search", "fetch", "read_record_field"]


@pytest.fixture(scope="module", params=CORPUS)
def forged(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator["Forged"]:
    forged = Forged(opened(tmp_path_factory.mktemp("forged")), CORPUS[request.param])
    yield forged
    forged.life.close()


class Forged:
    """The same text as label, description, key, title, body, group and related record, in two connections."""

    def __init__(self, life: Life, text: str) -> None:
        self.life, self.text, self.body = life, text, f"walrus {text}"
        key = f"k {text[:20]}"
        letters = [
            entry(f"{key}{number}", number, title=text, body=self.body, kind=text, answers=f"{key}0")
            for number in range(1, 4)
        ]
        for end in ("", " too"):
            life.connect(document("journal", detail=text), text + end, [*letters, entry("plain", title=text)])
        life.grant()
        self.handles = life.records["entries"]
        self.handle = min(self.handles - {f"{id}/entries:plain" for id in life.connections})
        self.agent: Agent = agent_on(life.reader)

    def answers(self, tool: str) -> list[Result]:
        """Every way to ask that shows something of it."""
        first = {"id": self.handle}
        asked: dict[str, list[dict[str, Any]]] = {
            "schema": [{}, {"stream": "entries"}, {"stream": "entries", "detail": "full", **self.connection}],
            "query_records": [
                {"limit": 3},
                {"expand": ["answered"]},
                {"fields": ["title"], "limit": 1},
                {"filter": {"kind": self.text}},
                {"changes_since": "beginning"},
            ],
            "aggregate": [{"metric": "count", "group_by": "kind"}, {"metric": "count", "filter": {"title": self.text}}],
            "search": [{"query": "walrus"}, {"query": "walrus", "limit": 1}, {"query": f"walrus {self.text}"[:900]}],
            "fetch": [first, {**first, "fields": ["kind"]}, {**first, "expand": ["answered"]}],
            "read_record_field": [
                {**first, "field_path": name, **place}
                for name, place in product(("title", "body"), ({}, {"limit_chars": 9}, {"offset_chars": 4}))
            ],
        }
        whole = {"stream": "entries"} if tool in ("query_records", "aggregate") else {}
        return [self.agent.call(tool, **whole, **arguments) for arguments in asked[tool]]

    @property
    def connection(self) -> dict[str, str]:
        return {"connection_id": min(self.life.connections)}


@requirement("ev.injection.tools")
@pytest.mark.parametrize("tool", TOOLS)
def test_nothing_of_a_stranger_stands_outside_of_quotes(tool: str, forged: Forged) -> None:
    for answer in forged.answers(tool):
        assert answer.code is None
        assert unseen(answer.text) == set()
        if tool == "fetch":
            assert json.loads(answer.text) == answer.structured
            continue
        text = said(answer.text)
        assert "evil" not in text.words
        assert text.handles <= forged.handles
        assert text.marks.items() <= structured_marks(answer.structured).items()
        assert {call.arguments["id"] for call in text.calls if "id" in call.arguments} <= forged.handles
        assert {call.tool for call in text.calls} <= set(TOOLS)


@requirement("ev.injection.tools", "ev.escape.both-channels")
@pytest.mark.parametrize("tool", TOOLS)
def test_titles_labels_and_snippets_are_escaped_in_the_structured_part_too(tool: str, forged: Forged) -> None:
    for answer in forged.answers(tool):
        shown = list(members(answer.structured, {"title", "display_name", "snippet", "preview_text"}))
        assert unseen("".join(shown).replace("\n", " ")) == set()
        assert "\n" not in "".join(shown)
        steps = [step["arguments"] for step in answer.structured.get("next", ())]
        assert {step["id"] for step in steps if "id" in step} <= forged.handles


@requirement("ev.injection.nothing-hidden")
def test_what_was_written_can_be_read(forged: Forged) -> None:
    listed = forged.answers("query_records")[2]
    assert listed.structured["data"]["data"][0]["data"]["title"] == forged.text
    assert forged.text in strings(listed.text)

    counted = strings(forged.answers("aggregate")[0].text)[0]
    assert forged.text.startswith(counted.removesuffix("…"))
    assert len(counted) >= min(len(forged.text), 200)
    assert forged.answers("fetch")[0].structured["text"] == forged.body
    window = forged.agent.call("read_record_field", id=forged.handle, field_path="body")
    assert window.structured["window"]["text"] == forged.body
    assert unescaped(split_window(window.text)[1]) == forged.body


@requirement("ev.injection.refusals")
def test_a_refusal_has_only_lines_of_ours(forged: Forged) -> None:
    text = forged.text[:300]
    refused = [
        forged.agent.call(tool, **arguments)
        for tool, arguments in (
            ("schema", {text: 1}),
            ("query_records", {"stream": text}),
            ("query_records", {"stream": "entries", "filter": {text.translate({91: 40, 93: 41}): 1}}),
            ("query_records", {"stream": "entries", "fields": [text]}),
            ("query_records", {"stream": "entries", "sort": text}),
            ("query_records", {"stream": "entries", "cursor": text}),
            ("aggregate", {"stream": "entries", "metric": "count", "group_by": text}),
            ("aggregate", {"stream": "entries", "metric": text}),
            ("search", {"query": "walrus", "streams": [text]}),
            ("search", {"query": "walrus", "mode": text}),
            ("fetch", {"id": text}),
            ("fetch", {"id": f"{forged.handle}x"}),
            ("fetch", {"id": forged.handle, "connection_id": text}),
            ("read_record_field", {"id": forged.handle, "field_path": text}),
            ("read_record_field", {"id": forged.handle, "field_path": "title", "q": f"{text} nowhere"}),
        )
    ]

    for answer in refused:
        assert answer.code is not None
        assert "\n" not in answer.text
        assert unseen(answer.text + "".join(members(answer.structured, {"message", "param", "next_step"}))) == set()


@requirement("ev.injection.refusals", "mcp.refusals.ambiguity")
def test_an_ambiguity_quotes_the_labels(forged: Forged) -> None:
    refusal = forged.agent.call("fetch", id="entries:plain")

    first, *candidates, last = refusal.text.split("\n")
    assert first.startswith("ambiguous_connection: ")
    assert last.startswith("next: the same call with ")
    assert {line.split(" ")[0] for line in candidates} == forged.life.connections
    assert "evil" not in said(refusal.text).words
    assert unseen(refusal.text) == set()


@requirement("ev.injection.terminal")
@pytest.mark.parametrize("form", [[], ["--json"]], ids=["text", "JSON"])
def test_no_verb_prints_what_a_terminal_would_obey(form: list[str], tmp_path: Path) -> None:
    command = Command(tmp_path / "home", tmp_path)
    life = opened(command.home)
    texts = enumerate(CORPUS.values())
    letters = [entry(f"{n} {text[:20]}", n, title=text, body=text, kind=text) for n, text in texts]
    for end in ("", " too"):
        life.connect(document("journal", detail=NOISE), NOISE + end, letters)
    life.grant(NOISE)
    (grant,) = life.owner.grants()
    life.close()
    handles = sorted(life.records["entries"])
    escapes = next(handle for handle in handles if "%1B" in handle)

    for words in (
        ["schema"],
        ["schema", "entries"],
        ["query", "entries", "--limit", "40"],
        ["aggregate", "entries", "--group-by", "kind"],
        ["search", "evil"],
        ["fetch", escapes],
        ["read", escapes, "body"],
        ["fetch", escapes, "--fields", NOISE],
        ["sources"],
        ["grants", "list"],
        ["grants", "show", grant.grant.grant_id],
        ["activity"],
    ):
        ran = command(*words, *form)
        assert ran.out or ran.code
        assert unseen(ran.out + ran.err) == set(), words


def structured_marks(structured: dict[str, Any]) -> dict[str, str]:
    data = structured.get("data", {})
    marks = {name: data[name] for name in ("next_cursor", "next_changes_since") if data.get(name)}
    results = structured.get("results")
    return {**({"first_fetch_id": results[0]["id"]} if results else {}), **marks}


def members(value: Any, names: set[str]) -> Iterator[str]:
    """The texts under these names, except in data payloads and in calls that repeat what was asked."""
    if isinstance(value, list):
        for one in value:
            yield from members(one, names)
    elif isinstance(value, dict):
        payload = value.get("object") == "record"
        for name, inner in value.items():
            if name in names:
                yield from (str(text) for text in (inner.values() if isinstance(inner, dict) else [inner]))
            elif name != "arguments" and not (payload and name == "data"):
                yield from members(inner, names)


def unescaped(text: str) -> str:
    return re.sub(r"(?:\\u[0-9a-f]{4})+", lambda found: json.loads(f'"{found.group()}"'), text)

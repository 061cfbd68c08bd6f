"""Print every promise, where it comes from, and which tests keep it: `make promises`."""

import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.requirements import PROMISES, ROLES  # noqa: E402
from tests.requirements.promise import Promise  # noqa: E402
from tests.requirements.tagged import TaggedTest, tagged_tests  # noqa: E402

TITLES = {
    "rs": "Resource server",
    "grants": "Grants",
    "store": "Store",
    "log": "Disclosure log",
    "ev": "Evidence",
    "port": "Port",
    "mcp": "MCP adapter",
    "as": "Authorization server",
    "con": "Owner pages",
    "imp": "Importers",
    "cli": "Command",
}


def keepers() -> defaultdict[str, list[TaggedTest]]:
    """The tests of each promise, in the order of their files."""
    tests: defaultdict[str, list[TaggedTest]] = defaultdict(list)
    for test in tagged_tests(ROOT):
        for id in test.ids:
            tests[id].append(test)
    return tests


def tables() -> str:
    """One table for each role, promises in the order they are written."""
    tests = keepers()
    deferred = sum(promise.deferred is not None for promise in PROMISES.values())
    kept = sum(promise.deferred is None and bool(tests[id]) for id, promise in PROMISES.items())
    lines = ["", f"{len(PROMISES)} promises: {kept} kept by tests, {deferred} deferred.", ""]
    for role, promises in ROLES.items():
        lines += [f"## {TITLES[role]}", "", "| promise | says | source | state |", "|---|---|---|---|"]
        lines += [row(id, promise, tests[id]) for id, promise in promises.items()]
        lines.append("")
    return "\n".join(lines) + "\n"


def row(id: str, promise: Promise, tests: list[TaggedTest]) -> str:
    return f"| `{id}` | {cell(promise.says)} | {cell(source(promise))} | {cell(state(promise, tests))} |"


def source(promise: Promise) -> str:
    scenarios = [f"scenario {number}" for number in promise.scenario]
    rulings = [f"ruling {number}" for number in promise.ruling]
    return "; ".join([promise.source, *scenarios, *rulings])


def state(promise: Promise, tests: list[TaggedTest]) -> str:
    words: list[str] = []
    if promise.deferred is not None:
        words.append(f"deferred: {promise.deferred}")
    elif tests:
        words.append("kept by " + ", ".join(f"[{test.name}]({test.path})" for test in tests))
    else:
        words.append("no test yet")
    if promise.diverges is not None:
        words.append(f"diverges: {promise.diverges}")
    return "; ".join(words)


def cell(words: str) -> str:
    return words.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


if __name__ == "__main__":
    sys.stdout.write(tables())

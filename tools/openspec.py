"""Print openspec/: each role's promises as the specification of a capability, and the changes that asked for them."""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.requirements import PROMISES, ROLES
from tests.requirements.evidence_ladder import EVIDENCE_LADDER
from tests.requirements.promise import Change, Promise
from tests.requirements.tagged import TaggedTest
from tools.promises import ROOT, TITLES, keepers, source

CHANGES = (EVIDENCE_LADDER,)
KEEPERS = keepers()
# A role's capability, and what it is for.
CAPABILITIES = {
    "rs": ("resource-server", "Answer reads of records over HTTP exactly as far as the bearer's grant goes."),
    "grants": ("grants", "Turn what an owner agreed to into decisions: which query may touch which records."),
    "store": ("store", "Keep records and grants in one folder that survives crashes, and erase for good."),
    "log": ("disclosure-log", "Write down what is disclosed, to whom and when, before it leaves."),
    "ev": ("read-evidence", "Shape records into bounded text that can be cited and followed, and guess nothing."),
    "port": ("port", "Let tools and commands read this server, or any other PDPP server, through the same few calls."),
    "mcp": ("mcp-adapter", "Give agents six read tools over MCP, under one grant, with a next step in every answer."),
    "as": ("authorization-server", "Let an owner decide what a client may read, and give out tokens for just that."),
    "con": ("owners-pages", "Show owners what is here and who reads it, and let them and nobody else decide."),
    "imp": ("importers", "Bring files that an owner already has into streams, without duplicates and without silence."),
    "cli": ("command", "Give owners one command for everything they do: bring in, agree, look after, take back."),
}


def printed() -> dict[str, str]:
    """Every file that is kept below openspec/, by its path."""
    files = {f"specs/{_capability(role)}/spec.md": _spec(role) for role in ROLES if any(_kept(ROLES[role]))}
    for change in CHANGES:
        files |= {f"changes/{change.name}/{path}": text for path, text in _change_files(change).items()}
    return {f"openspec/{path}": text for path, text in files.items()}


def _capability(role: str) -> str:
    return CAPABILITIES[role][0]


def _kept(ids: Iterable[str]) -> Iterator[str]:
    """Those that are not deferred and that a test proves."""
    return (id for id in ids if PROMISES[id].deferred is None and id in KEEPERS)


def _spec(role: str) -> str:
    name, purpose = CAPABILITIES[role]
    head = f"# {name} Specification\n\n## Purpose\n\n{purpose}\n\n## Requirements\n\n"
    return head + "\n".join(map(_requirement, _kept(ROLES[role])))


def _change_files(change: Change) -> dict[str, str]:
    roles = {role: [id for id in ROLES[role] if id in change.cases] for role in ROLES}
    roles = {role: ids for role, ids in roles.items() if ids}
    deltas = {
        f"specs/{_capability(role)}/spec.md": "## ADDED Requirements\n\n" + "\n".join(map(_requirement, ids))
        for role, ids in roles.items()
    }
    return {"proposal.md": _proposal(change, roles), "tasks.md": _tasks(change, roles), **deltas}


def _proposal(change: Change, roles: dict[str, list[str]]) -> str:
    bullets = "\n".join(f"- {PROMISES[id].says}" for ids in roles.values() for id in ids)
    touched = "\n".join(f"- `{_capability(role)}`: {len(ids)} requirements" for role, ids in roles.items())
    return (
        f"# {_sentence(change.name)}\n\n## Why\n\n{change.why}\n\n## What Changes\n\n{bullets}\n\n"
        f"## Capabilities\n\n### Modified Capabilities\n\n{touched}\n\n## Impact\n\n{change.impact}\n"
    )


def _tasks(change: Change, roles: dict[str, list[str]]) -> str:
    groups = [(TITLES[role], [_task(id) for id in ids]) for role, ids in roles.items()]
    groups.append(("What only a person can try", [(" ", says) for says in change.by_hand]))
    lines = ["# Tasks"]
    for number, (title, tasks) in enumerate(groups, start=1):
        lines += ["", f"## {number}. {title}", ""]
        lines += [f"- [{mark}] {number}.{place} {says}" for place, (mark, says) in enumerate(tasks, start=1)]
    return "\n".join(lines) + "\n"


def _task(id: str) -> tuple[str, str]:
    promise = PROMISES[id]
    later = f" Deferred: {promise.deferred}" if promise.deferred else ""
    return ("x" if any(_kept([id])) else " "), f"`{id}`: {promise.says}{later}"


def _requirement(id: str) -> str:
    """The same block in a capability and in its change: that is how OpenSpec knows that the change has arrived."""
    _, noun, behaviour = id.split(".")
    promise, tests = PROMISES[id], KEEPERS.get(id, [])
    cases = [scenario for change in CHANGES for scenario in _cases(change, id)]
    lines = [
        f"### Requirement: {_sentence(noun)}: {behaviour.replace('-', ' ')}",
        f"The server SHALL keep this promise: {promise.says}",
        *_facts(id, promise, tests if cases else []),
        *(cases or map(_test_scenario, tests)),
    ]
    return "\n\n".join(lines) + "\n"


def _facts(id: str, promise: Promise, tests: list[TaggedTest]) -> Iterator[str]:
    yield f"**Promise**: `{id}` ({source(promise)})"
    if promise.diverges:
        yield f"**Differs**: {promise.diverges}"
    if promise.deferred:
        yield f"**Deferred**: {promise.deferred}"
    elif tests:
        yield "**Proven by**: " + ", ".join(f"`{test.path}::{test.name}`" for test in tests)


def _cases(change: Change, id: str) -> Iterator[str]:
    for case in change.cases.get(id, ()):
        first, *more = case.then
        steps = [("WHEN", case.when), ("THEN", first), *(("AND", then) for then in more)]
        yield f"#### Scenario: {case.name}\n\n" + "\n".join(f"- **{word}** {says}" for word, says in steps)


def _test_scenario(test: TaggedTest) -> str:
    """A test is named by a sentence, so that its name says what it finds."""
    finds = test.name.removeprefix("test_").replace("_", " ")
    when, then = f"- **WHEN** `{test.path}::{test.name}` is run", f"- **THEN** it finds that {finds}"
    return f"#### Scenario: {_sentence(finds)}\n\n{when}\n{then}"


def _sentence(words: str) -> str:
    words = words.replace("-", " ")
    return words[:1].upper() + words[1:]


def _strays(files: dict[str, str]) -> list[Path]:
    """Specifications that were printed once, of what is promised no longer. Designs are written by hand, and stay."""
    folders = ("openspec/specs", *(f"openspec/changes/{change.name}/specs" for change in CHANGES))
    found = [path for folder in folders for path in sorted((ROOT / folder).rglob("spec.md"))]
    return [path for path in found if path.relative_to(ROOT).as_posix() not in files]


def main(argv: list[str]) -> None:
    files = printed()
    strays = _strays(files)
    if "--check" in argv:
        on_disk = {path: ROOT / path for path in files}
        wrong = [path for path, file in on_disk.items() if not file.exists() or file.read_text("utf-8") != files[path]]
        if wrong or strays:
            raise SystemExit(f"openspec/ is out of date ({[*wrong, *map(str, strays)][0]}): run make fix.")
        return
    for path in strays:
        path.unlink()
    for path, text in files.items():
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_text(text, "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])

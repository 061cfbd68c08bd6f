"""The specifications in words: OpenSpec's own validator accepts them, and they name every part of what is promised."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.requirements import PROMISES, ROLES

ROOT = Path(__file__).parents[2]
COMMANDS = ROOT / "tests" / "node" / "node_modules" / ".bin"
LADDER = "complete-mcp-read-evidence-ladder"
LADDER_SCENARIOS = {f"S{number:03}" for number in range(78, 96)}
CAPABILITIES = {
    "rs": "resource-server",
    "grants": "grants",
    "store": "store",
    "log": "disclosure-log",
    "ev": "read-evidence",
    "port": "port",
    "mcp": "mcp-adapter",
    "as": "authorization-server",
    "con": "owners-pages",
    "imp": "importers",
    "cli": "command",
}
NAMED = re.compile(r"^\*\*Promises\*\*: (.+)$", re.MULTILINE)


@pytest.mark.parametrize("what", [LADDER, "--all"])
def test_the_validator_of_openspec_finds_no_fault(what: str, tmp_path: Path) -> None:
    silent = {"OPENSPEC_TELEMETRY": "0", "DO_NOT_TRACK": "1", "OPENSPEC_NO_UPDATE_CHECK": "1", "HOME": str(tmp_path)}

    done = subprocess.run(
        [COMMANDS / "node", COMMANDS / "openspec", "validate", what, "--strict"],
        cwd=ROOT,
        env=silent,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("role", ROLES)
def test_a_specification_names_every_group_of_its_promises_once(role: str) -> None:
    text = (ROOT / "openspec" / "specs" / CAPABILITIES[role] / "spec.md").read_text("utf-8")
    named = [group.strip() for line in NAMED.findall(text) for group in line.split(",")]

    assert sorted(named) == sorted({id.rpartition(".")[0] for id in ROLES[role]})


def test_every_requirement_names_the_promises_that_keep_it() -> None:
    for spec in sorted((ROOT / "openspec" / "specs").glob("*/spec.md")):
        text = spec.read_text("utf-8")
        assert text.count("### Requirement:") == len(NAMED.findall(text)), spec


def test_every_scenario_of_the_change_is_answered_by_one_of_its_promises() -> None:
    texts = [path.read_text("utf-8") for path in (ROOT / "openspec" / "changes" / LADDER / "specs").rglob("spec.md")]
    ids = {id for text in texts for id in re.findall(r"^\*\*Promise\*\*: `([^`]+)`", text, re.MULTILINE)}

    assert ids <= PROMISES.keys()
    assert {PROMISES[id].deferred for id in ids} == {None}
    assert LADDER_SCENARIOS - {number for id in ids for number in PROMISES[id].scenario} == set()

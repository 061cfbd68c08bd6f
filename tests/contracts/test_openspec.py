"""The specification that is printed from the promises is one that OpenSpec's own validator accepts."""

import subprocess
from pathlib import Path

import pytest

from tests.requirements import PROMISES, ROLES
from tests.requirements.evidence_ladder import EVIDENCE_LADDER
from tools import openspec

ROOT = Path(__file__).parents[2]
COMMANDS = ROOT / "tests" / "node" / "node_modules" / ".bin"
LADDER_SCENARIOS = {f"S{number:03}" for number in range(78, 96)}


@pytest.mark.parametrize("what", [EVIDENCE_LADDER.name, "--specs"])
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


def test_every_scenario_of_the_change_is_answered_by_one_of_its_promises() -> None:
    answered = {number for id in EVIDENCE_LADDER.cases for number in PROMISES[id].scenario}

    assert LADDER_SCENARIOS - answered == set()


def test_every_role_is_a_capability() -> None:
    assert openspec.CAPABILITIES.keys() == ROLES.keys()


def test_a_deferred_promise_is_in_no_specification() -> None:
    files = openspec.printed()
    specified = "".join(text for path, text in files.items() if path.startswith("openspec/specs/"))

    assert {id for id, promise in PROMISES.items() if promise.deferred and f"`{id}`" in specified} == set()


def test_a_task_is_done_when_its_promise_is_kept() -> None:
    tasks = openspec.printed()[f"openspec/changes/{EVIDENCE_LADDER.name}/tasks.md"].splitlines()
    done = {line.split("`")[1] for line in tasks if line.startswith("- [x]")}

    assert done == {id for id in EVIDENCE_LADDER.cases if PROMISES[id].deferred is None}


def test_a_file_that_was_changed_by_hand_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openspec, "ROOT", tmp_path)
    openspec.main([])
    openspec.main(["--check"])
    spec = tmp_path / "openspec" / "specs" / "mcp-adapter" / "spec.md"

    spec.write_text(spec.read_text("utf-8").replace("SHALL", "might", 1), "utf-8")

    with pytest.raises(SystemExit, match="mcp-adapter"):
        openspec.main(["--check"])


def test_a_specification_of_what_is_promised_no_longer_is_noticed_and_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openspec, "ROOT", tmp_path)
    stray = tmp_path / "openspec" / "specs" / "gone" / "spec.md"
    openspec.main([])
    stray.parent.mkdir()
    stray.touch()

    with pytest.raises(SystemExit, match="gone"):
        openspec.main(["--check"])
    openspec.main([])

    assert not stray.exists()

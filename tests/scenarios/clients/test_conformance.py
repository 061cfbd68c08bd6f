"""The conformance suite of the protocol: those scenarios that a server with its own tools can be judged by."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.requirements import requirement
from tests.scenarios.clients.door import Door
from tests.scenarios.clients.expected import EXPECTED
from tests.scenarios.clients.node import ended


@requirement("mcp.clients.conformance")
@pytest.mark.parametrize(("version", "scenario"), EXPECTED)
def test_each_check_ends_as_expected(
    version: str, scenario: str, hosted: dict[str, Any], door: Door, tmp_path: Path
) -> None:
    door.token = hosted["token"]  # the suite has no way to show one
    asked = ["--url", hosted["url"], "--scenario", scenario, "--spec-version", version, "--output-dir", str(tmp_path)]

    done = ended("conformance", "server", *asked, home=tmp_path)

    reports = list(tmp_path.glob("*/checks.json"))
    assert reports, done.stdout + done.stderr
    checks = [check for report in reports for check in json.loads(report.read_bytes())]
    assert "SUCCESS" in {check["status"] for check in checks}
    others = {check["id"]: check["status"] for check in checks if check["status"] not in {"SUCCESS", "INFO"}}
    assert others == {id: status for id, (status, _) in EXPECTED[version, scenario].items()}, done.stdout

"""The command on an empty home, and on one with two notes."""

from pathlib import Path

import pytest

from tests.scenarios.cli.command import Command


@pytest.fixture
def pdpp(tmp_path: Path) -> Command:
    return Command(tmp_path / "home", tmp_path)


@pytest.fixture
def notes(pdpp: Command) -> Command:
    assert pdpp.import_notes().code == 0
    return pdpp

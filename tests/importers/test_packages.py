"""A package of somebody else adds a source: the template of the docs, installed and run; and broken ones."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from pdpp_server.importers import packages
from pdpp_server.importers.packages import added
from pdpp_server.importers.sources.mail import MAIL
from tests.requirements import requirement

ROOT = Path(__file__).parents[2]
TEMPLATE = ROOT / "docs/examples/importer"
UV = Path(sys.executable).with_name("uv")


@pytest.fixture(autouse=True)
def _nothing_remembered() -> Iterator[None]:
    added.cache_clear()
    yield
    added.cache_clear()


@requirement("imp.packages.added")
def test_the_template_is_installed_and_its_source_imported(tmp_path: Path) -> None:
    beside = tmp_path / "installed"
    offline = ["--no-index", "--no-build-isolation", "--no-deps", "--quiet"]
    command = [str(UV), "pip", "install", "--python", sys.executable, *offline, "--target", str(beside), str(TEMPLATE)]
    subprocess.run(command, check=True, timeout=120, env={**os.environ, "UV_CACHE_DIR": str(tmp_path / "cache")})

    def pdpp(*words: str) -> str:
        env = {**os.environ, "PYTHONPATH": str(beside), "PDPP_HOME": str(tmp_path / "home")}
        line = [sys.executable, "-m", "pdpp_server.cli.main", *words]
        return subprocess.run(line, check=True, timeout=120, env=env, capture_output=True, text=True).stdout

    assert "harbour-log: log books of the harbour (.log)" in pdpp("import", "--list")
    told = pdpp("import", str(TEMPLATE / "sample.log"), "--zone", "Europe/Berlin", "--json")
    assert '"accepted":2' in told.replace(" ", "")
    assert '"rejected":1' in told.replace(" ", "")
    assert "Tomas" in pdpp("search", "lens cleaned")


class _Entry:
    """An entry point that loads what it is given."""

    name, value, dist = "source", "package:SOURCE", None

    def __init__(self, loaded: Any) -> None:
        self._loaded = loaded

    def load(self) -> Any:
        if isinstance(self._loaded, Exception):
            raise self._loaded
        return self._loaded


def _replaced(**changes: Any) -> Any:
    return replace(MAIL, **{"key": "harbour-log", **changes})


DECLARED = (TEMPLATE / "harbour_log/declaration.json").read_bytes()


@pytest.mark.parametrize(
    ("loaded", "why"),
    [
        (ImportError("no such module"), "it cannot be loaded (ImportError: no such module)"),
        ("a text", "package:SOURCE is no Importer"),
        (_replaced(key="mail", declaration=DECLARED), "its key 'mail' is taken, or none"),
        (_replaced(key="A B", declaration=DECLARED), "its key 'A B' is taken, or none"),
        (_replaced(), "its declaration cannot be used"),
        (_replaced(key="other", declaration=DECLARED), "its declaration is of 'harbour-log', not of 'other'"),
    ],
)
@requirement("imp.packages.broken")
def test_a_package_that_is_broken_is_left_out_and_named(monkeypatch: pytest.MonkeyPatch, loaded: Any, why: str) -> None:
    entries: list[EntryPoint | _Entry] = [_Entry(loaded), _Entry(_replaced(declaration=DECLARED))]
    monkeypatch.setattr(packages, "entry_points", lambda **_: entries)

    found = added(frozenset({"mail"}))

    assert [importer.key for importer in found.importers] == ["harbour-log"]
    (trouble,) = found.troubles
    assert why in trouble

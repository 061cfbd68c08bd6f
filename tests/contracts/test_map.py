"""Every module opens with one sentence, and `make map` shows it."""

import subprocess
import sys
from pathlib import Path

import pytest

from tools.map import map_lines
from tools.slice import declared_line, slice_lines
from tools.tree import PACKAGE, ROOT, Module, layers, modules
from tools.walk import walked

MODULES = modules()


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.name)
def test_a_module_opens_with_one_sentence(module: Module) -> None:
    assert module.sentence.endswith("."), f"{module.name}: the first docstring line must be a sentence with its period"


def test_the_package_itself_opens_with_one_sentence() -> None:
    (first, *_) = (PACKAGE / "__init__.py").read_text("utf-8").splitlines()
    assert first.startswith('"""')
    assert first.endswith('."""')


def test_the_map_names_every_module() -> None:
    named = {module.path for module in MODULES} | {PACKAGE / "__init__.py"}
    assert {str(path) for path in PACKAGE.rglob("*.py")} - {str(path) for path in named} == set()


def test_make_map_prints_each_line() -> None:
    printed = subprocess.run(
        [sys.executable, "-m", "tools.map"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()

    assert printed == map_lines(MODULES)
    for module in MODULES:
        label = module.name if module.name.endswith("/") else module.path.name
        assert any(line.strip().startswith(label) and module.sentence in line for line in printed), module.name


def test_the_map_follows_the_call() -> None:
    tops = list(dict.fromkeys(module.name.split("/")[0].removesuffix(".py") for module in MODULES))
    assert tops == [name for name in layers() if name in tops], "a top-level name is missing from the layers contract"


def test_what_no_layer_names_comes_last_and_an_empty_module_has_no_sentence(tmp_path: Path) -> None:
    for name in ("alpha.py", "store/__init__.py", "store/search.py", "wire/__init__.py", "wire/search.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text('"""Says it."""\n' if name != "alpha.py" else "x = 1\n", "utf-8")

    found = modules(tmp_path, ["store", "wire"])

    assert [module.name for module in found] == ["store/", "store/search.py", "wire/", "wire/search.py", "alpha.py"]
    assert found[-1].sentence == ""
    assert [line.split()[0] for line in slice_lines(found, "search")] == ["store/search.py", "wire/search.py", "2"]


def test_a_slice_begins_where_the_parameters_of_the_read_are_declared() -> None:
    line = declared_line(MODULES, "search")

    assert line is not None
    assert line.startswith("model/queries.py:")
    assert "SearchQuery" in line
    assert declared_line(MODULES, "sign_in") is None


def test_a_walk_goes_from_the_door_to_the_log_and_back() -> None:
    files = list(walked("search").files)

    steps = ("mcp/http.py", "mcp/tools/search.py", "reads/search.py", "grants/permit.py", "store/records/search.py")
    assert [file for file in files if file in steps] == list(steps)
    assert files.index("evidence/search.py") < files.index("store/log.py")


def test_the_walks_of_the_guide_lead_through_files_that_there_are() -> None:
    guide = (ROOT / "docs" / "architecture.md").read_text("utf-8").partition("## The walls")[0]
    files = [word for block in guide.split("```text")[1:] for word in block.partition("```")[0].split() if "." in word]

    assert len(files) > 100
    assert [file for file in files if not (PACKAGE / file).is_file()] == []

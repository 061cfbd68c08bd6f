"""`make quick`: the tests that a change can have broken, nearest first, as many as fit into about a minute."""

import ast
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import grimp

from tests.durations import seconds_by_file
from tools.tree import ROOT

SECONDS = 60.0
UNKNOWN_SECONDS = 2.0  # of a file that was never run here
ALWAYS = ("tests/contracts/test_layers.py", "tests/contracts/test_promises.py")
PACKAGE = "pdpp_server"


def changed_files(base: str) -> list[str]:
    """What differs from `base`, and what git does not know yet."""
    tracked = _git("diff", "--name-only", "--diff-filter=d", base)
    return [*tracked, *_git("ls-files", "--others", "--exclude-standard")]


def module_of(path: str) -> str | None:
    """The module in a file of the package; None for any other file."""
    if not (path.startswith("src/") and path.endswith(".py")):
        return None
    return path.removeprefix("src/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def distances(graph: grimp.ImportGraph, changed: Iterable[str]) -> dict[str, int]:
    """How many imports lie between each module and a changed one."""
    found = {module: 0 for module in changed if module in graph.modules}
    edge, steps = set(found), 0
    while edge:
        steps += 1
        importers = {module for each in edge for module in graph.find_modules_that_directly_import(each)}
        edge = importers - found.keys()
        found |= dict.fromkeys(edge, steps)
    return found


def imported(path: Path) -> set[str]:
    """Modules of ours that a test file names."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return {name for name in names if name.startswith((f"{PACKAGE}.", "tests."))}


def ranked(tests: Iterable[Path], changed: list[str], near: dict[str, int]) -> list[str]:
    """Test files that changed, then those named after a changed module, then the others by their distance to one."""
    stems = {Path(path).stem for path in changed if module_of(path)}
    helpers = {path.removesuffix(".py").replace("/", ".") for path in changed if path.startswith("tests/")}
    found: list[tuple[int, str]] = []
    for test in tests:
        name = test.relative_to(ROOT).as_posix()
        uses = imported(test)
        if name in changed:
            found.append((-2, name))
        elif test.stem.removeprefix("test_") in stems or uses & helpers:
            found.append((-1, name))
        elif reached := [near[module] for module in uses if module in near]:
            found.append((min(reached), name))
    return [name for _, name in sorted(found)]


def fitting(tests: list[str], seconds: dict[str, float], most: float = SECONDS) -> list[str]:
    """The first of them that take no longer than `most`, and at least one."""
    kept: list[str] = []
    left = most
    for test in tests:
        left -= seconds.get(test, UNKNOWN_SECONDS)
        if kept and left < 0:
            break
        kept.append(test)
    return kept


def main(arguments: list[str]) -> int:
    base = arguments[0] if arguments else "HEAD"
    changed = changed_files(base)
    modules = [module for module in map(module_of, changed) if module]
    near = distances(grimp.build_graph(PACKAGE), modules)
    tests = ranked(sorted((ROOT / "tests").rglob("test_*.py")), changed, near)
    chosen = fitting(tests, seconds_by_file(ROOT))
    print(f"{len(changed)} files differ from {base}: {len(chosen)} of {len(tests)} test files that they reach.")
    run = [sys.executable, "-m", "pytest", "-q", "-n", "2", *dict.fromkeys((*chosen, *ALWAYS))]
    return subprocess.call(run, cwd=ROOT)


def _git(*arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""`make mutants`: small changes of the code that decides, each of which some test must notice.

Cosmic-ray makes the mutants. Each runs in a copy of the tree, first against the tests nearest to it, then, if those
pass, against wider ones. `tests/mutants.toml` names the modules and tests, and explains by function what may survive.

A test process is forked from one that has imported everything already; it forgets the mutated module and whatever
imports that, and imports them anew.
"""

import argparse
import ast
import fnmatch
import hashlib
import importlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import grimp

from tools.quick import PACKAGE, distances, fitting, module_of, ranked
from tools.tree import ROOT

RULES = ROOT / "tests" / "mutants.toml"
KEPT = ROOT / "build" / "mutants.json"
WORKERS = 2
SECONDS_MAX = 240  # of processor time, of one run of tests; past it a mutant counts as killed: it hangs
WAITED_MAX = 4 * SECONDS_MAX  # by the clock, for one that waits and asks again and again
IDLE_SECONDS, IDLE_CPU = 60.0, 0.2  # by the clock, and of processor time: one that uses less meanwhile only waits
NEAR_SECONDS, WIDE_SECONDS = 8.0, 40.0  # of tests chosen by distance, for modules that name none
PARTS = 16  # of all tests, to see that they pass where nothing is changed
EXAMPLES = 30  # that Hypothesis tries: a mutant that only the hundredth one meets is worth a test of its own
NOT_MUTATED = 99  # how a test process ends that imported from elsewhere than from its copy
_SESSION, _TICKS = 3, slice(11, 15)  # in `/proc/PID/stat`, after the name: its own and those of children that ended
_NEED_SETTINGS = {"core/VariableReplacer", "core/VariableInserter"}
_SAME_FOR_NONE = {"core/ReplaceComparisonOperator_Is_Eq", "core/ReplaceComparisonOperator_IsNot_NotEq"}

_WAITING = (  # for other programs, by the clock: a busy machine fails them
    "tests/scenarios/clients/",
    "tests/scenarios/cli/",
    "tests/scenarios/connect/",
    "tests/scenarios/journeys/",
    "tests/scenarios/authorization_server/test_hostile.py",
    "tests/scenarios/authorization_server/test_sdk.py",
    "tests/scenarios/console/test_browser.py",
    "tests/scenarios/console/test_following.py",
    "tests/scenarios/separate/test_processes.py",
)

Position = tuple[int, int]
Span = tuple[Position, Position]


class Mutant(NamedTuple):
    """One change: the `occurrence`-th place in a file at which an operator can be applied."""

    file: str
    operator: str
    occurrence: int
    line: int
    function: str
    text: str  # the line as it stands

    @property
    def name(self) -> str:
        return f"{self.file}:{self.line} {self.function} {self.operator.removeprefix('core/')} #{self.occurrence}"


class Explained(NamedTuple):
    """Why mutants of some operators survive in a function, on the lines that hold `text`."""

    file: str
    function: str
    operators: tuple[str, ...]
    text: str
    reason: str

    def fits(self, mutant: Mutant) -> bool:
        operator = mutant.operator.removeprefix("core/")
        is_there = (self.file, self.function) == (mutant.file, mutant.function) and self.text in mutant.text
        return is_there and any(fnmatch.fnmatchcase(operator, pattern) for pattern in self.operators)


class Tests(NamedTuple):
    """What a mutant is run against: `wide` only where `near` passes."""

    near: tuple[str, ...]
    wide: tuple[str, ...]
    is_bare: bool = False  # whether `near` needs no conftest and no plugin: much the quicker start


@cache
def _digest(tests: Tests) -> str:
    """Of the files as they stood when this was first asked: before anything ran."""
    texts = [name.encode() + (ROOT / name).read_bytes() for name in (*tests.near, *tests.wide)]
    return hashlib.sha256(b"\0".join(texts)).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Rules:
    """What `tests/mutants.toml` says."""

    modules: dict[str, Tests]
    folders: tuple[str, ...]
    sample: int
    seed: int
    explained: tuple[Explained, ...]


def rules(path: Path = RULES) -> Rules:
    said = tomllib.loads(path.read_text("utf-8"))
    modules = {
        each["file"]: Tests(tuple(each["near"]), tuple(each["wide"]), each.get("bare", False))
        for each in said["module"]
    }
    explained = tuple(
        Explained(each["file"], each["function"], tuple(each["operators"]), each.get("text", ""), each["reason"])
        for each in said.get("explained", ())
    )
    sample = said["sample"]
    return Rules(modules, tuple(sample["folders"]), sample["size"], sample["seed"], explained)


# Making -----------------------------------------------------------------------------------------------------------


def mutants_of(file: str, source: str) -> list[Mutant]:
    """Every mutant of a file, apart from those that change nothing that runs."""
    plugins, trees = _cosmic_ray("plugins"), _cosmic_ray("ast")
    nodes = list(trees.ast_nodes(trees.get_ast(source)))
    silent, spans = [*_silent(ast.parse(source)), *_marks(nodes)], list(_functions(ast.parse(source)))
    lines = source.splitlines()
    found: list[Mutant] = []
    for operator in plugins.operator_names():
        if operator in _NEED_SETTINGS:
            continue
        making = plugins.get_operator(operator)()
        positions: list[Span] = [place for node in nodes for place in making.mutation_positions(node)]
        for occurrence, (start, _) in enumerate(positions):
            if any(first <= start < last for first, last in silent) or _is_same(operator, lines, start):
                continue
            inside = [name for name, (first, last) in spans if first <= start < last]
            text = lines[start[0] - 1].strip()
            found.append(Mutant(file, operator, occurrence, start[0], inside[-1] if inside else "", text))
    return found


def mutated(source: str, mutant: Mutant) -> str | None:
    """The changed source; None where it does not compile or says the same."""
    operator = _cosmic_ray("plugins").get_operator(mutant.operator)()
    try:
        code: str | None = _cosmic_ray("mutating").mutate_code(source, operator, mutant.occurrence)
        is_same = code is None or ast.dump(ast.parse(code)) == ast.dump(ast.parse(source))
    except (SyntaxError, AttributeError):  # the latter: cosmic-ray knows no exception whose name has a dot
        return None
    return None if is_same else code


def _cosmic_ray(module: str) -> Any:
    return importlib.import_module(f"cosmic_ray.{module}")


def _is_same(operator: str, lines: list[str], start: Position) -> bool:
    """Nothing here defines an `__eq__` that None would pass: `is None` and `== None` are one."""
    return operator in _SAME_FOR_NONE and lines[start[0] - 1][start[1] :].startswith(("is None", "is not None"))


def _silent(tree: ast.Module) -> Iterator[Span]:
    """Where types and explanations stand, and what nobody runs."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(body=body) if all(map(_says_nothing, body)):  # a line of a protocol
                yield (min(each.lineno for each in (node, *node.decorator_list)), 0), _span(node)[1]
            case ast.arg(annotation=ast.expr() as spoken) | ast.AnnAssign(annotation=spoken):
                yield _span(spoken)
            case ast.FunctionDef(returns=ast.expr() as spoken) | ast.AsyncFunctionDef(returns=ast.expr() as spoken):
                yield _span(spoken)
            case ast.Expr(value=ast.Constant(value=str())):
                yield _span(node)
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                yield _span(node)
            case ast.Call(func=ast.Name(id="cast" | "TypeVar")):
                yield _span(node.args[0])
            case _:
                pass


def _marks(nodes: list[Any]) -> Iterator[Span]:
    """The star and the slash of a signature, which are no product and no quotient."""
    for node in nodes:
        if node.type == "operator" and node.value in {"*", "/"} and node.parent.type in {"parameters", "lambdef"}:
            yield node.start_pos, node.end_pos


def _says_nothing(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, Span]]:
    """Outer ones first, with their decorators."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            first, last = _span(node)
            starts = [first, *((each.lineno, 0) for each in node.decorator_list)]
            yield prefix + node.name, (min(starts), last)
            yield from _functions(node, f"{prefix}{node.name}.")
        else:
            yield from _functions(node, prefix)


def _span(node: ast.expr | ast.stmt) -> Span:
    return (node.lineno, node.col_offset), (node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)


# Choosing ---------------------------------------------------------------------------------------------------------


def elsewhere(said: Rules) -> list[str]:
    """The files that the sample is taken from: in folders of folders too, and no module that is named."""
    files = sorted(path for folder in said.folders for path in (ROOT / folder).rglob("*.py"))
    names = [path.relative_to(ROOT).as_posix() for path in files]
    return [name for name in names if name not in said.modules]


def sampled(said: Rules, size: int, seed: int) -> list[Mutant]:
    return drawn([mutant for name in elsewhere(said) for mutant in mutants_of(name, _source(name))], size, seed)


def drawn(every: Iterable[Mutant], size: int, seed: int) -> list[Mutant]:
    """By what each of them is: whoever changes a line draws others in its place, and no others elsewhere."""
    alike: Counter[str] = Counter()
    lots: list[tuple[str, Mutant]] = []
    for mutant in every:
        named = f"{mutant.file} {mutant.function} {mutant.operator} {mutant.text}"
        alike[named] += 1
        lots.append((hashlib.sha256(f"{seed} {named} {alike[named]}".encode()).hexdigest(), mutant))
    return sorted(mutant for _, mutant in sorted(lots)[:size])


def tests_for(file: str, said: Rules, graph: grimp.ImportGraph, seconds: dict[str, float]) -> Tests:
    if file in said.modules:
        return said.modules[file]
    near = distances(graph, [module for module in [module_of(file)] if module])
    tests = ranked(sorted((ROOT / "tests").rglob("test_*.py")), [file], near)
    inside = [test for test in tests if test.startswith(("tests/unit/", "tests/scenarios/"))]
    is_of_one = "postgres" in file
    inner = [test for test in inside if not test.startswith(_WAITING) and (is_of_one or not starts_a_database(test))]
    first = fitting(inner, seconds, NEAR_SECONDS)
    return Tests(tuple(first), tuple(fitting(inner[len(first) :], seconds, WIDE_SECONDS)))


@cache
def starts_a_database(test: str) -> bool:
    """Which takes longer than most mutants live."""
    return "postgres" in (ROOT / test).read_text("utf-8").lower()


def each_once(chosen: Iterable[Tests]) -> list[Tests]:
    """Parts of about one length that hold every test file once: many mutants share most of theirs."""
    every = [*dict.fromkeys(chosen)]
    bare = [Tests(each.near, (), is_bare=True) for each in every if each.is_bare]
    usual = {name for each in every for name in (*each.wide, *(() if each.is_bare else each.near))}
    of_a_database = sorted(filter(starts_a_database, usual))
    others = sorted(usual.difference(of_a_database))
    parts = [of_a_database, *(others[start::PARTS] for start in range(PARTS))]
    return [*bare, *(Tests(tuple(part), ()) for part in parts if part)]


@cache
def _source(file: str) -> str:
    return (ROOT / file).read_text("utf-8")


# Running ----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Run:
    """A process that tries one mutant in one copy of the tree."""

    place: Path
    mutant: Mutant | None  # None: nothing is changed, to see that the tests pass at all
    tests: Tests
    is_wide: bool = False
    pid: int = 0
    until: float = 0.0
    looked: float = 0.0  # when its processor time was last looked at
    used: float = 0.0  # what it was


@dataclass(slots=True)
class Ledger:
    """What became of each mutant, kept: killed for as long as its file stays, survived while the tests do too."""

    path: Path
    entries: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])

    def load(self) -> None:
        with suppress(OSError, ValueError):
            self.entries = json.loads(self.path.read_text("utf-8"))

    def known(self, mutant: Mutant, tests: Tests) -> str | None:
        entry = self.entries.get(_key(mutant))
        if entry is None or (entry["outcome"] == "survived" and entry["tests"] != _digest(tests)):
            return None
        return entry["outcome"]

    def note(self, mutant: Mutant, tests: Tests, outcome: str) -> None:
        self.entries[_key(mutant)] = {"name": mutant.name, "outcome": outcome, "tests": _digest(tests)}
        self.path.parent.mkdir(exist_ok=True)
        self.path.write_text(json.dumps(self.entries, indent=0), "utf-8")


def _key(mutant: Mutant) -> str:
    source = hashlib.sha256(_source(mutant.file).encode()).hexdigest()[:16]
    return f"{mutant.file}@{source} {mutant.operator} {mutant.occurrence}"


class Workshop:
    """Copies of the tree, and processes forked from this one that run tests in them."""

    def __init__(self, folder: Path, graph: grimp.ImportGraph) -> None:
        self._graph = graph
        self._free = [copy_of_tree(folder / str(number)) for number in range(WORKERS)]
        self._busy: list[Run] = []
        self._stale: dict[str, set[str]] = {}
        _preload(graph)

    def run(self, todo: list[tuple[Mutant | None, Tests]]) -> Iterator[tuple[Mutant | None, Tests, str]]:
        """What became of each, as it is known: killed, survived, hung or equal."""
        waiting = list(reversed(todo))
        while waiting or self._busy:
            while waiting and self._free:
                mutant, tests = waiting.pop()
                run = Run(self._free.pop(), mutant, tests)
                if mutant is not None and not self._change(run.place, mutant):
                    self._free.append(run.place)
                    yield mutant, tests, "equal"
                    continue
                self._start(run)
            for run in list(self._busy):
                if outcome := self._outcome(run):
                    yield run.mutant, run.tests, outcome
            time.sleep(0.05)

    def stop(self) -> None:
        for run in self._busy:
            _end(run.pid)

    def _change(self, place: Path, mutant: Mutant) -> bool:
        source = _source(mutant.file)
        code = mutated(source, mutant)
        (place / mutant.file).write_text(code or source, "utf-8")
        return code is not None

    def _start(self, run: Run) -> None:
        stale = self._stale_with(run.mutant.file) if run.mutant else set[str]()
        run.looked, run.used = time.monotonic(), 0.0
        run.until = run.looked + WAITED_MAX
        run.pid = os.fork()
        if run.pid == 0:
            _test(run, stale)
        if run not in self._busy:
            self._busy.append(run)

    def _stale_with(self, file: str) -> set[str]:
        """The module in a file, and all that import it."""
        if file not in self._stale:
            self._stale[file] = set(distances(self._graph, [module for module in [module_of(file)] if module]))
        return self._stale[file]

    def _outcome(self, run: Run) -> str | None:
        pid, status = os.waitpid(run.pid, os.WNOHANG)
        now = time.monotonic()
        if pid == 0 and now < run.until and not only_waits(run, now):
            return None
        if pid == 0:
            _end(run.pid)
            os.waitpid(run.pid, 0)
            return self._over(run, "hung")
        code = os.waitstatus_to_exitcode(status)
        if code == NOT_MUTATED:
            raise RuntimeError(f"The tests ran without the mutant: {run.mutant}")
        passed = code == 0
        if passed and not run.is_wide and run.tests.wide:
            run.is_wide = True
            self._start(run)
            return None
        return self._over(run, "survived" if passed else "killed")

    def _over(self, run: Run, outcome: str) -> str:
        if run.mutant:
            shutil.copy2(ROOT / run.mutant.file, run.place / run.mutant.file)
        self._busy.remove(run)
        self._free.append(run.place)
        return outcome


def only_waits(run: Run, now: float) -> bool:
    """Whether it used next to no processor time since it was last looked at, which is done once a minute."""
    if now < run.looked + IDLE_SECONDS:
        return False
    used = processor_seconds(run.pid)
    is_idle = abs(used - run.used) < IDLE_CPU  # less, too, is work: of a process that ended
    run.looked, run.used = now, used
    return is_idle


def processor_seconds(session: int) -> float:
    """Of all processes of a session. Where no `/proc` tells, the clock, so that none seems to wait."""
    if not Path("/proc/self/stat").exists():
        return time.monotonic()
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended
            fields = path.read_text("utf-8", "replace").rpartition(")")[2].split()
            if int(fields[_SESSION]) == session:
                ticks += sum(map(int, fields[_TICKS]))
    return ticks / os.sysconf("SC_CLK_TCK")


def copy_of_tree(to: Path) -> Path:
    """What git knows or would take, as it stands, with its times, so that code compiled before is good there too."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    for name in names:
        if name and (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)
    for compiled in (path for folder in ("src", "tests") for path in (ROOT / folder).rglob("__pycache__")):
        shutil.copytree(compiled, to / compiled.relative_to(ROOT), dirs_exist_ok=True)
    packages = Path("tests/node/node_modules")
    if (ROOT / packages).is_dir():
        (to / packages).symlink_to(ROOT / packages)
    return to


def _preload(graph: grimp.ImportGraph) -> None:
    sys.dont_write_bytecode = True  # a mutant of the same length within the same second would be taken for the original
    for name in ("pytest", "hypothesis", *sorted(graph.modules)):
        if not name.endswith("__main__"):
            importlib.import_module(name)


def _preload_others(folder: Path) -> None:
    """What the tests imported of others when nothing was changed."""
    names = {name for path in folder.glob("*.modules") for name in path.read_text("utf-8").splitlines()}
    for name in sorted(names - sys.modules.keys()):
        if name.split(".")[0] not in {"tests", "tools", PACKAGE}:
            with suppress(Exception):
                importlib.import_module(name)


def _test(run: Run, stale: set[str]) -> None:
    """In the forked process, which ends here."""
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS_MAX, SECONDS_MAX))
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.chdir(run.place)
    output = os.open(f"{run.place}.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(output, stream)
    os.environ |= {"PYTHONPATH": f"{run.place / 'src'}:{run.place}", "PYTHONDONTWRITEBYTECODE": "1"}
    sys.path[:0] = [str(run.place), str(run.place / "src")]
    for name, module in list(sys.modules.items()):
        if name in stale or name.split(".")[0] in {"tests", "tools"}:
            _forget(name)
        elif name.split(".")[0] == PACKAGE and hasattr(module, "__path__"):
            module.__path__ = [str(run.place / Path(place).relative_to(ROOT)) for place in module.__path__]
    importlib.invalidate_caches()
    code = 1
    try:
        code = _pytest(run.tests.wide) if run.is_wide else _pytest(run.tests.near, is_bare=run.tests.is_bare)
    except BaseException:  # noqa: BLE001  # whatever a mutant throws must not reach the code that forked
        traceback.print_exc()
    if run.mutant is None:
        Path(f"{run.place}.modules").write_text("\n".join(sys.modules), "utf-8")
    elif any(not (sys.modules[name].__file__ or "").startswith(str(run.place)) for name in stale & {*sys.modules}):
        code = NOT_MUTATED
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _forget(name: str) -> None:
    """A package has its modules as attributes too, which `from package import module` takes first."""
    del sys.modules[name]
    package, _, module = name.rpartition(".")
    if package in sys.modules:
        vars(sys.modules[package]).pop(module, None)


def _pytest(tests: tuple[str, ...], *, is_bare: bool = False) -> int:
    hypothesis, pytest = importlib.import_module("hypothesis"), importlib.import_module("pytest")
    calm = {
        "deadline": None,
        "suppress_health_check": list(hypothesis.HealthCheck),
        "database": None,
        "max_examples": EXAMPLES,
    }
    hypothesis.settings.register_profile("mutants", **calm, derandomize=True)
    options = ["-x", "-q", "-p", "no:cacheprovider", "--hypothesis-profile=mutants", f"--basetemp={Path.cwd()}.tmp"]
    early = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # of plugins that were imported before the fork
    if is_bare:
        os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        early += ["--noconftest", "-p", "_hypothesis_pytestplugin", "-p", "anyio.pytest_plugin"]
    if not any(map(starts_a_database, tests)):
        options += ["-k", "not postgres"]  # those of a fair share that run on both engines
    return int(pytest.main([*options, *early, *tests]))


def _end(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


# Saying -----------------------------------------------------------------------------------------------------------


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="make mutants", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--module", action="append", help="only files that end so; the sample only where it is named")
    parser.add_argument("--sample", type=int, help="how many elsewhere; 0 for none")
    parser.add_argument("--seed", type=int, help="of the sample")
    parser.add_argument("--list", action="store_true", help="count them and run nothing")
    parser.add_argument("--fresh", action="store_true", help="forget earlier results")
    asked = parser.parse_args(arguments)
    said = rules()
    files = [name for name in said.modules if not asked.module or name.endswith(tuple(asked.module))]
    size = said.sample if asked.sample is None and not asked.module else asked.sample or 0
    chosen = [mutant for name in files for mutant in mutants_of(name, _source(name))]
    if size:
        chosen += sampled(said, size, said.seed if asked.seed is None else asked.seed)
    if asked.list:
        for name, count in Counter(mutant.file for mutant in chosen).items():
            print(f"{count:5} {name}")
        return 0
    outcomes = _outcomes(chosen, said, is_fresh=asked.fresh)
    return _verdict(outcomes, said, files)


def _outcomes(chosen: list[Mutant], said: Rules, *, is_fresh: bool) -> dict[Mutant, str]:
    """What became of each; earlier results stand as long as what they rest on does."""
    durations = importlib.import_module("tests.durations").seconds_by_file(ROOT)
    graph = grimp.build_graph(PACKAGE)
    tests = {file: tests_for(file, said, graph, durations) for file in {mutant.file for mutant in chosen}}
    for each in tests.values():
        _digest(each)
    ledger = Ledger(KEPT)
    if not is_fresh:
        ledger.load()
    found = {mutant: known for mutant in chosen if (known := ledger.known(mutant, tests[mutant.file]))}
    todo = [(mutant, tests[mutant.file]) for mutant in chosen if mutant not in found]
    if not todo:
        return found
    os.nice(5)
    signal.signal(signal.SIGTERM, _stop)
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        workshop = Workshop(Path(folder), graph)
        try:
            for _, unchanged, outcome in workshop.run([(None, each) for each in each_once(t for _, t in todo)]):
                if outcome != "survived":
                    said_by_pytest = "\n".join(path.read_text("utf-8") for path in Path(folder).glob("*.txt"))
                    raise SystemExit(f"{said_by_pytest}\nWithout any mutant these do not pass: {unchanged}")
            _preload_others(Path(folder))
            for done, (mutant, run_against, outcome) in enumerate(workshop.run([*todo]), 1):
                assert mutant is not None
                ledger.note(mutant, run_against, outcome)
                found[mutant] = outcome
                print(f"{done}/{len(todo)} {outcome:9}{mutant.name}", flush=True)
        finally:
            workshop.stop()
    return found


def _stop(_number: int, _frame: object) -> None:
    """As at Ctrl-C: processes end, copies go."""
    raise SystemExit(1)


def _verdict(outcomes: dict[Mutant, str], said: Rules, files: list[str]) -> int:
    survivors = [mutant for mutant, outcome in outcomes.items() if outcome == "survived"]
    unexplained = [mutant for mutant in survivors if not any(each.fits(mutant) for each in said.explained)]
    stale = [each for each in said.explained if each.file in files and not any(map(each.fits, survivors))]
    for file in sorted({mutant.file for mutant in outcomes}):
        counts = Counter(outcome for mutant, outcome in outcomes.items() if mutant.file == file)
        left = sum(mutant.file == file for mutant in unexplained)
        explained = counts["survived"] - left
        ran = counts.total() - counts["equal"]
        noticed = f"{counts['killed']} killed, {counts['hung']} hung"
        print(f"{file}: {ran} mutants, {noticed}, {explained} explained, {left} left")
    for mutant in unexplained:
        print(f"survived: {mutant.name}\n    {mutant.text}")
    for each in stale:
        print(f"explained, but killed: {each.file} {each.function} {each.text}")
    return 1 if unexplained or stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

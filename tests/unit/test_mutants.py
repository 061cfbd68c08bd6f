"""`make mutants` changes what runs, and nothing else; what it lets survive is explained."""

import subprocess
import sys
from pathlib import Path

from tools.mutants import (
    IDLE_SECONDS,
    ROOT,
    RULES,
    Explained,
    Mutant,
    Run,
    drawn,
    each_once,
    elsewhere,
    mutants_of,
    mutated,
    only_waits,
    rules,
)
from tools.mutants import Tests as RunAgainst
from tools.tree import PACKAGE

SOURCE = '''"""Words."""

from typing import cast

LIMIT: int | None = 3


class Box:
    def holds(self, size: int | None = None) -> bool | None:
        """Whether 2 > 1."""
        if size is None:
            return None
        return cast("int | str", size) < LIMIT
'''


def found(operator: str) -> list[tuple[int, str]]:
    return [(each.line, each.function) for each in mutants_of("box.py", SOURCE) if operator in each.operator]


def test_annotations_docstrings_and_types_are_left_alone() -> None:
    assert found("ReplaceBinaryOperator_BitOr") == []
    assert found("NumberReplacer") == [(5, ""), (5, "")]
    assert found("ReplaceComparisonOperator_Gt") == []
    assert found("ReplaceComparisonOperator_Lt_GtE") == [(13, "Box.holds")]


PROTOCOL = '''
class Holds(Protocol):
    @property
    def size(self, least: int = 1) -> int:
        """Words."""
        ...
'''


def test_lines_of_a_protocol_are_left_alone() -> None:
    assert mutants_of("holds.py", PROTOCOL) == []
    assert mutants_of("holds.py", PROTOCOL.replace("...", "return least")) != []


def test_stars_and_slashes_of_signatures_are_left_alone() -> None:
    source = "def f(x, /, y, *, z):\n    g = lambda *, w: w\n    return x * y / g(w=z)\n"

    lines = [(each.operator, each.line) for each in mutants_of("f.py", source)]

    assert [line for operator, line in lines if operator.endswith("_Mul_Div")] == [3]
    assert [line for operator, line in lines if operator.endswith("_Div_Mul")] == [3]


def test_none_compared_by_identity_or_by_value_is_one() -> None:
    assert found("ReplaceComparisonOperator_Is_Eq") == []
    assert found("ReplaceComparisonOperator_Is_IsNot") == [(11, "Box.holds")]


def test_a_mutant_differs_in_one_place() -> None:
    (mutant,) = [each for each in mutants_of("box.py", SOURCE) if each.operator.endswith("Lt_GtE")]

    changed = mutated(SOURCE, mutant)

    assert changed is not None
    before, after = SOURCE.splitlines(), changed.splitlines()
    assert [line for line, (old, new) in enumerate(zip(before, after, strict=True), 1) if old != new] == [13]


def test_what_does_not_compile_is_no_mutant() -> None:
    source = "def f(x):\n    if y := x:\n        return y\n"
    (mutant,) = [each for each in mutants_of("f.py", source) if each.operator.endswith("AddNot")]

    assert mutated(source, mutant) is None


def test_an_explanation_holds_for_its_function_line_and_operators_only() -> None:
    mutant = Mutant("a.py", "core/AddNot", 0, 3, "f", "if x:")
    explained = Explained("a.py", "f", ("Add*",), "if", "because")

    assert explained.fits(mutant)
    for changed in ({"file": "b.py"}, {"function": "g"}, {"text": "while x:"}, {"operator": "core/NumberReplacer"}):
        assert not explained.fits(mutant._replace(**changed))


def test_every_named_module_test_and_explained_function_is_there() -> None:
    said = rules(RULES)

    for file, tests in said.modules.items():
        assert (ROOT / file).is_relative_to(PACKAGE)
        assert all((ROOT / name).is_file() for name in (*tests.near, *tests.wide))
    for file in {each.file for each in said.explained}:
        functions = {mutant.function for mutant in mutants_of(file, (ROOT / file).read_text("utf-8"))}
        assert {each.function for each in said.explained if each.file == file} <= functions
    assert all(each.reason for each in said.explained)


def test_the_sample_comes_from_folders_in_folders_too_and_from_no_named_module() -> None:
    said = rules(RULES)

    files = elsewhere(said)

    assert said.modules.keys().isdisjoint(files)
    for folder in ("grants", "reads", "store/records", "store/consent", "store/engines/sqlite"):
        assert any(file.startswith(f"src/pdpp_server/{folder}/") for file in files), folder


def test_where_nothing_is_changed_every_test_runs_once() -> None:
    chat, post, database = "tests/worlds/chat.py", "tests/worlds/post.py", "tests/worlds/postgres.py"
    one, another = RunAgainst((chat, post), (database,)), RunAgainst((post,), (chat, "tests/worlds/told.py"))
    bare = RunAgainst(("tests/worlds/album.py",), ("tests/worlds/told.py",), is_bare=True)

    parts = each_once([one, another, bare, one])

    assert [each for each in parts if each.is_bare] == [RunAgainst(bare.near, (), is_bare=True)]
    usual = [each.near for each in parts if not each.is_bare]
    assert sorted(name for part in usual for name in part) == [chat, post, database, "tests/worlds/told.py"]
    assert (database,) in usual


WORKING_THEN_WAITING = """
import subprocess, sys
works = "import time\\nwhile time.process_time() < 0.5: pass\\nprint('waits', flush=True)\\ninput()"
subprocess.run([sys.executable, "-c", works])
"""


def test_a_run_whose_processes_use_no_more_processor_time_only_waits() -> None:
    command = [sys.executable, "-c", WORKING_THEN_WAITING]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        run = Run(Path(), None, RunAgainst((), ()), pid=process.pid)

        assert not only_waits(run, IDLE_SECONDS - 1)
        assert not only_waits(run, IDLE_SECONDS)
        assert 0.4 <= run.used < 5, "counted in hundredths: its own and its child's, and nobody else's"
        assert not only_waits(run, 2 * IDLE_SECONDS - 1)
        assert only_waits(run, 2 * IDLE_SECONDS)
        process.communicate(b"\n")


def test_a_sample_changes_only_where_the_code_does() -> None:
    before = [mutant for name in ("a.py", "b.py", "c.py") for mutant in mutants_of(name, "x = 1 + y\nz = 2 - y\n")]
    after = [mutant for mutant in before if mutant.file != "b.py"]
    after += mutants_of("b.py", "added = 0\nx = 1 + y\nz = 2 * y\n")

    first, then = drawn(before, 20, 7), drawn(after, 20, 7)

    assert len(first) == 20 and first == sorted(first)
    assert drawn(before, 20, 7) == first != drawn(before, 20, 8)
    of_a = [[mutant for mutant in sample if mutant.file == "a.py"] for sample in (first, then)]
    assert {*of_a[0]} <= {*of_a[1]} or {*of_a[1]} <= {*of_a[0]}
    assert len(drawn(before, 10**6, 7)) == len(before)

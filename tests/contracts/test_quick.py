"""`make quick` runs the tests that stand nearest to a change."""

import grimp

from tools.quick import distances, fitting, module_of, ranked
from tools.tree import ROOT

GRAPH = grimp.build_graph("pdpp_server")
TESTS = sorted((ROOT / "tests").rglob("test_*.py"))


def chosen(*changed: str) -> list[str]:
    modules = [module for module in map(module_of, changed) if module]
    return ranked(TESTS, [*changed], distances(GRAPH, modules))


def test_the_test_of_a_module_comes_first() -> None:
    assert chosen("src/pdpp_server/wire/cursors.py")[0] == "tests/unit/wire/test_cursors.py"


def test_a_test_that_changed_is_run_before_all_others() -> None:
    first, *others = chosen("tests/unit/store/test_db.py", "src/pdpp_server/store/engines/sqlite/db.py")

    assert first == "tests/unit/store/test_db.py"
    assert others


def test_what_imports_a_changed_module_is_reached_and_what_it_imports_is_not() -> None:
    near = distances(GRAPH, ["pdpp_server.reads.search"])

    assert near["pdpp_server.port.local"] == 1
    assert "pdpp_server.store.records.search" not in near


def test_a_helper_of_tests_brings_the_tests_that_use_it() -> None:
    assert "tests/two_worlds/test_gate.py" in chosen("tests/two_worlds/compare.py")


def test_as_many_are_run_as_fit_and_never_none() -> None:
    assert fitting(["a", "b", "c"], {"a": 50, "b": 9, "c": 9}) == ["a", "b"]
    assert fitting(["a"], {"a": 500}) == ["a"]
    assert fitting([], {}) == []

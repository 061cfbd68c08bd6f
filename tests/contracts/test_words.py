"""One word, one thing: a public class or type has a name that nothing else in the package has."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tools.tree import PACKAGE


def _types(tree: ast.Module) -> Iterator[str]:
    """Public classes, also those inside others, and names given to types at the top of a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield node.name
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_camel(name) and not _is_local(value):
                yield name
            case _:
                pass


def _is_camel(name: str) -> bool:
    return name[:1].isupper() and not name.isupper()


def _is_local(value: ast.expr) -> bool:
    """A variable of types means something only where it stands."""
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "TypeVar"


def defined_twice(modules: dict[str, str]) -> list[str]:
    places: dict[str, list[str]] = defaultdict(list)
    for module, text in modules.items():
        for name in _types(ast.parse(text)):
            if not name.startswith("_"):
                places[name].append(module)
    return [f"{name}: {', '.join(where)}" for name, where in sorted(places.items()) if len(where) > 1]


def _modules(package: Path) -> dict[str, str]:
    return {path.relative_to(package).as_posix(): path.read_text("utf-8") for path in sorted(package.rglob("*.py"))}


def test_a_public_class_has_a_name_of_its_own() -> None:
    assert defined_twice(_modules(PACKAGE)) == []


def test_a_name_that_is_taken_is_named() -> None:
    modules = {
        "a.py": "class Row: ...\nclass _Row: ...\nLine = str | bytes\nT = TypeVar('T')\nLIMIT = 1",
        "b.py": "def f():\n    class Row: ...\nclass Line: ...\nT = TypeVar('T')\nLIMIT = 2",
    }
    assert defined_twice(modules) == ["Line: a.py, b.py", "Row: a.py, b.py"]

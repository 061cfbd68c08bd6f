"""Which tests prove which promise, read from the source of the tests without importing them."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class TaggedTest:
    """A test function, its file relative to the repository, and the promises on it or on its class."""

    path: str
    name: str
    ids: tuple[str, ...]


def tagged_tests(root: Path) -> list[TaggedTest]:
    """Every test function under `root`/tests, tagged or not, in the order of path and line."""
    return [test for path in sorted((root / "tests").rglob("test_*.py")) for test in _tests_of(path, root)]


def _tests_of(path: Path, root: Path) -> Iterator[TaggedTest]:
    where = path.relative_to(root).as_posix()
    for node in ast.parse(path.read_text(encoding="utf-8"), filename=str(path)).body:
        match node:
            case ast.ClassDef(name=name, body=body) if name.startswith("Test"):
                for inner in body:
                    yield from _test_of(inner, where, _ids_of(node, where))
            case _:
                yield from _test_of(node, where, ())


def _test_of(node: ast.stmt, where: str, inherited: tuple[str, ...]) -> Iterator[TaggedTest]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
        yield TaggedTest(where, node.name, inherited + _ids_of(node, where))


def _ids_of(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, where: str) -> tuple[str, ...]:
    ids: list[str] = []
    for decorator in node.decorator_list:
        match decorator:
            case ast.Call(func=ast.Name(id="requirement") | ast.Attribute(attr="requirement"), args=arguments):
                for argument in arguments:
                    match argument:
                        case ast.Constant(value=str(id)):
                            ids.append(id)
                        case _:
                            raise ValueError(f"{where}:{decorator.lineno}: write the promise as a literal string.")
            case _:
                pass
    return tuple(ids)

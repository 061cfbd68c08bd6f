"""The package as a list of modules in call order, read from the import contract and the docstrings."""

import ast
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "pdpp_server"


@dataclass(frozen=True, slots=True)
class Module:
    """One file of the package; `name` is its path below the package, with a slash at the end for a package."""

    path: Path
    name: str
    sentence: str
    lines: int

    @property
    def depth(self) -> int:
        return self.name.rstrip("/").count("/")


def layers(root: Path = ROOT) -> list[str]:
    """The top-level names in call order, from the first layers contract in pyproject.toml."""
    contracts = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    rows: list[str] = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    return [name.strip(" ()") for row in rows for name in row.replace(":", "|").split("|")]


def modules(package: Path = PACKAGE, order: list[str] | None = None) -> list[Module]:
    """Every module except the root `__init__`; names that no layer lists come last."""
    order = layers() if order is None else order
    top = {path.stem: path for path in package.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    top.pop("__init__", None)
    names = [name for name in order if name in top] + sorted(top.keys() - set(order))
    return [module for name in names for module in _walk(package, top[name])]


def _walk(package: Path, path: Path) -> Iterator[Module]:
    if path.is_file():
        yield _module(package, path)
        return
    yield _module(package, path / "__init__.py")
    for file in sorted(path.glob("*.py")):
        if file.name != "__init__.py":
            yield _module(package, file)
    for folder in sorted(child for child in path.iterdir() if (child / "__init__.py").exists()):
        yield from _walk(package, folder)


def _module(package: Path, path: Path) -> Module:
    source = path.read_text("utf-8")
    sentence = (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]
    name = path.relative_to(package).as_posix().replace("__init__.py", "")
    return Module(path, name, sentence, len(source.splitlines()))

"""What only some systems have stands behind a question for the system; `make test` checks types as of Windows too."""

import ast
from collections.abc import Iterator

import pytest

from tests.requirements import requirement
from tools.tree import PACKAGE

ELSEWHERE_MISSING = frozenset("curses fcntl grp msvcrt posix pty pwd resource syslog termios tty winreg".split())


def unguarded(tree: ast.AST) -> Iterator[str]:
    """Modules of one system that are imported whatever the system is."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "sys.platform" in ast.unparse(node.test):
            continue
        match node:
            case ast.Import(names=aliases):
                yield from (alias.name for alias in aliases if alias.name in ELSEWHERE_MISSING)
            case ast.ImportFrom(module=str(module)) if module in ELSEWHERE_MISSING:
                yield module
            case _:
                yield from unguarded(node)


@requirement("cli.install.platforms")
def test_no_module_of_one_system_is_imported_on_every_system() -> None:
    caught = {path.name: [*unguarded(ast.parse(path.read_text("utf-8")))] for path in PACKAGE.rglob("*.py")}

    assert {name: modules for name, modules in caught.items() if modules} == {}


@requirement("cli.install.platforms")
@pytest.mark.parametrize(
    ("source", "caught"),
    [
        ("import fcntl", ["fcntl"]),
        ("def f():\n    from pwd import getpwnam", ["pwd"]),
        ("try:\n    import fcntl\nexcept ImportError: ...", ["fcntl"]),
        ("import sys\nif sys.platform == 'win32':\n    import msvcrt\nelse:\n    import fcntl", []),
    ],
)
def test_the_net_catches_what_it_should(source: str, caught: list[str]) -> None:
    assert [*unguarded(ast.parse(source))] == caught

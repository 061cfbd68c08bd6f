"""The walls of the house: who may import whom, and what only one place may do."""

import ast
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from pdpp_server.grants.permitted import Permitted, Scope
from tools.tree import PACKAGE, ROOT

LINT_IMPORTS = Path(sys.executable).with_name("lint-imports")

SQL = re.compile(
    r"(?:^|[\n(;])\s*(?:select\s.+?\sfrom\s|insert\s+(?:or\s+\w+\s+)?into\s|delete\s+from\s|update\s+\w+\s+set\s"
    r"|create\s+(?:virtual\s+)?(?:table|index|view|trigger)\s|pragma\s+\w)",
    re.IGNORECASE | re.DOTALL,
)
OUTSIDE_WORLD = re.compile(
    r"^(?:os\.(?:environb?|getenv)|time\.time(?:_ns)?"
    r"|(?:datetime\.)?datetime\.(?:now|utcnow|today)|(?:datetime\.)?date\.today)$"
)

PROOFS = {"Permitted", "Scope", "Related"}
Net = Callable[[ast.Module], Iterator[tuple[int, str]]]


def dotted(node: ast.expr) -> str:
    """`a.b.c` for a chain of attributes, else an empty text."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=attr) if dotted(value):
            return f"{dotted(value)}.{attr}"
        case _:
            return ""


def proofs(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Where a `Permitted` or a `Scope` is made, or made anew from another: both are tuples, which can be copied."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            made = node.func.value if isinstance(node.func, ast.Subscript) else node.func
            owner = dotted(made.value).split(".")[-1] if isinstance(made, ast.Attribute) else ""
            name = made.attr if isinstance(made, ast.Attribute) else dotted(made)
            if name in PROOFS:
                yield node.lineno, f"makes a {name}"
            copied = {keyword.arg for keyword in node.keywords} & {*Permitted._fields, *Scope._fields, None}
            another = owner not in PROOFS and owner.strip("_")[:1].isupper()  # a class that is none of them
            if (name == "_make" and not another) or (name == "_replace" and copied):
                yield node.lineno, "makes a proof from another"


def pendings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Where a read is said to be pending, and so how it is settled; and where its value is taken out past that."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="Pending") | ast.Subscript(value=ast.Name(id="Pending"))):
                yield node.lineno, "makes a Pending"
            case ast.ClassDef(bases=bases) if any("Pending" in ast.unparse(base) for base in bases):
                yield node.lineno, "makes another kind of Pending"
            case ast.Attribute(attr="_settle" | "_value"):
                yield node.lineno, "reaches into a Pending"
            case _:
                pass


def statements(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Where a text that is no docstring reads as SQL."""
    prose: set[ast.AST] = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)) if node not in prose and SQL.search(text):
                yield node.lineno, "speaks SQL"
            case ast.JoinedStr(values=values):
                text = "".join(str(part.value) if isinstance(part, ast.Constant) else "x" for part in values)
                if SQL.search(text):
                    yield node.lineno, "speaks SQL"
            case _:
                pass


def executions(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Where a statement is run by whoever has a connection, or a session of the store, in hand."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr="execute" | "executemany" | "run_many")):
                yield node.lineno, "runs a statement"
            case ast.Attribute(attr="connection", value=ast.Name(id="reading" | "write" | "writer")):
                yield node.lineno, "holds a connection"
            case _:
                pass


def surroundings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Where the clock or the environment is read, by whatever name it was imported."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=aliases):
                names |= {alias.asname: alias.name for alias in aliases if alias.asname}
            case ast.ImportFrom(module=str(module), names=aliases):
                names |= {alias.asname or alias.name: f"{module}.{alias.name}" for alias in aliases}
            case _:
                pass
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute | ast.Name):
            first, _, rest = dotted(node).partition(".")
            whole = ".".join(part for part in (names.get(first, first), rest) if part)
            if OUTSIDE_WORLD.match(whole):
                yield node.lineno, f"reads {whole}"


RULES: list[tuple[str, Net, tuple[str, ...]]] = [
    ("only grants/permit.py makes a Permitted", proofs, ("grants/permit.py",)),
    (
        "only a read makes a Pending",
        pendings,
        ("model/pending.py", "reads/services.py", "port/network.py", "mcp/render.py"),
    ),
    ("only the store writes SQL", statements, ("store/",)),
    ("only the store runs a statement", executions, ("store/",)),
    ("clock and environment come in as values", surroundings, ("settings.py", "one_owner.py", "cli/", "mcp/stdio.py")),
]


@cache
def caught() -> dict[str, list[str]]:
    """What each rule finds where it is not allowed: every file is parsed once for all of them."""
    found: dict[str, list[str]] = {rule: [] for rule, _, _ in RULES}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        tree = ast.parse(path.read_text("utf-8"))
        for rule, net, allowed in RULES:
            if not name.startswith(allowed):
                found[rule] += [f"{name}:{line} {what}" for line, what in net(tree)]
    return found


@pytest.mark.parametrize("rule", [rule for rule, _, _ in RULES])
def test_only_one_place_does_it(rule: str) -> None:
    assert caught()[rule] == []


@pytest.mark.parametrize(
    ("net", "source"),
    [
        (proofs, "Permitted(query, scope)"),
        (proofs, "permitted.Permitted[SearchQuery](query, scope)"),
        (proofs, "wider = Scope('grt', stream, connections, fields)"),
        (proofs, "wider = scope._replace(fields=everything)"),
        (proofs, "other = permitted._replace(**changes)"),
        (proofs, "other = Permitted._make(parts)"),
        (proofs, "other = type(permitted)._make(parts)"),
        (pendings, "given = Pending(value, id, lambda shown, size: None)"),
        (pendings, "given = Pending[Record](value, id, nothing)"),
        (pendings, "class Loud(Pending[V]): ..."),
        (pendings, "record = pending._value"),
        (statements, "sql = 'select rkey from rec where rid = :rid'"),
        (statements, "sql = '''\nINSERT OR IGNORE INTO rec values (1)\n'''"),
        (statements, "sql = f'select {columns} from rec'"),
        (statements, "sql = 'with x as (select 1 from rec) ...'"),
        (executions, "writer.execute(statement)"),
        (executions, "self._index.executemany(statement, rows)"),
        (executions, "find(reading.connection, id)"),
        (surroundings, "import os\nhome = os.environ['PDPP_HOME']"),
        (surroundings, "from os import getenv\nhome = getenv('PDPP_HOME')"),
        (surroundings, "import time as t\nnow = t.time()"),
        (surroundings, "from datetime import datetime, UTC\nnow = datetime.now(UTC)"),
        (surroundings, "import datetime\nnow = datetime.datetime.now()"),
        (surroundings, "def f(now=time.time): ..."),
    ],
)
def test_a_net_catches(net: Net, source: str) -> None:
    assert list(net(ast.parse(source)))


@pytest.mark.parametrize(
    ("net", "source"),
    [
        (proofs, "def read(permitted: Permitted[SearchQuery]) -> None: ..."),
        (proofs, "id = id._replace(connection_id=connection)"),
        (statements, '"""select a record from the store"""'),
        (statements, "text = 'You may select fields from the list.'"),
        (executions, "with database.writing() as writer:\n    keep(writer, token)"),
        (surroundings, "import time\nstarted = time.perf_counter()"),
        (surroundings, "moment = datetime.fromisoformat(text)"),
    ],
)
def test_a_net_lets_pass(net: Net, source: str) -> None:
    assert list(net(ast.parse(source))) == []


def test_the_import_contracts_hold() -> None:
    done = subprocess.run(
        [LINT_IMPORTS, "--no-cache", "--no-logo"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout

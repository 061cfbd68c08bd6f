"""One table of budgets: a number that bounds what a model reads stands in `evidence/budgets.py`, and is spent."""

import ast
import re
from collections.abc import Iterator

from pdpp_server.evidence import budgets
from tools.tree import PACKAGE

TABLE = PACKAGE / "evidence" / "budgets.py"
SHORT = 20  # a smaller number is a length of our own words, or a count of a few

# Numbers that bound no text of an answer.
OTHERS = {
    "evidence/binary.py": {24, 64, 512, 4096},  # what bytes look like
    "evidence/handles.py": {33, 127, 256, 512, 4096},  # what a handle is made of; how many are remembered
    "evidence/remarks.py": {30},  # how much oftener a word is that drowns another
    "evidence/record_lines.py": {1000},  # how many are remembered
    "evidence/text.py": {1000, 4096},  # how many are remembered; how far back a flag may begin
    "evidence/titles.py": {1000},  # how many are remembered
    "evidence/values.py": {1000},  # likewise
    "evidence/words.py": {1000, 1_000_000, 1_000_000_000},  # kB, MB, GB
    "mcp/generate.py": {300_000},  # for how long a listing may be kept
    "mcp/http.py": {32, 200, 202, 400, 404, 405, 406, 1024},  # statuses; what may come in
    "mcp/resources.py": {8192},  # what may come in
    "mcp/server.py": {500},  # a status
    "mcp/session.py": {128, 32002, 32020, 32022, 32600, 32601, 32602, 32603, 32700},  # codes; said before all is loaded
    "mcp/stdio.py": {64, 1024, 65_536},  # what may come in; an exit code
}


def numbers(tree: ast.AST) -> Iterator[int]:
    """Whole numbers that are written out, and not small."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and type(node.value) is int and node.value >= SHORT:
            yield node.value


def test_every_number_that_bounds_a_text_stands_in_the_table() -> None:
    written = {
        path.relative_to(PACKAGE).as_posix(): set(numbers(ast.parse(path.read_text("utf-8"))))
        for package in ("evidence", "mcp")
        for path in sorted((PACKAGE / package).rglob("*.py"))
        if path != TABLE
    }

    assert {module: found for module, found in written.items() if found} == OTHERS


def test_every_budget_is_spent() -> None:
    sources = [path.read_text("utf-8") for path in PACKAGE.rglob("*.py") if path != TABLE]
    spent = set(re.findall(r"\b[A-Z][A-Z_]+\b", "\n".join(sources)))

    assert {name for name in vars(budgets) if name.isupper()} - spent == set()


def test_a_number_is_found_wherever_it_is_written() -> None:
    source = "BYTES, FEW = 3600, 7\ndef f(chars=80): return text[:40] if chars < 600 else steps[19]"
    assert set(numbers(ast.parse(source))) == {3600, 80, 40, 600}

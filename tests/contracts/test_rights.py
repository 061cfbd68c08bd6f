"""What a grant can narrow is narrowed on the whole way: asked, issued, kept, decided, applied, and told in words."""

import ast
from collections.abc import Iterator
from dataclasses import fields

import pytest

from pdpp_server.grants.permitted import Scope
from pdpp_server.model.grants import StreamGrant
from pdpp_server.model.selections import StreamSelection
from tools.tree import PACKAGE

ASKED = {each.name for each in fields(StreamSelection)} - {"name"}
GRANTED = {each.name for each in fields(StreamGrant)} - {"declared"}
BOUNDED = set(Scope._fields) - {"grant_id", "stream", "granted"}
# Who must know each of them. A view is resolved into fields when a grant is issued; nobody decides by `necessity`.
WAY = {
    "wire/grants.py": ASKED | GRANTED,
    "console/choice.py": ASKED | GRANTED,
    "grants/issue.py": (ASKED | GRANTED) - {"necessity"},
    "grants/narrow.py": GRANTED,
    "grants/succeed.py": GRANTED,
    "grants/permit.py": GRANTED,
    "grants/explain.py": BOUNDED,
    "store/records/scope.py": BOUNDED - {"fields"},  # which are no rows
    "evidence/grants.py": GRANTED,
}


def named(tree: ast.AST) -> Iterator[str]:
    """What is asked of a value, or given to one, by name."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr=name) | ast.keyword(arg=str(name)):
                yield name
            case _:
                pass


@pytest.mark.parametrize("module", WAY)
def test_everything_that_narrows_is_known_there(module: str) -> None:
    known = set(named(ast.parse((PACKAGE / module).read_text("utf-8"))))
    assert WAY[module] - known == set()

"""What a grant can narrow is narrowed on the whole way: asked, issued, kept, decided, applied, and told in words."""

import ast
from collections.abc import Iterator
from dataclasses import MISSING, Field, fields, replace
from pathlib import Path
from typing import Any

import pytest

from pdpp_server.evidence.grants import stream_line
from pdpp_server.grants.explain import explain
from pdpp_server.grants.issue import everything, issue
from pdpp_server.grants.narrow import excess
from pdpp_server.grants.permit import permit
from pdpp_server.grants.permitted import Scope
from pdpp_server.grants.succeed import selection_of, successor
from pdpp_server.model.grants import Grant, Holder, StreamGrant
from pdpp_server.model.queries import RecordsQuery
from pdpp_server.model.selections import StreamSelection
from pdpp_server.model.sources import Origin
from pdpp_server.wire.grants import decode_grant, decode_selection, encode_grant, encode_selection
from tests.worlds import chat
from tools.tree import PACKAGE, ROOT

ASKED = {each.name for each in fields(StreamSelection)} - {"name"}
GRANTED = {each.name for each in fields(StreamGrant)} - {"declared"}
BOUNDED = set(Scope._fields) - {"grant_id", "stream", "granted"}
# Who must know each of them. A view is resolved into fields when a grant is issued; nobody decides by `necessity`.
WAY = {
    PACKAGE / "wire/grants.py": ASKED | GRANTED,
    PACKAGE / "console/choice.py": ASKED | GRANTED,
    PACKAGE / "grants/issue.py": (ASKED | GRANTED) - {"necessity"},
    PACKAGE / "grants/narrow.py": GRANTED,
    PACKAGE / "grants/succeed.py": GRANTED,
    PACKAGE / "grants/permit.py": GRANTED,
    PACKAGE / "grants/explain.py": BOUNDED,
    PACKAGE / "store/records/scope.py": BOUNDED - {"fields"},  # which are no rows
    PACKAGE / "store/records/freshness.py": BOUNDED - {"fields", "connections"},  # it looks at no record
    PACKAGE / "evidence/grants.py": GRANTED,
    ROOT / "tests/two_worlds/plan.py": BOUNDED,  # or nobody tries whether what it hides shows
}
# Everything at once: what is new is asked for here too, and then nobody on the way may lose it.
NARROW: dict[str, Any] = {
    "name": "messages",
    "necessity": "optional",
    "instance_ids": ["cin_work"],
    "time_range": {"since": "2026-03-01T00:00:00Z", "until": "2026-04-01T00:00:00Z"},
    "fields": ["text", "sent_at"],
    "resources": ["m1", "m2"],
}
CONNECTIONS = ("cin_work", "cin_family")
SELECTION = decode_selection([chat.detail(NARROW)])[0]
WHOLE = everything(chat.DECLARATION, CONNECTIONS).streams[0]  # of the same stream
GIVEN: Grant = issue(
    SELECTION,
    chat.DECLARATION,
    eligible={"messages": CONNECTIONS},
    grant_id="grt_1",
    issued_at="2026-11-14T08:00:00Z",
    subject="owner_local",
    client_id="cli_1",
    client_name=None,
    expires_at=None,
)
each_right = pytest.mark.parametrize("right", sorted(GRANTED))


def named(tree: ast.AST) -> Iterator[str]:
    """What is asked of a value, or given to one, by name."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr=name) | ast.keyword(arg=str(name)):
                yield name
            case _:
                pass


@pytest.mark.parametrize("module", WAY, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_everything_that_narrows_is_known_there(module: Path) -> None:
    known = set(named(ast.parse(module.read_text("utf-8"))))
    assert WAY[module] - known == set()


def default_of(each: Field[Any]) -> Any:
    return None if each.default is MISSING else each.default


def wider(right: str) -> Grant:
    """The same grant, but for one right that is given whole."""
    (stream,) = GIVEN.streams
    return replace(GIVEN, streams=(replace(stream, **{right: getattr(WHOLE, right)}),))


def held(grant: Grant) -> Holder:
    return Holder("client", "cli_1", (grant,), {name: Origin(name, "chat") for name in CONNECTIONS})


def decided(grant: Grant) -> Scope:
    (scope,) = permit(held(grant), RecordsQuery("messages")).scopes
    return scope


def test_everything_that_narrows_is_asked_for_here() -> None:
    (asked,) = SELECTION.streams
    assert {each.name for each in fields(asked) if getattr(asked, each.name) == default_of(each)} == {"view"}


@each_right
def test_what_is_asked_for_is_granted(right: str) -> None:
    assert getattr(GIVEN.streams[0], right) != getattr(WHOLE, right)


def test_what_is_asked_for_and_what_is_granted_are_kept_whole() -> None:
    assert decode_selection(encode_selection([SELECTION])) == (SELECTION,)
    assert decode_grant(encode_grant(GIVEN), chat.DECLARATION) == GIVEN


@each_right
def test_more_than_was_asked_for_is_noticed(right: str) -> None:
    assert excess(GIVEN, SELECTION, GIVEN.streams) is None
    assert excess(wider(right), SELECTION, GIVEN.streams) is not None


def test_a_successor_of_which_nothing_was_said_is_as_narrow() -> None:
    when = GIVEN.issued_at
    made = successor(GIVEN, selection_of(GIVEN), chat.DECLARATION, grant_id="grt_2", issued_at=when, expires_at=None)

    assert made.streams == GIVEN.streams


@each_right
def test_it_is_decided_explained_and_told_in_words(right: str) -> None:
    query = RecordsQuery("messages")

    assert decided(GIVEN) != decided(wider(right))
    assert explain(held(GIVEN), query) != explain(held(wider(right)), query)
    assert stream_line(GIVEN.streams[0]) != stream_line(wider(right).streams[0])

"""The log says what left: no less, and no more."""

from collections import Counter
from collections.abc import Callable, Generator
from dataclasses import replace
from typing import Any

import pytest

from pdpp_server.evidence import shown
from pdpp_server.mcp import server
from pdpp_server.mcp.surface import TOOLS
from pdpp_server.model.activity import NOTHING, Shown
from pdpp_server.model.pending import Pending
from pdpp_server.model.records import Hit, RecordPage
from pdpp_server.resource_server import query_records
from tests.log_truth.ask import SHORTENED, Tally, asking
from tests.requirements import requirement
from tests.worlds import marked
from tests.worlds.marked import LETTERS, THREADS, Marked

CALLS, SOAK = 300, 24_000
OPERATIONS = {"schema", "query_records", "aggregate", "search", "fetch", "read_record_field"}
PAGES = ("looking back", "deciding", "decided", "page", "records", "search", "sources", "timeline", "attachments")
BY_MEANING = ("by words", "by hybrid", "by semantic", "suggestion")
DOORS = ("tool", "text", "structured", "hosted", "rest")


@pytest.fixture(scope="module")
def life(tmp_path_factory: pytest.TempPathFactory) -> Generator[Marked]:
    built = marked.build(tmp_path_factory.mktemp("marked"))
    yield built
    built.close()


def asked(life: Marked, seed: int, many: int) -> Tally:
    with asking(life, seed) as ask:
        return ask.run(many)


@requirement("log.line.what-left", "log.line.never-less")
@pytest.mark.parametrize("seed", range(4))
def test_what_left_is_what_is_logged(life: Marked, seed: int) -> None:
    tally = asked(life, seed, CALLS)

    assert (tally.unlogged, tally.unsent) == ([], [])
    assert sum(tally.calls.values()) >= CALLS


@pytest.mark.soak
@requirement("log.line.what-left")
def test_in_more_than_twenty_thousand_calls_nothing_left_unlogged_and_nothing_else_was_logged(life: Marked) -> None:
    tally = asked(life, 1000, SOAK)

    assert (tally.unlogged, tally.unsent) == ([], [])
    assert all(tally.calls[f"{door} {name}"] for door in DOORS for name in OPERATIONS), tally.calls
    assert all(tally.calls[what] for what in ("blob", "head", "completion", *PAGES, *BY_MEANING, *SHORTENED)), (
        tally.calls
    )


@requirement("log.line.what-left")
def test_every_argument_of_every_tool_is_among_the_questions(life: Marked) -> None:
    with asking(life, 0) as ask:
        for name in ("", "letters", "threads", "facts"):
            way = b'{"query":"lake","cursor":"c"}' if name == "" else b'{"stream":"letters","cursor":"c"}'
            ask.ways[name] = [(way.decode(), "")]
        used = Counter((tool, name) for _ in range(3000) for tool, given in [ask.question()] for name in given)

    assert {(tool.name, name) for tool in TOOLS for name in tool.input_schema["properties"]} <= used.keys()


# The check can fail: each of these faults is found. ------------------------------------------------------------------


def related_records_are_not_logged(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(shown, "related_to", lambda record: iter(()))


def the_text_is_not_looked_at(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(server, "together", lambda structured, text: structured)


def the_structure_is_not_looked_at(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(server, "together", lambda structured, text: text)


def each_attempt_has_a_line(patch: pytest.MonkeyPatch) -> None:
    def followed(self: Pending[Any], ask: Callable[[Any], Pending[Any]]) -> Pending[Any]:
        self.leave(lambda value: server.Leaving(value, NOTHING, 0))
        return self._followed(ask)  # pyright: ignore[reportAttributeAccessIssue]

    patch.setattr(Pending, "_followed", Pending.followed, raising=False)
    patch.setattr(Pending, "followed", followed)


def where_a_title_and_a_time_come_from_is_forgotten(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Hit, "told_fields", ())


def the_first_and_the_last_time_of_a_list_are_forgotten(patch: pytest.MonkeyPatch) -> None:
    def without_times(page: RecordPage) -> Shown:
        return shown.page_shown(replace(page, span=None))

    patch.setattr(query_records, "page_shown", without_times)


def what_stays_in_the_server_is_logged(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        server, "_shown", lambda result, _: server.together(result.structured_shows, Shown(fields=("f_body",)))
    )


LONGER_TEXT = ("query_records", {"stream": THREADS, "expand": ["letters"], "expand_limit": {"letters": 50}})
TIMES_OF_HIDDEN_FIELDS = f"/v1/streams/{LETTERS}/records?view=short&window=exact"
FAULTS = [
    related_records_are_not_logged,
    the_text_is_not_looked_at,
    the_structure_is_not_looked_at,
    each_attempt_has_a_line,
    where_a_title_and_a_time_come_from_is_forgotten,
    the_first_and_the_last_time_of_a_list_are_forgotten,
    what_stays_in_the_server_is_logged,
]


@requirement("log.line.what-left")
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_fault_of_the_log_is_found(
    fault: Callable[[pytest.MonkeyPatch], None], life: Marked, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault(monkeypatch)

    with asking(life, 3) as ask:
        for _ in range(40):  # by chance two of these faults are met once in a thousand calls
            ask.by_tool(LONGER_TEXT)
            ask.by_rest(TIMES_OF_HIDDEN_FIELDS)
        tally = ask.run(100)

    assert tally.unlogged or tally.unsent

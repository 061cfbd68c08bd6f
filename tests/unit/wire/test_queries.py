"""A parameter is declared beside the field that keeps it, and every door takes it from there."""

from dataclasses import dataclass
from typing import Any

import click
import pytest
from click.testing import CliRunner

from pdpp_server.cli.options import arguments_from, options_of
from pdpp_server.errors import InvalidRequest
from pdpp_server.mcp.arguments import arguments_for
from pdpp_server.model.parameters import Parameter, arguments_of, bound_by, said
from pdpp_server.reads.disclosure import logged_query
from pdpp_server.wire.envelope import url
from pdpp_server.wire.params import Params
from pdpp_server.wire.queries import decode, encode, require_company, rows
from pdpp_server.wire.tools import params_of


@dataclass(frozen=True, slots=True)
class LettersQuery:
    """A read that does not exist, with one parameter that no other has."""

    since: str | None = said(Parameter(says="From then on.", hint="A day", logged="plainly", is_bound=True), None)
    most: int = said(
        Parameter(kind="whole", says="How many.", hint="", name="count", least=1, most=9, goes_with=("since",)), 3
    )
    who: str | None = said(Parameter(says="Whose.", hint="A name", tool="writer", logged="digest"), None)


def read(raw: str) -> LettersQuery:
    return decode(LettersQuery, Params.parse(raw.encode("ascii")))


def test_an_address_lists_reads_and_writes_it() -> None:
    assert [row.name for row in rows(LettersQuery)] == ["since", "count", "who"]
    query = read("since=2026-01-01&count=4&who=Ada")
    assert query == LettersQuery("2026-01-01", 4, "Ada")
    assert read(url("letters", **encode(query)).partition("?")[2]) == query
    with pytest.raises(InvalidRequest, match="No parameter is called 'until'"):
        read("until=2026-01-01")


def test_a_tool_lists_and_reads_it_by_its_own_name() -> None:
    listed = arguments_for(LettersQuery)
    assert listed["writer"] == {"type": "string", "minLength": 1, "description": "A name"}
    assert listed["count"] == {"type": "integer", "minimum": 1, "maximum": 9}

    assert decode(LettersQuery, params_of(LettersQuery, {"writer": "Ada", "count": 2})) == LettersQuery(None, 2, "Ada")


def test_a_command_offers_it_and_says_to_the_tool_what_was_given() -> None:
    heard: list[dict[str, Any]] = []

    @click.command()
    @options_of(LettersQuery)
    def letters(**given: Any) -> None:
        heard.append(arguments_from(LettersQuery, **given))

    CliRunner().invoke(letters, ["--writer", "Ada", "--count", "2"], catch_exceptions=False)

    assert heard == [{"writer": "Ada", "count": 2}]
    assert "From then on." in CliRunner().invoke(letters, ["--help"]).output


def test_the_log_the_cursor_and_the_next_step_know_it() -> None:
    query: Any = LettersQuery("2026-01-01", 4, "Ada")

    logged = logged_query(query, b"k" * 32)
    assert logged["since"] == "2026-01-01"
    assert logged["writer"].startswith("keyed:")
    assert logged.keys() == {"since", "writer"}
    assert bound_by(query) == ("2026-01-01",)
    assert arguments_of(query, {}) == {"since": "2026-01-01", "count": 4, "writer": "Ada"}
    assert arguments_of(LettersQuery(who="Ada"), {}) == {"writer": "Ada"}


def test_what_means_nothing_alone_is_refused_and_not_sent() -> None:
    params = Params.parse(b"count=4")
    with pytest.raises(InvalidRequest, match="count goes with since only"):
        require_company(decode(LettersQuery, params), params)

    assert "count" not in encode(LettersQuery(None, 4))

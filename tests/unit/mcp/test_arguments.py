"""Arguments of the tools: what a model means by them."""

from typing import Any

import pytest

from pdpp_server.errors import InvalidExpand, InvalidFilter, InvalidRequest
from pdpp_server.mcp.arguments import arguments_for, input_schema, meant, refusal_of
from pdpp_server.model.queries import RecordsQuery

SCHEMA = input_schema(arguments_for(RecordsQuery), "stream")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"cursor": None, "filter": {}, "expand": [], "view": ""}, {"view": ""}),  # without it more would be shown
        ({"fields": []}, {"fields": []}),
        ({"cursor": []}, {"cursor": []}),  # a mistake, and not nothing
        ({"stream": ""}, {"stream": ""}),
        ({"limit": "5"}, {"limit": 5}),
        ({"limit": 5.0}, {"limit": 5}),
        ({"limit": "five"}, {"limit": "five"}),
        ({"expand_limit": {"thread": "3"}}, {"expand_limit": {"thread": 3}}),
        ({"colour": None}, {"colour": None}),  # to be refused by its name
    ],
)
def test_what_says_nothing_is_left_out_unless_more_would_be_shown(
    given: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert meant(SCHEMA, given) == expected


@pytest.mark.parametrize(
    ("name", "kind"),
    [("filter", InvalidFilter), ("expand_limit", InvalidExpand), ("limit", InvalidRequest), (None, InvalidRequest)],
)
def test_a_wrong_argument_is_refused_under_its_name(name: str | None, kind: type[InvalidRequest]) -> None:
    refusal = refusal_of(name, "No.")

    assert (type(refusal), refusal.param) == (kind, name)

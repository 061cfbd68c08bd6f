"""What the options of a command say, as its tool takes it."""

import click
import pytest

from pdpp_server.cli.options import arguments_from, listed
from pdpp_server.model.queries import RecordsQuery, SearchQuery


def test_only_what_was_given_is_an_argument() -> None:
    nothing = {"streams": (), "limit": None, "connection_id": None, "conditions": ()}
    assert arguments_from(SearchQuery, text="tea", **nothing) == {"query": "tea"}
    assert arguments_from(SearchQuery, streams=("a", "b"), limit=3) == {"streams": ["a", "b"], "limit": 3}


@pytest.mark.parametrize(
    ("filters", "typed"),
    [
        (("who=Ann",), {"who": "Ann"}),
        (("n>=1", "n<3"), {"n": {"gte": "1", "lt": "3"}}),
        ((" n > 1 ",), {"n": {"gt": "1"}}),
        (("who=a=b",), {"who": "a=b"}),
        (("who=",), {"who": ""}),
        (("n>=1", "n=2"), {"n": "2"}),
    ],
)
def test_a_filter_is_a_field_a_sign_and_a_value(filters: tuple[str, ...], typed: dict[str, object]) -> None:
    assert arguments_from(RecordsQuery, conditions=filters) == {"filter": typed}


@pytest.mark.parametrize("written", ["who", "=Ann", ""])
def test_a_filter_that_is_none_is_told_how_to_write_one(written: str) -> None:
    with pytest.raises(click.UsageError, match="--filter is FIELD=VALUE"):
        arguments_from(RecordsQuery, conditions=(written,))


@pytest.mark.parametrize(
    ("given", "arguments"),
    [
        ("files", {"expand": ["files"]}),
        ("files, thread:3", {"expand": ["files", "thread"], "expand_limit": {"thread": 3}}),
        ("files:many", {"expand": ["files"], "expand_limit": {"files": "many"}}),  # refused by whoever reads it
    ],
)
def test_relations_are_named_with_how_many_records_each_may_give(given: str, arguments: dict[str, object]) -> None:
    assert arguments_from(RecordsQuery, expand=given) == arguments


def test_names_are_listed_with_commas() -> None:
    assert listed("a, b,c ") == ["a", "b", "c"]

"""Arguments of a tool as the reader of an address takes them, and what is too much of them."""

import pytest

from pdpp_server.errors import InvalidExpand, InvalidFilter, InvalidRequest
from pdpp_server.model.queries import Condition, RecordsQuery, SearchQuery
from pdpp_server.wire.query_records import decode_query
from pdpp_server.wire.tools import ARGUMENTS_BYTES_MAX, check_size, encode_next, params_of


@pytest.mark.parametrize(
    ("value", "read"),
    [("5", "5"), (5, "5"), (5.0, "5"), (5.5, "5.5"), (True, "true"), (2.0**60, "1.152921504606847e+18")],
)
def test_a_typed_filter_is_read_as_an_address_would_be(value: object, read: str) -> None:
    """JSON does not tell 5.0 from 5, as long as a float can tell whole numbers apart."""
    params = params_of(RecordsQuery, {"filter": {"n": {"gte": value}}})
    assert decode_query(params, stream="notes").conditions == (Condition("n", "gte", read),)


@pytest.mark.parametrize("name", ["", "a[b", "a]"])
def test_a_name_that_an_address_could_not_hold_is_refused(name: str) -> None:
    with pytest.raises(InvalidFilter):
        params_of(RecordsQuery, {"filter": {name: 1}})
    with pytest.raises(InvalidExpand):
        params_of(RecordsQuery, {"expand": ["thread"], "expand_limit": {name: 1}})


def test_what_every_next_step_would_repeat_has_a_bound_and_the_words_of_a_question_have_their_own() -> None:
    long = "x" * ARGUMENTS_BYTES_MAX
    check_size({"query": long, "cursor": long, "limit": 3})
    with pytest.raises(InvalidRequest, match=r"The arguments have \d+ bytes"):
        check_size({"fields": [long]})
    with pytest.raises(InvalidRequest):
        params_of(SearchQuery, {"query": "tea", "streams": [long]})


def test_a_next_step_is_a_tool_and_its_arguments() -> None:
    assert encode_next([("fetch", {"id": "1"})]) == [{"tool": "fetch", "arguments": {"id": "1"}}]

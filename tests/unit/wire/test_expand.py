"""Expansions in a query string."""

import pytest

from pdpp_server.errors import InvalidExpand, InvalidRequest
from pdpp_server.model.queries import Expand
from pdpp_server.wire.envelope import url
from pdpp_server.wire.expand import decode_expand, encode_expand
from pdpp_server.wire.params import Params


def test_what_is_written_is_read_again() -> None:
    asked = (Expand("thread"), Expand("attachments", 3))

    _, _, query = url("streams", **encode_expand(asked)).partition("?")

    assert decode_expand(Params.parse(query.encode())) == asked
    assert encode_expand(()) == {}


@pytest.mark.parametrize("query", ["expand_limit[thread]=3", "expand=thread&expand_limit[letters]=3"])
def test_a_limit_needs_its_relation(query: str) -> None:
    with pytest.raises(InvalidExpand, match="same relation"):
        decode_expand(Params.parse(query.encode()))


@pytest.mark.parametrize("limit", ["0", "-1", "few", ""])
def test_a_limit_is_a_whole_number_above_0(limit: str) -> None:
    with pytest.raises(InvalidRequest, match="above 0"):
        decode_expand(Params.parse(f"expand=thread&expand_limit[thread]={limit}".encode()))

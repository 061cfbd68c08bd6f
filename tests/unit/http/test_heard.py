"""A request as it is heard once for all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers

from pdpp_server.http.heard import COURSE, HEADERS, Course, HeardRequest, NamedHeaders

NAMES = st.sampled_from([b"host", b"accept", b"origin", b"x-a", b"request-id"])
VALUES = st.binary(max_size=6)
ASKED = ("Host", "accept", "ORIGIN", "x-a", "Request-Id", "missing")


@given(st.lists(st.tuples(NAMES, VALUES), max_size=8))
def test_headers_by_name_say_what_starlettes_say(raw: list[tuple[bytes, bytes]]) -> None:
    ours, theirs = NamedHeaders(raw), Headers(raw=raw)
    for name in ASKED:
        assert ours.get(name) == theirs.get(name)
        assert ours.get(name, "none") == theirs.get(name, "none")
        assert ours.getlist(name) == theirs.getlist(name)
        assert (name in ours) is (name in theirs)
    assert (ours, [*ours], ours.items()) == (theirs, [*theirs], theirs.items())


def test_a_header_that_is_not_there_is_missing() -> None:
    assert NamedHeaders([(b"host", b"a")])["HOST"] == "a"
    with pytest.raises(KeyError):
        NamedHeaders([(b"host", b"a")])["accept"]


def test_all_that_is_made_of_one_request_shares_its_course() -> None:
    course, headers = Course("r", 0.0), NamedHeaders([(b"host", b"a")])
    scope = {"type": "http", "headers": [], COURSE: course, HEADERS: headers}
    first, second = HeardRequest(scope), HeardRequest(scope)
    first.course.code = "not_found"
    assert second.course.code == "not_found"
    assert second.headers is headers

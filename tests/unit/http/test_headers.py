"""Request ids, bearers and challenges."""

import pytest
from starlette.datastructures import Headers

from pdpp_server.errors import GrantRevoked, NotFound, Unauthenticated, UnsupportedVersion
from pdpp_server.http.headers import bearer_of, check_version, refusal_headers, request_id_of
from pdpp_server.wire.envelope import VERSION


@pytest.mark.parametrize("given", ["mine", "a b", "x" * 128])
def test_the_callers_own_request_id_is_kept(given: str) -> None:
    assert request_id_of(Headers({"request-id": given})) == given


@pytest.mark.parametrize("given", ["", " mine", "x" * 129, "a\tb", "\u00e9"])
def test_one_that_cannot_stand_in_a_header_and_a_log_is_replaced(given: str) -> None:
    made = request_id_of(Headers({"request-id": given}))

    assert made.startswith("req_")
    assert made != request_id_of(Headers({}))


def test_the_scheme_of_a_bearer_is_read_in_any_case() -> None:
    assert bearer_of(Headers({"authorization": "bEARER  t1 "})) == "t1"


@pytest.mark.parametrize("said", ["", "Bearer", "Bearer  ", "Basic t1", "t1"])
def test_without_a_bearer_nobody_asked(said: str) -> None:
    with pytest.raises(Unauthenticated):
        bearer_of(Headers({"authorization": said}))


def test_another_version_is_refused_by_name_and_none_is_ours() -> None:
    check_version(Headers({}))
    check_version(Headers({"pdpp-version": VERSION}))
    with pytest.raises(UnsupportedVersion, match=VERSION):
        check_version(Headers({"pdpp-version": "1999-01-01"}))


def test_a_challenge_finds_fault_only_with_a_token_that_was_sent() -> None:
    def challenge(*, had_token: bool) -> str:
        return refusal_headers(Unauthenticated("No."), "M", "I", had_token=had_token)["WWW-Authenticate"]

    assert 'error="invalid_token"' in challenge(had_token=True)
    assert "error" not in challenge(had_token=False)
    ended = refusal_headers(GrantRevoked("Over."), "M", "I", had_token=True)["WWW-Authenticate"]
    assert 'error="insufficient_scope"' in ended
    assert refusal_headers(NotFound("Gone."), "M", "I", had_token=True) == {}

"""Refusals over the wire."""

import pytest

from pdpp_server.errors import (
    AmbiguousConnection,
    Candidate,
    Conflict,
    ConnectionNotFound,
    InvalidCursor,
    InvalidRequest,
    NotFound,
    PdppError,
    PermissionDenied,
    RateLimited,
    ServerTrouble,
    SourceUnavailable,
    StreamNotGranted,
    Unauthenticated,
)
from pdpp_server.wire.errors import decode, encode
from tests.requirements import requirement


def test_a_refusal_is_one_object() -> None:
    refusal = InvalidCursor("No such cursor.", param="cursor")

    assert encode(refusal, request_id="req_1", resource_metadata="https://host/metadata") == {
        "error": {
            "type": "invalid_request_error",
            "code": "invalid_cursor",
            "message": "No such cursor.",
            "param": "cursor",
            "request_id": "req_1",
            "next_step": "Repeat the call without the cursor.",
        }
    }


def test_what_nobody_said_is_left_out() -> None:
    assert set(encode(NotFound("Nothing here."))["error"]) == {"type", "code", "message"}


def test_only_a_401_says_where_tokens_come_from() -> None:
    error = encode(Unauthenticated("Who?"), resource_metadata="https://host/metadata")["error"]

    assert error["resource_metadata"] == "https://host/metadata"
    assert error["next_step"] == "Connect again to get a token."


def test_candidates_survive_the_wire() -> None:
    candidates = (Candidate("cin_a", "slack", "grt_1", "Work"), Candidate("cin_b", "slack"))
    refusal = AmbiguousConnection("Which?", param="connection_id", candidates=candidates, remedy="Say which.")
    refusal.request_id = "req_1"
    error = encode(refusal)["error"]
    decoded = decode(409, {"error": error})

    assert error["available_connections"] == [
        {"connection_id": "cin_a", "connector_key": "slack", "grant_id": "grt_1", "display_name": "Work"},
        {"connection_id": "cin_b", "connector_key": "slack"},
    ]
    assert (error["retry_with"], error["available_connection_count"]) == ("connection_id", 2)
    assert "available_connections_truncated" not in error
    assert type(decoded) is AmbiguousConnection
    assert (decoded.candidates, decoded.remedy, decoded.request_id) == (candidates, "Say which.", "req_1")


def test_at_most_twelve_candidates_are_listed_and_the_rest_counted() -> None:
    candidates = tuple(Candidate(f"cin_{n}", "slack") for n in range(15))
    error = encode(AmbiguousConnection("Which?", candidates=candidates))["error"]

    assert [entry["connection_id"] for entry in error["available_connections"]] == [f"cin_{n}" for n in range(12)]
    assert error["available_connection_count"] == 15
    assert (error["available_connections_truncated"], error["available_connections_omitted"]) == (True, 3)


@pytest.mark.parametrize(
    ("body", "refusal"),
    [
        (None, SourceUnavailable),
        ("<html>", SourceUnavailable),
        ([], SourceUnavailable),
        ({"error": "invalid_token"}, SourceUnavailable),
        ({"error": {"code": "not_found"}}, SourceUnavailable),
        ({"error": {"code": "api_error", "message": "Boom."}}, ServerTrouble),
        ({"error": {"code": "brand_new", "message": "Boom."}}, ServerTrouble),
    ],
)
def test_a_strangers_trouble_is_always_a_refusal(body: object, refusal: type[PdppError]) -> None:
    assert type(decode(500, body)) is refusal


def test_an_unknown_code_is_named_only_if_it_looks_like_one() -> None:
    assert "brand_new" in decode(400, {"error": {"code": "brand_new", "message": "x"}}).message
    assert "evil" not in decode(400, {"error": {"code": "evil\ntext", "message": "x"}}).message


@pytest.mark.parametrize(
    ("status", "refusal"),
    [
        *((400, InvalidRequest), (401, Unauthenticated), (403, PermissionDenied), (404, NotFound), (409, Conflict)),
        *((410, NotFound), (418, ServerTrouble), (422, InvalidRequest), (429, RateLimited), (503, ServerTrouble)),
    ],
)
def test_an_unknown_code_means_what_its_status_means_and_keeps_its_words(status: int, refusal: type[PdppError]) -> None:
    body = {"error": {"code": "brand_new", "message": "Not so.", "param": "q", "request_id": "req_1"}}
    decoded = decode(status, body, server="The server me.example")

    assert type(decoded) is refusal
    assert decoded.message == (
        f"Not so. (The server me.example answered {status} with brand_new, which this version does not know.)"
    )
    assert (decoded.param, decoded.request_id) == ("q", "req_1")


def test_a_status_that_needs_no_words_is_understood_without_them() -> None:
    assert type(decode(401, None)) is Unauthenticated
    assert type(decode(429, "<html>")) is RateLimited


def test_an_older_servers_candidate_is_named_by_alias_and_address() -> None:
    entry = {"connector_instance_id": "cin_a", "connector_key": "https://registry.pdpp.dev/connectors/slack"}
    body = {"error": {"code": "ambiguous_connection", "message": "Which?", "available_connections": [entry]}}

    assert decode(409, body).candidates == (Candidate("cin_a", "slack"),)


@pytest.mark.parametrize(
    ("context", "refusal"), [("stream_not_allowed", StreamNotGranted), ("instance_mismatch", ConnectionNotFound)]
)
def test_a_401_that_is_not_about_the_token_does_not_send_anybody_to_connect_again(
    context: str, refusal: type[PdppError]
) -> None:
    body = {"error": {"code": "authentication_error", "message": "No.", "context": context}}

    decoded = decode(401, body)

    assert type(decoded) is refusal
    assert "Connect again" not in (decoded.remedy or "")


@requirement("port.network.foreign-refusals")
@pytest.mark.parametrize(
    ("status", "error", "refusal", "words"),
    [
        (
            403,
            {"code": "cursor_expired", "message": "Gone."},
            PermissionDenied,
            "cursor_expired, which is no code of 403",
        ),
        (500, {"code": "authentication_error", "message": "Boom."}, ServerTrouble, "which is no code of 500"),
        (404, {"code": "rate_limit_exceeded", "message": "No."}, NotFound, "which is no code of 404"),
        (403, {"code": {"future": True}, "type": ["future"], "message": "Not you."}, PermissionDenied, "Not you. ("),
        (401, {"code": "context.stream_not_allowed", "message": "No."}, StreamNotGranted, "No."),
        (400, "invalid_request", InvalidRequest, "The server answered 400 with invalid_request."),
    ],
)
def test_no_code_takes_back_what_the_status_says(
    status: int, error: object, refusal: type[PdppError], words: str
) -> None:
    decoded = decode(status, {"error": error})

    assert type(decoded) is refusal
    assert words in decoded.message

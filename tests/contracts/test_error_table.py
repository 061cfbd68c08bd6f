"""The class tree is the error table of the protocol, and every class explains itself."""

import re

import pytest

from pdpp_server import errors
from pdpp_server.errors import Candidate, PdppError
from pdpp_server.wire.errors import decode, encode, refusals
from tests.requirements import requirement
from tools.tree import PACKAGE

PROTOCOL = {
    "invalid_request": 400,
    "invalid_argument": 400,
    "invalid_cursor": 400,
    "invalid_expand": 400,
    "invalid_sort": 400,
    "invalid_window": 400,
    "invalid_field_path": 400,
    "unknown_field": 400,
    "unsupported_version": 400,
    "invalid_record": 400,
    "invalid_record_identity": 400,
    "connector_invalid": 400,
    "authentication_error": 401,
    "field_not_granted": 403,
    "insufficient_scope": 403,
    "grant_stream_not_allowed": 403,
    "grant_time_range_exceeded": 403,
    "grant_expired": 403,
    "grant_revoked": 403,
    "grant_invalid": 403,
    "grant_consumed": 403,
    "permission_error": 403,
    "package_revoked": 403,
    "not_found": 404,
    "stream_not_declared": 404,
    "connection_not_found": 404,
    "connector_instance_not_found": 404,
    "blob_not_found": 404,
    "field_not_found": 404,
    "query_not_found": 404,
    "ambiguous_connection": 409,
    "ambiguous_connector_instance": 409,
    "ambiguous_schema_detail": 409,
    "cursor_expired": 410,
    "resource_limit": 413,
    "misdirected_request": 421,
    "field_not_text": 422,
    "rate_limit_exceeded": 429,
    "api_error": 500,
    "ingest_batch_storage_error": 503,
    "run_terminal": 503,
}
RULED = {
    "invalid_record_id": 400,
    "conflicting_connection_id": 400,
    "invalid_filter": 400,
    "invalid_field_window_selector": 400,
    "unsupported_mode": 400,
    "source_unavailable": 502,
    "disclosure_log_unavailable": 503,
}
OURS = {
    "invalid_declaration": 400,
    "invalid_authorization_details": 400,
    "conflict": 409,
    "approval_conflict": 409,
    "range_not_satisfiable": 416,
    "query_timeout": 503,
    "authorization_server_unavailable": 503,
    "database_unavailable": 503,
    "owner_limit_reached": 403,
}
# In the protocol's table and in no class: the server has one owner, and no consent of an older shape.
# `slow_down` belongs to OAuth, `needs_broader_grant` to nobody's server.
NEVER_RAISED = {
    "owner_subject_required",
    "authorization_state.unsupported_legacy_shape",
    "slow_down",
    "needs_broader_grant",
}
FROM_ELSEWHERE = {"invalid_record", "grant_time_range_exceeded", "grant_consumed", "run_terminal"}
TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    409: "conflict_error",
    410: "gone_error",
    413: "invalid_request_error",
    416: "invalid_request_error",
    421: "invalid_request_error",
    422: "unprocessable_error",
    429: "rate_limit_error",
    500: "api_error",
    502: "api_error",
    503: "api_error",
}
CLASSES = [refusal for refusal in refusals() if refusal.__module__ == errors.__name__]
each_class = pytest.mark.parametrize("refusal", CLASSES, ids=lambda refusal: refusal.__name__)


@requirement("rs.errors.table", "rs.errors.own-codes")
def test_the_classes_are_the_table() -> None:
    assert {refusal.code: refusal.status for refusal in CLASSES} == PROTOCOL | RULED | OURS


@requirement("rs.errors.table")
def test_a_code_has_one_class() -> None:
    assert len({refusal.code for refusal in CLASSES}) == len(CLASSES)


@requirement("rs.errors.table", "rs.errors.conflict-types")
@each_class
def test_the_type_follows_from_the_status(refusal: type[PdppError]) -> None:
    assert refusal.type == TYPES[refusal.status]


def test_every_refusal_is_raised_by_somebody_here_or_known_from_elsewhere() -> None:
    told_only = {PACKAGE / "errors.py", PACKAGE / "resource_server" / "endpoints.py"}
    sources = [path.read_text("utf-8") for path in PACKAGE.rglob("*.py") if path not in told_only]
    named = set(re.findall(r"\w+", "\n".join(sources)))

    assert {refusal.code for refusal in CLASSES if refusal.__name__ not in named} == FROM_ELSEWHERE
    assert all(f"`{code}`" in (errors.__doc__ or "") for code in FROM_ELSEWHERE)


@requirement("rs.errors.no-broader-grant")
def test_some_codes_are_raised_by_nobody() -> None:
    assert NEVER_RAISED.isdisjoint(refusal.code for refusal in refusals())


@each_class
def test_a_class_explains_itself(refusal: type[PdppError]) -> None:
    sentence = vars(refusal).get("__doc__") or ""
    assert sentence.endswith("."), f"{refusal.__name__} needs a sentence of its own"
    assert not refusal.remedy or refusal.remedy.endswith((".", "`."))


@requirement("rs.errors.round-trip", "rs.errors.envelope")
@each_class
def test_a_refusal_survives_the_wire(refusal: type[PdppError]) -> None:
    sent = refusal("Why it is refused.", param="stream", candidates=(Candidate("cin_a", "slack", "grt_1", "Work"),))
    body = encode(sent, request_id="req_1")
    got = decode(refusal.status, body)

    assert {"type", "code", "message", "param", "request_id"} <= set(body["error"])
    assert type(got) is refusal
    assert (got.message, got.param, got.remedy, got.candidates) == (
        sent.message,
        sent.param,
        sent.remedy,
        sent.candidates,
    )
    assert got.request_id == "req_1"


@requirement("rs.errors.round-trip")
def test_an_unknown_code_becomes_an_internal_error() -> None:
    assert decode(418, {"error": {"code": "teapot", "message": "Short and stout."}}).code == "api_error"


def drawing() -> str:
    """The categories, each with the statuses of itself and its leaves, and its own sentence."""
    lines = ["    PdppError"]
    categories = [refusal for refusal in CLASSES if refusal.__bases__ == (PdppError,)]
    for category in categories:
        statuses = sorted({refusal.status for refusal in CLASSES if issubclass(refusal, category)})
        named = f"{category.__name__} ({', '.join(map(str, statuses))})"
        branch = "└──" if category is categories[-1] else "├──"
        lines.append(f"    {branch} {named:<30} {category.__doc__}")
    return "\n".join(lines)


def test_the_tree_is_drawn_as_it_grows() -> None:
    assert drawing() in (errors.__doc__ or ""), f"draw it so:\n{drawing()}"

"""The error envelope, both directions."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pdpp_server.errors import (
    CANDIDATES_MAX,
    Candidate,
    Conflict,
    ConnectionNotFound,
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
from pdpp_server.wire.envelope import Json, object_of, objects_of, present, text_of
from pdpp_server.wire.records import decode_origin

_CODE = re.compile(r"[a-z][a-z0-9_.]{0,63}")


def encode(error: PdppError, *, request_id: str | None = None, resource_metadata: str | None = None) -> Json:
    """With the remedy as its next step; a 401 also says where to learn how to get a token."""
    unknown_caller = isinstance(error, Unauthenticated)
    return {
        "error": {
            "type": error.type,
            "code": error.code,
            "message": error.message,
            **present(
                param=error.param,
                request_id=request_id or error.request_id,
                resource_metadata=resource_metadata if unknown_caller else None,
                next_step=error.remedy or None,
            ),
            **(_encode_candidates(error.candidates) if error.candidates else {}),
        }
    }


def decode(status: int, body: object, *, server: str = "The server") -> PdppError:
    """The refusal that the server meant, of the same class; never less than a refusal."""
    said = object_of({"body": body}, "body")
    error = object_of(said, "error") or _oauth_error(said)
    code, message = text_of(error, "code"), text_of(error, "message")
    answered = f"{server} answered {status}"
    refusal = _meant(status, code, text_of(error, "context"))
    if refusal is None and message is None:
        unexplained = UNEXPLAINED.get(status, SourceUnavailable)
        return unexplained(f"{answered} without saying why.")
    if refusal is None:
        refusal = CATEGORIES.get(status, ServerTrouble)
        why = f"which is no code of {status}" if code in CLASSES else "which this version does not know"
        message = f"{message} ({answered} with {_named(code)}, {why}.)"
    decoded = refusal(
        message or f"{answered} with {_named(code)}.",
        param=text_of(error, "param"),
        remedy=text_of(error, "next_step") or text_of(error, "remedy"),
        candidates=tuple(_decode_candidate(entry) for entry in objects_of(error, "available_connections")),
    )
    decoded.request_id = text_of(error, "request_id")
    return decoded


def _meant(status: int, code: str | None, context: str | None) -> type[PdppError] | None:
    """The refusal of that context, or of that code where it is one of that status: what the status says, no code
    takes back."""
    named = context or code or ""
    known = CONTEXTS.get(named.removeprefix("context."))
    if known is not None:
        return known
    refusal = CLASSES.get(code or "")
    if refusal is None or refusal.status != status:
        return None
    return refusal


def _oauth_error(said: Mapping[str, Any]) -> Json:
    """The members of RFC 6749, where a server answers a token with them."""
    named = {"code": "error", "message": "error_description", "request_id": "request_id"}
    return present(**{name: text_of(said, theirs) for name, theirs in named.items()})


def refusals(root: type[PdppError] = PdppError) -> Iterator[type[PdppError]]:
    """Every class of refusal below `root`, categories included."""
    for child in root.__subclasses__():
        yield child
        yield from refusals(child)


# Where a narrower class keeps the code of a wider one, the wider one is meant.
CLASSES: Mapping[str, type[PdppError]] = {refusal.code: refusal for refusal in reversed([*refusals()])}
# What the public reference answers 401 to, though the token is good: another one would not help.
CONTEXTS: Mapping[str, type[PdppError]] = {
    "stream_not_allowed": StreamNotGranted,
    "instance_mismatch": ConnectionNotFound,
}
# What a stranger's status means where its code, or the whole envelope, is not one that we know.
UNEXPLAINED: Mapping[int, type[PdppError]] = {401: Unauthenticated, 429: RateLimited}
CATEGORIES: Mapping[int, type[PdppError]] = UNEXPLAINED | {
    400: InvalidRequest,
    403: PermissionDenied,
    404: NotFound,
    409: Conflict,
    410: NotFound,
    422: InvalidRequest,
}


def _encode_candidates(candidates: tuple[Candidate, ...]) -> Json:
    omitted = max(0, len(candidates) - CANDIDATES_MAX)
    cut: Json = {}
    if omitted:
        cut = {"available_connections_truncated": True, "available_connections_omitted": omitted}
    return {
        "available_connections": [_encode_candidate(candidate) for candidate in candidates[:CANDIDATES_MAX]],
        "available_connection_count": len(candidates),
        **cut,
        "retry_with": "connection_id",
    }


def _encode_candidate(candidate: Candidate) -> Json:
    return present(
        connection_id=candidate.connection_id,
        connector_key=candidate.connector_key or None,
        grant_id=candidate.grant_id,
        display_name=candidate.label,
    )


def _decode_candidate(entry: Mapping[str, Any]) -> Candidate:
    origin = decode_origin(entry)
    return Candidate(origin.connection_id, origin.connector_key, text_of(entry, "grant_id"), origin.label)


def _named(code: str | None) -> str:
    """A stranger's code is repeated only if it looks like one."""
    return code if code and _CODE.fullmatch(code) else "a code"

"""What clients send to the authorization server: parameters of a form or of JSON, each once."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, cast
from urllib.parse import parse_qsl

import orjson

from pdpp_server.errors import InvalidAuthorizationDetails
from pdpp_server.model.grants import Grant
from pdpp_server.model.selections import Selection
from pdpp_server.wire.envelope import Json, is_object, text_of
from pdpp_server.wire.grants import decode_selection, encode_granted

BODY_BYTES, DETAILS_CHARS, PARAMETERS_MAX, DEPTH_MAX = 64 * 1024, 32 * 1024, 100, 16


class AuthorizationRequest(NamedTuple):
    """As it was sent; what is missing or wrong is said when it is known whom to tell."""

    client_id: str | None
    redirect_uri: str | None
    response_type: str | None
    code_challenge: str | None
    code_challenge_method: str | None
    state: str | None
    resource: str | None
    request_uri: str | None
    details: object  # a list, or its JSON


class TokenRequest(NamedTuple):
    grant_type: str | None
    client_id: str | None
    code: str | None
    redirect_uri: str | None
    code_verifier: str | None
    refresh_token: str | None
    device_code: str | None
    resource: str | None
    scope: str | None
    details: object  # a list, or its JSON


class AboutToken(NamedTuple):
    """A request to revoke a token, or to tell about it."""

    token: str | None
    client_id: str | None


class Introduced(NamedTuple):
    """What a request says before it is known whose it is: secrets that lead to an owner, what a stranger brought."""

    secrets: tuple[str, ...]
    name: str
    client_id: str
    request_uri: str
    user_code: str


def decode_introduced(values: Mapping[str, str]) -> Introduced:
    secrets = [values.get(name) for name in ("link", "code", "refresh_token", "device_code", "token")]
    typed = "".join(letter for letter in values.get("user_code", "").upper() if letter.isalpha())
    return Introduced(
        tuple(secret for secret in secrets if secret),
        values.get("name", ""),
        values.get("client_id", ""),
        values.get("request_uri", ""),
        typed,
    )


def decode_form(raw: bytes) -> Json:
    """Raises ValueError: a parameter is repeated, or it is no form."""
    pairs = parse_qsl(
        raw.decode("ascii"), keep_blank_values=False, max_num_fields=PARAMETERS_MAX, encoding="utf-8", errors="strict"
    )
    if len(dict(pairs)) < len(pairs):
        raise ValueError("A parameter is given twice.")
    return dict(pairs)


def decode_body(raw: bytes, media_type: str) -> Json:
    """Raises ValueError: it is neither a form nor a JSON object."""
    if media_type.partition(";")[0].strip().lower() != "application/json":
        return decode_form(raw)
    body = orjson.loads(raw)
    if not is_object(body):
        raise ValueError("The body is no JSON object.")
    json.loads(raw, object_pairs_hook=_require_once)  # orjson takes the last of two
    return body


def _require_once(pairs: list[tuple[str, object]]) -> None:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("A member is given twice.")


def decode_authorization(sent: Mapping[str, Any]) -> AuthorizationRequest:
    named = (text_of(sent, name) for name in AuthorizationRequest._fields[:-1])
    return AuthorizationRequest(*named, details=sent.get("authorization_details"))


def decode_token_request(sent: Mapping[str, Any]) -> TokenRequest:
    named = (text_of(sent, name) for name in TokenRequest._fields[:-1])
    return TokenRequest(*named, details=sent.get("authorization_details"))


def decode_about(sent: Mapping[str, Any]) -> AboutToken:
    return AboutToken(text_of(sent, "token"), text_of(sent, "client_id"))


def decode_details(details: object) -> tuple[Selection, ...]:
    """No selection where none was sent: then the owner picks."""
    if details is None:
        return ()
    if isinstance(details, str):
        details = _parsed(details)
    if _depth_exceeds(details, DEPTH_MAX):
        raise InvalidAuthorizationDetails("authorization_details is nested too deep.", param="authorization_details")
    return decode_selection(details)


def are_granted(details: object, granted: Iterable[Grant]) -> bool:
    """Whether a token request says again what was granted, in the words in which it was told: in any order."""
    if isinstance(details, str):
        details = _parsed(details)
    if not isinstance(details, list):
        return False
    said = cast(list[object], details)
    told = orjson.loads(orjson.dumps([encode_granted(grant) for grant in granted]))
    return len(said) == len(told) and all(detail in said for detail in told)


def _parsed(text: str) -> object:
    if len(text) > DETAILS_CHARS:
        raise InvalidAuthorizationDetails(
            f"authorization_details may have at most {DETAILS_CHARS:,} characters.", param="authorization_details"
        )
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        raise InvalidAuthorizationDetails("authorization_details is not JSON.", param="authorization_details") from None


def _depth_exceeds(value: object, most: int) -> bool:
    level = [value]
    for _ in range(most):
        level = [inner for outer in level for inner in _inside(outer)]
        if not level:
            return False
    return True


def _inside(value: object) -> list[object]:
    match value:
        case dict():
            return [*cast(dict[str, object], value).values()]
        case list():
            return cast(list[object], value)
        case _:
            return []

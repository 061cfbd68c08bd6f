"""An answer about a token is believed whole, or not at all."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import orjson
import pytest

from pdpp_server.errors import PdppError, Unauthenticated
from pdpp_server.grants.issue import issue
from pdpp_server.wire.grants import decode_grant, decode_selection, encode_grant
from pdpp_server.wire.introspection import Expected, decode_introspection, encode_introspection
from pdpp_server.wire.oauth_tokens import TokenStanding, encode_client_token, encode_inactive
from tests.requirements import requirement
from tests.worlds import chat

ISSUER, RESOURCE = "https://as.example", "https://rs.example"
ASKED = chat.detail({"name": "messages", "fields": ["text"], "time_range": {"since": "2026-01-01"}})
GRANT = issue(
    decode_selection([ASKED])[0],
    chat.DECLARATION,
    eligible={"messages": ("cin_1",)},
    grant_id="grt_1",
    issued_at="2026-11-15T12:00:00.000Z",
    subject="owner_local",
    client_id="cli_1",
    client_name=None,
    expires_at=None,
)
STANDING = TokenStanding("2026-11-15T13:00:00.000Z", ISSUER, (RESOURCE, f"{RESOURCE}/mcp"))
ANSWER = orjson.loads(orjson.dumps(encode_client_token(GRANT, STANDING)))
EXPECTED = Expected(ISSUER, RESOURCE, ANSWER["exp"] - 1.0)

Change = Callable[[dict[str, Any]], object]


@requirement("rs.separate.one-answer")
def test_what_one_server_encodes_the_other_decodes() -> None:
    rights = decode_introspection(ANSWER, EXPECTED)

    assert encode_grant(decode_grant(rights.document, chat.DECLARATION)) == encode_grant(GRANT)
    assert (rights.source_id, rights.declaration_version) == (chat.SOURCE_ID, "1")


@requirement("rs.separate.one-answer")
@pytest.mark.parametrize(
    ("reason", "change"),
    [
        ("kind_mismatch", lambda said: said.update(pdpp_token_kind="owner")),
        ("kind_mismatch", lambda said: said.update(pdpp_token_kind="mcp_package")),
        ("kind_mismatch", lambda said: said["pdpp"].update(context_kind="other")),
        ("kind_mismatch", lambda said: said.pop("pdpp")),
        ("issuer_mismatch", lambda said: said.update(iss="https://other.example")),
        ("issuer_mismatch", lambda said: said.pop("iss")),
        ("audience_mismatch", lambda said: said.update(aud="https://rs.example/mcp")),
        ("audience_mismatch", lambda said: said.update(aud=[])),
        ("audience_mismatch", lambda said: said.pop("aud")),
        ("expired", lambda said: said.update(exp=said["exp"] - 1)),
        ("expired", lambda said: said.update(exp=None)),
        ("expired", lambda said: said.update(exp="tomorrow")),
        ("identity_mismatch", lambda said: said["pdpp"].update(client_id="cli_2")),
        ("identity_mismatch", lambda said: said.update(subject_id="somebody")),
        ("grant_mismatch", lambda said: said.update(grant_id="grt_2")),
        ("source_mismatch", lambda said: said["pdpp"].update(source={"kind": "connector", "id": "https://x.example"})),
        ("rights_missing", lambda said: said.update(authorization_details=[])),
        ("rights_missing", lambda said: said.pop("authorization_details")),
        ("rights_missing", lambda said: said["authorization_details"][0].update(type="other")),
        ("rights_duplicated", lambda said: said["authorization_details"].append(said["authorization_details"][0])),
        ("rights_duplicated", lambda said: said.update(grant={})),
    ],
)
def test_what_does_not_fit_makes_the_token_nobodys(reason: str, change: Change) -> None:
    said = deepcopy(ANSWER)
    change(said)

    with pytest.raises(Unauthenticated, match=f"context.{reason}"):
        decode_introspection(said, EXPECTED)


@requirement("rs.separate.one-answer", "rs.tokens.inactive-reasons")
@pytest.mark.parametrize(
    ("said", "code"),
    [
        (encode_inactive("grant_revoked"), "grant_revoked"),
        (encode_inactive("grant_expired"), "grant_expired"),
        (encode_inactive("grant_invalid"), "grant_invalid"),
        (encode_inactive("token_expired"), "authentication_error"),
        (encode_inactive("package_revoked"), "authentication_error"),
        ({"active": "true"}, "authentication_error"),
        ({**ANSWER, "active": 1}, "authentication_error"),
        ({}, "authentication_error"),
    ],
)
def test_a_token_that_is_not_good_is_refused_by_its_reason(said: dict[str, Any], code: str) -> None:
    with pytest.raises(PdppError) as refused:
        decode_introspection(said, EXPECTED)

    assert refused.value.code == code


def test_a_token_is_asked_about_by_a_form_of_one_field() -> None:
    assert encode_introspection("t") == {"token": "t"}

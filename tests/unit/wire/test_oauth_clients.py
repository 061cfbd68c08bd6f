"""Clients: what they may register, and what is kept of them."""

from typing import Any

import pytest

from pdpp_server.wire.oauth_clients import (
    CODE,
    DEVICE,
    REFRESH,
    claimed_id,
    decode_client,
    document_fault,
    encode_client,
    encode_registered,
    pinned,
    registration_fault,
)

BACK = ["https://app.example/back"]


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {
            "redirect_uris": BACK,
            "client_name": "App",
            "token_endpoint_auth_method": "none",
            "contacts": ["a@x.example"],
        },
        {"grant_types": [DEVICE], "scope": "x", "application_type": "native"},
    ],
)
def test_a_client_may_register_what_clients_say_of_themselves(asked: dict[str, Any]) -> None:
    assert registration_fault(asked) is None


@pytest.mark.parametrize(
    ("asked", "path"),
    [
        ([], ""),
        ({"client_secret": "s"}, "/client_secret"),
        ({"client_name": " "}, "/client_name"),
        ({"client_name": "x" * 201}, "/client_name"),
        ({"redirect_uris": []}, "/redirect_uris"),
        ({"redirect_uris": BACK * 33}, "/redirect_uris"),
        ({"grant_types": ["password"]}, "/grant_types/0"),
        ({"token_endpoint_auth_method": "client_secret_basic"}, "/token_endpoint_auth_method"),
        ({"logo_uri": "javascript:alert(1)"}, "/logo_uri"),
    ],
)
def test_anything_else_is_refused_with_its_place(asked: object, path: str) -> None:
    fault = registration_fault(asked)
    assert fault is not None
    assert fault.path == path


def test_a_document_may_say_more_but_no_secret() -> None:
    document = {"client_id": "https://app.example", "redirect_uris": BACK, "other": 1, "grant_types": ["password"]}
    assert document_fault(document) is None
    assert document_fault({**document, "client_secret": "s"}) is not None
    assert document_fault({"client_id": "https://app.example"}) is not None


def test_what_a_client_leaves_out_is_told_by_whether_it_can_be_redirected_to() -> None:
    assert decode_client("c", {"redirect_uris": BACK}, is_verified=False).grant_types == (CODE, REFRESH)
    assert decode_client("c", {}, is_verified=False).grant_types == (DEVICE,)
    named = decode_client(
        "c", {"redirect_uris": BACK, "grant_types": [DEVICE], "tos_uri": "https://t"}, is_verified=True
    )
    assert (named.grant_types, named.uris, named.is_verified) == ((DEVICE,), {"tos_uri": "https://t"}, True)


def test_what_is_kept_of_a_client_makes_the_same_client_again() -> None:
    client = decode_client(
        "c", {"client_name": "App", "redirect_uris": BACK, "logo_uri": "https://l"}, is_verified=False
    )
    kept = encode_client(client)
    assert (
        decode_client("c", {**kept, "redirect_uris": BACK, "grant_types": [CODE, REFRESH]}, is_verified=False) == client
    )


def test_a_client_is_told_what_it_registered_as() -> None:
    device = decode_client("c", {}, is_verified=False)
    told = encode_registered(device, {"software_id": "x"}, 60)
    assert (told["software_id"], told["client_id"], told["client_id_issued_at"]) == ("x", "c", 60)
    assert (told["response_types"], told["token_endpoint_auth_method"]) == ([], "none")


def test_where_a_client_is_sent_back_to_and_its_keys_do_not_change_unasked() -> None:
    document = {"client_id": "c", "redirect_uris": BACK, "client_name": "App"}
    assert pinned(document) == pinned({**document, "client_name": "Other"})
    assert pinned(document) != pinned({**document, "jwks_uri": "https://k"})
    assert pinned(document) != pinned({**document, "redirect_uris": []})
    assert claimed_id(document) == "c"
    assert claimed_id({"client_id": 3}) is None

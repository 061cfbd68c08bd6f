"""What the token and device endpoints answer."""

from pdpp_server.model.authorization import DeviceCode
from pdpp_server.wire.oauth_tokens import encode_device_code, encode_inactive, encode_owner_token, encode_pushed


def test_a_device_is_told_both_addresses_and_how_often_it_may_ask() -> None:
    told = encode_device_code(DeviceCode("secret", "ABCD-EFGH", 600, 5), "https://x.example")
    assert told["verification_uri_complete"].startswith(told["verification_uri"])
    assert "ABCD-EFGH" in told["verification_uri_complete"]
    assert "secret" not in told["verification_uri_complete"]
    assert (told["device_code"], told["expires_in"], told["interval"]) == ("secret", 600, 5)


def test_a_token_that_is_good_for_nothing_says_why() -> None:
    assert encode_inactive("expired") == {"active": False, "inactive_reason": "expired"}


def test_the_end_of_a_token_is_told_in_whole_seconds_where_it_has_one() -> None:
    assert encode_owner_token("me", "1970-01-01T00:01:00.900Z")["exp"] == 60
    assert encode_owner_token("me", None) == {"active": True, "pdpp_token_kind": "owner", "subject_id": "me"}


def test_a_request_that_was_pushed_is_known_by_its_address() -> None:
    assert encode_pushed("urn:x:1", 60) == {"request_uri": "urn:x:1", "expires_in": 60}

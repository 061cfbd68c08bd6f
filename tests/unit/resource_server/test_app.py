"""Routes, hosts and methods."""

import pytest

from tests.scenarios.resource_server.chats import Api, Chats

M1 = "/v1/streams/messages/records/m1"


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "OPTIONS"])
def test_another_method_is_not_allowed_and_the_allowed_ones_are_named(api: Api, method: str) -> None:
    response = api.send(method, M1)

    assert (response.status_code, response.headers["allow"]) == (405, "DELETE, GET, HEAD")
    assert response.json()["error"]["code"] == "invalid_request"


@pytest.mark.parametrize("path", ["/v1", "/v1/", "/v1/schema/", "/v1/streams/messages/nothing", "/v2/schema"])
def test_an_unknown_address_is_not_found(api: Api, path: str) -> None:
    response = api.get(path)

    assert (response.status_code, response.json()["error"]["code"]) == (404, "not_found")
    assert response.headers["request-id"] == response.json()["error"]["request_id"]


@pytest.mark.parametrize("path", ["/v1/streams/messages/records/%FF", "/v1/streams/%ZZ/records/m1"])
def test_a_path_that_is_not_utf_8_is_refused(api: Api, path: str) -> None:
    assert api.refusal(path) == (400, "invalid_request", "path")


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:8787", "127.0.0.1:1", "[::1]:8787", "me.example", "nas.local:80"]
)
def test_a_host_that_we_are_known_by_is_answered(chats: Chats, host: str) -> None:
    with chats.serving(public_url="https://Me.example/pdpp", trusted_hosts=("nas.local",)) as api:
        assert api.get(M1, Host=host).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "localhost.evil.example",
        "evil.example:127.0.0.1",
        "[::1",
        "",
        "me@localhost",
        "localhost/x",
        "localhost?x",
    ],
)
def test_another_host_is_misdirected_on_every_address(chats: Chats, host: str) -> None:
    with chats.serving(public_url="https://me.example") as api:
        for path in (M1, "/healthz", "/metrics", "/nothing"):
            response = api.get(path, Host=host)
            assert (response.status_code, response.json()["error"]["code"]) == (421, "misdirected_request")


def test_the_challenge_names_the_public_address(chats: Chats) -> None:
    with chats.serving(public_url="https://me.example") as api:
        challenge = api.get(M1, token=None).headers["www-authenticate"]

    metadata = "https://me.example/.well-known/oauth-protected-resource"
    assert challenge == f'Bearer resource_metadata="{metadata}", scope="pdpp:read"'


def test_core_strict_takes_the_filters_of_clients_away(chats: Chats) -> None:
    with chats.serving(core_strict=True) as api:
        body = api.body("/v1/schema?view=compact&stream=messages")

    assert body["connectors"][0]["streams"][0]["field_capabilities"]["sent_at"] == "t=date-time"
    assert body["capabilities"]["client_query_extensions"] == []

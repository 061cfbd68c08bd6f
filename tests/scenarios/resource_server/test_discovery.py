"""What can be learnt by the address alone."""

from importlib.metadata import version
from typing import Any

import orjson
import pytest

from tests.requirements import requirement
from tests.scenarios.resource_server.chats import Api, Chats

METADATA = "/.well-known/oauth-protected-resource"
DOCUMENTS = ["/", METADATA, f"{METADATA}/mcp"]
each_document = pytest.mark.parametrize("path", DOCUMENTS)


def document(api: Api, path: str) -> dict[str, Any]:
    return api.body(path, token=None)


@requirement("rs.discovery.index")
@pytest.mark.parametrize("accepts", ["application/json", "*/*"])
def test_the_root_is_an_index_of_what_can_be_read(api: Api, accepts: str) -> None:
    response = api.get("/", token=None, Accept=accepts)

    assert response.headers["content-type"] == "application/json"
    assert response.json() == {
        "object": "pdpp_discovery_index",
        "role": "resource_server",
        "resource_name": "Personal data server",
        "reference_revision": f"pdpp-server {version('pdpp-server')}",
        "links": {
            "well_known": f"http://127.0.0.1{METADATA}",
            "well_known_authorization_server": "http://127.0.0.1/.well-known/oauth-authorization-server",
            "schema": "http://127.0.0.1/v1/schema",
            "core_query_base": "http://127.0.0.1/v1",
            "connectors": "http://127.0.0.1/v1/connectors",
            "openapi": "http://127.0.0.1/openapi.json",
        },
    }


@requirement("rs.discovery.true-today")
def test_every_address_that_is_named_answers(api: Api) -> None:
    links = document(api, "/")["links"]
    hints = document(api, METADATA)["pdpp_discovery_hints"]
    for name in ("well_known", "well_known_authorization_server", "schema", "connectors", "openapi"):
        assert api.get(links[name]).status_code == 200
    for address in (hints["schema_endpoint"], hints["connectors_endpoint"]):
        assert api.get(address).status_code == 200
    assert api.get(hints["streams_endpoint_template"].format(stream="messages")).status_code == 200
    assert (
        api.get(f"{hints['search']['endpoint']}?q=pizza&{hints['search']['scope_param']}=messages").status_code == 200
    )
    aggregate = hints["aggregate"]["endpoint_template"].format(stream="messages")
    assert api.refusal(aggregate)[1] == "invalid_request"
    agents = document(api, METADATA)["pdpp_agent_discovery"]
    assert agents == document(api, f"{METADATA}/mcp")["pdpp_agent_discovery"]
    assert api.refusal(agents["mcp"]["endpoint"])[0] == 405
    feed = f"/v1/streams/messages/records?changes_since={hints['changes_since_bootstrap']}"
    assert api.get(feed).status_code == 200


@requirement("rs.discovery.true-today", "rs.discovery.no-profile")
def test_what_is_not_served_is_not_named(api: Api) -> None:
    said = document(api, METADATA)
    text = orjson.dumps([document(api, path) for path in DOCUMENTS]).decode()

    assert "logo_uri" not in said
    assert set(said["capabilities"]) == {"lexical_retrieval", "client_query_extensions"}
    for word in ("profile", "logo", "semantic_retrieval", "hybrid"):
        assert word not in text.replace(METADATA, "")


@requirement("rs.discovery.protected-resource")
def test_the_four_members_that_a_conformance_suite_asks_for_are_there(api: Api) -> None:
    said = document(api, METADATA)

    assert said["pdpp_core_query_base"] == "http://127.0.0.1/v1"
    assert said["pdpp_provider_connect_version"] == "draft-2026-04-16"
    assert said["pdpp_self_export_supported"] is True
    assert said["pdpp_token_kinds_supported"] == ["owner", "client"]


@requirement("rs.search.score")
def test_a_score_is_of_the_kind_that_is_advertised(api: Api) -> None:
    advertised = document(api, METADATA)["capabilities"]["lexical_retrieval"]
    (score,) = {orjson.dumps(hit["score"]) for hit in api.body("/v1/search?q=overdraft&limit=1")["data"]}

    assert advertised["score"]["supported"] is True
    assert {**orjson.loads(score), "value": 0} == {
        "kind": advertised["score"]["kind"],
        "order": advertised["score"]["order"],
        "value": 0,
    }
    assert (advertised["default_limit"], advertised["max_limit"]) == (25, 100)


@requirement("rs.search.score", "rs.schema.bearer")
def test_what_clients_may_use_beyond_core_is_said_once(chats: Chats) -> None:
    for strict in (False, True):
        with chats.serving(core_strict=strict) as api:
            told = document(api, METADATA)["capabilities"]["client_query_extensions"]
            assert told == api.body("/v1/schema")["capabilities"]["client_query_extensions"]
            assert bool(told) is not strict


@requirement("rs.discovery.public-origin")
def test_behind_a_proxy_addresses_have_the_public_origin(chats: Chats) -> None:
    with chats.serving(public_url="https://me.example") as api:
        for host in ("127.0.0.1", "me.example"):
            links = api.get("/", token=None, Host=host).json()["links"]
            resource = api.get(METADATA, token=None, Host=host).json()
            assert all(address.startswith("https://me.example/") for address in links.values())
            assert (resource["resource"], resource["pdpp_core_query_base"]) == (
                "https://me.example",
                "https://me.example/v1",
            )


@requirement("rs.errors.untrusted-host")
@each_document
def test_an_untrusted_host_gets_no_address(api: Api, path: str) -> None:
    response = api.get(path, token=None, Host="evil.example")

    assert (response.status_code, response.json()["error"]["code"]) == (421, "misdirected_request")
    assert "evil.example" not in response.text


@requirement("rs.parameters.unknown-refused", "rs.headers.version-refused")
@each_document
def test_a_document_takes_no_parameter_and_no_other_version(api: Api, path: str) -> None:
    assert api.refusal(f"{path}?a=b", token=None) == (400, "invalid_request", "a")
    assert api.get(path, token=None, PDPP_Version="1").json()["error"]["code"] == "unsupported_version"


@requirement("rs.transport.head-mirrors-get")
@each_document
def test_head_has_the_headers_of_get(api: Api, path: str) -> None:
    got, head = (api.send(method, path, token=None, Request_Id="r") for method in ("GET", "HEAD"))

    assert (head.status_code, dict(head.headers), head.content) == (200, dict(got.headers), b"")

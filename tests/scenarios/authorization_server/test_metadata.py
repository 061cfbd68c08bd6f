"""What a client learns before it asks."""

import pytest

from tests.requirements import requirement
from tests.scenarios.authorization_server.flow import MCP, ORIGIN, Flow, flowing
from tests.worlds.world import World

SERVER, RESOURCE = "/.well-known/oauth-authorization-server", "/.well-known/oauth-protected-resource"
DOCUMENTS = [SERVER, f"{SERVER}/mcp", RESOURCE, f"{RESOURCE}/mcp"]


@requirement("as.metadata.document")
@pytest.mark.parametrize("path", [SERVER, f"{SERVER}/mcp"])
def test_the_document_is_there_for_the_origin_and_for_the_endpoint(flow: Flow, path: str) -> None:
    said = flow.http.get(path).json()

    assert said["issuer"] == ORIGIN
    assert said["code_challenge_methods_supported"] == ["S256"]
    assert said["token_endpoint_auth_methods_supported"] == ["none"]
    assert said["client_id_metadata_document_supported"] is True
    assert said["authorization_response_iss_parameter_supported"] is True
    assert "offline_access" in said["scopes_supported"]
    assert said["pdpp_provider_connect_capabilities"] == ["third_party_client_connect"]
    assert None not in said.values()
    assert not [name for name in said if "profile" in name or "agent_connect" in name]


@requirement("as.metadata.document")
def test_every_endpoint_that_is_named_is_served(flow: Flow) -> None:
    said = flow.http.get(SERVER).json()
    named = {name: address for name, address in said.items() if name.endswith("_endpoint")}

    assert len(named) == 7
    for address in named.values():
        assert flow.http.get(address, follow_redirects=False).status_code in {400, 405}
    assert flow.http.get("/.well-known/openid-configuration").status_code == 404


@requirement("as.metadata.document", "rs.discovery.protected-resource")
def test_a_resource_names_its_server_and_itself_as_it_was_asked(flow: Flow) -> None:
    for path, resource in ((RESOURCE, ORIGIN), (f"{RESOURCE}/mcp", MCP)):
        said = flow.http.get(path).json()
        assert (said["resource"], said["authorization_servers"]) == (resource, [ORIGIN])
        assert said["scopes_supported"] == ["pdpp:read"]
        assert said["pdpp_agent_discovery"] == {"mcp": {"endpoint": MCP}}
    assert flow.http.get(RESOURCE).json()["pdpp_core_query_base"] == f"{ORIGIN}/v1"


@requirement("as.metadata.as-typed")
def test_a_slash_at_the_end_is_answered_and_stays_in_the_name_of_the_resource(flow: Flow) -> None:
    challenge = flow.http.post("/mcp/").headers["www-authenticate"]
    said = flow.http.get(f"{RESOURCE}/mcp/").json()

    assert f'resource_metadata="{ORIGIN}{RESOURCE}/mcp/"' in challenge
    assert (said["resource"], flow.http.get(f"{SERVER}/mcp/").json()["issuer"]) == (f"{MCP}/", ORIGIN)
    assert flow.calls(flow.tokens(resource=said["resource"])["access_token"]) == 200
    assert flow.http.get("/v1/schema/").status_code == 404


@requirement("as.metadata.browsers")
@pytest.mark.parametrize("path", [*DOCUMENTS, "/oauth/register", "/oauth/token", "/mcp"])
def test_a_page_on_this_machine_may_read_what_clients_are_told(flow: Flow, path: str) -> None:
    asks = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "mcp-protocol-version"}
    for origin, readable in (("http://localhost:6274", "*"), ("https://evil.example", None), ("null", None)):
        before = flow.http.options(path, headers={"Origin": origin, **asks})
        answer = flow.http.post(path, headers={"Origin": origin})
        for response in (before, answer):
            assert response.headers.get("access-control-allow-origin") == readable
            assert "access-control-allow-credentials" not in response.headers
        assert (before.status_code == 200) is (readable is not None)


@requirement("as.metadata.browsers")
@pytest.mark.parametrize("path", ["/", "/v1/schema", "/sign-in", "/consent", "/oauth/authorize", "/introspect"])
def test_no_page_reads_anything_else(flow: Flow, path: str) -> None:
    for origin in ("http://localhost:6274", ORIGIN):
        assert "access-control-allow-origin" not in flow.http.get(path, headers={"Origin": origin}).headers


@requirement("as.metadata.document")
def test_behind_a_proxy_everything_has_the_public_address(world: World) -> None:
    with flowing(world, public_url="https://me.example") as flow:
        said = flow.http.get(SERVER).json()
        ask = flow.authorize(resource="https://me.example/mcp").headers["location"]

    assert said["issuer"] == "https://me.example"
    assert said["token_endpoint"] == "https://me.example/oauth/token"
    assert ask.startswith("https://me.example/consent?ask=")


@requirement("as.metadata.document")
def test_an_untrusted_host_learns_nothing(flow: Flow) -> None:
    assert flow.http.get(SERVER, headers={"Host": "evil.example"}).status_code == 421


@requirement("as.metadata.challenge")
def test_a_challenge_leads_to_the_metadata_of_the_very_endpoint(flow: Flow) -> None:
    response = flow.http.post("/mcp")
    metadata = f"{ORIGIN}{RESOURCE}/mcp"

    assert response.headers["www-authenticate"] == f'Bearer resource_metadata="{metadata}", scope="pdpp:read"'
    assert response.json()["error"]["resource_metadata"] == metadata
    assert response.headers["link"] == f'<{ORIGIN}/icon.svg>; rel="icon"; type="image/svg+xml"'


@requirement("as.metadata.challenge")
def test_the_icon_is_a_picture_of_our_own(flow: Flow) -> None:
    response = flow.http.get("/icon.svg")

    assert response.headers["content-type"].startswith("image/svg+xml")
    assert response.text.startswith("<svg ")
    assert "href" not in response.text
    assert flow.http.head("/icon.svg").status_code == 200

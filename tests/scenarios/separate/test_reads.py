"""A resource server of its own: it knows no client's token, and believes one answer at a time."""

from typing import Any

import pytest
from httpx2 import Response

from pdpp_server.app import create_app
from pdpp_server.model.queries import SearchQuery
from pdpp_server.owner.desk import Owner
from pdpp_server.settings import InvalidSetting, Settings
from pdpp_server.wire.grants import decode_selection
from tests.requirements import requirement
from tests.scenarios.packages.package import packed
from tests.scenarios.separate.servers import PUBLIC, Servers, introspecting, opened
from tests.worlds import chat
from tests.worlds.world import World


def code(response: Response) -> tuple[int, str]:
    return response.status_code, response.json()["error"]["code"]


@requirement("rs.separate.reads")
def test_a_token_that_is_issued_there_reads_here_as_it_would_there(servers: Servers) -> None:
    narrow = servers.world.grant(servers.world.both("messages", fields=["id", "text"]))

    told = servers.get(narrow).json()["data"]
    found = servers.call(narrow, "search", query="walrus").json()["result"]["structuredContent"]["results"]

    assert {name for record in told for name in record["data"]} == {"id", "text"}
    assert [hit["connection_id"] for hit in found] == [servers.world.work]
    assert servers.get(narrow, "/v1/streams/channels/records").json()["error"]["code"] == "grant_stream_not_allowed"
    assert servers.world.owner.activity() == []  # read here, logged here
    assert len(Owner(servers.copy, servers.copy.database.path.parent).activity()) == 2


@requirement("rs.separate.revocation")
@pytest.mark.parametrize("tool", ["schema", "fetch"])
def test_a_revocation_there_is_seen_by_the_next_request_here(servers: Servers, tool: str) -> None:
    world = servers.world
    given = {"id": f"{world.work}/messages:m1"} if tool == "fetch" else {}
    assert servers.get(world.token).status_code == servers.call(world.token, tool, **given).status_code == 200

    world.owner.revoke(world.grant_id)

    assert code(servers.get(world.token)) == code(servers.call(world.token, tool, **given)) == (403, "grant_revoked")
    assert code(servers.get(world.token, "/v1/schema")) == (403, "grant_revoked")


@requirement("rs.separate.reads")
def test_of_what_a_copy_knows_itself_only_the_owners_tokens_count(servers: Servers) -> None:
    own = Owner(servers.copy, servers.copy.database.path.parent)
    owners, _ = own.owner_token(days=1)
    clients = own.create_grant(decode_selection([chat.detail(servers.world.both("messages"))]), "Agent", None).token

    assert servers.get(owners, "/v1/streams").status_code == 200
    assert code(servers.get(clients)) == code(servers.get("f" * 64)) == (401, "authentication_error")
    assert code(servers.get(servers.world.owner_token[::-1], "/v1/streams")) == (401, "authentication_error")


@requirement("rs.separate.closed")
@pytest.mark.parametrize(
    "changed", [{"introspection_url": "http://127.0.0.1:9/introspect"}, {"introspection_secret": "wrong"}]
)
def test_without_an_answer_nothing_is_read(world: World, changed: dict[str, str]) -> None:
    with opened(world, **changed) as servers:
        assert code(servers.get(world.token)) == (503, "authorization_server_unavailable")
        assert code(servers.call(world.token, "schema")) == (503, "authorization_server_unavailable")


@requirement("rs.separate.one-answer")
@pytest.mark.parametrize("changed", [{"public_url": "https://other.example"}, {"issuer": "https://other.example"}])
def test_a_token_for_another_address_or_by_another_issuer_is_nobodys(world: World, changed: dict[str, str]) -> None:
    with opened(world, **changed) as servers:
        assert code(servers.get(world.token)) == code(servers.call(world.token, "schema"))
        assert code(servers.get(world.token)) == (401, "authentication_error")


@requirement("rs.separate.one-answer")
def test_rights_by_a_declaration_that_is_not_here_are_none(servers: Servers) -> None:
    with servers.copy.database.writing() as writer:
        writer.run("update declarations set version = 'another'")

    refused = servers.get(servers.world.token)

    assert code(refused) == (401, "authentication_error")
    assert "context.source_mismatch" in refused.json()["error"]["message"]


@requirement("rs.separate.one-answer", "rs.tokens.audience")
def test_a_token_for_one_door_is_none_for_the_other(servers: Servers) -> None:
    token = servers.world.token
    with servers.world.services.database.writing() as writer:
        writer.run("update tokens set audience = 'mcp'")

    assert servers.call(token, "schema").status_code == 200
    assert code(servers.get(token)) == (401, "authentication_error")


@requirement("rs.separate.discovery")
def test_it_names_the_other_server_and_issues_nothing_itself(world: World) -> None:
    issuer = "https://as.example"
    with opened(world, issuer=issuer) as servers:
        http = servers.http
        index = http.get("/").json()
        documents = [http.get(f"/.well-known/oauth-protected-resource{path}").json() for path in ("", "/mcp")]
        posted = ("/oauth/token", "/oauth/register", "/introspect", "/oauth/par", "/consent", "/device")
        read = ("/.well-known/oauth-authorization-server", "/oauth/authorize", "/clients", "/connect")
        statuses = {http.post(path).status_code for path in posted} | {http.get(path).status_code for path in read}

    assert index["links"]["well_known_authorization_server"] == f"{issuer}/.well-known/oauth-authorization-server"
    assert [document["authorization_servers"] for document in documents] == [[issuer], [issuer]]
    assert documents[1]["pdpp_token_kinds_supported"] == ["client"]
    assert (documents[0]["resource"], statuses) == (PUBLIC, {404})


@requirement("mcp.hosted.icons")
def test_the_icon_that_its_challenge_names_is_there(world: World) -> None:
    with opened(world, issuer="https://as.example") as servers:
        link = servers.http.post("/mcp").headers["link"]

        assert link.startswith(f"<{PUBLIC}/icon.svg>")
        assert servers.http.get("/icon.svg").headers["content-type"].startswith("image/svg+xml")


@requirement("rs.tokens.introspection-cache")
@pytest.mark.parametrize(("seconds", "status"), [(0, 403), (60, 200)])
def test_a_yes_is_kept_only_where_that_was_asked_for(world: World, seconds: int, status: int) -> None:
    with opened(world, introspection_cache_seconds=seconds) as servers:
        assert servers.get(world.token).status_code == 200

        world.owner.revoke(world.grant_id)

        assert servers.get(world.token).status_code == status


@requirement("rs.separate.settings")
@pytest.mark.parametrize("name", ["public_url", "issuer", "introspection_client", "introspection_secret"])
def test_what_is_missing_is_named_before_anything_is_served(world: World, name: str) -> None:
    settings: dict[str, Any] = {**introspecting("http://127.0.0.1:9", "secret"), name: None}

    with pytest.raises(InvalidSetting, match=f"PDPP_{name.upper()}"):
        create_app(Settings(home=world.home, **settings), world.services)


@requirement("rs.separate.settings")
def test_a_secret_is_sent_to_nobody_without_tls(world: World) -> None:
    settings = introspecting("http://as.example", "secret")

    with pytest.raises(InvalidSetting, match="https"):
        create_app(Settings(home=world.home, **settings), world.services)


@requirement("rs.separate.packages")
def test_a_package_is_not_heard_here(servers: Servers) -> None:
    world = servers.world
    package = packed(world)

    assert world.reader_of(package.token).search(SearchQuery("lease")).value.hits
    assert code(servers.call(package.token, "schema")) == (401, "authentication_error")

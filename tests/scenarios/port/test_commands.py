"""`pdpp mcp` and the reading verbs on another server."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from pdpp_server.app import create_app
from pdpp_server.port.credentials import save
from pdpp_server.settings import Settings
from tests.requirements import requirement
from tests.scenarios.cli.command import Command
from tests.scenarios.mcp.agents import adapter, agent_on, handle_of
from tests.worlds.served import served
from tests.worlds.world import World

CALL = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"schema","arguments":{}}}\n'


@pytest.fixture
def address(world: World) -> Iterator[str]:
    with served(create_app(Settings(home=world.home), world.services)) as address:
        yield address


@pytest.fixture
def pdpp(tmp_path: Path) -> Command:
    """The command, on a home that holds nothing."""
    return Command(tmp_path / "elsewhere", tmp_path)


@requirement("port.network.commands", "mcp.credentials.scoped")
def test_the_adapter_shows_another_servers_records(world: World, address: str, pdpp: Command) -> None:
    id = handle_of(world, "m2")
    with adapter(pdpp.home, PDPP_PROVIDER_URL=address, PDPP_ACCESS_TOKEN=world.token) as agent:
        assert len(agent.ask("tools/list")["tools"]) >= 4
        assert agent.call("fetch", id=id) == agent_on(world.reader).call("fetch", id=id)

    assert not pdpp.home.exists(), "nothing of it is kept here"


@requirement("port.network.commands")
def test_the_verbs_print_what_an_agent_of_that_server_reads(world: World, address: str, pdpp: Command) -> None:
    words = ["search", "walrus", "clause", "--provider-url", address]

    named = pdpp(*words, PDPP_ACCESS_TOKEN=world.token)
    by_environment = pdpp(*words[:3], PDPP_ACCESS_TOKEN=world.token, PDPP_PROVIDER_URL=address)

    assert named.out.rstrip("\n") == agent_on(world.reader).call("search", query="walrus clause").text
    assert by_environment.out == named.out


@requirement("port.network.commands", "port.network.saved-for")
def test_a_token_that_was_saved_for_that_server_is_used(world: World, address: str, pdpp: Command) -> None:
    saved = {"provider_url": f"{address}/", "credential": {"access_token": world.token}}
    save(str(pdpp.home), "phone", saved)
    save(str(pdpp.home), "other", {**saved, "provider_url": "https://other.example"})

    assert pdpp("schema", "--provider-url", address).code == 0
    assert pdpp("schema", "--provider-url", address, "--client", "phone").code == 0
    assert pdpp("schema", "--provider-url", address, "--client", "other").code == 78
    assert json.loads(pdpp("mcp", "--provider-url", address, stdin=CALL).out)["result"]["structuredContent"]["data"]


@requirement("port.network.exit-codes", "port.network.kind-asked", "mcp.credentials.kind-asked")
def test_an_owner_token_reads_nothing_there_either(world: World, address: str, pdpp: Command) -> None:
    owner = {"PDPP_ACCESS_TOKEN": world.owner_token, "PDPP_PROVIDER_URL": address}

    for refused in (pdpp("mcp", stdin=CALL, **owner), pdpp("schema", **owner)):
        assert (refused.code, refused.out) == (77, "")
        assert "owner token" in refused.err
        assert world.owner_token not in refused.err


@requirement("port.network.exit-codes")
def test_a_command_without_address_or_token_says_so(address: str, pdpp: Command) -> None:
    assert pdpp("schema", "--provider-url", "me.example", PDPP_ACCESS_TOKEN="x").code == 64
    assert pdpp("schema", "--provider-url", "http://me.example", PDPP_ACCESS_TOKEN="x").code == 64
    assert pdpp("schema", "--provider-url", address, "--grant", "grt_1", PDPP_ACCESS_TOKEN="x").code == 64
    assert pdpp("schema", "--provider-url", address).code == 78
    assert pdpp("schema", "--provider-url", address, PDPP_ACCESS_TOKEN="nobody").code == 78


@requirement("port.network.commands", "port.network.trouble-named")
def test_an_adapter_whose_server_is_away_says_so_and_goes_on(world: World, pdpp: Command) -> None:
    with served(create_app(Settings(home=world.home), world.services)) as address:
        pass
    refused = pdpp("mcp", stdin=CALL + CALL, PDPP_PROVIDER_URL=address, PDPP_ACCESS_TOKEN=world.token)

    results = [json.loads(line)["result"] for line in refused.out.splitlines()]
    assert refused.code == 0
    assert [result["structuredContent"]["error"]["code"] for result in results] == ["source_unavailable"] * 2
    assert world.token not in refused.out + refused.err

"""`pdpp connect URL`: this machine as a client of somebody's server."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from pdpp_server.port.connect import by_device, discover, register
from tests.requirements import requirement
from tests.scenarios.cli.command import Ran
from tests.scenarios.connect.browser import Browser
from tests.scenarios.connect.conftest import Run
from tests.worlds.world import World


def saved(ran: Ran) -> Path:
    assert ran.code == 0, ran.err
    return Path(ran.json["file"])


@requirement("as.connect.flow")
def test_the_owner_agrees_there_and_the_verbs_read_here(run: Run, address: str, browser: Browser) -> None:
    path = saved(run("connect", address, "--json", browser=browser))

    read = run("search", "walrus", "--provider-url", address)
    document = json.loads(path.read_bytes())
    assert (read.code, "walrus" in read.out) == (0, True), read.err
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.name == address.removeprefix("http://").replace(":", "_") + ".json"
    assert document["resource"] == document["provider_url"] == address
    assert document["credential"]["refresh_token"].startswith("rt_")


@requirement("as.connect.flow")
def test_the_address_is_printed_even_where_a_browser_opens(run: Run, address: str, browser: Browser) -> None:
    ran = run("connect", address, browser=browser)

    (opened,) = browser.opened
    assert opened in ran.err
    assert "code_challenge_method=S256" in opened
    assert json.loads(next(Path().rglob("clients/*.json")).read_bytes())["credential"]["access_token"] not in ran.out


@requirement("as.connect.flow")
def test_a_second_time_the_same_client_asks_and_one_click_is_enough(run: Run, address: str, world: World) -> None:
    first = json.loads(saved(run("connect", address, "--json", browser=Browser(f"0:{world.work}"))).read_bytes())
    again = json.loads(saved(run("connect", address, "--json", browser=Browser())).read_bytes())

    assert again["client"] == first["client"]
    assert again["credential"]["grant_id"] != first["credential"]["grant_id"]


@requirement("as.connect.flow")
def test_a_device_asks_through_a_browser_elsewhere(address: str, browser: Browser, world: World) -> None:
    """The owner takes their time: they decide between the second poll and the third."""
    told: list[tuple[str, str | None]] = []
    pauses: list[float] = []

    def sleep(seconds: float) -> None:
        world.clock.moment += timedelta(seconds=seconds)
        pauses.append(seconds)
        if len(pauses) == 3:
            browser.open(told[0][0])

    server = discover(address)
    given = by_device(server, register(server, "A device"), lambda *said: told.append(said), 600, sleep=sleep)

    (asked, code), *_ = told
    assert code and asked == f"{address}/device?user_code={code}"
    assert pauses == [2, 2, 2]
    assert given.refresh_token


@requirement("as.connect.flow")
def test_a_name_that_is_taken_for_another_server_is_not_overwritten(run: Run, address: str, browser: Browser) -> None:
    run("connect", address, "--client", "there", browser=browser)

    refused = run("connect", "https://data.example", "--client", "there")

    assert refused.code == 64
    assert f"taken by the credential for {address}" in refused.err


@requirement("as.connect.flow")
@pytest.mark.parametrize(
    "typed", ["http://data.example", "https://a:b@data.example", "https://data.example/mcp", "data"]
)
def test_an_address_that_cannot_be_meant_is_refused_before_anything_is_asked(run: Run, typed: str) -> None:
    assert run("connect", typed).code == 64

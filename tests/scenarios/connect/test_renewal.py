"""A saved credential outlives its token: it is renewed when it ends, and when it is refused."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from pdpp_server.errors import Unauthenticated
from pdpp_server.port.connect import renew
from pdpp_server.port.credentials import read_credential
from pdpp_server.port.renewal import Purse
from pdpp_server.wire.connect import Given
from pdpp_server.wire.credentials import Renewal
from tests.requirements import requirement
from tests.scenarios.connect.browser import Browser
from tests.scenarios.connect.conftest import Run
from tests.worlds.world import NOW, World

LONG_AGO = "2020-01-01T00:00:00.000Z"


@pytest.fixture
def file(run: Run, address: str, browser: Browser) -> Path:
    """The credential for the world's server."""
    return Path(run("connect", address, "--client", "there", "--json", browser=browser).json["file"])


def credential(file: Path, **changed: Any) -> dict[str, Any]:
    """What is saved, after some of it was changed."""
    document = json.loads(file.read_bytes())
    if changed:
        document["credential"].update(changed)
        file.write_text(json.dumps(document))
    return document["credential"]


@requirement("as.connect.renewed")
def test_a_token_that_has_ended_is_renewed_before_it_is_used(run: Run, address: str, file: Path) -> None:
    before = credential(file, expires_at=LONG_AGO)

    assert run("schema", "--provider-url", address).code == 0

    after = credential(file)
    assert after["access_token"] != before["access_token"]
    assert after["refresh_token"] != before["refresh_token"]
    assert (after["grant_id"], after["expires_at"] > LONG_AGO) == (before["grant_id"], True)
    assert file.stat().st_mode & 0o777 == 0o600


@requirement("as.connect.renewed")
def test_a_token_that_is_refused_is_renewed_and_the_question_asked_again(
    run: Run, address: str, file: Path, world: World
) -> None:
    before = credential(file)
    world.clock.moment += timedelta(hours=2)

    assert run("schema", "--provider-url", address, "--client", "there").code == 0
    assert credential(file)["access_token"] != before["access_token"]


@requirement("as.connect.renewed")
def test_what_can_be_renewed_no_more_says_how_to_connect_again(
    run: Run, address: str, file: Path, world: World
) -> None:
    world.owner.revoke(credential(file, expires_at=LONG_AGO)["grant_id"])

    ended = run("schema", "--provider-url", address)

    assert ended.code == 78
    assert f"pdpp connect {address} --client there" in ended.err


@requirement("as.connect.renewed")
def test_another_servers_credential_is_not_mistaken_for_one_of_this_home(run: Run, address: str, file: Path) -> None:
    from pdpp_server.port.credentials import CredentialError, find_credential

    with pytest.raises(CredentialError, match=f"--provider-url {address}"):
        find_credential(str(file.parents[1]), {}, "there", now="2026-01-01T00:00:00Z")


@requirement("as.connect.renewed")
def test_of_many_who_want_to_renew_one_does(address: str, file: Path) -> None:
    asked: list[str] = []

    def counted(renewal: Renewal) -> Given:
        asked.append(renewal.refresh_token)
        return renew(renewal)

    credential(file, expires_at=LONG_AGO)
    purses = [purse_on(file, counted) for _ in range(6)]
    with ThreadPoolExecutor(len(purses)) as threads:
        tokens = {*threads.map(Purse.token, purses)}

    assert tokens == {credential(file)["access_token"]}
    assert len(asked) == 1


@requirement("as.connect.renewed")
def test_a_refusal_is_remembered_until_somebody_connects_again(file: Path) -> None:
    asked: list[str] = []

    def ended(renewal: Renewal) -> Given:
        asked.append(renewal.refresh_token)
        raise Unauthenticated("No more.")

    credential(file, expires_at=LONG_AGO)
    purse = purse_on(file, ended)
    for _ in range(3):
        with pytest.raises(Unauthenticated, match="has ended") as refusal:
            purse.token()
        assert refusal.value.request_id
    assert len(asked) == 1

    credential(file, expires_at=None, access_token="new")
    assert purse.token() == "new"


def purse_on(file: Path, renew: Callable[[Renewal], Given]) -> Purse:
    home = str(file.parents[1])
    return Purse(home, read_credential(home, "there", now="2026-01-01T00:00:00Z"), renew, lambda: NOW)

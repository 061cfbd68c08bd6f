"""`pdpp connect URL` with a server whose owner picks several sources at once."""

import json
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.requirements import requirement
from tests.scenarios.connect.conftest import Run
from tests.worlds.reference import PACKAGE, Reference
from tests.worlds.served import served


class Follower:
    """A browser whose owner has decided already."""

    def open(self, address: str) -> bool:
        httpx2.get(address, follow_redirects=True)
        return True


@pytest.fixture
def reference() -> Reference:
    return Reference()


@pytest.fixture
def there(reference: Reference) -> Iterator[str]:
    with served(reference.app()) as address:
        yield address


@requirement("port.network.package-tokens")
def test_a_package_is_kept_and_read_through_the_tools_of_that_server(
    run: Run, there: str, reference: Reference
) -> None:
    connected = run("connect", there, "--json", browser=Follower())
    read = run("search", "overdraft", "fee", "--provider-url", there)

    assert connected.code == 0, connected.err
    saved = json.loads(Path(connected.json["file"]).read_bytes())["credential"]
    assert (saved["access_token"], saved["grant_id"]) == (PACKAGE, "pkg_1")
    assert read.code == 0, read.err
    assert read.out.startswith("search: 1 hit(s). first_fetch_id=")
    assert "\u202e" not in read.out
    assert reference.sent[-1]["params"] == {"name": "search", "arguments": {"q": "overdraft fee"}}


@requirement("port.network.package-tokens")
def test_what_its_tools_refuse_is_refused_in_its_words(run: Run, there: str) -> None:
    refused = run("fetch", "a/b:c", "--provider-url", there, PDPP_ACCESS_TOKEN=PACKAGE)

    assert refused.code == 1
    assert "invalid_request: The tools of that server refused: Input validation error" in refused.err


@requirement("port.network.package-tokens")
def test_a_token_that_nobody_knows_is_refused_as_before(run: Run, there: str, reference: Reference) -> None:
    assert run("fetch", "a/b:c", "--provider-url", there, PDPP_ACCESS_TOKEN="b" * 64).code == 1
    assert reference.sent == []


@requirement("as.connect.selection")
def test_a_device_flow_that_wants_details_is_given_those_of_a_file(
    run: Run, there: str, reference: Reference, machine: Path
) -> None:
    (machine / "selection.json").write_text('{"type": "https://pdpp.dev/data-access"}')
    without = run("connect", there, "--device")
    given = run("connect", there, "--device", "--selection", "selection.json", "--json")

    assert "wants to know what will be read" in without.err
    assert "--selection FILE" in without.err
    assert given.code == 0, given.err
    details = next(sent["authorization_details"] for sent in reference.sent if "authorization_details" in sent)
    assert json.loads(details) == [{"type": "https://pdpp.dev/data-access"}]


@requirement("as.connect.refusals-told")
def test_a_refusal_is_told_in_the_words_of_the_other_side(run: Run, there: str, machine: Path) -> None:
    (machine / "selection.json").write_text("{}")
    refused = run("connect", there, "--selection", "selection.json", browser=Follower())

    assert "The server refused: invalid_authorization_details: Which source?." in refused.err
    assert not [*machine.rglob("clients/*.json")]

"""`pdpp owner resource-server`: who else may ask about tokens."""

import pytest

from tests.requirements import requirement
from tests.scenarios.cli.command import Command


@requirement("as.introspection.one-answer")
def test_a_resource_server_gets_a_secret_and_a_new_one_when_it_is_named_again(pdpp: Command) -> None:
    first, second = (pdpp("owner", "resource-server", "archive", "--json").json for _ in range(2))
    told = pdpp("owner", "resource-server", "archive")

    assert first["name"] == "archive"
    assert len({first["secret"], second["secret"], told.out.splitlines()[-1]}) == 3


@requirement("as.introspection.one-answer")
@pytest.mark.parametrize("name", ["a:b", "", "Ä", "x" * 65])
def test_a_name_must_fit_before_a_colon(pdpp: Command, name: str) -> None:
    refused = pdpp("owner", "resource-server", name)

    assert (refused.code, refused.out) == (1, "")
    assert "[invalid_request]" in refused.err


@requirement("as.tokens.elsewhere")
def test_an_address_of_its_own_is_kept_in_one_spelling(pdpp: Command) -> None:
    named = pdpp("owner", "resource-server", "archive", "--address", "HTTPS://Archive.example:443/", "--json").json
    told = pdpp("owner", "resource-server", "archive", "--address", "https://archive.example")

    assert named["address"] == "https://archive.example"
    assert "PDPP_PUBLIC_URL" in told.out.splitlines()[0]


@requirement("as.tokens.elsewhere")
@pytest.mark.parametrize("address", ["http://archive.example", "archive.example", "https://archive.example/mcp"])
def test_what_is_no_address_of_a_server_is_refused(pdpp: Command, address: str) -> None:
    refused = pdpp("owner", "resource-server", "archive", "--address", address)

    assert (refused.code, refused.out) == (64, "")
    assert "address" in refused.err

"""Ids of connections: readable, the same for the same account, and never another's."""

import re

import pytest

from pdpp_server.model.sources import Source
from pdpp_server.store.records.connection_ids import LETTERS, SHORT_CHARS, possible_ids


def ids(key: str = "mail", binding: str = "ann@example.org", subject: str = "me") -> list[str]:
    return possible_ids(Source("connector", f"https://registry.pdpp.dev/connectors/{key}"), binding, subject=subject)


def test_an_id_is_the_source_and_a_few_letters_that_cannot_be_misread() -> None:
    first, *longer = ids()
    assert re.fullmatch(rf"mail-[{LETTERS}]{{{SHORT_CHARS}}}", first)
    assert all(longer[n].startswith(longer[n - 1]) for n in range(1, len(longer)))
    assert not set("01oil") & set(LETTERS)


def test_the_same_account_has_the_same_id_and_any_other_has_another() -> None:
    assert ids() == ids()
    others = [ids(), ids(binding="bo@example.org"), ids(subject="you"), ids(key="chat")]
    assert len({one[0] for one in others}) == 4


@pytest.mark.parametrize(
    ("source_id", "name"),
    [
        ("https://Data.Example/My Things/", "data-example-my-things"),
        ("urn:" + "x" * 50, "urn-" + "x" * 28),
        ("https://例え", "source"),
    ],
)
def test_of_an_address_what_a_name_can_be_made_of_is_kept(source_id: str, name: str) -> None:
    (first, *_) = possible_ids(Source("provider", source_id), "a", subject="me")
    assert first.rpartition("-")[0] == name

"""Whose share of a database is opened."""

from typing import Any, cast

import pytest

from pdpp_server.errors import NotFound, ServerTrouble
from pdpp_server.model.owners import OwnerRow
from pdpp_server.store.opened import FIRST_NAME, chosen_owner
from pdpp_server.store.owners import Owners

ADA, BEN = OwnerRow(1, "ada", ""), OwnerRow(2, "ben", "")


class Town:
    """As much of the owners of a database as is asked here."""

    def __init__(self, *owners: OwnerRow) -> None:
        self._owners = {owner.name: owner for owner in owners}

    def named(self, name: str) -> OwnerRow | None:
        return self._owners.get(name)

    def every(self) -> list[OwnerRow]:
        return [*self._owners.values()]

    def add(self, name: str) -> OwnerRow | None:
        return self._owners.setdefault(name, OwnerRow(1, name, ""))


def town(*owners: OwnerRow) -> Owners:
    return cast("Any", Town(*owners))


def test_the_named_one_or_the_only_one_or_the_first() -> None:
    assert chosen_owner(town(ADA, BEN), " Ben ") == BEN
    assert chosen_owner(town(ADA), None) == ADA
    assert chosen_owner(town(), None).name == FIRST_NAME


def test_of_several_one_must_be_named_who_is_there() -> None:
    with pytest.raises(ServerTrouble, match="2 owners"):
        chosen_owner(town(ADA, BEN), None)
    with pytest.raises(NotFound):
        chosen_owner(town(ADA, BEN), "cleo")

"""Owners: each has a name, and a number that stands before everything of theirs."""

import re
from typing import NamedTuple

HOUSE = 0  # knows the names of the owners, and keeps what strangers bring before anybody has signed in
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}", re.ASCII)


class OwnerRow(NamedTuple):
    number: int
    name: str
    created_at: str


class OwnerSummary(NamedTuple):
    """How much there is of an owner, and whether the invitation was taken; nothing of what it says."""

    owner: OwnerRow
    has_password: bool
    connections: int
    records: int
    grants: int


def is_owner_name(name: str) -> bool:
    return _NAME.fullmatch(name) is not None


def typed_name(typed: str) -> str:
    """As somebody meant it who types it at a door."""
    return typed.strip().lower()

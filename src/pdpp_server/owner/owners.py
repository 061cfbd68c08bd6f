"""What the operator does with the owners of a database: invite them, see how many there are, erase them."""

import secrets
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import NamedTuple

from pdpp_server.errors import Conflict, InvalidRequest, NotFound
from pdpp_server.model.owners import OwnerRow, OwnerSummary, is_owner_name, typed_name
from pdpp_server.model.times import iso
from pdpp_server.store.owners import Owners

INVITED_DAYS = 7


class Invitation(NamedTuple):
    owner: OwnerRow
    secret: str
    expires_at: str


class OwnersDesk:
    """It counts what owners have, and shows nothing of it."""

    def __init__(self, owners: Owners, now: Callable[[], datetime]) -> None:
        self._owners, self._now = owners, now

    def add(self, name: str) -> Invitation:
        """Raises: InvalidRequest; Conflict: there is one of that name."""
        if not is_owner_name(name):
            raise InvalidRequest(
                "The name of an owner has up to 40 lower-case letters, digits, dots, dashes and underscores.",
                param="name",
            )
        added = self._owners.add(name)
        if added is None:
            raise Conflict(f"There is an owner called {name} already.", remedy="`pdpp owners invite` makes a new link.")
        return self._invited(added)

    def invite(self, name: str) -> Invitation:
        """A link to choose a password anew; the old one is good until it is used."""
        return self._invited(self.named(name))

    def every(self) -> list[OwnerSummary]:
        return [self._owners.summary(owner) for owner in self._owners.every()]

    def arriving(self) -> list[OwnerRow]:
        return self._owners.arriving()

    def remove(self, name: str) -> dict[str, int]:
        """How many rows of each table were erased."""
        return self._owners.remove(self.named(name, or_arriving=True).number)

    def named(self, name: str, *, or_arriving: bool = False) -> OwnerRow:
        found = self._owners.named(typed_name(name))
        if found is None and or_arriving:
            found = next((owner for owner in self.arriving() if owner.name == typed_name(name)), None)
        if found is None:
            raise NotFound(f"There is no owner called {name}.", remedy="`pdpp owners list` says who there is.")
        return found

    def _invited(self, owner: OwnerRow) -> Invitation:
        secret = secrets.token_urlsafe(32)
        expires_at = iso(self._now() + timedelta(days=INVITED_DAYS))
        self._owners.invite(owner.number, secret, expires_at)
        return Invitation(owner, secret, expires_at)

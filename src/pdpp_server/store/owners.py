"""Who has a share of a database: names, invitations, and whose a secret is. What many owners need of an engine."""

from collections.abc import Iterable
from typing import Protocol

from pdpp_server.model.health import DatabaseHealth
from pdpp_server.model.owners import OwnerRow, OwnerSummary
from pdpp_server.store.engine import Database


class Owners(Protocol):
    def sole(self) -> OwnerRow | None:
        """The one owner; None where there are several, or none yet."""
        ...

    def named(self, name: str) -> OwnerRow | None: ...

    def numbered(self, number: int) -> OwnerRow | None: ...

    def every(self) -> list[OwnerRow]:
        """By name."""
        ...

    def summary(self, owner: OwnerRow) -> OwnerSummary: ...

    def add(self, name: str) -> OwnerRow | None:
        """None where there is one of that name."""
        ...

    def arriving(self) -> list[OwnerRow]:
        """Those whose home is being moved here, and whom nobody finds or serves before all of it is here."""
        ...

    def expect(self, name: str) -> OwnerRow:
        """From now on this one is arriving, new or not."""
        ...

    def welcome(self, number: int) -> None:
        """And now is here."""
        ...

    def invite(self, number: int, secret: str, expires_at: str) -> None:
        """By a secret that is good once; an earlier one is no longer."""
        ...

    def remove(self, number: int) -> dict[str, int]:
        """Erase everything of an owner: how many rows there were in each table.

        Raises:
            ServerTrouble: something was left, so nothing was erased.
        """
        ...

    def whose(self, secrets: Iterable[str]) -> int | None:
        """The number of the owner whom the first known of these secrets belongs to; the house counts as one."""
        ...

    def adopt(self, number: int, *, client_id: str, request_uri: str, user_code: str) -> None:
        """What a stranger brought to the house, and this owner is now asked about, becomes the owner's."""
        ...

    def database(self, number: int, *, alone: bool = False) -> Database:
        """The share of one, on the connections of all; alone, it takes them with it when it is closed."""
        ...

    def require_keys(self) -> None:
        """Whoever serves must be able to open them.

        Raises:
            DisclosureLogUnavailable: another key wraps them.
        """
        ...

    def health(self) -> DatabaseHealth:
        """How the database does, whoever has a share of it."""
        ...

    def close(self) -> None: ...

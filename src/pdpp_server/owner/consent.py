"""The consent desk: what the owner's pages ask and decide about clients that want to read."""

from collections.abc import Iterable
from dataclasses import dataclass

from pdpp_server.authorization_server import consent
from pdpp_server.authorization_server.device import ask_of
from pdpp_server.authorization_server.introspect import name_resource_server
from pdpp_server.authorization_server.preview import preview
from pdpp_server.errors import NotFound
from pdpp_server.grants.issue import ceiling
from pdpp_server.http.limiter import InWindow, Limiter
from pdpp_server.model.authorization import Ask, Client, Decision, Glimpse, Offer, Review
from pdpp_server.model.grants import Grant, StreamGrant
from pdpp_server.model.selections import Selection
from pdpp_server.model.times import iso
from pdpp_server.reads.services import Services
from pdpp_server.store.consent import clients, grants
from pdpp_server.store.consent.approvals import last_approval
from pdpp_server.store.consent.grants import GrantRow
from pdpp_server.store.consent.offers import declaration_of, eligible, offers
from pdpp_server.store.consent.resource_servers import KnownResourceServer

WRONG_CODES = InWindow(30, 600)


@dataclass(frozen=True, slots=True)
class KnownClient:
    """Somebody to whom the owner gave grants; `client` is None where it was made in a terminal, or is forgotten."""

    client_id: str
    name: str | None
    client: Client | None
    grants: tuple[GrantRow, ...]  # oldest first


class ConsentDesk:
    """Whoever has it decides as the owner: the pages ask for the owner's sign-in first. One serves a whole process."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._wrong_codes = Limiter(WRONG_CODES, services.now, ledger=services.ledger("wrong codes"))

    def ask(self, ask_id: str) -> Ask:
        """What waits for the owner.

        Raises:
            NotFound: there is no such ask, or it has expired.
            ApprovalConflict: it was decided already.
        """
        return consent.waiting(self._services, ask_id)

    def ask_by_user_code(self, user_code: str) -> Ask:
        """The same, by the code that a device shows; its case, blanks and dashes do not matter.

        Raises:
            RateLimited: too many wrong codes were tried.
        """
        try:
            self._wrong_codes.require("")
            return ask_of(self._services, user_code)
        except NotFound:
            self._wrong_codes.spend("")
            raise

    def offers(self, ask: Ask) -> tuple[Offer, ...]:
        """The sources that the owner can choose from: those that were asked for, or all where none was."""
        if ask.selections:
            return self.offers_of(selection.source_id for selection in ask.selections)
        with self._services.database.reading() as reading:
            return offers(reading)

    def offers_of(self, source_ids: Iterable[str]) -> tuple[Offer, ...]:
        """Those sources, as far as there are connections of them."""
        wanted = {*source_ids}
        with self._services.database.reading() as reading:
            return tuple(each for each in offers(reading) if each.declaration.source.id in wanted)

    def most(self, selections: tuple[Selection, ...]) -> tuple[tuple[StreamGrant, ...], ...]:
        """The most that each selection asks for, stream by stream: what the owner narrows."""
        with self._services.database.reading() as reading:
            declared = [(each, declaration_of(reading, each.source_id)) for each in selections]
            return tuple(
                ceiling(selection, declaration, eligible(reading, declaration)) for selection, declaration in declared
            )

    def earlier(self, ask: Ask) -> Decision | None:
        """What the owner agreed to when the same client last asked the same: approving it again takes one click."""
        with self._services.database.reading() as reading:
            return last_approval(reading, ask, iso(self._services.now()))

    def review(self, ask_id: str, decision: Decision) -> Review:
        """The grants as approval would make them; nothing is kept.

        Raises:
            InvalidRequest: it is more than was asked, or cannot be granted; also as InvalidAuthorizationDetails.
        """
        return consent.review(self._services, self.ask(ask_id), decision)

    def preview(self, grants: tuple[Grant, ...]) -> tuple[Glimpse, ...]:
        """What the client would see, stream by stream. The log names the owner's preview as its reader."""
        return preview(self._services, grants)

    def approve(self, ask_id: str, decision: Decision, revision: str) -> str | None:
        """Where to send the browser; None where a device polls for the answer.

        Raises:
            InvalidRequest: `revision` is not that of a review of this decision.
            ApprovalConflict: it was decided already.
        """
        return consent.approve(self._services, self.ask(ask_id), decision, revision)

    def deny(self, ask_id: str) -> str | None:
        """Where to send the browser; None where a device polls for the answer."""
        return consent.deny(self._services, self.ask(ask_id))

    def clients(self) -> list[KnownClient]:
        """Everybody who was ever given a grant that is still on record."""
        with self._services.database.reading() as reading:
            by_client: dict[str, list[GrantRow]] = {}
            for row in grants.list_grants(reading, self._services.shelf):
                by_client.setdefault(row.grant.client_id, []).append(row)
            return [
                KnownClient(
                    client_id,
                    rows[-1].grant.client_name,
                    stored.client if (stored := clients.find_client(reading, client_id)) else None,
                    tuple(rows),
                )
                for client_id, rows in by_client.items()
            ]

    def name_resource_server(self, name: str, address: str | None = None) -> str:
        """A resource server elsewhere may ask about tokens with that name and this secret, which is shown only here.

        Clients may ask for tokens for its address, if it has one of its own: in the spelling of `server_address`.
        """
        return name_resource_server(self._services, KnownResourceServer(name, address))

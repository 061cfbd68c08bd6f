"""The first page: what is here, who may read it, what was read lately."""

from pdpp_server.console.activity import LIMIT, entries
from pdpp_server.console.clients import cards
from pdpp_server.console.desks import Desks
from pdpp_server.console.page import Page
from pdpp_server.console.visit import Visit
from pdpp_server.evidence.activity import is_own
from pdpp_server.model.activity import Disclosure

LATEST = 5


def show(desks: Desks, visit: Visit) -> Page:
    sources = desks.owner.sources()
    return Page(
        "home.html",
        {
            "records": sum(stream.records for source in sources for stream in source.streams),
            "sources": len(sources),
            "clients": [] if desks.decided_at else [card for card in cards(desks) if card.is_active],
            "entries": entries(desks, _by_others(desks)),
        },
    )


def _by_others(desks: Desks) -> list[Disclosure]:
    """What clients read; what the owner looks at is on the page of all activity."""
    return [each for each in desks.owner.activity(limit=LIMIT) if not is_own(each)][:LATEST]

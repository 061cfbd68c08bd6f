"""The first page: what is here, who may read it, what was read today and lately."""

from datetime import timedelta

from pdpp_server.console.activity import NEW_DAYS, days_of, said_of
from pdpp_server.console.clients import cards
from pdpp_server.console.desks import Desks
from pdpp_server.console.following import follows
from pdpp_server.console.page import Page
from pdpp_server.console.visit import Visit
from pdpp_server.model.times import iso

LATEST, LATEST_DAYS = 60, 4


def show(desks: Desks, visit: Visit) -> Page:
    sources = desks.owner.sources()
    found = desks.owner.activity(own=False, limit=LATEST)
    days = days_of(desks, said_of(desks, ()), found, {})
    today = desks.local_now().date().isoformat()
    clients = [] if desks.decided_at else [card for card in cards(desks) if card.is_active]
    return Page(
        "home.html",
        {
            "records": sum(stream.records for source in sources for stream in source.streams),
            "sources": len(sources),
            "follows": follows(desks),
            "clients": clients,
            "new": _new(desks, {card.client_id: card.name for card in clients}),
            "today": next((day for day in days if day.day == today), None),
            "days": [day for day in days if day.day != today][:LATEST_DAYS],
        },
    )


def _new(desks: Desks, names: dict[str, str]) -> list[tuple[str, str]]:
    """Clients that read for the first time in the last days, and when."""
    since = iso(desks.now() - timedelta(days=NEW_DAYS))
    return [(names[client], at) for client, at in desks.owner.first_reads().items() if client in names and at >= since]

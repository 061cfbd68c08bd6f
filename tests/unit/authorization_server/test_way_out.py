"""Whether documents of clients can be had from here."""

from datetime import UTC, datetime, timedelta

import pytest

from pdpp_server.authorization_server.documents import NoWayOut
from pdpp_server.authorization_server.way_out import SILENT, TRUSTED, WayOut
from pdpp_server.model.authorization import ClientDocument


class Hours:
    def __init__(self) -> None:
        self.now, self.works = datetime(2026, 3, 2, tzinfo=UTC), True

    def fetch(self, _url: str) -> ClientDocument:
        if not self.works:
            raise NoWayOut("Nobody answers.")
        return ClientDocument(b"{}", None)

    def fail(self, way: WayOut) -> None:
        self.works = False
        with pytest.raises(NoWayOut):
            way.fetch("https://x.example")


@pytest.fixture
def hours() -> Hours:
    return Hours()


def test_clients_are_told_of_documents_until_one_cannot_be_had_and_again_after_a_while(hours: Hours) -> None:
    way = WayOut(hours.fetch, lambda: hours.now)
    assert way.is_advertised
    hours.fail(way)
    assert not way.is_advertised
    hours.now += SILENT - timedelta(seconds=1)
    assert not way.is_advertised
    hours.now += timedelta(seconds=1)
    assert way.is_advertised


def test_one_host_that_does_not_exist_changes_nothing_where_another_was_reached_lately(hours: Hours) -> None:
    way = WayOut(hours.fetch, lambda: hours.now)
    way.fetch("https://x.example")
    hours.now += TRUSTED - timedelta(seconds=1)
    hours.fail(way)
    assert way.is_advertised
    hours.now += timedelta(seconds=1)
    hours.fail(way)
    assert not way.is_advertised


def test_the_owners_word_comes_first(hours: Hours) -> None:
    assert not WayOut(hours.fetch, lambda: hours.now, is_used=False).is_advertised

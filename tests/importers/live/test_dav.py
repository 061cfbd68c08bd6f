"""Calendars and address books that are followed: against Debian's radicale, and against servers that misbehave."""

from collections.abc import Generator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any, ClassVar

import orjson
import pytest

from pdpp_server.importers.live import dav as davs
from pdpp_server.importers.live import dav_wire
from pdpp_server.importers.live.dav import dav_settings, sync_dav
from pdpp_server.importers.live.dav_wire import Dav
from pdpp_server.importers.live.trouble import SourceTrouble
from pdpp_server.importers.missing import ASK_NOBODY, MissingChoice
from tests.requirements import requirement
from tests.worlds.davserver import PASSWORD, USER, DavServer, dav_server
from tests.worlds.mailserver import free_port
from tests.worlds.world import World

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)


@pytest.fixture
def server() -> Generator[DavServer, None, None]:
    with dav_server() as running:
        yield running


@pytest.fixture(params=["by token", "by marks"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a server that says what changed is asked, and as one that does not."""
    if request.param == "by marks":
        found = Dav._found
        told = lambda self, *given, **named: [one._replace(can_sync=False) for one in found(self, *given, **named)]  # noqa: E731
        monkeypatch.setattr(Dav, "_found", told)


class Followed:
    def __init__(
        self, world: World, url: str, kind: str = "caldav", password: str = PASSWORD, certificate: str = ""
    ) -> None:
        self.world, self.password = world, password
        self.settings = dav_settings(kind, url, USER, certificate)
        self.state: dict[str, Any] = {}

    def sync(self, missing: MissingChoice = ASK_NOBODY, now: datetime = NOW) -> str:
        given = (lambda: self.password, self.world.owner, UTC, now, lambda: False, missing)
        said, self.state = sync_dav(self.settings, self.state, *given)
        return said

    def records(self, stream: str, connection: str) -> dict[str, dict[str, Any]]:
        statement = """
        select key, data from records join streams using(sid) join connections using(connection)
        where name = ? and display_name = ? and data is not null order by key
        """
        with self.world.services.database.reading() as reading:
            return {key: orjson.loads(data) for key, data in reading.rows(statement, (stream, connection))}


def event(uid: str, day: str = "20261120", rule: str = "") -> str:
    repeated = f"RRULE:{rule}\r\n" if rule else ""
    told = f"BEGIN:VEVENT\r\nUID:{uid}\r\nDTSTAMP:20261101T000000Z\r\nDTSTART:{day}T090000Z\r\n{repeated}SUMMARY:{uid}\r\n"
    return f"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\n{told}END:VEVENT\r\nEND:VCALENDAR\r\n"


def card(uid: str, name: str) -> str:
    return f"BEGIN:VCARD\r\nVERSION:3.0\r\nUID:{uid}\r\nFN:{name}\r\nEND:VCARD\r\n"


@requirement("imp.live.dav")
@pytest.mark.usefixtures("way")
def test_calendars_are_followed(world: World, server: DavServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.make("home", "Home")
    server.make("work", "Work & more")
    for uid in "abc":
        server.put(f"home/{uid}.ics", event(uid))
    server.put("work/w.ics", event("w", rule="FREQ=DAILY;COUNT=3"))
    followed = Followed(world, server.url)

    assert "'Home': 6 accepted" in followed.sync()
    assert list(followed.records("events", "Home")) == ["a", "b", "c"]
    assert len(followed.records("occurrences", "Work & more")) == 3

    asked: list[int] = []
    counted = Dav._ask
    monkeypatch.setattr(Dav, "_ask", lambda self, *given: (asked.append(1), counted(self, *given))[1])
    assert followed.sync() == "nothing changed"
    assert len(asked) <= 4 + 3 * 2  # where they are, then each of the two

    server.put("home/a.ics", event("a", "20261121"))
    server.put("home/d.ics", event("d"))
    server.delete("home/b.ics")
    said = followed.sync()
    assert "'Work" not in said
    assert list(followed.records("events", "Home")) == ["a", "c", "d"]
    assert sorted(key.partition("_")[0] for key in followed.records("occurrences", "Home")) == ["a", "c", "d"]
    assert followed.sync() == "nothing changed"

    for uid in "acd":
        server.delete(f"home/{uid}.ics")
    assert "3 kept that it has no longer" in followed.sync()
    assert len(followed.records("events", "Home")) == 3
    assert "6 removed" in followed.sync(MissingChoice(settled=lambda _: True))
    assert followed.records("events", "Home") == {}


@requirement("imp.live.dav", "imp.newer.undo")
def test_undone_what_is_gone_there_is_back_and_what_is_there_stays_as_it_is(world: World, server: DavServer) -> None:
    server.make("home", "Home")
    for uid in "abc":
        server.put(f"home/{uid}.ics", event(uid))
    followed = Followed(world, server.url)
    followed.sync()
    server.put("home/a.ics", event("a", "20261121"))
    server.put("home/d.ics", event("d"))
    server.delete("home/b.ics")
    followed.sync()

    (run,) = world.owner.removing_runs()
    told = world.owner.undo_import(run.run).restored

    times = ["a_20261121T090000Z", "b_20261120T090000Z", "c_20261120T090000Z", "d_20261120T090000Z"]
    assert list(followed.records("occurrences", "Home")) == times
    assert (told.restored, told.changed_back, told.withdrawn) == (2, 0, 0)
    assert followed.sync() == "nothing changed"


@requirement("imp.live.dav")
@pytest.mark.usefixtures("way")
def test_address_books_are_followed(world: World, server: DavServer) -> None:
    server.make("people", "People", is_calendar=False)
    for number in range(4):
        server.put(f"people/{number}.vcf", card(f"u{number}", f"Name {number}"))
    followed = Followed(world, f"{server.url}{USER}/people/", "carddav")
    assert followed.sync() == "'People': 4 accepted, 0 rejected."

    server.put("people/1.vcf", card("u1", "Renamed"))
    server.delete("people/2.vcf")
    assert "1 accepted, 0 rejected, 1 removed" in followed.sync()
    assert [one["name"] for one in followed.records("contacts", "People").values()] == ["Name 0", "Renamed", "Name 3"]


@requirement("imp.live.dav")
def test_a_token_that_the_server_forgot_costs_nothing_but_time(world: World, server: DavServer) -> None:
    server.make("home", "Home")
    for uid in "abc":
        server.put(f"home/{uid}.ics", event(uid))
    followed = Followed(world, server.url)
    followed.sync()
    writer = world.owner.writer(davs.declaration_of("calendar"), "Home")
    ((_, collection),) = writer.collections("dav ").items()
    writer.keep_cursor(collection, {"token": "http://radicale.org/ns/sync/nonsense", "month": "2026-11"})
    server.delete("home/b.ics")

    followed.sync()
    assert list(followed.records("events", "Home")) == ["a", "c"]


@requirement("imp.live.dav")
def test_series_are_laid_out_further_in_another_month(world: World, server: DavServer) -> None:
    server.make("home", "Home")
    server.put("home/a.ics", event("a", rule="FREQ=MONTHLY"))
    followed = Followed(world, server.url)
    followed.sync()
    before = len(followed.records("occurrences", "Home"))
    followed.sync(now=datetime(2027, 2, 1, tzinfo=UTC))
    assert len(followed.records("occurrences", "Home")) == before + 3


@requirement("imp.live.dav-trouble")
def test_what_goes_wrong_is_said_with_what_to_do(world: World, server: DavServer, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SourceTrouble, match="refuses this user") as refused:
        Followed(world, server.url, password="wrong").sync()
    assert "wrong" not in f"{refused.value}{refused.value.remedy}"
    with pytest.raises(SourceTrouble, match="cannot be reached"):
        Followed(world, f"http://127.0.0.1:{free_port()}/").sync()
    with pytest.raises(SourceTrouble, match="password can be read"):
        Followed(world, "http://dav.example.org/").sync()
    with pytest.raises(SourceTrouble, match="must begin with https"):
        Followed(world, "dav.example.org").sync()
    with pytest.raises(SourceTrouble, match="holds a user or a password") as refused:
        Followed(world, "https://ann:harbour@dav.example.org/").sync()
    assert "harbour" not in f"{refused.value}{refused.value.remedy}"
    monkeypatch.setattr(dav_wire, "ANSWER_BYTES_MAX", 10)
    with pytest.raises(SourceTrouble, match="more than was asked"):
        Followed(world, server.url).sync()


class _Rude(BaseHTTPRequestHandler):
    told: ClassVar[tuple[int, dict[str, str], bytes]] = (200, {}, b"")

    def do_PROPFIND(self) -> None:
        status, headers, body = self.told
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is said."""


@requirement("imp.live.dav-trouble")
@pytest.mark.parametrize(
    ("told", "says"),
    [
        ((200, {}, b"<html>hello</html>"), "answered 200"),
        ((503, {}, b""), "wants a pause"),
        ((207, {}, b"<multistatus xmlns='DAV:'><response>"), "no answer"),
        ((207, {}, b"\x00\x01"), "no answer"),
        ((207, {}, b"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"), "no answer"),
        ((207, {"Content-Length": "5000"}, b"<multistatus"), "closed the connection in the middle"),
        ((302, {"Location": "http://elsewhere.example.org/"}, b""), "leads elsewhere without TLS"),
        ((302, {"Location": "https://elsewhere.example.org/"}, b""), "leads to elsewhere.example.org"),
        ((404, {}, b""), "shows no calendar"),
    ],
)
def test_a_server_that_misbehaves_is_told_of(
    world: World, told: tuple[int, dict[str, str], bytes], says: str
) -> None:
    rude = HTTPServer(("127.0.0.1", 0), type("Rude", (_Rude,), {"told": told}))
    thread = Thread(target=rude.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        with pytest.raises(SourceTrouble, match=says):
            Followed(world, f"http://127.0.0.1:{rude.server_port}/").sync()
    finally:
        rude.shutdown()
        rude.server_close()
        thread.join()

"""Calendar servers that lie, lead in circles or ask for a pause: a sentence each; nothing lost, nothing removed."""

import ssl
from collections.abc import Generator, Iterator
from datetime import UTC, datetime, timedelta
from itertools import cycle, repeat
from pathlib import Path
from time import monotonic

import httpx2
import pytest

from pdpp_server.importers import registry
from pdpp_server.importers.live import dav_wire
from pdpp_server.importers.live.certificates import shown_at
from pdpp_server.importers.live.sync import Syncing, sync_one
from pdpp_server.importers.live.trouble import SourceTrouble
from pdpp_server.model.live import BACK_OFF_MOST, next_try
from tests.importers.live.scripted_dav import CalendarServer, Instead, Pieces, Told, calendar_server, given, listed, multi, part
from tests.importers.live.test_bad_servers import Clock
from tests.importers.live.test_dav import NOW, Followed
from tests.importers.live.test_imap import certificate
from tests.requirements import requirement
from tests.worlds.world import World

_BOMB = "<!DOCTYPE l [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;&a;&a;'>]>"
_OUTSIDE = "<!DOCTYPE l [<!ENTITY b SYSTEM 'file:///etc/hostname'>]>"


@pytest.fixture
def server() -> Generator[CalendarServer, None, None]:
    with calendar_server() as running:
        yield running


def events(followed: Followed) -> str:
    return "".join(followed.records("events", "Home"))


def always(told: Told) -> Instead:
    return lambda _: told


def declaring(doctype: str) -> Told:
    return Told(f"{doctype}<multistatus xmlns='DAV:'><response><href>&b;</href></response></multistatus>".encode())


@requirement("imp.live.dav-trouble")
@pytest.mark.parametrize(
    ("kind", "told", "says"),
    [
        ("changes", declaring(_BOMB), "no answer"),
        ("changes", declaring(_OUTSIDE), "no answer"),
        ("changes", Told(b"<multistatus xmlns='DAV:'>" + b"<a>" * 1000), "no answer"),
        ("changes", Told(b"<multistatus/>", headers={"Content-Length": "5"}), "no answer"),
        ("changes", Told(b"<multistatus", headers={"Content-Length": "5000"}), "closed the connection in the middle"),
        ("changes", Told(headers={"Content-Length": "many"}), "no answer"),
        ("changes", Told(b"\0\xff", headers={"Content-Encoding": "gzip"}), "no answer"),
        ("changes", multi(part("http://[bad", "<getetag>1</getetag>"), "t2"), "no answer"),
        ("changes", multi("", "t" * 20_000), "more than was asked for"),
        ("changes", Told(status=301, headers={"Location": "/cal/"}), "leads in a circle"),
        ("changes", Told(status=302), "leads in a circle"),
        ("changes", Told(status=302, headers={"Location": "https://[bad"}), "leads to what is no address"),
        ("changes", Told(status=401), "refuses this user and password"),
        ("changes", Told(status=500), "answered 500"),
        ("changes", Told(status=429), "wants a pause"),
        ("changes", multi(listed("a") + part("/cal/", status="507"), "t2"), "does not come to an end"),
        ("changes", multi(listed("a") + part("/cal/", status="507")), "does not come to an end"),
        ("what", multi("".join(part(f"/{n}/", "<resourcetype><C:calendar/></resourcetype>") for n in range(600))), "more than 500"),
        ("shown", Told(status=404), "does not show what is in 'Home'"),
        ("shown", Told(status=507), "does not show what is in 'Home'"),
        ("shown", Told(status=503), "wants a pause"),
    ],
)  # fmt: skip
def test_a_lie_is_told_of_and_changes_nothing(
    world: World, server: CalendarServer, kind: str, told: Told, says: str
) -> None:
    followed = Followed(world, server.url)
    followed.sync()
    server.can_sync = kind != "shown"
    server.token = 2
    server.instead[kind] = always(told)
    with pytest.raises(SourceTrouble, match=says) as trouble:
        followed.sync()
    assert trouble.value.remedy
    assert events(followed) == "abcd"
    server.instead.clear()
    followed.sync()
    assert events(followed) == "abcd"


@requirement("imp.live.dav-trouble")
@pytest.mark.parametrize(
    ("told", "says"),
    [
        (b"\0\xff nonsense\r\n\r\n", "no answer"),
        (b"", "closed the connection in the middle"),
        (b"HTTP/1.1 207 x\r\nConte", "closed the connection in the middle"),
    ],
)
def test_what_is_no_http_is_told_from_a_connection_that_was_closed(
    world: World, server: CalendarServer, told: bytes, says: str
) -> None:
    server.pieces = lambda _: [told]
    with pytest.raises(SourceTrouble, match=says) as trouble:
        Followed(world, server.url).sync()
    assert trouble.value.remedy


@requirement("imp.live.dav-trouble")
def test_an_answer_without_an_end_is_left(world: World, server: CalendarServer, monkeypatch: pytest.MonkeyPatch) -> None:
    followed = Followed(world, server.url)
    followed.sync()
    with monkeypatch.context() as patched, pytest.raises(SourceTrouble, match="more than was asked for"):
        patched.setattr(dav_wire, "ANSWER_BYTES_MAX", 1000)
        server.instead["changes"] = always(multi(listed("abcd" * 1000), "t2"))
        followed.sync()
        server.instead.clear()
        server.pieces = lambda _: repeat(b"HTTP/1.1 100 Continue\r\n\r\n")
        followed.sync()
    assert events(followed) == "abcd"


def slowly(clock: Clock, seconds: float, begins: bytes = b"", size: int = 1) -> Pieces:
    """From there on so long for each piece."""

    def pieces(whole: bytes) -> Iterator[bytes]:
        at = whole.index(begins)
        yield whole[:at]
        for start in range(at, len(whole), size):
            clock.now += seconds
            yield whole[start : start + size]

    return pieces


@requirement("imp.live.dav-trouble")
@pytest.mark.parametrize("begins", [b"HTTP", b"Content", b"<?xml", b"<sync-token"])
def test_a_server_that_trickles_is_left_and_nothing_is_removed(
    world: World, server: CalendarServer, monkeypatch: pytest.MonkeyPatch, begins: bytes
) -> None:
    clock = Clock()
    monkeypatch.setattr(dav_wire, "monotonic", clock)
    followed = Followed(world, server.url)
    followed.sync()
    server.token, server.uids = 2, "abcde"
    server.instead["changes"] = always(multi(listed("abcde"), "t2"))
    server.pieces = lambda whole: slowly(clock, 20.0, begins)(whole) if begins in whole else [whole]
    with pytest.raises(SourceTrouble, match="trickles: fewer than 3,000 bytes in 5 minutes") as trouble:
        followed.sync()
    assert trouble.value.remedy
    assert events(followed) == "abcd"
    server.pieces = slowly(clock, 0.05)  # twice as fast as it must be
    followed.sync()
    assert events(followed) == "abcde"


@requirement("imp.live.dav-trouble")
def test_a_server_that_trickles_by_tls_is_left_too(
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    clock, tls = Clock(), self_signed(tmp_path)
    monkeypatch.setattr(dav_wire, "monotonic", clock)
    with calendar_server(tls) as server:
        followed = Followed(world, server.url, certificate=shown_at("127.0.0.1", server.port, 5))
        followed.sync()
        server.pieces = slowly(clock, 20.0)
        with pytest.raises(SourceTrouble, match="trickles"):
            followed.sync()


def self_signed(folder: Path) -> ssl.SSLContext:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(*certificate(folder))
    return tls


@requirement("imp.live.dav-trouble", "imp.live.imap-certificate")
def test_a_certificate_that_does_not_fit_is_refused_and_can_be_accepted(world: World, tmp_path: Path) -> None:
    with calendar_server(self_signed(tmp_path)) as server:
        with pytest.raises(SourceTrouble, match=r"certificate of 127\.0\.0\.1:.* does not fit: self-signed") as refused:
            Followed(world, server.url).sync()
        digest = refused.value.remedy.rpartition("--certificate ")[2]
        with pytest.raises(SourceTrouble, match="another certificate"):
            Followed(world, server.url, certificate="00" * 32).sync()
        assert server.asked == []  # so no password was said to it

        followed = Followed(world, server.url, certificate=digest)
        followed.sync()
        assert events(followed) == "abcd"


@requirement("imp.live.dav-trouble")
def test_a_server_that_speaks_no_tls_is_told_from_one_that_is_not_there(world: World, server: CalendarServer) -> None:
    with pytest.raises(SourceTrouble, match="does not speak TLS"):
        Followed(world, server.url.replace("http:", "https:")).sync()


_PACKED = b"HTTP/1.1 207 x\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b\x08\x08" + bytes(6)


@requirement("imp.live.dav-trouble")
@pytest.mark.parametrize(("begins", "goes_on"), [(b"", b"HTTP/1.1 100 Continue\r\n\r\n"), (_PACKED, b"name")])
def test_a_trickle_that_shows_nothing_of_the_answer_is_left_too(
    world: World, server: CalendarServer, monkeypatch: pytest.MonkeyPatch, begins: bytes, goes_on: bytes
) -> None:
    """Heads that announce another one; a packed body that tells without an end how its file was called."""
    clock = Clock()
    monkeypatch.setattr(dav_wire, "monotonic", clock)

    def pieces(_: bytes) -> Iterator[bytes]:
        yield begins
        for byte in cycle(goes_on):
            clock.now += 20.0
            yield bytes([byte])

    server.pieces = pieces
    with pytest.raises(SourceTrouble, match="trickles"):
        Followed(world, server.url).sync()


@requirement("imp.live.dav-trouble")
def test_a_large_answer_over_a_slow_line_may_take_its_time(
    world: World, server: CalendarServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    monkeypatch.setattr(dav_wire, "monotonic", clock)
    followed = Followed(world, server.url)
    server.instead["changes"] = always(multi(" " * 2_000_000 + listed("abcd"), "t1"))
    server.pieces = slowly(clock, 5.0, size=10_000)
    assert "8 accepted" in followed.sync()
    assert clock.now > 900


@requirement("imp.live.dav")
def test_what_changed_may_be_told_in_pieces(world: World, server: CalendarServer) -> None:
    """A piece that names less than is there removes nothing."""
    pieces = {"": ("ab", "1"), "1": ("c", "2"), "2": ("d", "")}
    cut = part("/cal/", status="507")

    def in_pieces(question: str) -> Told:
        asked = question.partition("<sync-token>")[2].partition("</sync-token>")[0]
        uids, after = pieces[asked]
        return multi(listed(uids) + (cut if after else ""), after or "end")

    followed = Followed(world, server.url)
    server.instead["changes"] = in_pieces
    assert "8 accepted" in followed.sync()
    assert events(followed) == "abcd"
    followed.sync(now=NOW + timedelta(days=40))  # in another month all is read again
    assert events(followed) == "abcd"


@requirement("imp.live.dav-trouble")
@pytest.mark.parametrize("lacking", [part("/cal/d.ics"), part("/cal/d.ics", status="500")])
def test_what_is_shown_without_a_mark_is_there(world: World, server: CalendarServer, lacking: str) -> None:
    server.can_sync = False
    followed = Followed(world, server.url)
    followed.sync()
    server.token, server.instead["shown"] = 2, always(multi(listed("abc") + lacking))
    assert "removed" not in followed.sync()
    assert events(followed) == "abcd"
    server.token, server.instead["shown"] = 3, always(multi(listed("abc")))
    assert "2 removed" in followed.sync()
    assert events(followed) == "abc"


@requirement("imp.live.dav-trouble")
@pytest.mark.parametrize("text", ["nonsense", "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:a\nDTSTART:never\nEND:VEVENT\nEND:VCALENDAR\n"])  # fmt: skip
def test_an_event_that_cannot_be_read_any_more_is_rejected_and_stays(
    world: World, server: CalendarServer, text: str
) -> None:
    followed = Followed(world, server.url)
    followed.sync()
    server.instead["changes"] = always(multi(listed("a", "2"), "t2"))
    server.instead["resources"] = always(multi(given("a", text)))
    said = followed.sync()
    assert "1 rejected" in said
    assert "removed" not in said
    assert events(followed) == "abcd"
    server.instead["resources"] = always(multi(given("a")))
    server.instead["changes"] = always(multi(part("/cal/a.ics", status="404"), "t3"))
    assert "2 removed" in followed.sync()  # it is still known as what it was
    assert events(followed) == "bcd"


@requirement("imp.live.dav-trouble")
def test_what_is_named_and_not_given_is_asked_for_again(world: World, server: CalendarServer) -> None:
    followed = Followed(world, server.url)
    server.instead["resources"] = always(multi(given("z")))
    with pytest.raises(SourceTrouble, match="does not give what it shows"):
        followed.sync()
    assert [one for one in world.owner.sources() if one.name == "Home"] == []  # nothing came: no connection
    server.instead.clear()
    followed.sync()
    assert events(followed) == "abcd"


@requirement("imp.live.dav")
def test_a_server_that_calls_itself_otherwise_behind_a_proxy_is_read(world: World, server: CalendarServer) -> None:
    followed = Followed(world, server.url)
    inside = listed("abcd").replace("/cal/", "http://inside.example.org:8080/cal/")
    server.instead["changes"] = always(multi(inside, "t1"))
    assert "8 accepted" in followed.sync()
    assert events(followed) == "abcd"


@requirement("imp.live.dav-trouble")
@pytest.mark.parametrize("leads", ["redirect", "home"])
def test_a_server_that_calls_itself_http_is_asked_by_tls_as_before(leads: str) -> None:
    asked: list[str] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(str(request.url))
        there = "http://dav.example.org/ann/"
        if request.url.path == "/ann/":
            return httpx2.Response(207, content=multi(part("/ann/home/", "<resourcetype><C:calendar/></resourcetype>")).body)
        if leads == "redirect":
            return httpx2.Response(301, headers={"Location": there})
        home = f"<C:calendar-home-set><href>{there}</href></C:calendar-home-set>"
        principal = "<current-user-principal><href>/me/</href></current-user-principal>"
        return httpx2.Response(207, content=multi(part(request.url.path, home + principal)).body)

    with httpx2.Client(transport=httpx2.MockTransport(answer), auth=("ann", "secret")) as client:
        dav_wire.Dav(client, "https://dav.example.org/", dav_wire.CALDAV, monotonic).collections()

    assert asked[-1] == "https://dav.example.org/ann/"
    assert all(url.startswith("https://") for url in asked)


@requirement("imp.live.dav-trouble")
def test_no_password_goes_elsewhere_without_tls(world: World, server: CalendarServer) -> None:
    home = "<current-user-principal><href>http://elsewhere.example.org/ann/</href></current-user-principal>"
    server.instead = {"what": always(Told(status=404)), "": always(multi(part("/", home)))}
    with pytest.raises(SourceTrouble, match="leads elsewhere without TLS"):
        Followed(world, server.url).sync()


@requirement("imp.live.trouble", "imp.live.dav-trouble")
def test_a_pause_that_a_server_asks_for_is_kept(world: World, server: CalendarServer) -> None:
    settings = {"kind": "caldav", "url": server.url, "user": "ann"}
    world.owner.live.add("cal", "caldav", settings, "secret")
    server.instead["what"] = always(Told(status=503, headers={"Retry-After": "7200"}))
    syncing = Syncing(world.owner, UTC, registry.all_importers(), lambda: NOW)
    with pytest.raises(SourceTrouble, match="wants a pause"):
        sync_one(syncing, world.owner.live.named("cal"))
    source = world.owner.live.named("cal")
    tried, following = (datetime.fromisoformat(str(at)) for at in (source.tried_at, source.next_at))
    assert following - tried == timedelta(hours=2)
    assert next_try(NOW, timedelta(), 1, timedelta(days=900)) == NOW + BACK_OFF_MOST  # but none without an end

"""Accounts that are followed from a page, against Debian's dovecot and radicale: tried, kept sealed, said, stopped."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pdpp_server.importers import registry
from pdpp_server.importers.live.sync import Syncing, sync_one
from pdpp_server.importers.live.trouble import SourceTrouble
from tests.importers.live.scripted import scripted, usual
from tests.importers.live.scripted_dav import calendar_server
from tests.importers.live.test_lying_dav import self_signed
from tests.requirements import requirement
from tests.scenarios.console.visitor import Visitor, shown
from tests.worlds import davserver
from tests.worlds.davserver import dav_server
from tests.worlds.mailserver import PASSWORD, USER, MailServer, letter, mail_server
from tests.worlds.world import World


@pytest.fixture(scope="module")
def server() -> Iterator[MailServer]:
    with mail_server() as running:
        running.put([letter(1, "Tide tables")])
        yield running


def filled(server: MailServer, **others: str) -> dict[str, str]:
    at = {"address": "127.0.0.1", "port": str(server.port), "security": "none"}
    return {**at, "user": server.user, "password": PASSWORD, **others}


@requirement("con.sources.follow")
def test_a_mailbox_is_followed_by_address_user_and_password(owner: Visitor, world: World, server: MailServer) -> None:
    answer = owner.send(owner.page("/follow"), "/follow", **filled(server))

    assert answer.status_code == 303, shown(answer.text)
    page = owner.page("/sources")
    assert "waits for its first read" in page
    assert PASSWORD not in page
    (followed,) = world.owner.live.all()
    assert followed.is_due("2000-01-01T00:00:00Z")  # whoever asks the sources asks it at once
    assert world.owner.live.secret(followed.name) == PASSWORD
    kept = b"".join(path.read_bytes() for path in world.home.rglob("*") if path.is_file())
    assert PASSWORD.encode() not in kept

    asked(world)

    assert re.search(r"last read .* · next try ", shown(owner.page("/sources")))
    assert "Tide tables" in owner.page("/search?q=tide")


def asked(world: World) -> None:
    """As the server does it beside the pages."""
    syncing = Syncing(world.owner, UTC, registry.all_importers(), lambda: datetime.now(UTC))
    for source in world.owner.live.due():
        sync_one(syncing, source)


@requirement("con.sources.follow", "imp.live.first")
def test_a_first_read_that_fails_says_why_and_leaves_no_empty_source(owner: Visitor, world: World) -> None:
    def closing(tag: str, command: str) -> bytes | None:
        return None if "BODY.PEEK" in command else usual(tag, command)

    before = world.owner.sources()
    given = {"address": "127.0.0.1", "security": "none", "user": USER, "password": PASSWORD}
    with scripted(closing) as port:
        answer = owner.send(owner.page("/follow"), "/follow", kind="imap", port=str(port), **given)
        assert answer.status_code == 303, shown(answer.text)
        with pytest.raises(SourceTrouble, match="closed the connection in the middle"):
            asked(world)

    page = shown(owner.page("/sources"))
    assert world.owner.sources() == before
    assert "never read so far" in page
    assert page.count("It is tried again") == 1 and "closed the connection in the middle" in page


CALENDAR = (
    "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//t//t//EN\r\nBEGIN:VEVENT\r\nUID:e1\r\nDTSTAMP:20260101T000000Z\r\n"
    "DTSTART:20261118T090000Z\r\nSUMMARY:Lens polishing\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
)
CARD = "BEGIN:VCARD\r\nVERSION:3.0\r\nUID:c1\r\nFN:Cem Quay\r\nN:Quay;Cem;;;\r\nEMAIL:cem@example.org\r\nEND:VCARD\r\n"


@requirement("con.sources.follow")
def test_calendars_and_contacts_are_followed_from_the_page(owner: Visitor, world: World) -> None:
    with dav_server() as server:
        server.make("home", "Home")
        server.put("home/e1.ics", CALENDAR)
        server.make("people", "People", is_calendar=False)
        server.put("people/c1.vcf", CARD)
        given = {"address": server.url, "user": davserver.USER, "password": davserver.PASSWORD}
        for kind in ("caldav", "carddav"):
            answer = owner.send(owner.page("/follow"), "/follow", kind=kind, **given)
            assert answer.status_code == 303, shown(answer.text)
        refused = owner.send(owner.page("/follow"), "/follow", kind="carddav", **{**given, "password": "wrong-one"})
        assert (refused.status_code, "wrong-one" in refused.text) == (400, False)
        asked(world)

    page = shown(owner.page("/sources"))
    assert "caldav ann" in page
    assert "carddav ann" in page
    assert "Lens polishing" in owner.page("/search?q=polishing")
    assert "Cem Quay" in owner.page("/search?q=quay")


@requirement("con.sources.follow", "imp.live.imap-certificate")
def test_a_calendar_server_whose_certificate_signs_itself_is_accepted_on_purpose(
    owner: Visitor, world: World, tmp_path: Path
) -> None:
    with calendar_server(self_signed(tmp_path)) as server:
        given = {"kind": "caldav", "address": server.url, "user": "ann", "password": PASSWORD, "security": "tls"}
        refused = owner.send(owner.page("/follow"), "/follow", **given)
        told = re.search(r"--certificate ([0-9a-f]{64})", refused.text)
        assert told, shown(refused.text)

        assert owner.send(owner.page("/follow"), "/follow", **given, certificate=told[1]).status_code == 303
        asked(world)

    assert "last read" in shown(owner.page("/sources"))


@requirement("con.sources.follow")
def test_a_form_that_is_sent_twice_follows_once(owner: Visitor, world: World, server: MailServer) -> None:
    page = owner.page("/follow")

    for _ in range(2):
        assert owner.send(page, "/follow", **filled(server)).status_code == 303

    assert [one.name for one in world.owner.live.all()] == [server.user]


@requirement("con.sources.follow")
def test_a_password_that_was_changed_is_sent_again(owner: Visitor, world: World, server: MailServer) -> None:
    page = owner.page("/follow")
    owner.send(page, "/follow", **filled(server))
    right = world.owner.live.secret(server.user)
    world.owner.live.keep_secret(server.user, "what it was before")

    assert owner.send(page, "/follow", **filled(server)).status_code == 303

    assert world.owner.live.secret(server.user) == right


@requirement("con.sources.follow")
@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"password": "quite-another-one"}, "refuses the user"),
        ({"address": "nowhere.invalid"}, "Without TLS a password can be read on its way."),
        ({"port": "seven"}, "A port is a number from 1 to 65535."),
        ({"user": ""}, "An address, a user and a password are needed."),
        ({"kind": "pop3"}, "The form cannot be read."),
        ({"kind": "caldav", "address": "http://127.0.0.1:1/"}, "127.0.0.1"),
    ],
)
def test_what_cannot_be_opened_is_not_followed_and_the_password_does_not_come_back(
    owner: Visitor, world: World, server: MailServer, wrong: dict[str, str], said: str
) -> None:
    answer = owner.send(owner.page("/follow"), "/follow", **filled(server, **wrong))

    assert answer.status_code == 400
    assert said in shown(answer.text)
    assert filled(server, **wrong)["password"] not in answer.text
    assert world.owner.live.all() == []


@requirement("con.sources.follow")
def test_trouble_is_said_it_can_be_asked_again_and_stopped_twice(owner: Visitor, world: World) -> None:
    settings = {"host": "imap.example.org", "port": 993, "security": "tls", "user": USER, "account": USER}
    world.owner.live.add(USER, "imap", settings, "old password")
    world.owner.live.went_wrong(world.owner.live.named(USER), "The server takes no longer time than a minute.")
    page = owner.page("/sources")
    assert "never read so far · next try today at 12:01 UTC The server takes no longer time than a minute." in shown(
        page
    )

    assert owner.send(page, "/follow/again").status_code == 303
    assert world.owner.live.named(USER).next_at is None
    for _ in range(2):
        assert owner.send(page, "/follow/stop").status_code == 303

    assert world.owner.live.all() == []
    assert owner.send(page, "/follow/again").status_code == 404


@requirement("con.sources.follow", "imp.newer.half")
def test_most_of_an_account_goes_only_after_a_word_on_the_page_and_no_more_than_was_said(
    owner: Visitor, world: World, tmp_path: Path
) -> None:
    """A folder of notes, as of a program that another one fills."""
    vault = tmp_path / "vault"
    (vault / ".obsidian").mkdir(parents=True)
    for name in "abcdefgh":
        (vault / f"{name}.md").write_text(f"# Note {name}\n\nOf that day.\n", "utf-8")
    world.owner.live.add("notes", "folder", {"path": str(vault)}, None)
    syncing = Syncing(world.owner, UTC, registry.all_importers(), lambda: datetime.now(UTC))

    def synced(*gone: str) -> str:
        for name in gone:
            (vault / f"{name}.md").unlink()
        return sync_one(syncing, world.owner.live.named("notes"))

    synced()
    assert "kept that it has no longer" in synced(*"abcde")
    page = owner.page("/sources")
    assert "5 items that you have here are gone there" in shown(page)

    assert owner.send(page, "/follow/let-go").status_code == 303
    assert "kept that it has no longer" in synced("f")  # one more than was spoken of
    assert "6 items that you have here are gone there" in shown(owner.page("/sources"))
    owner.send(owner.page("/sources"), "/follow/let-go")
    assert "6 removed" in synced()
    assert "are gone there" not in shown(owner.page("/sources"))

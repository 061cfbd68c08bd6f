"""An import that removed something is undone: everything is as it was before it, but for what came after it."""

import mailbox
from collections.abc import Callable
from datetime import UTC, timedelta
from email.message import EmailMessage
from pathlib import Path

import orjson
import pytest

from pdpp_server.importers import registry
from pdpp_server.importers.registry import FoundAccount, look_into
from pdpp_server.model.ingest import Incoming
from tests.importers.homes import LAST_MONTH, NOW, TODAY, Home, event, ics
from tests.importers.test_missing import FIRST, LAST, SECOND, THIRD, card, chat
from tests.requirements import requirement
from tests.worlds.world import World

SOON = "20261115T080000Z"
OLD, NEW = "20261001T080000Z", "20261110T080000Z"


@pytest.fixture
def home(world: World, tmp_path: Path) -> Home:
    return Home(world, tmp_path / "exports")


Bring = Callable[[Home, int], FoundAccount]  # the export as it was, and the newer one


def _moved(home: Home, at: int) -> FoundAccount:
    texts = (
        ics(event("a"), event("b"), event("c"), event("d")),
        ics(event("a", "20261121"), event("c"), event("d"), event("n"), stamp=TODAY),
    )
    return home.found("Home.ics", texts[at])


def _shifted(home: Home, at: int) -> FoundAccount:
    days = ("20261120", "20261121")
    series = event("s", days[at], rule="FREQ=DAILY;COUNT=5")
    return home.found("Home.ics", ics(series, event("a"), stamp=(LAST_MONTH, TODAY)[at]))


def _notes(home: Home, at: int) -> FoundAccount:
    files = (
        {"a.md": "to [[b]]", "b.md": "one", "c.md": "to [[a]] and [[b]]"},
        {"a.md": "to [[b]]", "sub/b.md": "two", "c.md": "only [[a]]"},
    )
    return home.folder(files[at], now=NOW + timedelta(minutes=at))


def _contacts(home: Home, at: int) -> FoundAccount:
    picture = "PHOTO;ENCODING=b;TYPE=PNG:iVBORw0KGgo="
    pictured = card("p", rev=(OLD, NEW)[at]).replace("END:VCARD", f"{picture if not at else 'NOTE:x'}\r\nEND:VCARD")
    cards = (
        pictured + card("u1", rev=OLD) + card("", "Bob", rev=OLD, phone="2") + card("u3", "Cem", rev=OLD),
        pictured + card("u1", "Ann B", rev=NEW) + card("", "Bob", rev=NEW, phone="3"),
    )
    return home.found("book.vcf", cards[at])


def _chat(home: Home, at: int) -> FoundAccount:
    edited = THIRD.replace("meet?", "eat? <This message was edited>")
    lines = ((FIRST, SECOND, THIRD, LAST), (FIRST, edited, LAST, "15/11/2026, 11:00 - Ann: good"))
    return home.found("WhatsApp Chat with Ann.txt", chat(*lines[at]))


def _telegram(home: Home, at: int) -> FoundAccount:
    def export(*texts: str) -> bytes:
        told = [
            {"type": "message", "id": n, "date_unixtime": str(1_790_000_000 + n * 60), "text": text}
            for n, text in enumerate(texts, 1)
            if text
        ]
        return orjson.dumps({"name": "Ann", "type": "personal_chat", "id": 7, "messages": told})

    texts = (("one", "two", "three", "four"), ("one", "two, corrected", "", "four", "five"))
    return home.found("result.json", export(*texts[at]))


def _mail(home: Home, at: int) -> FoundAccount:
    top = home.path("Maildir")
    box = mailbox.Maildir(top, create=True)
    box.clear()
    for number in ((1, 2, 3, 4), (1, 3, 4, 5))[at]:
        message = EmailMessage()
        message["From"], message["To"], message["Subject"] = "ann@example.org", "me@example.org", f"subject {number % 2}"
        message["Message-ID"], message["Date"] = f"<m{number}@x>", f"Mon, 0{number} Jun 2026 10:00:00 +0000"
        message.set_content(f"body {number}")
        message.add_attachment(b"text %d" % number, maintype="text", subtype="plain", filename="a.txt")
        box.add(message)
    (found,) = look_into(top, UTC, None, registry.IMPORTERS, NOW + timedelta(minutes=at)).found
    return found


@requirement("imp.newer.undo")
@pytest.mark.parametrize("export", [_moved, _shifted, _notes, _contacts, _chat, _telegram, _mail])
def test_undone_it_is_as_it_was(home: Home, export: Bring) -> None:
    home.bring(export(home, 0))
    before = home.everything()
    tally = home.bring(export(home, 1))
    assert tally.removal.removed
    newer = home.everything()

    told = home.world.owner.undo_import(tally.removal.run).restored

    assert home.everything() == before
    assert (told.restored + told.changed_back >= tally.removal.removed, told.left, told.unfit) == (True, 0, 0)
    home.bring(export(home, 1))  # the same files again: what is new in them comes, and what is back stays
    assert home.everything().items() >= newer.items()


@requirement("imp.newer.undo")
def test_a_moved_event_is_at_one_time_only_whatever_is_done(home: Home) -> None:
    home.bring(_moved(home, 0))
    run = home.bring(_moved(home, 1)).removal.run
    home.world.owner.undo_import(run)
    assert [key for key in home.live("occurrences") if key.startswith("a_")] == ["a_20261120T090000Z"]

    home.bring(home.found("Home.ics", ics(event("a", "20261122"), event("c"), event("d"), stamp=SOON)))

    assert [key for key in home.live("occurrences") if key.startswith("a_")] == ["a_20261122T090000Z"]
    assert "b" in home.live("events")  # it came back, and no later import removes it


@requirement("imp.newer.undo")
def test_what_a_later_import_tells_stays_as_that_says(home: Home) -> None:
    home.bring(_moved(home, 0))
    run = home.bring(_moved(home, 1)).removal.run
    later = (event("a", "20261121"), event("c"), event("d"), event("n"), event("z"))
    home.bring(home.found("Home.ics", ics(*later, stamp=SOON)))

    told = home.world.owner.undo_import(run).restored

    assert home.live("events") == ["a", "b", "c", "d", "n", "z"]
    assert [key for key in home.live("occurrences") if key.startswith("a_")] == ["a_20261121T090000Z"]
    assert (told.restored, told.changed_back, told.withdrawn) == (2, 0, 0)
    assert told.left == 4 + 1  # the event that moved with both its times, and the new one with its time


@requirement("imp.newer.undo")
def test_what_was_changed_by_hand_since_stays(home: Home) -> None:
    home.bring(_moved(home, 0))
    run = home.bring(_moved(home, 1)).removal.run
    writer = home.world.owner.writer(registry.declaration_of("calendar"), "mine")
    (mine,) = [one for one in home.data("events") if one["id"] == "a"]
    writer.deliver([Incoming("by hand", "events", "a", {**mine, "title": "told by hand"}, None)])

    told = home.world.owner.undo_import(run).restored

    assert [one["title"] for one in home.data("events") if one["id"] == "a"] == ["told by hand"]
    assert "a_20261120T090000Z" not in home.live("occurrences")
    assert told.left


@requirement("imp.newer.undo")
def test_an_import_that_removes_nothing_keeps_nothing_of_what_it_changed(home: Home) -> None:
    home.bring(home.found("Home.ics", ics(event("a"), event("b"))))
    renamed = event("b").replace("SUMMARY:b", "SUMMARY:renamed")
    home.bring(home.found("Home.ics", ics(event("a"), renamed, stamp=TODAY)))

    assert home.world.owner.removing_runs() == []
    with home.world.services.database.reading() as reading:
        assert reading.one("select count(*) from removed") == 0

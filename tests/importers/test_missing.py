"""A newer export of the same: what it has no longer goes, and every reason why it may not."""

import os
from datetime import UTC, timedelta
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import orjson
import pytest

from pdpp_server.errors import NotFound
from pdpp_server.importers import registry
from pdpp_server.importers.missing import OF_SOME_DAYS, OF_SOME_LABEL, Doubt
from pdpp_server.importers.registry import look_into
from pdpp_server.importers.run import fingerprint_of
from pdpp_server.importers.sources import calendar
from pdpp_server.model.ingest import Incoming
from pdpp_server.owner import writer as writing
from tests.engine.beneath import blobs_in, bytes_of
from tests.importers.homes import LAST_MONTH, NOW, TODAY, Home, event, ics
from tests.requirements import requirement
from tests.worlds.world import World


@pytest.fixture
def home(world: World, tmp_path: Path) -> Home:
    return Home(world, tmp_path / "exports")


THREE = (event("a"), event("b"), event("c", rule="FREQ=DAILY;COUNT=3"))


def card(uid: str, name: str = "Ann", rev: str = "", phone: str = "1") -> str:
    told = [f"UID:{uid}"] if uid else []
    told += [f"FN:{name}", f"TEL:{phone}", *([f"REV:{rev}"] if rev else [])]
    return "\r\n".join(("BEGIN:VCARD", "VERSION:3.0", *told, "END:VCARD", ""))


# What goes ----------------------------------------------------------------------------------------------------------


@requirement("imp.newer.removes")
def test_a_newer_calendar_leaves_what_a_fresh_import_of_it_leaves(home: Home) -> None:
    home.bring(home.found("Home.ics", ics(*THREE)))

    moved, shifted = event("a", "20261121"), event("c", "20261121", rule="FREQ=DAILY;COUNT=3")
    tally = home.bring(home.found("Home (1).ics", ics(moved, shifted, stamp=TODAY)))

    assert home.live("events") == ["a", "c"]
    assert [key.partition("_")[0] for key in home.live("occurrences")] == ["a", "c", "c", "c"]
    assert tally.removal.removed == 4  # b and its time, the old time of a, the first one of c
    assert (tally.removal.before, tally.removal.after) == (8, 6)
    assert home.gone("events") == ["b"]


@requirement("imp.newer.removes")
def test_a_deleted_and_a_changed_contact_and_a_renamed_note(home: Home) -> None:
    old, new = "20261001T080000Z", "20261110T080000Z"
    cards = card("u1", rev=old) + card("", "Bob", rev=old, phone="2") + card("u3", "Cem", rev=old) + card("u4", rev=old)
    home.bring(home.found("book.vcf", cards))
    home.bring(home.found("book.vcf", card("u1", rev=new) + card("", "Bob", rev=new, phone="3") + card("u4", rev=old)))

    assert [one["phone"] for one in home.data("contacts") if one["name"] == "Bob"] == ["3"]
    assert [one["name"] for one in home.data("contacts")].count("Cem") == 0

    home.bring(home.folder({"a.md": "x", "b.md": "to [[a]]", "c.md": "y"}, now=NOW))
    home.bring(home.folder({"a.md": "x", "sub/b.md": "to [[a]]", "c.md": "y"}, now=NOW + timedelta(minutes=1)))
    assert home.live("notes") == ["a.md", "c.md", "sub/b.md"]
    assert len(home.live("links")) == 1


@requirement("imp.newer.removes")
def test_whoever_follows_changes_is_told_of_what_went(home: Home) -> None:
    home.bring(home.found("Home.ics", ics(*THREE)))
    home.bring(home.found("Home.ics", ics(THREE[0], THREE[2], stamp=TODAY)))

    with home.world.services.database.reading() as reading:
        statement = "select deleted_at is not null, data is null, revised from records where key = 'b'"
        assert reading.rows(statement) == [(1, 1, 1)]
        erased = "select count(*) from history where key = 'b' and data is not null"
        assert reading.rows(erased) == [(0,)]


# Why nothing goes -----------------------------------------------------------------------------------------------------


@requirement("imp.newer.guards")
@pytest.mark.parametrize(
    ("text", "why"),
    [
        (ics(*THREE[:2], stamp="20260901T080000Z"), "older"),
        (ics(*THREE[:2], stamp=LAST_MONTH), "nothing in it is newer"),
        (ics(*THREE[:2], stamp=TODAY, end=""), ""),  # cut between two events: it is a part
        (ics(*THREE[:2], "UID:broken\r\nDTSTART:nonsense", stamp=TODAY), "rejected"),
        (ics(*THREE[:2], stamp="29991231T000000Z"), "do not say when"),
        (ics(*THREE[:2], stamp=TODAY).replace("DTSTAMP", "X-STAMP"), "do not say when"),
    ],
)
def test_what_is_older_cut_or_rejected_in_part_removes_nothing(home: Home, text: str, why: str) -> None:
    home.bring(home.found("Home.ics", ics(*THREE)))

    tally = home.bring(home.found("Home.ics", text))

    assert home.live("events") == ["a", "b", "c"]
    assert (tally.removal.removed, home.gone("occurrences")) == (0, [])
    assert why in "".join(tally.removal.why_kept)
    assert bool(why) is bool(tally.removal.missing)


@requirement("imp.newer.guards")
def test_a_damaged_archive_removes_nothing(home: Home, tmp_path: Path) -> None:
    home.bring(home.found("Home.ics", ics(*THREE)))
    path = tmp_path / "takeout.zip"
    with ZipFile(path, "w") as archive:
        padding = "".join(f"\r\nX-PAD:{'x' * 70}" for _ in range(9000))
        archive.writestr("Home.ics", ics(THREE[0] + padding, THREE[1], stamp=TODAY))
    raw = path.read_bytes()
    path.write_bytes(raw.replace(b"SUMMARY:b", b"SUMMARY:X"))  # its check sum no longer fits
    (found,) = look_into(path, UTC, None, registry.IMPORTERS, NOW).found

    tally = home.bring(found)

    assert (tally.removal.removed, len(home.live("events"))) == (0, 3)


@requirement("imp.newer.guards")
def test_contacts_that_do_not_say_when_they_changed_need_the_owners_word(home: Home) -> None:
    home.bring(home.found("book.vcf", card("u1") + card("u2") + card("u3")))

    fewer = home.found("book.vcf", card("u1") + card("u2"))
    asked: list[Doubt] = []
    home.bring(fewer, agree=lambda doubt: bool(asked.append(doubt)))
    assert [doubt.why for doubt in asked] == ["the files do not say when they were made"]
    assert len(home.live("contacts")) == 3

    home.bring(fewer, agree=lambda doubt: bool(doubt.why))
    assert home.live("contacts") == ["u1", "u2"]


@requirement("imp.newer.guards")
def test_after_a_newer_one_that_was_stopped_an_older_one_removes_nothing(home: Home) -> None:
    home.bring(home.found("Home.ics", ics(*THREE)))
    newest = home.found("Home.ics", ics(*THREE, event("d"), stamp=TODAY))
    writer = home.world.owner.writer(newest.declaration, "mine")
    mark = writer.open_collection(writer.begin_run("Home.ics"), "Home", fingerprint_of(newest))
    writer.deliver([one for one in newest.importer.read(newest.account) if isinstance(one, Incoming)], mark)

    between = home.bring(home.found("Home.ics", ics(*THREE, stamp="20261101T080000Z")))
    assert (between.removal.removed, home.live("events")) == (0, ["a", "b", "c", "d"])
    assert "not read to its end" in between.removal.why_kept[0]

    home.bring(home.found("Home.ics", ics(*THREE, event("d"), stamp=TODAY)))  # now to its end
    after = home.bring(home.found("Home.ics", ics(THREE[0], THREE[1], event("d"), stamp="20261115T080000Z")))
    assert (after.removal.why_kept, home.live("events")) == ((), ["a", "b", "d"])


@requirement("imp.newer.guards")
def test_a_folder_that_cannot_be_looked_into_is_a_part(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.bring(home.folder({"a.md": "x", "sub/b.md": "y", "c.md": "z"}, now=NOW))
    found = home.folder({"a.md": "x", "c.md": "z"}, now=NOW + timedelta(minutes=1))
    top = Path(found.files.folder)

    def shut(path: Any, onerror: Any = None, **_: Any) -> Any:
        if path == top:
            onerror(PermissionError(13, "no", str(top / "sub")))
        return iter([(str(top), [], ["a.md", "c.md"])] if path == top else [])

    monkeypatch.setattr(os, "walk", shut)
    (found,) = look_into(top, UTC, None, registry.IMPORTERS, NOW + timedelta(minutes=2)).found
    monkeypatch.undo()

    assert found.files.unread == ("sub",)
    assert (home.bring(found).removal.removed, len(home.live("notes"))) == (0, 3)


@requirement("imp.newer.guards")
def test_keep_missing_never_removes(home: Home) -> None:
    home.bring(home.found("Home.ics", ics(*THREE)))
    tally = home.bring(home.found("Home.ics", ics(*THREE[:2], stamp=TODAY)), keep=True)
    assert (tally.removal.removed, len(home.live("events"))) == (0, 3)


@requirement("imp.newer.guards")
def test_times_too_many_to_be_told_again_stay(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    daily = event("d", "20260101", rule="FREQ=DAILY;UNTIL=20260131T235959Z")
    home.bring(home.found("Home.ics", ics(daily, event("e"))))
    monkeypatch.setattr(calendar, "OCCURRENCES_MAX", 10)

    home.bring(home.found("Home.ics", ics(daily, event("e"), event("f"), stamp=TODAY)))

    assert sum(key.startswith("d_") for key in home.live("occurrences")) == 31


# Only within what it covers -------------------------------------------------------------------------------------------


def chat(*lines: str) -> str:
    return "".join(f"{line}\n" for line in lines)


FIRST, SECOND = "01/11/2026, 10:00 - Ann: hello", "01/11/2026, 10:05 - Me: hi"
THIRD, LAST = "15/11/2026, 09:00 - Ann: shall we meet?", "15/11/2026, 09:10 - Me: yes"


@requirement("imp.newer.span", "imp.newer.removes")
def test_a_chat_loses_what_was_deleted_or_edited_inside_its_span(home: Home) -> None:
    name = "WhatsApp Chat with Ann.txt"
    home.bring(home.found(name, chat(FIRST, SECOND, THIRD, LAST)))
    edited = THIRD.replace("meet?", "eat? <This message was edited>")
    later = "15/11/2026, 11:00 - Ann: good"

    tally = home.bring(home.found(name, chat(FIRST, edited, LAST, later)))

    assert tally.removal.removed == 2  # the second was deleted, the third edited
    assert sorted(one["text"] for one in home.data("messages")) == ["good", "hello", "shall we eat?", "yes"]


@requirement("imp.newer.span")
def test_a_chat_that_begins_later_or_ends_earlier_removes_nothing_outside(home: Home) -> None:
    name = "WhatsApp Chat with Ann.txt"
    home.bring(home.found(name, chat(FIRST, SECOND, THIRD, LAST)))

    home.bring(home.found(name, chat(THIRD, LAST, "15/11/2026, 11:00 - Ann: good")))  # the phone gave the newest only
    assert len(home.live("messages")) == 5
    home.bring(home.found(name, chat(FIRST, THIRD)))  # older: it lacks the second, and ends before
    assert len(home.live("messages")) == 5


@requirement("imp.newer.files")
def test_a_chat_that_is_exported_without_files_takes_none_away(home: Home) -> None:
    first, last = "15/11/2026, 09:00 - Ann: hello", "15/11/2026, 09:20 - Ann: bye"
    picture = "15/11/2026, 09:10 - Ann: {}\nSea"
    with_files = chat(first, picture.format("a.jpg (file attached)"), last)
    home.bring(home.packed("WhatsApp Chat with Ann.zip", {"_chat.txt": with_files, "a.jpg": b"picture"}))
    name = "WhatsApp Chat with Ann.txt"

    home.bring(home.found(name, chat(first, picture.format("<Media omitted>"), last)))
    home.bring(home.found(name, chat(first, picture.format("b.jpg (file attached)"), last)))

    (kept,) = [one for one in home.data("messages") if one["kind"] == "media"]
    assert (kept["media_kind"], kept["media_name"], kept["media"]["size_bytes"]) == ("photo", "b.jpg", 7)
    assert b"picture" in blobs_in(home.world.services.database)


@requirement("imp.newer.files")
def test_a_telegram_chat_that_is_exported_without_files_takes_none_away(home: Home) -> None:
    def export(photo: str) -> bytes:
        told = {"type": "message", "id": 1, "from": "Ann", "from_id": "user1", "date_unixtime": "1790000000", "text": ""}
        return orjson.dumps({"name": "Ann", "type": "personal_chat", "id": 7, "messages": [{**told, "photo": photo}]})

    home.bring(home.packed("Ann.zip", {"result.json": export("photos/a.jpg"), "photos/a.jpg": b"picture"}))
    left_out = "(File not included. Change data exporting settings to download.)"
    home.bring(home.found("result.json", export(left_out)))

    (kept,) = home.data("messages")
    assert (kept["media_name"], kept["media"]["size_bytes"]) == ("a.jpg", 7)


@requirement("imp.newer.edited")
def test_an_edited_message_with_an_id_replaces_its_predecessor(home: Home) -> None:
    def export(*texts: str) -> bytes:
        by = {"type": "message", "from": "Ann", "from_id": "user1"}
        told = [
            {**by, "id": n, "date_unixtime": str(1_790_000_000 + n * 60), "text": text}
            for n, text in enumerate(texts, 1)
            if text
        ]
        return orjson.dumps({"name": "Ann", "type": "personal_chat", "id": 7, "messages": told})

    home.bring(home.found("result.json", export("one", "two", "three", "four")))
    home.bring(home.found("result.json", export("one", "two, corrected", "", "four", "five")))

    assert [one["text"] for one in home.data("messages")] == ["one", "two, corrected", "four", "five"]


@requirement("imp.newer.others")
def test_what_another_collection_or_other_hands_brought_stays(home: Home) -> None:
    home.bring(home.found("Home.ics", ics(*THREE)))
    home.bring(home.found("Work.ics", ics(event("b"), event("w"), name="Work")))
    writer = home.world.owner.writer(registry.declaration_of("calendar"), "mine")
    (mine,) = [one for one in home.data("events") if one["id"] == "a"]
    writer.deliver([Incoming("by hand", "events", "a", {**mine, "title": "told by hand"}, None)])

    tally = home.bring(home.found("Home.ics", ics(THREE[2], event("x"), event("y"), stamp=TODAY)))
    assert home.live("events") == ["a", "b", "c", "w", "x", "y"]
    assert tally.removal.removed == 1  # the time of a, which nobody told by hand

    home.bring(home.found("Work.ics", ics(event("w"), name="Work", stamp=TODAY)), agree=lambda _: True)
    assert "b" not in home.live("events")  # the first had given it up, so now nobody has it


@requirement("imp.newer.others")
@pytest.mark.parametrize(
    "files",
    [
        {"all.ics": ics(event("a"), event("b"), name="Home") + ics(event("c"), name="Work")},
        {"A/Home.ics": ics(event("a"), event("b"), name="Home"), "B/Home.ics": ics(event("c"), name="Home")},
    ],
    ids=["two in one file", "two of one name"],
)
def test_one_of_several_calendars_takes_none_of_the_others(home: Home, files: dict[str, Any]) -> None:
    home.bring(home.packed("all.zip", files))
    home.bring(home.found("Home.ics", ics(event("a"), event("b"), name="Home", stamp=TODAY)))
    assert home.live("events") == ["a", "b", "c"]


@requirement("imp.newer.others", "imp.newer.removes")
def test_one_of_several_address_books_takes_none_of_the_others(home: Home) -> None:
    old, new = "20261001T080000Z", "20261110T080000Z"
    work = card("w1", rev=old) + card("w2", rev=old) + card("w3", rev=old)
    home.bring(home.packed("all.zip", {"private.vcf": card("p1", rev=old), "work.vcf": work}))

    home.bring(home.packed("all.zip", {"private.vcf": card("p1", rev=new)}))
    assert home.live("contacts") == ["p1", "w1", "w2", "w3"]
    home.bring(home.packed("all.zip", {"work.vcf": card("w1", rev=new) + card("w2", rev=old)}))
    assert home.live("contacts") == ["p1", "w1", "w2"]


@requirement("imp.newer.half")
def test_more_than_half_waits_for_the_owner(home: Home) -> None:
    home.bring(home.found("Home.ics", ics(*THREE)))
    fewer = home.found("Home.ics", ics(THREE[0], stamp=TODAY))

    waiting = home.bring(fewer)
    assert (waiting.removal.removed, waiting.removal.awaits_owner, len(home.live("events"))) == (0, True, 3)
    fingerprint = fingerprint_of(fewer)
    assert fingerprint
    assert home.world.owner.finished_import(fewer.declaration, "mine", fingerprint) is None

    home.bring(fewer, agree=lambda doubt: not doubt.why)
    assert home.live("events") == ["a"]
    assert home.world.owner.finished_import(fewer.declaration, "mine", fingerprint) is not None


# What looks like a part -----------------------------------------------------------------------------------------------


def days(first: int, last: int) -> list[str]:
    return [event(f"e{day:02}", f"202610{day:02}") for day in range(first, last + 1)]


@requirement("imp.newer.part")
@pytest.mark.parametrize(
    ("rest", "is_asked"),
    [
        (days(9, 30), True),  # as a service that gives away the last weeks only
        (days(1, 22), True),
        (days(5, 25), True),
        ([event("s", "20260101", rule="FREQ=DAILY;UNTIL=20261012T090000Z"), *days(9, 30)], True),
        (days(1, 3) + days(9, 30), False),  # what is missing lies between what is there
        (days(1, 29), False),  # one at the end: that is often deleted
    ],
)
def test_a_calendar_of_some_days_waits_for_the_owner(home: Home, rest: list[str], is_asked: bool) -> None:
    home.bring(home.found("Home.ics", ics(*days(1, 30))))
    fewer = home.found("Home.ics", ics(*rest, stamp=TODAY))

    told = home.bring(fewer).removal

    assert bool(told.removed) is not is_asked
    assert (told.awaits_owner, told.why_kept) == ((True, (OF_SOME_DAYS,)) if is_asked else (False, ()))
    assert home.bring(fewer, agree=lambda doubt: doubt.odd == OF_SOME_DAYS).removal.removed == told.missing - told.removed


def labelled(uid: str, labels: str, rev: str) -> str:
    return card(uid, uid, rev=rev).replace("END:VCARD", f"CATEGORIES:{labels}\r\nEND:VCARD")


@requirement("imp.newer.part")
@pytest.mark.parametrize(
    ("of_missing", "of_rest", "is_asked"),
    [
        ("myContacts", "Choir,myContacts", True),
        ("", "Choir", True),
        ("myContacts", "myContacts", False),  # every contact has that one
        ("Choir,myContacts", "Choir,myContacts", False),
        ("", "", False),
    ],
)
def test_an_address_book_of_one_label_waits_for_the_owner(
    home: Home, of_missing: str, of_rest: str, is_asked: bool
) -> None:
    old, new = "20261001T080000Z", "20261110T080000Z"
    missing = [labelled(f"m{n}", of_missing, old) for n in range(3)]
    rest = [labelled(f"r{n}", of_rest, old) for n in range(6)]
    home.bring(home.found("book.vcf", "".join(missing + rest)))
    fewer = home.found("book.vcf", "".join([*rest[1:], labelled("r0", of_rest, new)]))

    told = home.bring(fewer).removal

    assert told.why_kept == ((OF_SOME_LABEL,) if is_asked else ())
    assert (told.removed, len(home.live("contacts"))) == ((0, 9) if is_asked else (3, 6))


# And back -------------------------------------------------------------------------------------------------------------


@requirement("imp.newer.undo")
def test_what_went_comes_back_and_stays(home: Home) -> None:
    home.bring(home.found("Home.ics", ics(*THREE)))
    tally = home.bring(home.found("Home.ics", ics(THREE[0], THREE[2], stamp=TODAY)))
    (run,) = home.world.owner.removing_runs()
    assert (run.run, run.removed) == (tally.removal.run, 2)

    undone = home.world.owner.undo_import(run.run)

    assert (undone.restored.restored, home.live("events")) == (2, ["a", "b", "c"])
    with pytest.raises(NotFound):
        home.world.owner.undo_import(run.run)
    home.bring(home.found("Home.ics", ics(THREE[0], THREE[2], event("n"), stamp="20261115T080000Z")))
    assert home.live("events") == ["a", "b", "c", "n"]


@requirement("imp.newer.undo")
def test_blobs_come_back_too_and_go_when_it_is_too_late(home: Home) -> None:
    picture = "PHOTO;ENCODING=b;TYPE=PNG:iVBORw0KGgo="
    pictured = card("u1", rev="20261001T080000Z").replace("END:VCARD", f"{picture}\r\nEND:VCARD")
    others = card("u2", rev="20261001T080000Z") + card("u3", rev="20261002T080000Z")
    newer = card("u2", rev="20261003T080000Z") + card("u3", rev="20261002T080000Z")

    home.bring(home.found("book.vcf", pictured + others))
    first = home.bring(home.found("book.vcf", newer))
    assert home.live("contacts") == ["u2", "u3"]
    home.world.owner.undo_import(first.removal.run)
    assert home.live("contacts") == ["u1", "u2", "u3"]
    assert [kept[:4] for kept in blobs_in(home.world.services.database)] == [b"\x89PNG"]


@requirement("imp.newer.undo")
def test_after_ninety_days_it_is_erased(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.bring(home.found("Home.ics", ics(*THREE)))
    home.bring(home.found("Home.ics", ics(THREE[0], THREE[2], stamp=TODAY)))
    monkeypatch.setattr(writing, "UNDO_DAYS", -1)
    home.bring(home.found("Home.ics", ics(THREE[0], THREE[2], event("n"), stamp="20261115T080000Z")))

    assert home.world.owner.removing_runs() == []
    assert b"SUMMARY" not in bytes_of(home.world.home)


@requirement("imp.newer.undo")
def test_what_the_owner_deletes_does_not_come_back(home: Home) -> None:
    home.bring(home.found("Home.ics", ics(*THREE)))
    run = home.bring(home.found("Home.ics", ics(THREE[0], THREE[2], stamp=TODAY))).removal.run
    writer = home.world.owner.writer(registry.declaration_of("calendar"), "mine")
    writer.deliver([Incoming("by hand", "events", "b", None, None)])

    home.world.owner.undo_import(run)

    assert home.live("events") == ["a", "c"]

"""A newer export of the same: what it has no longer goes, and every reason why it may not."""

import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZipFile

import orjson
import pytest

from pdpp_server.errors import NotFound
from pdpp_server.importers import registry, statements
from pdpp_server.importers.missing import Doubt, MissingChoice
from pdpp_server.importers.registry import FoundAccount, look_into
from pdpp_server.importers.run import Tally, fingerprint_of, import_account
from pdpp_server.importers.sources import calendar
from pdpp_server.model.ingest import Incoming
from pdpp_server.owner import writer as writing
from tests.requirements import requirement
from tests.worlds.world import World

LAST_MONTH, TODAY = "20261001T080000Z", "20261114T080000Z"
NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)

Text = str | bytes
Agree = Callable[[Doubt], bool]
Days = tuple[int, int]  # of the balances


@pytest.fixture
def home(world: World, tmp_path: Path) -> "Home":
    return Home(world, tmp_path / "exports")


class Home:
    """A home, and exports that are brought into it."""

    def __init__(self, world: World, folder: Path) -> None:
        self.world, self._folder = world, folder
        folder.mkdir()

    def found(self, name: str, text: Text, *, now: datetime = NOW) -> FoundAccount:
        path = self._folder / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        (found,) = look_into(path, UTC, None, registry.IMPORTERS, now).found
        return found

    def folder(self, files: dict[str, str], *, now: datetime) -> FoundAccount:
        top = self._folder / "notes"
        for old in top.rglob("*.md"):
            old.unlink()
        for name, text in files.items():
            (top / name).parent.mkdir(parents=True, exist_ok=True)
            (top / name).write_text(text, "utf-8")
        (found,) = look_into(top, UTC, None, registry.IMPORTERS, now).found
        return found

    def bring(self, found: FoundAccount, *, keep: bool = False, agree: Agree = lambda _: False) -> Tally:
        writer = self.world.owner.writer(found.declaration, "mine")
        return import_account(found, writer, fingerprint=fingerprint_of(found), missing=MissingChoice(keep, agree))

    def live(self, stream: str) -> list[str]:
        return [key for key, data in self._records(stream) if data is not None]

    def gone(self, stream: str) -> list[str]:
        return [key for key, data in self._records(stream) if data is None]

    def data(self, stream: str) -> list[dict[str, Any]]:
        return [orjson.loads(data) for _, data in self._records(stream) if data is not None]

    def _records(self, stream: str) -> list[tuple[str, str | None]]:
        with self.world.services.database.reading() as reading:
            statement = """
            select key, data from records join streams using(sid) join connections using(connection)
            where name = ? and display_name = 'mine' order by key
            """
            return [(row[0], row[1]) for row in reading.rows(statement, (stream,))]


def ics(*events: str, stamp: str = LAST_MONTH, end: str = "END:VCALENDAR\r\n", name: str = "Home") -> str:
    stamped = "".join(f"BEGIN:VEVENT\r\nDTSTAMP:{stamp}\r\n{one}\r\nEND:VEVENT\r\n" for one in events)
    return f"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nX-WR-CALNAME:{name}\r\n{stamped}{end}"


def event(uid: str, day: str = "20261120", rule: str = "") -> str:
    repeated = f"\r\nRRULE:{rule}" if rule else ""
    return f"UID:{uid}\r\nSUMMARY:{uid}\r\nDTSTART:{day}T090000Z{repeated}"


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


# Statements that prove themselves whole -------------------------------------------------------------------------------


class Booking(NamedTuple):
    day: int  # of March
    amount: str
    text: str
    status: str = "BOOK"


def camt(
    *bookings: Booking, opening: str = "100.00", closing: str = "70.00", made: str = "2026-04-01", days: Days = (1, 31)
) -> str:
    def balance(code: str, value: str, day: int) -> str:
        marked = f'<Amt Ccy="EUR">{value}</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>2026-03-{day:02}</Dt></Dt>'
        return f"<Bal><Tp><CdOrPrtry><Cd>{code}</Cd></CdOrPrtry></Tp>{marked}</Bal>"

    entries = "".join(
        f'<Ntry><Amt Ccy="EUR">{one.amount}</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts>{one.status}</Sts>'
        f"<BookgDt><Dt>2026-03-{one.day:02}</Dt></BookgDt><AddtlNtryInf>{one.text}</AddtlNtryInf></Ntry>"
        for one in bookings
    )
    bank = "<Svcr><FinInstnId><BICFI>HARBDEFFXXX</BICFI></FinInstnId></Svcr>"
    account = f"<Acct><Id><IBAN>DE89370400440532013000</IBAN></Id>{bank}</Acct>"
    balances = balance("OPBD", opening, days[0]) + balance("CLBD", closing, days[1])
    statement = f"<Stmt><CreDtTm>{made}T06:00:00Z</CreDtTm>{account}{balances}{entries}</Stmt>"
    form = "urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"
    return f'<Document xmlns="{form}"><BkToCstmrStmt>{statement}</BkToCstmrStmt></Document>'


def mt940(*bookings: Booking, opening: str = "100,00", closing: str = "70,00", days: Days = (1, 31)) -> str:
    told = "".join(
        f":61:2603{one.day:02}03{one.day:02}D{one.amount.replace('.', ',')}NTRFNONREF\r\n:86:{one.text}\r\n"
        for one in bookings
    )
    first, last = (f"C2603{day:02}EUR" for day in days)
    return f":20:X\r\n:25:37040044/0532013000\r\n:28C:1\r\n:60F:{first}{opening}\r\n{told}:62F:{last}{closing}\r\n-\r\n"


RENT, TEA, FEE = Booking(5, "20.00", "Rent"), Booking(12, "4.00", "Tea"), Booking(20, "6.00", "Fee")
REWORDED = TEA._replace(text="Tea house, harbour")


def texts(home: Home) -> list[str]:
    return sorted(one["description"] for one in home.data("transactions"))


@requirement("imp.newer.statements")
def test_a_newer_statement_of_the_same_days_replaces_what_the_bank_words_anew(home: Home) -> None:
    home.bring(home.found("march.xml", camt(RENT, TEA, FEE)))
    tally = home.bring(home.found("march again.xml", camt(RENT, REWORDED, FEE, made="2026-04-09")))

    assert texts(home) == ["Fee", "Rent", "Tea house, harbour"]
    assert (tally.removal.removed, tally.removal.why_kept) == (1, ())
    assert home.world.owner.undo_import(tally.removal.run).restored == 1


@requirement("imp.newer.statements")
def test_days_that_follow_on_each_other_are_one_span(home: Home) -> None:
    first = mt940(RENT, TEA, closing="76,00", days=(1, 15)) + mt940(FEE, opening="76,00", days=(15, 31))
    home.bring(home.found("umsatz.sta", first))
    april = mt940(Booking(31, "1.00", "Ink"), opening="70,00", closing="69,00", days=(31, 31)).replace(
        "62F:C260331", "62F:C260401"
    )
    again = mt940(RENT, REWORDED, closing="76,00", days=(1, 15)) + mt940(FEE, opening="76,00", days=(15, 31)) + april
    tally = home.bring(home.found("umsatz.sta", again))

    assert tally.removal.removed == 1
    assert "Tea" not in texts(home)


@requirement("imp.newer.statements", "imp.newer.guards")
@pytest.mark.parametrize(
    ("newer", "why"),
    [
        (camt(RENT, FEE, made="2026-04-09"), ""),  # its bookings do not make its balance
        (camt(RENT, FEE, closing="74.00", made="2026-03-30"), "older"),
        (camt(RENT, FEE, closing="74.00"), "nothing in it is newer"),
        (camt(RENT, FEE, closing="74.00", made="2999-01-01"), "do not say when"),
        (camt(RENT, FEE, Booking(25, "x", "?"), closing="74.00", made="2026-04-09"), "rejected"),
        (camt(RENT, FEE, closing="74.00", made="2026-04-09")[:-40], ""),  # cut
        (camt(RENT, TEA._replace(day=12, status="PDNG", text="Later"), FEE, made="2026-04-09"), ""),
        (camt(opening="70.00", made="2026-04-09", days=(11, 14)), ""),  # no bookings at all
        (camt(FEE, opening="76.00", made="2026-04-09", days=(12, 31)), ""),  # from the day of the tea on
        (camt(RENT, opening="90.00", made="2026-04-09", days=(1, 12)), ""),  # until that day
        (camt(RENT, FEE, closing="74.00", made="2026-04-09").replace("CLBD", "ITBD"), ""),  # a report of the day
    ],
)  # fmt: skip
def test_a_statement_that_proves_nothing_or_is_not_newer_removes_nothing(home: Home, newer: str, why: str) -> None:
    home.bring(home.found("march.xml", camt(RENT, TEA, FEE)))
    tally = home.bring(home.found("march.xml", newer))

    assert tally.removal.removed == 0
    assert "Tea" in texts(home)
    assert why in "".join(tally.removal.why_kept)


@requirement("imp.newer.statements")
def test_a_booking_that_is_dated_outside_its_statement_is_safe_from_that_of_its_day(home: Home) -> None:
    ahead = Booking(20, "4.00", "Dated ahead")
    home.bring(home.found("first half.xml", camt(RENT, FEE._replace(day=6), ahead, days=(1, 10), made="2026-03-11")))
    later = camt(TEA._replace(day=19), opening="70.00", closing="66.00", days=(10, 31))
    assert home.bring(home.found("second half.xml", later)).removal.removed == 0
    assert texts(home) == ["Dated ahead", "Fee", "Rent", "Tea"]


@requirement("imp.newer.statements")
def test_a_booking_without_a_day_of_its_own_is_safe_too(home: Home) -> None:
    undated = mt940(RENT, TEA, FEE).replace(":61:2603120312", ":61:260312")
    home.bring(home.found("umsatz.sta", undated))
    later = mt940(RENT, FEE, closing="74,00").replace("62F:C260331", "62F:C260402")
    assert home.bring(home.found("umsatz.sta", later)).removal.removed == 0
    assert texts(home) == ["Fee", "Rent", "Tea"]


def packed(*statements: str) -> bytes:
    whole = BytesIO()
    with ZipFile(whole, "w") as archive:
        for number, text in enumerate(statements):
            archive.writestr(f"{number}.xml", text)
    return whole.getvalue()


HALF = camt(RENT, opening="100.00", closing="80.00", days=(1, 10), made="2026-04-09")


@requirement("imp.newer.statements")
@pytest.mark.parametrize(
    "second",
    [
        camt(FEE, opening="80.00", closing="74.00", days=(10, 31), made="2026-03-30"),  # older than what is known
        camt(FEE, opening="76.00", closing="70.00", days=(15, 31), made="2026-04-09"),  # not where the first one ended
        camt(FEE, opening="80.00", closing="70.00", days=(10, 31), made="2026-04-09"),  # something is missing in it
    ],
)
def test_several_files_are_one_span_only_where_nothing_is_between_and_all_are_newer(home: Home, second: str) -> None:
    home.bring(home.found("march.xml", camt(RENT, TEA, FEE)))
    assert home.bring(home.found("both.zip", packed(HALF, second))).removal.removed == 0
    assert "Tea" in texts(home)

    fitting = camt(FEE, opening="80.00", closing="74.00", days=(10, 31), made="2026-04-10")
    home.bring(home.found("both.zip", packed(HALF, fitting)), agree=lambda _: True)
    assert texts(home) == ["Fee", "Rent"]


@requirement("imp.newer.statements", "imp.newer.others")
def test_what_another_bank_or_a_part_told_too_stays(home: Home) -> None:
    home.bring(home.found("notice.xml", camt(TEA).replace("CLBD", "ITBD")))
    home.bring(home.found("march.xml", camt(RENT, TEA, FEE)))
    tally = home.bring(home.found("march.xml", camt(RENT, REWORDED, FEE, made="2026-04-09")))

    assert (tally.removal.removed, "Tea" in texts(home)) == (0, True)


@requirement("imp.newer.statements", "imp.newer.half")
def test_a_statement_that_would_remove_most_of_an_account_asks(home: Home) -> None:
    home.bring(home.found("march.xml", camt(RENT, TEA, FEE)))
    newer = home.found("march.xml", camt(Booking(7, "30.00", "All in one"), made="2026-04-09"))

    assert home.bring(newer).removal.awaits_owner
    assert len(texts(home)) == 4
    home.bring(newer, agree=lambda doubt: not doubt.why)
    assert texts(home) == ["All in one"]


@requirement("imp.newer.statements")
def test_a_statement_too_long_to_be_held_is_a_part(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.bring(home.found("march.xml", camt(RENT, TEA, FEE)))
    monkeypatch.setattr(statements, "HELD_MAX", 3)
    tally = home.bring(home.found("march.xml", camt(RENT, REWORDED, FEE, made="2026-04-09")))
    assert (tally.removal.removed, len(texts(home))) == (0, 4)


# And back -------------------------------------------------------------------------------------------------------------


@requirement("imp.newer.undo")
def test_what_went_comes_back_and_stays(home: Home) -> None:
    home.bring(home.found("Home.ics", ics(*THREE)))
    tally = home.bring(home.found("Home.ics", ics(THREE[0], THREE[2], stamp=TODAY)))
    (run,) = home.world.owner.removing_runs()
    assert (run.run, run.removed) == (tally.removal.run, 2)

    undone = home.world.owner.undo_import(run.run)

    assert (undone.restored, home.live("events")) == (2, ["a", "b", "c"])
    with pytest.raises(NotFound):
        home.world.owner.undo_import(run.run)
    home.bring(home.found("Home.ics", ics(THREE[0], THREE[2], event("n"), stamp="20261115T080000Z")))
    assert home.live("events") == ["a", "b", "c", "n"]


@pytest.mark.sqlite("looks at the files of blobs")
@requirement("imp.newer.undo")
def test_blobs_come_back_too_and_go_when_it_is_too_late(home: Home) -> None:
    picture = "PHOTO;ENCODING=b;TYPE=PNG:iVBORw0KGgo="
    pictured = card("u1", rev="20261001T080000Z").replace("END:VCARD", f"{picture}\r\nEND:VCARD")
    others = card("u2", rev="20261001T080000Z") + card("u3", rev="20261002T080000Z")
    newer = card("u2", rev="20261003T080000Z") + card("u3", rev="20261002T080000Z")
    blobs = home.world.home / "blobs"

    home.bring(home.found("book.vcf", pictured + others))
    first = home.bring(home.found("book.vcf", newer))
    assert home.live("contacts") == ["u2", "u3"]
    home.world.owner.undo_import(first.removal.run)
    assert home.live("contacts") == ["u1", "u2", "u3"]
    assert [path.read_bytes()[:4] for path in blobs.rglob("*") if path.is_file()] == [b"\x89PNG"]


@pytest.mark.sqlite("looks into the bytes of the files of a home")
@requirement("imp.newer.undo")
def test_after_ninety_days_it_is_erased(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.bring(home.found("Home.ics", ics(*THREE)))
    home.bring(home.found("Home.ics", ics(THREE[0], THREE[2], stamp=TODAY)))
    monkeypatch.setattr(writing, "UNDO_DAYS", -1)
    home.bring(home.found("Home.ics", ics(THREE[0], THREE[2], event("n"), stamp="20261115T080000Z")))

    assert home.world.owner.removing_runs() == []
    assert b"SUMMARY" not in (home.world.home / "pdpp.sqlite").read_bytes()


@requirement("imp.newer.undo")
def test_what_the_owner_deletes_does_not_come_back(home: Home) -> None:
    home.bring(home.found("Home.ics", ics(*THREE)))
    run = home.bring(home.found("Home.ics", ics(THREE[0], THREE[2], stamp=TODAY))).removal.run
    writer = home.world.owner.writer(registry.declaration_of("calendar"), "mine")
    writer.deliver([Incoming("by hand", "events", "b", None, None)])

    home.world.owner.undo_import(run)

    assert home.live("events") == ["a", "c"]

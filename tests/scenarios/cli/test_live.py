"""`pdpp sources add folder` and `pdpp sync`: what is followed stays fresh, and trouble is said with what to do."""

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest

from pdpp_server.cli import live
from pdpp_server.cli.home import open_home
from pdpp_server.errors import NotFound
from pdpp_server.importers.live.imap_wire import ImapConversation
from pdpp_server.model.live import next_try
from pdpp_server.owner import secrets
from pdpp_server.owner.secrets import FoundKeyring, Secrets
from pdpp_server.settings import Settings
from pdpp_server.store.keys import KeyFiles
from pdpp_server.store.opened import open_database
from tests.importers.live.scripted import Answer, scripted, usual
from tests.requirements import requirement
from tests.scenarios.cli.command import Command, Ran
from tests.worlds import davserver as davs
from tests.worlds.mailserver import PASSWORD, USER, MailServer, letter, mail_server
from tests.worlds.tokenserver import CLIENT, token_service


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    top = tmp_path / "Notes"
    (top / ".obsidian").mkdir(parents=True)
    for name in ("a", "b", "c", "d"):
        (top / f"{name}.md").write_text(f"note {name}", "utf-8")
    return top


def followed(pdpp: Command) -> dict[str, Any]:
    (source,) = pdpp("sources", "--json").json["live"]
    return source


def notes_in(pdpp: Command) -> int:
    (connection,) = pdpp("sources", "--json").json["connections"]
    (count,) = [stream["records"] for stream in connection["streams"] if stream["name"] == "notes"]
    return count


@requirement("imp.live.folder", "imp.live.listed")
def test_a_folder_is_followed(pdpp: Command, vault: Path) -> None:
    added = pdpp("sources", "add", "folder", vault)
    assert (added.code, notes_in(pdpp)) == (0, 4), added.err
    assert "'Notes': 4 accepted" in added.out
    assert re.search(r"Notes.* is followed \(folder\), last read .*, next try 2[0-9-]{9}", pdpp("sources").out)
    before = {path: path.stat().st_mtime_ns for path in vault.rglob("*")}

    assert "nothing changed" in pdpp("sync").out
    (vault / "d.md").unlink()
    (vault / "e.md").write_text("another", "utf-8")
    changed = pdpp("sync").out
    assert "1 accepted, 3 unchanged" in changed
    assert "1 removed (`pdpp import --undo" in changed
    assert notes_in(pdpp) == 4
    assert {
        path: path.stat().st_mtime_ns for path in vault.rglob("*") if path in before and path != vault
    }.items() <= before.items()

    stopped = pdpp("sources", "stop", "Notes")
    assert (stopped.code, notes_in(pdpp), "live" in pdpp("sources", "--json").json) == (0, 4, False)
    assert "No live source is called" in pdpp("sources", "stop", "Notes").err


@requirement("imp.live.folder", "imp.newer.undo")
def test_a_folder_whose_reading_is_undone_is_read_again(pdpp: Command, vault: Path) -> None:
    pdpp("sources", "add", "folder", vault)
    (vault / "d.md").unlink()
    (vault / "e.md").write_text("another", "utf-8")
    (run,) = re.findall(r"--undo ([0-9]+)", pdpp("sync").out)

    told = pdpp("import", "--undo", run).out

    assert "1 record of Notes is back, and later imports keep it." in told
    assert "1 record that it had added is gone" in told
    assert notes_in(pdpp) == 4
    assert "1 accepted" in pdpp("sync").out
    assert notes_in(pdpp) == 5


@requirement("imp.live.folder")
def test_most_of_a_folder_goes_only_when_the_owner_says_so(pdpp: Command, vault: Path) -> None:
    pdpp("sources", "add", "folder", vault)
    for name in "abc":
        (vault / f"{name}.md").unlink()

    for _ in range(2):
        told = pdpp("sync").out
        assert "3 kept that it has no longer: it is more than half" in told
        for listed in (told, pdpp("sources").out):
            assert re.search(r"3 items gone there, more than half: kept here until .* sync Notes --yes$", listed, re.M)
    assert (notes_in(pdpp), followed(pdpp)["withheld"]) == (4, 3)
    assert "3 removed" in pdpp("sync", "Notes", "--yes").out
    assert (notes_in(pdpp), followed(pdpp)["withheld"]) == (1, 0)
    assert "gone there" not in pdpp("sources").out


@requirement("imp.live.folder")
def test_what_a_folder_has_no_longer_stays_where_the_owner_says_so(pdpp: Command, vault: Path) -> None:
    pdpp("sources", "add", "folder", vault)
    (vault / "d.md").unlink()

    assert "1 kept" in pdpp("sync", "Notes", "--keep-missing").out
    assert notes_in(pdpp) == 4
    (vault / "e.md").write_text("another", "utf-8")
    assert "1 removed" in pdpp("sync").out
    assert notes_in(pdpp) == 4


@requirement("imp.live.folder")
def test_a_folder_that_was_read_before_says_so_by_the_minute(pdpp: Command, vault: Path) -> None:
    pdpp("sources", "add", "folder", vault)
    pdpp("sources", "stop", "Notes")

    again = pdpp("sources", "add", "folder", vault).out

    assert re.search(r"is unchanged since [0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2} UTC\.$", again, re.MULTILINE)


@requirement("imp.live.folder")
def test_a_maildir_is_followed_and_a_read_mark_is_no_change(pdpp: Command, tmp_path: Path) -> None:
    inbox = tmp_path / "Mail" / "cur"
    inbox.mkdir(parents=True)
    for number in range(4):
        headers = f"From: ann@example.org\nTo: me@example.org\nMessage-ID: <{number}@example.org>\nSubject: {number}\n"
        text = f"{headers}\nhello\n"
        (inbox / f"{number}:2,").write_text(text, "utf-8")
    assert pdpp("sources", "add", "folder", tmp_path / "Mail").code == 0

    (inbox / "1:2,").rename(inbox / "1:2,S")
    assert "nothing changed" in pdpp("sync").out
    (inbox / "0:2,").unlink()
    assert "2 removed" in pdpp("sync").out  # with the thread that it was


@requirement("imp.live.trouble", "imp.live.listed")
def test_a_folder_that_is_not_there_waits_and_loses_nothing(pdpp: Command, vault: Path) -> None:
    pdpp("sources", "add", "folder", vault)
    moved = vault.rename(vault.with_name("unplugged"))

    failed = pdpp("sync")
    assert (failed.code, "There is no folder" in failed.err, "tried again by itself" in failed.err) == (1, True, True)
    assert (followed(pdpp)["failures"], followed(pdpp)["trouble"][:8]) == (1, "There is")
    assert "No source is due" in pdpp("sync").out
    told = pdpp("sources").out
    assert re.search(r"next try 2[0-9-]{9}.*\n  failed 1 time: There is no folder", told)
    assert "tried again by itself" in told  # what to do about it

    vault.mkdir()  # where the disk was, an empty folder
    assert "Nothing in" in pdpp("sync", "Notes").err
    assert notes_in(pdpp) == 4
    vault.rmdir()
    moved.rename(vault)
    assert pdpp("sync", "Notes").code == 0
    assert (followed(pdpp)["failures"], followed(pdpp)["trouble"]) == (0, "")


@requirement("imp.live.trouble")
def test_what_cannot_be_read_once_is_not_followed(pdpp: Command, tmp_path: Path) -> None:
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "a.bin").write_bytes(bytes(2000))

    assert "nothing that is known here" in pdpp("sources", "add", "folder", tmp_path / "pictures").err
    assert "live" not in pdpp("sources", "--json").json


@requirement("imp.live.first")
def test_a_folder_of_which_nothing_could_be_read_leaves_no_connection(pdpp: Command, tmp_path: Path) -> None:
    (tmp_path / "exports").mkdir()
    event = "BEGIN:VEVENT\nUID:1\nDTSTART:never\nEND:VEVENT\n"
    (tmp_path / "exports" / "mine.ics").write_text(f"BEGIN:VCALENDAR\nVERSION:2.0\n{event}END:VCALENDAR\n", "utf-8")

    assert "Nothing of 'mine' could be read" in pdpp("sources", "add", "folder", tmp_path / "exports").err
    assert pdpp("sources", "--json").json == {"connections": []}


@requirement("imp.live.schedule")
def test_one_process_at_a_time(pdpp: Command, vault: Path) -> None:
    pdpp("sources", "add", "folder", vault)
    database = open_database(pdpp.home)
    with database.turns.held("live"):
        assert "Another process" in pdpp("sync").err
    database.close()


@requirement("imp.live.trouble")
def test_a_bad_try_waits_twice_as_long_as_the_one_before() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    waits = [next_try(now, timedelta(minutes=5), failures) - now for failures in range(30)]
    assert [wait.total_seconds() for wait in waits[:5]] == [300, 60, 120, 240, 480]
    assert max(waits) == timedelta(hours=6)


@requirement("imp.live.schedule")
def test_beside_the_server_what_is_due_is_read(pdpp: Command, vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pdpp("sources", "add", "folder", vault)
    (vault / "e.md").write_text("another", "utf-8")
    settings = replace(Settings(), home=pdpp.home)
    told = Event()
    monkeypatch.setattr(live, "_tell", lambda line: told.set() if "1 accepted" in line else None)
    monkeypatch.setattr(live, "PAUSE_SECONDS", 0.01)
    with open_home(settings) as home:
        (source,) = home.owner.live.all()
        home.owner.live.went_wrong(source._replace(failures=-1), "due at once")

    with live.live_followed(settings):
        assert told.wait(60)
    assert notes_in(pdpp) == 5


# A mailbox ------------------------------------------------------------------------------------------------------------


def add_imap(pdpp: Command, server: MailServer, *words: str, password: str = PASSWORD) -> Ran:
    where = ("127.0.0.1", USER, "--port", str(server.port), "--security", "none")
    return pdpp("sources", "add", "imap", *where, "--password-stdin", *words, stdin=f"{password}\n")


@requirement("imp.live.imap-same", "imp.live.secrets")
def test_from_a_mail_server_to_an_answer(pdpp: Command) -> None:
    with mail_server() as server:
        server.put([letter(n) for n in range(3)])
        added = add_imap(pdpp, server)
        assert added.code == 0, added.err
        assert "INBOX: 3 messages" in added.out
        server.put([letter(7, subject="The walrus clause")])
        assert "2 accepted" in pdpp("sync").out
        assert "refuses the user" in add_imap(pdpp, server, "--name", "other", password="wrong").err
        assert "called 'ann@example.org' already" in add_imap(pdpp, server).err
        assert "asked for on a terminal" in pdpp("sources", "add", "imap", "127.0.0.1", USER).err

    failed = pdpp("sync")
    assert (failed.code, "Nothing listens at" in failed.err) == (1, True)
    connections = pdpp("sources", "--json").json["connections"]
    assert [one["records"] for one in connections[0]["streams"] if one["name"] == "messages"] == [4]
    export = pdpp.folder / "out"
    assert pdpp("export", export).code == 0
    kept = [path for top in (pdpp.home, export) for path in top.rglob("*") if path.is_file()]
    assert all(PASSWORD.encode() not in path.read_bytes() for path in kept)


def closing_at(word: str) -> Answer:
    return lambda tag, command: None if word in command.upper() else usual(tag, command)


def add_scripted(pdpp: Command, port: int) -> Ran:
    where = ("127.0.0.1", USER, "--port", str(port), "--security", "none", "--password-stdin")
    return pdpp("sources", "add", "imap", *where, stdin="sesame\n")


@requirement("imp.live.imap-trouble")
def test_what_could_not_be_opened_is_not_followed_nor_said_to_be_tried_again(pdpp: Command) -> None:
    with scripted(closing_at("LIST")) as port:
        refused = add_scripted(pdpp, port)
    assert (refused.code, "add it again later" in refused.err) == (1, True), refused.err
    assert "by itself" not in refused.err
    assert pdpp("sources", "--json").json == {"connections": []}


@requirement("imp.live.first", "imp.live.listed")
@pytest.mark.parametrize("word", ["SEARCH", "RFC822.SIZE", "BODY.PEEK"])
def test_what_was_opened_is_followed_when_its_first_read_fails_and_no_empty_connection_is_left(
    pdpp: Command, word: str
) -> None:
    is_broken = [True]
    broken = closing_at(word)
    with scripted(lambda tag, command: (broken if is_broken else usual)(tag, command)) as port:
        failed = add_scripted(pdpp, port)
        said = f'"{USER}" is followed, but its first read failed. 127.0.0.1:{port} closed the connection in the middle.'
        assert (failed.code, failed.err.strip()) == (1, f"{said} It is tried again by itself.")
        assert (pdpp("sources", "--json").json["connections"], followed(pdpp)["failures"]) == ([], 1)
        assert "never read, next try 2" in pdpp("sources").out
        is_broken.clear()
        assert "2 accepted" in pdpp("sync", USER).out
    (connection,) = pdpp("sources", "--json").json["connections"]
    assert connection["name"] == USER


@requirement("imp.live.first")
def test_a_source_whose_first_read_failed_can_be_stopped_and_nothing_is_left_of_it(pdpp: Command) -> None:
    with scripted(closing_at("BODY.PEEK")) as port:
        add_scripted(pdpp, port)
    assert pdpp("sources", "stop", USER).code == 0
    assert pdpp("sources", "--json").json == {"connections": []}


@requirement("imp.live.first")
def test_a_connection_that_was_there_stays_when_the_first_read_fails(pdpp: Command, tmp_path: Path) -> None:
    (tmp_path / "all.mbox").write_bytes(b"From bob@example.org Mon Jun  1 10:00:00 2026\n" + letter(1))
    assert pdpp("import", tmp_path / "all.mbox", "--name", USER).code == 0
    with scripted(closing_at("BODY.PEEK")) as port:
        assert add_scripted(pdpp, port).code == 1
    (connection,) = pdpp("sources", "--json").json["connections"]
    assert [one["records"] for one in connection["streams"] if one["name"] == "messages"] == [1]


@requirement("imp.live.secrets")
def test_a_password_lies_in_the_keyring_where_there_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: dict[tuple[str, str], str] = {}
    ring = SimpleNamespace(
        get_keyring=lambda: SimpleNamespace(priority=5),
        set_password=lambda service, name, secret: kept.__setitem__((service, name), secret),
        get_password=lambda service, name: kept.get((service, name)),
        delete_password=lambda service, name: kept.pop((service, name)),
    )
    sealing = Secrets(KeyFiles(tmp_path / "keys"), "/home")
    sealed = sealing.keep("mail", "sesame")
    assert sealed is not None
    assert (b"sesame" not in sealed, sealing.open("mail", sealed)) == (True, "sesame")
    with pytest.raises(NotFound):
        sealing.open("another", sealed)

    monkeypatch.setattr(secrets, "_keyring", lambda: FoundKeyring(ring, ()))
    assert Secrets(KeyFiles(tmp_path / "keys"), "/home", is_shared=True).keep("mail", "sesame") is not None
    assert kept == {}  # a keyring is one machine's
    assert sealing.keep("mail", "sesame") is None
    assert (sealing.open("mail", None), list(kept.values())) == ("sesame", ["sesame"])
    sealing.forget("mail")
    assert kept == {}
    with pytest.raises(NotFound):
        sealing.open("mail", None)


@requirement("imp.live.imap-idle")
def test_new_mail_is_here_soon_after_the_server_tells_of_it(pdpp: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = replace(Settings(), home=pdpp.home)
    listening, came = Event(), Event()
    monkeypatch.setattr(live, "_tell", lambda line: came.set() if "2 accepted" in line else None)
    examine = ImapConversation.idle
    monkeypatch.setattr(ImapConversation, "idle", lambda self, *given: (listening.set(), examine(self, *given))[1])
    with mail_server() as server:
        server.put([letter(1)])
        assert add_imap(pdpp, server).code == 0
        with live.live_followed(settings):
            assert listening.wait(60)
            server.put([letter(2)])
            assert came.wait(60)


@requirement("imp.live.dav", "imp.live.secrets")
def test_calendars_and_contacts_are_added_by_address_and_user(pdpp: Command) -> None:
    event = "BEGIN:VEVENT\r\nUID:a\r\nDTSTAMP:20260101T000000Z\r\nDTSTART:20260601T090000Z\r\nEND:VEVENT\r\n"
    with davs.dav_server() as server:
        server.make("home", "Home")
        server.make("people", "People", is_calendar=False)
        server.put("home/a.ics", f"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\n{event}END:VCALENDAR\r\n")
        server.put("people/b.vcf", "BEGIN:VCARD\r\nVERSION:3.0\r\nUID:b\r\nFN:Bob\r\nEND:VCARD\r\n")
        for kind, told in (("caldav", "'Home': 2 accepted"), ("carddav", "'People': 1 accepted")):
            words = ("sources", "add", kind, server.url, davs.USER, "--password-stdin")
            added = pdpp(*words, stdin=f"{davs.PASSWORD}\n")
            assert (added.code, told in added.out) == (0, True), added.err + added.out
        assert "nothing changed" in pdpp("sync").out


@requirement("imp.live.imap-oauth", "imp.live.secrets")
def test_a_mailbox_is_opened_by_tokens_with_the_client_id_of_the_owner(pdpp: Command, tmp_path: Path) -> None:
    service = tmp_path / "service.json"
    with token_service(USER) as tokens, mail_server(introspection=f"{tokens.url}/introspect") as server:
        service.write_text(json.dumps(tokens.document), "utf-8")
        server.put([letter(1)])
        words = ("sources", "add", "imap", "127.0.0.1", USER, "--port", str(server.port), "--security", "none")
        assert "(invalid_client)" in pdpp(*words, "--oauth", service, "--client-id", "another").err
        added = pdpp(*words, "--oauth", service, "--client-id", CLIENT)
        assert added.code == 0, added.err
        assert f"Open {tokens.url}/agree and type ABCD there." in added.out
        assert "INBOX: 1 message" in added.out
        tokens.expire()
        server.put([letter(2)])
        assert "2 accepted" in pdpp("sync").out
        tokens.revoke()
        assert "stop the source and add it again" in pdpp("sync").err
        kept = [path.read_bytes() for path in pdpp.home.rglob("*") if path.is_file()]
        assert not any(secret in data for data in kept for secret in (b"refresh-", b"access-"))


@requirement("imp.live.imap-oauth")
def test_a_mailbox_is_opened_by_the_token_that_a_command_prints_each_time(pdpp: Command) -> None:
    with token_service(USER) as tokens, mail_server(introspection=f"{tokens.url}/introspect") as server:
        tokens.good.add("good-for-an-hour")
        server.put([letter(1)])
        words = ("sources", "add", "imap", "127.0.0.1", USER, "--port", str(server.port), "--security", "none")
        added = pdpp(*words, "--token-command", "echo good-for-an-hour")
        assert (added.code, "INBOX: 1 message" in added.out) == (0, True), added.err
        server.put([letter(2)])
        assert "2 accepted" in pdpp("sync").out  # with the thread
        tokens.expire()
        assert pdpp("sync").code == 1
        silent = pdpp(*words, "--name", "another", "--token-command", "true")
        assert (silent.code, "The command that should print an access token did not." in silent.err) == (1, True)


@requirement("imp.live.imap-oauth")
@pytest.mark.parametrize("alone", [("--browser",), ("--client-id", "mine")])
def test_what_belongs_to_a_page_of_the_service_is_not_passed_over(pdpp: Command, alone: tuple[str, ...]) -> None:
    refused = pdpp("sources", "add", "imap", "127.0.0.1", USER, "--password-stdin", *alone)
    assert (refused.code, "go with --oauth" in refused.err) == (64, True)

"""`pdpp import` and `pdpp sources`: what comes in, what is left out, and what is said of both."""

import json
import resource
import signal
import subprocess
from pathlib import Path

import pytest

from tests.engine.beneath import is_postgres
from tests.requirements import requirement
from tests.scenarios.cli.command import DECLARATION, PDPP, ROOT, Command


@requirement("imp.ndjson.summary", "imp.sources.overview", "cli.import.counts")
def test_a_file_becomes_a_connection_that_sources_counts(pdpp: Command) -> None:
    imported = pdpp.import_notes()

    assert imported.code == 0, imported.err
    connection = imported.json["connection_id"]
    assert imported.json == {"connection_id": connection, "accepted": 2, "unchanged": 0, "rejected": 0}
    (source,) = pdpp("sources", "--json").json["connections"]
    (stream,) = source.pop("streams")
    assert (source["connection_id"], source["name"], source["connector_key"]) == (connection, "My notes", "notebook")
    assert (source["rejected"], stream["name"], stream["records"]) == (0, "notes", 2)
    assert (stream["earliest"], stream["latest"]) == ("2026-01-02T10:00:00.000Z", "2026-06-12T20:00:00.000Z")
    day, minute = source["updated_at"][:10], source["updated_at"][11:16]
    for words in ("My notes", connection, "2 records", "2026-01-02 to 2026-06-12", f"imported {day} {minute} UTC"):
        assert words in pdpp("sources").out


@requirement("imp.ndjson.again", "cli.import.counts")
def test_importing_again_stores_nothing_twice(notes: Command) -> None:
    again = notes.import_notes()

    assert again.code == 0
    assert (again.json["accepted"], again.json["unchanged"]) == (0, 2)
    assert notes("sources", "--json").json["connections"][0]["streams"][0]["records"] == 2


@requirement("imp.ndjson.rejected-lines", "imp.sources.overview")
def test_bad_lines_are_listed_with_place_and_reason_and_the_others_are_kept(pdpp: Command) -> None:
    lines = ['{"id": "n1", "title": "kept"}', "no json", '{"title": "without a key"}', '{"id": "n2", "title": 7}', "[]"]

    imported = pdpp.import_notes("\n".join(lines))

    assert imported.code == 0
    assert (imported.json["accepted"], imported.json["rejected"]) == (1, 4)
    for place in ("notes.ndjson:2", "notes.ndjson:3", "notes.ndjson:4", "notes.ndjson:5"):
        assert place in imported.err
    listed = pdpp("sources", "--rejected", "My notes", "--json").json["rejected"]
    assert [each["place"] for each in listed] == [f"notes.ndjson:{line}" for line in (2, 3, 4, 5)]
    assert all(each["code"] and each["reason"] for each in listed)
    assert "notes.ndjson:4" in pdpp("sources", "--rejected", imported.json["connection_id"]).out
    assert pdpp("sources", "--json").json["connections"][0]["rejected"] == 4
    assert "4 lines rejected" in pdpp("sources").out


@requirement("cli.import.counts")
def test_what_a_file_calls_itself_cannot_speak_to_the_terminal(pdpp: Command, tmp_path: Path) -> None:
    escapes = "\x1b]0;evil\x07\x9b31m\u202e"
    event = "BEGIN:VEVENT\r\nUID:1\r\nSUMMARY:Tea\r\nDTSTART:20260101T080000Z\r\nEND:VEVENT\r\n"
    calendar, notes = tmp_path / "tea.ics", tmp_path / f"{escapes}.ndjson"
    calendar.write_text(
        f"BEGIN:VCALENDAR\r\nX-WR-CALNAME:Tea{escapes}\r\n{event}END:VCALENDAR\r\n", "utf-8", newline=""
    )
    notes.write_text('{"id": "n1"}', "utf-8")
    named, faulty = tmp_path / "named.json", tmp_path / "faulty.json"
    named.write_text(json.dumps({**DECLARATION, "display": {"name": f"Notes{escapes}"}}), "utf-8")
    faulty.write_text(
        json.dumps({**DECLARATION, "streams": [{**DECLARATION["streams"][0], f"x{escapes}": 1}]}), "utf-8"
    )

    said = [
        pdpp("import", str(calendar)),
        pdpp("import", str(notes), "--declaration", str(named), "--name", "Notes"),
        pdpp("import", str(notes), "--declaration", str(faulty), "--name", "Notes"),
    ]

    assert '"Tea\\u001b]0;evil\\u0007\\u009b31m\\u202e" is connection' in said[0].out
    assert not any(letter in one.out + one.err for one in said for letter in "\x1b\x07\x9b\u202e")


@requirement("cli.import.rejections")
def test_of_many_bad_lines_twenty_are_shown_and_the_command_that_shows_all(pdpp: Command) -> None:
    imported = pdpp.import_notes('{"id": "n1"}\n' + "bad\n" * 25)

    shown = [line for line in imported.err.splitlines() if "notes.ndjson:" in line and "malformed" in line]
    assert len(shown) == 20
    assert f"5 more; see them with: PDPP_HOME={pdpp.home} pdpp sources --rejected" in imported.err
    listed = pdpp("sources", "--rejected", "My notes", "--json").json["rejected"]
    assert [each["place"] for each in listed] == [f"notes.ndjson:{line}" for line in range(2, 27)]


@requirement("cli.import.counts")
@pytest.mark.parametrize("text", ["bad\nworse\n", "\n\n", ""])
def test_a_file_without_a_single_record_ends_with_one(pdpp: Command, text: str) -> None:
    imported = pdpp.import_notes(text)

    assert imported.code == 1
    assert "Traceback" not in imported.err
    assert (
        "empty" in imported.err if not text else "No line of the file" in imported.err or '"accepted":0' in imported.out
    )


@requirement("cli.exit.usage")
@pytest.mark.parametrize("missing", ["records", "declaration", "folder"])
def test_what_is_not_there_is_named_before_anything_is_made(pdpp: Command, missing: str) -> None:
    records, declaration = pdpp.file("notes.ndjson", "{}\n"), pdpp.file("notes.json", json.dumps(DECLARATION))
    paths = {"records": (Path("nowhere.ndjson"), declaration), "declaration": (records, Path("nowhere.json"))}
    path, declared = paths.get(missing, (pdpp.folder, declaration))

    refused = pdpp("import", path, "--declaration", declared, "--name", "x")

    assert refused.code == 64
    assert ("directory" if missing == "folder" else "nowhere") in refused.err
    assert not pdpp.home.exists()


@requirement("cli.exit.usage")
@pytest.mark.parametrize("name", ["", "  ", "a\x1b[31mb", "x" * 81])
def test_a_name_that_nobody_could_read_is_refused(pdpp: Command, name: str) -> None:
    assert pdpp.import_notes(name=name).code == 64
    assert not pdpp.home.exists()


@requirement("imp.ndjson.bad-declaration")
def test_every_fault_of_a_declaration_is_printed_with_file_and_place(pdpp: Command) -> None:
    stream = {**DECLARATION["streams"][0], "cursor_field": "nonsense", "semantics": "sometimes"}
    declaration = pdpp.file("faulty.json", json.dumps({**DECLARATION, "streams": [stream], "surplus": 1}))

    refused = pdpp("import", pdpp.file("n.ndjson", "{}\n"), "--declaration", declaration, "--name", "x", "--json")

    assert (refused.code, refused.out) == (1, "")
    assert f"{declaration}#/streams/0/semantics" in refused.err
    assert f"{declaration}#/surplus" in refused.err
    assert "valid are" in refused.err
    assert not pdpp.home.exists()


@requirement("imp.ndjson.bad-declaration", "cli.exit.one-line")
def test_a_declaration_that_is_no_json_is_refused_in_one_line(pdpp: Command) -> None:
    declaration = pdpp.file("faulty.json", "{ nonsense")

    refused = pdpp("import", pdpp.file("n.ndjson", "{}\n"), "--declaration", declaration, "--name", "x")

    assert refused.code == 1
    assert len(refused.err.splitlines()) == 1
    assert f"{declaration} cannot be used. The declaration is not JSON" in refused.err


@requirement("cli.import.stopped")
def test_a_stopped_import_says_what_is_kept_and_goes_on_when_run_again(pdpp: Command) -> None:
    lines = "".join(f'{{"id": "n{number}", "body": "{"word " * 200}"}}\n' for number in range(40_000))
    words = ["--declaration", pdpp.file("notes.json", json.dumps(DECLARATION)), "--name", "My notes"]
    file = pdpp.file("notes.ndjson", lines)
    running = subprocess.Popen(
        [*PDPP, "import", str(file), *map(str, words)],
        cwd=ROOT, env=pdpp.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while not (is_postgres() or pdpp.home.joinpath("pdpp.sqlite-wal").exists()) or _stored(pdpp) == 0:
        assert running.poll() is None
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=60)

    kept = _stored(pdpp)
    assert running.returncode == 1
    assert f"Stopped. {kept} records of the file are kept" in err
    assert 0 < kept < 40_000
    again = pdpp("import", file, *words, "--json").json
    assert (again["unchanged"], again["accepted"]) == (kept, 40_000 - kept)


def _stored(pdpp: Command) -> int:
    found = pdpp("sources", "--json").json["connections"]
    return found[0]["streams"][0]["records"] if found else 0


@pytest.mark.sqlite("takes the room of a disk away")
@requirement("cli.import.full-disk")
def test_a_disk_without_room_is_said_in_a_line_and_leaves_the_home_readable(notes: Command) -> None:
    file = notes.file("more.ndjson", "".join(f'{{"id": "m{n}", "body": "{"word " * 900}"}}\n' for n in range(900)))
    words = ["import", file, "--declaration", notes.folder / "notes.json", "--name", "My notes"]

    done = subprocess.run(
        [*PDPP, *map(str, words)],
        cwd=ROOT, env=notes.environment(), capture_output=True, text=True, timeout=60, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000)),
    )  # fmt: skip

    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith("pdpp: ")
    assert _stored(notes) == 2


@requirement("cli.sources.empty")
def test_an_empty_home_says_how_to_begin(pdpp: Command) -> None:
    assert pdpp("sources", "--json").json == {"connections": []}
    assert "pdpp import" in pdpp("sources").out
    assert pdpp("sources", "--rejected", "nothing").code == 1


def _calendar(stamp: str, *uids: str) -> str:
    events = "".join(
        f"BEGIN:VEVENT\r\nUID:{uid}\r\nDTSTAMP:{stamp}\r\nDTSTART:20261120T090000Z\r\nEND:VEVENT\r\n" for uid in uids
    )
    return f"BEGIN:VCALENDAR\r\nX-WR-CALNAME:Home\r\n{events}END:VCALENDAR\r\n"


@requirement("imp.newer.removes", "imp.newer.half", "imp.newer.undo")
def test_a_newer_calendar_says_what_went_and_how_it_comes_back(pdpp: Command) -> None:
    def bring(stamp: str, *uids: str, words: tuple[str, ...] = ()) -> dict[str, object]:
        imported = pdpp("import", pdpp.file("Home.ics", _calendar(stamp, *uids)), "--zone", "UTC", "--json", *words)
        assert imported.code == 0, imported.err
        return imported.json

    bring("20260101T000000Z", "a", "b", "c", "d")
    fewer = bring("20260201T000000Z", "a", "b", "c")
    assert (fewer["before"], fewer["after"], fewer["removed"]) == (8, 6, 2)

    few = bring("20260301T000000Z", "a")
    assert (few["removed"], few["missing_kept"]) == (0, 4)
    assert few["kept_because"] == ["it is more than half of what was there"]
    assert bring("20260301T000000Z", "a", words=("--yes",))["removed"] == 4

    (newest, oldest) = pdpp("import", "--undo", "--json").json["runs"]
    assert (newest["removed"], oldest["removed"], oldest["run"]) == (4, 2, fewer["run"])
    assert pdpp("import", "--undo", str(fewer["run"]), "--json").json["restored"] == 2
    again = pdpp("import", "--undo", str(fewer["run"]))
    assert (again.code, "removed nothing that could be brought back" in again.err) == (1, True)
    assert "--undo does not go with --yes" in pdpp("import", "--undo", "1", "--yes").err


@requirement("imp.newer.removes")
def test_what_an_export_has_no_longer_stays_where_the_owner_says_so(pdpp: Command) -> None:
    for stamp, uids, words in (("20260101T000000Z", "abc", ()), ("20260201T000000Z", "ab", ("--keep-missing",))):
        calendar = pdpp.file("Home.ics", _calendar(stamp, *uids))
        imported = pdpp("import", calendar, "--zone", "UTC", "--json", *words)
        assert imported.code == 0, imported.err

    assert (imported.json["removed"], imported.json["missing_kept"], imported.json["after"]) == (0, 2, 6)


@requirement("imp.newer.removes")
@pytest.mark.parametrize("option", ["--newer", "--keep-missing"])
def test_records_of_ones_own_remove_nothing_so_nothing_is_said_about_it(notes: Command, option: str) -> None:
    records, declaration = notes.folder / "notes.ndjson", notes.folder / "notes.json"
    refused = notes("import", records, "--declaration", declaration, "--name", "My notes", option)

    assert (refused.code, refused.out, option in refused.err) == (64, "", True)


@requirement("imp.attached.text", "imp.attached.hostile")
def test_what_an_attached_file_says_is_found_and_read_where_it_stands(pdpp: Command) -> None:
    sample = ROOT / "tests/importers/mail/attached/offer.eml"
    imported = pdpp("import", str(sample), "--json")
    assert (imported.code, imported.json["rejected"], imported.json["without_text"]) == (0, 0, 1)
    assert "broken.pdf: It cannot be read as pdf" in imported.err

    (hit,) = pdpp("search", "within six weeks", "--json").json["results"]

    assert "attachments" in hit["id"]
    assert "Angebot 2026-17.pdf" in str(hit)
    window = pdpp("read", hit["id"], "text", "--q", "within six", "--json").json["window"]
    assert (window["text"][61:], window["start_chars"], window["match_start_chars"]) == ("within six weeks", 0, 61)

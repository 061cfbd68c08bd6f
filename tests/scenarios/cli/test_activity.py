"""`pdpp activity`: what was read, and whether anybody touched the log since."""

import json
import re
from pathlib import Path

from pdpp_server.reads.services import open_services
from tests.engine.beneath import cut_log, edit_log, lines_in
from tests.requirements import requirement
from tests.scenarios.cli.command import Command
from tests.unit.store.test_log import FETCHED
from tests.worlds.world import Clock, close


@requirement("cli.activity.narrowed", "log.owner.activity", "log.line.what")
def test_every_read_is_listed_newest_first_and_can_be_narrowed(notes: Command) -> None:
    first, second = notes.grant(client="one")["grant_id"], notes.grant(client="two")["grant_id"]
    id = notes("search", "walrus", "--grant", first, "--json").json["results"][0]["id"]
    request = notes("schema", "--grant", second, "--json").json["request_id"]
    assert notes("fetch", id, "--grant", first).code == 0

    listed = notes("activity", "--json").json["activity"]

    assert [line["operation"] for line in listed] == ["fetch", "schema", "search"]
    assert listed[0]["records"] == [id]
    assert [line["operation"] for line in notes("activity", "--grant", second, "--json").json["activity"]] == ["schema"]
    assert [line["request_id"] for line in notes("activity", "--request", request, "--json").json["activity"]] == [
        request
    ]
    assert len(notes("activity", "--record", id, "--json").json["activity"]) == 2
    assert len(notes("activity", "--limit", "1", "--json").json["activity"]) == 1
    shown = notes("activity").out
    assert id in shown
    assert f"schema  {request}  what there is: notes" in shown  # not moved aside by the long line of the fetch
    assert notes("activity", "--grant", "grt_nowhere").code == 1


@requirement("log.line.hashed-content")
def test_the_words_of_a_search_are_not_in_it(notes: Command) -> None:
    notes.grant()
    assert notes("search", "walrus").code == 0

    assert "walrus" not in notes("activity", "--json").out


@requirement("cli.activity.verify", "log.verify.edits", "log.verify.truncation", "log.day.beside")
def test_a_log_that_somebody_touched_is_found_out(notes: Command) -> None:
    notes.grant()
    assert notes("schema").code == notes("search", "train").code == 0
    sound = notes("activity", "verify", "--json")
    assert (sound.code, sound.json["sound"]) == (0, True)
    (segment,) = (id for id, operation in segments_of(notes.home) if operation == "schema")

    edit_log(notes.home, "schema", "nothing")
    edited = notes("activity", "verify")
    edit_log(notes.home, "nothing", "schema")
    cut_log(notes.home, segment, kept=1)
    truncated = notes("activity", "verify", "--json")
    cut_log(notes.home, segment, kept=0)
    missing = notes("activity", "verify", "--json")

    assert edited.code == truncated.code == missing.code == 1
    assert "line 1 is not as it was written" in edited.out
    assert "truncated" in {each["state"] for each in truncated.json["segments"]}
    assert "missing" in {each["state"] for each in missing.json["segments"]}


def segments_of(home: Path) -> list[tuple[str, str]]:
    """Of each process that read once, its segment and what it did."""
    headers, lines = lines_in(home)[0::2], lines_in(home)[1::2]
    return [(header.content["segment"], line.content["operation"]) for header, line in zip(headers, lines, strict=True)]


@requirement("cli.activity.narrowed")
def test_before_the_first_read_there_is_nothing(pdpp: Command) -> None:
    assert pdpp("activity", "--json").json == {"activity": []}
    assert pdpp("activity").out == "Nothing was disclosed.\n"
    assert pdpp("activity", "verify").code == 0


@requirement("cli.activity.today")
def test_the_day_is_told_in_sentences_with_what_was_asked(notes: Command) -> None:
    assert notes("activity", "--today").out.strip() == "Nobody has read anything today."
    token = notes.grant(client="Claude")["token"]
    call = {"name": "search", "arguments": {"query": "walrus"}}
    message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}) + "\n"
    assert notes("mcp", stdin=message, PDPP_ACCESS_TOKEN=token).code == 0

    told = notes("activity", "--today").out

    assert re.search(r"^Claude read \d+ \w+ and searched once, today at \d\d:\d\d UTC\.$", told, re.MULTILINE)
    assert "searched for “walrus” and saw" in told


@requirement("log.day.kept")
def test_the_log_is_kept_as_long_as_its_owner_says(notes: Command) -> None:
    notes.grant()
    assert notes("schema").code == 0
    assert notes("activity", "keep").out == "The log is kept for ever.\n"

    assert notes("activity", "keep", "400").out == "The log is kept for 400 days.\n"
    assert notes("activity", "keep", "--json").json == {"days": 400, "lines_let_go": 0}
    for odd in ("99", "0", "-5", "1.5", "x", "", "99999999999999999999"):
        assert notes("activity", "keep", "--", odd).code == 64
    assert notes("activity", "keep").out == "The log is kept for 400 days.\n"
    assert notes("activity", "keep", "forever").out == "The log is kept for ever.\n"


@requirement("log.day.root")
def test_the_log_can_be_taken_along_and_looked_at_elsewhere(notes: Command, tmp_path: Path) -> None:
    notes.grant()
    assert notes("schema").code == 0
    folder = tmp_path / "my log"

    said = notes("activity", "export", str(folder))

    assert said.out.startswith("1 segment of the log")
    assert f"activity verify --folder '{folder}'" in said.out
    assert notes("activity", "verify", "--folder", str(folder)).code == 0
    (path,) = folder.iterdir()
    path.write_bytes(path.read_bytes().replace(b'"version":1', b'"version":2'))
    assert notes("activity", "verify", "--folder", str(folder)).code == 1


@requirement("log.day.root")
def test_a_folder_without_a_log_is_never_called_sound(pdpp: Command, tmp_path: Path) -> None:
    misspelt = pdpp("activity", "verify", "--folder", str(tmp_path / "my-lgo"))
    empty = pdpp("activity", "verify", "--folder", str(tmp_path))

    assert (misspelt.code, misspelt.out) == (64, "")
    assert (empty.code, f"There is no log in {tmp_path}" in empty.err) == (64, True)


@requirement("log.day.root")
def test_a_root_that_was_kept_elsewhere_tells_whether_it_still_holds(notes: Command) -> None:
    services = open_services(notes.home, now=Clock())
    services.log.append(FETCHED)
    close(services)
    notes.grant()
    assert notes("schema").code == 0

    root = notes("activity", "verify", "--json").json["root"]

    assert root in notes("activity", "verify").out
    assert notes("activity", "verify", "--root", root).code == 0
    other = root[:-1] + ("0" if root[-1] != "0" else "1")
    assert notes("activity", "verify", "--root", other).code == 1
    assert notes("activity", "verify", "--root", "20260101T000000-1-00112233:" + "0" * 64).code == 1
    for odd in ("", "x", ":", root[:-1]):
        assert notes("activity", "verify", "--root", odd).code == 64

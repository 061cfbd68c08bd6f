"""`pdpp sources remove` and `rename`: what is shown, what is asked, what is gone."""

import json

from tests.engine.beneath import bytes_of
from tests.requirements import requirement
from tests.scenarios.cli.command import Command


@requirement("cli.sources.remove")
def test_what_will_go_is_shown_and_asked_for(notes: Command) -> None:
    grant = notes.grant()["grant_id"]
    connection = notes("sources", "--json").json["connections"][0]["connection_id"]

    asked = notes("sources", "remove", "My notes", stdin="n\n")

    assert (asked.code, asked.out) == (1, "")
    for words in ("My notes", connection, "notes  2 records", f"1 grant will show less: {grant}", "Stopped."):
        assert words in asked.err
    assert notes("sources", "--json").json["connections"][0]["streams"][0]["records"] == 2


@requirement("cli.sources.remove", "store.erasure.everywhere")
def test_a_removed_source_is_gone_from_the_list_and_from_the_disk(notes: Command) -> None:
    notes.grant()
    assert notes.import_notes(name="Other notes", text=json.dumps({"id": "n9", "body": "kept"})).code == 0
    assert b"walrus clause" in bytes_of(notes.home)

    removed = notes("sources", "remove", "My notes", stdin="y\n")

    assert (removed.code, removed.out.splitlines()) == (0, ['"My notes" is erased: 2 records.'])
    assert [source["name"] for source in notes("sources", "--json").json["connections"]] == ["Other notes"]
    left = bytes_of(notes.home)
    assert b"walrus" not in left
    assert b"kept" in left


@requirement("cli.sources.remove")
def test_a_program_removes_without_being_asked(notes: Command) -> None:
    connection = notes("sources", "--json").json["connections"][0]["connection_id"]

    removed = notes("sources", "remove", connection, "--yes", "--json")

    assert (removed.code, removed.json) == (0, {"connection_id": connection, "records": 2})
    assert notes("sources", "--json").json == {"connections": []}


@requirement("cli.sources.remove")
def test_without_an_answer_nothing_is_removed(notes: Command) -> None:
    assert notes("sources", "remove", "My notes").code == 1
    assert len(notes("sources", "--json").json["connections"]) == 1


@requirement("cli.sources.rename")
def test_another_name_is_shown_and_nothing_else_changes(notes: Command) -> None:
    connection = notes("sources", "--json").json["connections"][0]["connection_id"]

    renamed = notes("sources", "rename", "My notes", " Notes of 2026 ", "--json")

    assert renamed.json == {"connection_id": connection, "name": "Notes of 2026"}
    assert notes.import_notes().json["connection_id"] == connection
    (source,) = notes("sources", "--json").json["connections"]
    assert (source["connection_id"], source["name"]) == (connection, "Notes of 2026")
    notes.grant("--save")
    assert "Notes of 2026" in notes("schema").out


@requirement("cli.sources.remove", "cli.sources.rename", "cli.exit.one-line", "cli.exit.usage")
def test_what_cannot_be_meant_is_refused_and_changes_nothing(notes: Command) -> None:
    for words in (("remove", "Nothing", "--yes"), ("rename", "Nothing", "Name")):
        refused = notes("sources", *words)
        assert (refused.code, refused.out) == (1, "")
        assert "connection_not_found" in refused.err
    for words in (("rename", "My notes", " "), ("rename", "My notes", "x" * 81), ("remove",), ("rename", "My notes")):
        assert notes("sources", *words).code == 64
    assert notes("sources", "--json", "remove", "My notes", "--yes").code == 64
    assert len(notes("sources", "--json").json["connections"]) == 1

"""Data of the owner's own without a declaration: proposed, shown, agreed to, imported."""

import json

import pytest

from tests.requirements import requirement
from tests.scenarios.cli.command import Command

BOOKS = "ISBN;Title;Read on;Pages;Shelf\n0123;A walrus;2026-01-02;120;007\n0456;Ice;2026-02-03;95;008\n"


@requirement("imp.own.proposed", "imp.own.same")
def test_a_table_becomes_a_stream_when_the_owner_agrees(pdpp: Command) -> None:
    path = pdpp.file("books.csv", BOOKS)

    refused = pdpp("import", path)
    assert (refused.code, '"read_on"' in refused.err, "--yes" in refused.err) == (1, True, True)
    assert pdpp("sources", "--json").json == {"connections": []}
    shown = pdpp("import", path, "--dry-run")
    (stream,) = json.loads(shown.out)["streams"]
    fields = stream["schema"]["properties"]
    assert (fields["pages"], fields["isbn"], fields["shelf"]) == (
        {"type": "integer"},
        {"type": "string"},
        {"type": "string"},
    )
    assert (stream["primary_key"], stream["cursor_field"]) == (["record_key"], "read_on")

    for accepted, unchanged in ((2, 0), (0, 2)):
        taken = pdpp("import", path, "--name", "Books", "--yes", "--json")
        assert (taken.json["accepted"], taken.json["unchanged"], taken.json["rejected"]) == (accepted, unchanged, 0)
    (source,) = pdpp("sources", "--json").json["connections"]
    assert (source["name"], source["streams"][0]["earliest"][:10]) == ("Books", "2026-01-02")


@requirement("imp.own.proposed")
@pytest.mark.parametrize(
    ("name", "text", "streams"),
    [
        ("a.ndjson", '{"id": 1, "Note": "x"}\n{"id": 2, "note": "y", "NOTE": "z"}\nbad\n', {"a": 2}),
        ("a.jsonl", '{"x": [1, {"y": null}]}\n', {"a": 1}),
        (
            "a.json",
            '{"Books": [{"id": "b1"}], "films": [{"id": "f1"}, {"id": "f2"}], "v": 3}',
            {"books": 1, "films": 2},
        ),
        ("a.json", '[{"id": "b1", "at": "2026-01-01T00:00:00Z"}]', {"a": 1}),
        ("a.csv", 'a,b\n"one\ntwo, three",2\n', {"a": 1}),
        ("a.tsv", "a\tb\n1\t2\n1\t2\n", {"a": 2}),
    ],
)
def test_other_forms_are_read_too(pdpp: Command, name: str, text: str, streams: dict[str, int]) -> None:
    taken = pdpp("import", pdpp.file(name, text), "--yes", "--json")

    assert taken.code == 0, taken.err
    (source,) = pdpp("sources", "--json").json["connections"]
    assert {stream["name"]: stream["records"] for stream in source["streams"]} == streams
    assert taken.json["rejected"] == text.count("bad")


@requirement("imp.own.proposed")
@pytest.mark.parametrize(("name", "text"), [("a.csv", "one\n"), ("a.csv", ""), ("a.json", "3"), ("a.ndjson", "no\n")])
def test_what_holds_no_records_is_refused_as_before(pdpp: Command, name: str, text: str) -> None:
    refused = pdpp("import", pdpp.file(name, text), "--yes")

    assert refused.code == 1
    assert "nothing that is known here" in refused.err
    assert "Traceback" not in refused.err

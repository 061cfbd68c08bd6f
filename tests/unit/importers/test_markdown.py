"""Notes in Markdown: front matter, tags, links, times."""

import pytest

from pdpp_server.importers.sources.markdown import MARKDOWN
from pdpp_server.wire.envelope import Json
from tests.requirements import requirement
from tests.unit.importers.exports import files_of, outcomes_of, records_of, rejections_of


def note(content: str | bytes, name: str = "A.md") -> Json:
    (found,) = records_of(MARKDOWN, files_of({name: content}), "notes")
    return found


@requirement("imp.notes.properties")
@pytest.mark.parametrize(
    ("text", "title"),
    [("---\ntitle: Named\n---\n# Heading", "Named"), ("\n# Heading #\ntext", "Heading"), ("text\n# Later", "A")],
)
def test_a_title_comes_from_the_properties_else_the_first_heading_else_the_name(text: str, title: str) -> None:
    assert note(text)["title"] == title


@requirement("imp.notes.properties")
def test_times_come_from_the_properties_else_from_the_day_in_the_name_and_are_never_made_up() -> None:
    told = note("---\nCreated: 2026-07-01 12:00\nmodified: 2026-07-02T12:00:00Z\n---\n")
    assert (told["created_at"], told["updated_at"]) == ("2026-07-01T10:00:00.000Z", "2026-07-02T12:00:00.000Z")
    assert note("text", "Log 2026-01-31.md")["created_at"] == "2026-01-30T23:00:00.000Z"
    assert note("text", "Log 2026-01-31.md")["day"] == "2026-01-31"
    assert {"created_at", "updated_at", "day"} & set(note("---\ndate: soon\n---\n", "2026-13-41.md")) == set()


@requirement("imp.notes.properties")
def test_every_property_is_kept_as_it_was_written() -> None:
    written = "---\nversion: 1.10\nat: 12:30\nyes: no\nlist: [a, 1]\ndeep: {x: {y: ~}}\n---\n"
    assert note(written)["properties"] == {
        "version": "1.10",
        "at": "12:30",
        "yes": "no",
        "list": ["a", "1"],
        "deep": {"x": {"y": "~"}},
    }


@requirement("imp.notes.properties")
@pytest.mark.parametrize("block", ["a: [b", "- only\n- a list", "a: &a [*a]", "[" * 5000, "a: " + "x" * 70_000])
def test_properties_that_cannot_be_read_stay_text_and_are_named(block: str) -> None:
    files = files_of({"A.md": f"---\n{block}\n---\nwords of the note"})
    assert "words of the note" in records_of(MARKDOWN, files, "notes")[0]["text"]
    assert [rejection.place for rejection in rejections_of(MARKDOWN, files)] == ["A.md:1"]


@requirement("imp.notes.links")
def test_a_link_leads_to_the_note_that_an_editor_would_open() -> None:
    files = files_of(
        {
            "A.md": "[[b]] [[Deep/B]] [[deep/missing/B]]",
            "Deep/B.md": "[up](../A.md) [[A]] [out](../../A.md) [root](/A.md)",
            "Deep/Deeper/B.md": "[beside](B.md)",
        }
    )
    found = {(one["note_id"], one["target"]): one.get("target_note_id") for one in records_of(MARKDOWN, files, "links")}
    assert found == {
        ("A.md", "b"): "Deep/B.md",
        ("A.md", "Deep/B"): "Deep/B.md",
        ("A.md", "deep/missing/B"): None,
        ("Deep/B.md", "../A.md"): "A.md",
        ("Deep/B.md", "A"): "A.md",
        ("Deep/B.md", "../../A.md"): None,
        ("Deep/B.md", "/A.md"): "A.md",
        ("Deep/Deeper/B.md", "B.md"): "Deep/Deeper/B.md",
    }


@requirement("imp.notes.vault")
def test_a_vault_is_known_by_its_settings_and_has_the_same_keys_wherever_it_lies() -> None:
    inside: dict[str, object] = {
        ".obsidian/app.json": "{}",
        ".trash/Old.md": "gone",
        "Notes/A.md": "text",
        "x.py": "code",
    }
    deeper = {f"Documents/Vault/{name}": content for name, content in inside.items()} | {"README.md": "not of it"}
    for contents in (inside, deeper):
        files = files_of(contents, "Vault")
        assert [account.name for account in MARKDOWN.recognise(files)] == ["Vault"]
        assert [one["id"] for one in records_of(MARKDOWN, files, "notes")] == ["Notes/A.md"]


@requirement("grants.freshness.day")
def test_a_vault_is_a_whole_and_a_folder_of_notes_may_be_a_part_of_one() -> None:
    (vault,) = MARKDOWN.recognise(files_of({".obsidian/app.json": "{}", "A.md": "text"}))
    (folder,) = MARKDOWN.recognise(files_of({"A.md": "text", "B.md": "text"}))

    assert (vault.complete, folder.complete) == (("notes", "links", "attachments"), ())


@requirement("imp.notes.vault")
def test_a_folder_with_a_readme_is_no_folder_of_notes() -> None:
    assert outcomes_of(MARKDOWN, files_of({"README.md": "# A program", "a.py": "1", "b.py": "2"})) == []


@requirement("imp.files.keys")
def test_a_path_that_a_handle_has_no_room_for_has_a_digest_as_its_key() -> None:
    assert note("text", "Ärger und Öl.md")["id"] == "Ärger und Öl.md"
    assert len(note("text", "ö" * 100 + ".md")["id"]) == 32

"""Notes in Markdown: front matter, tags, links, times."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pdpp_server.importers.formats import markdown_text
from pdpp_server.importers.formats.markdown_text import BrokenFrontMatter, Link
from pdpp_server.importers.sources.markdown import MARKDOWN
from pdpp_server.wire.envelope import Json
from tests.requirements import requirement
from tests.unit.importers.exports import files_of, outcomes_of, records_of, rejections_of


def note(content: str | bytes, name: str = "A.md") -> Json:
    (found,) = records_of(MARKDOWN, files_of({name: content}), "notes")
    return found


def tags(text: str) -> list[str]:
    return markdown_text.tags(markdown_text.prose(text), {})


def targets(text: str) -> list[tuple[str, str]]:
    return [(link.kind, link.target) for link in markdown_text.links(markdown_text.prose(text))]


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
def test_tags_are_found_in_text_and_properties_but_not_in_code_addresses_and_numbers() -> None:
    code = "`a #d`\n```\n#e\n```\n~~~ sh\n#f\n```\n~~~\n<!-- #g -->"
    assert tags(f"#one, (#two/part) #1 #2nd a#b https://x.example/#c {code} #One #ä") == ["one", "two/part", "2nd", "ä"]
    assert markdown_text.tags("", {"tags": "a, #b c"}) == ["a", "b", "c"]


@requirement("imp.notes.links")
def test_every_way_to_write_a_link_is_read() -> None:
    text = (
        "[[A|b]] [[A#h]] ![[i.png|100]] [x](B%20c.md#h) ![y](<d e.png>) [z](https://z.example 't') https://w.example/a."
    )
    assert targets(text) == [
        ("wiki", "A"),
        ("embed", "i.png"),
        ("markdown", "B c.md"),
        ("embed", "d e.png"),
        ("web", "https://z.example"),
        ("web", "https://w.example/a"),
    ]
    assert markdown_text.links("[[A#h|b]]") == [Link("wiki", "A", "h", "b")]


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


@requirement("imp.files.garbage")
@pytest.mark.parametrize("piece", ["`", "[a](b 't ", "<!--", "[[", "![", "# #", "%%", "#1", "[a]( ", "((", "~", "- "])
def test_a_hostile_note_takes_no_longer_than_a_long_one(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    words = markdown_text.prose(text)
    markdown_text.heading(text)
    markdown_text.tags(words, {})
    markdown_text.links(words)


@requirement("imp.files.garbage")
@settings(deadline=None)
@given(st.text(alphabet="-:[]{}&*!|>'\"%@` \n\tab#,?1~\0"))
def test_any_front_matter_is_read_or_named(text: str) -> None:
    try:
        markdown_text.properties(text)
    except BrokenFrontMatter as broken:
        assert str(broken)

"""What a note in Markdown says of itself: properties, tags, links."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pdpp_server.importers.formats import markdown_text
from pdpp_server.importers.formats.markdown_text import BrokenFrontMatter, Link
from tests.requirements import requirement


def tags(text: str) -> list[str]:
    return markdown_text.tags(markdown_text.prose(text), {})


def targets(text: str) -> list[tuple[str, str]]:
    return [(link.kind, link.target) for link in markdown_text.links(markdown_text.prose(text))]


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


@requirement("imp.notes.properties")
@pytest.mark.parametrize(
    ("text", "front", "note"),
    [
        ("---\na: b\n---\ntext\n---\n", "a: b", "text\n---\n"),
        ("--- \na: b\n...\ntext", "a: b", "text"),
        ("---\n---\n", "", ""),
        ("---\nnever closed", "", "---\nnever closed"),
        ("\n---\na: b\n---\n", "", "\n---\na: b\n---\n"),
        ("", "", ""),
    ],
)
def test_properties_stand_at_the_very_top_between_two_lines(text: str, front: str, note: str) -> None:
    assert markdown_text.split(text) == (front, note)


@requirement("imp.notes.properties")
@pytest.mark.parametrize(
    ("block", "why"),
    [
        ("a: b\nc: [", "line 3 is no YAML"),
        ("- a", "it has no names and values"),
        ("x" * (64 * 1024 + 1), "it has more than 64 KiB"),
        ("[" * 201, "it has more than 200 brackets"),
        (
            "a: &a [x, x, x, x, x]\n" + "".join(f"k{n}: [{', '.join(['*a'] * 20)}]\n" for n in range(40)),
            "more than 2000 values",
        ),
    ],
)
def test_properties_that_cannot_be_read_say_why(block: str, why: str) -> None:
    with pytest.raises(BrokenFrontMatter, match=why):
        markdown_text.properties(block)


@requirement("imp.notes.properties")
@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("\n# Heading #\ntext", "Heading"),
        ("# C#", "C"),
        ("## Second", ""),
        ("#tag", ""),
        ("text\n# Later", ""),
        ("    # code", ""),
        ("", ""),
    ],
)
def test_a_heading_of_the_highest_level_before_any_text_is_the_title(text: str, title: str) -> None:
    assert markdown_text.heading(text) == title


@requirement("imp.notes.links")
def test_of_very_many_links_the_first_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(markdown_text, "LINKS_MAX", 3)
    assert targets("[[a]] [[a|again]] [[b]] [[c]] [[d]]") == [("wiki", "a"), ("wiki", "b"), ("wiki", "c")]

"""Long texts in passages: nothing is lost between them, and each says where it stands."""

import pytest

from pdpp_server.meaning.passages import CHARS, PASSAGES_MAX, passages

SENTENCES = "The lease runs for a year. Nobody may paint the door!\n" * 60


@pytest.mark.parametrize(
    "text", ["", "   ", "short", SENTENCES, "word " * 500, "x" * 3000, "日本語のとても長い文章" * 90, f"  {SENTENCES}"]
)
def test_each_passage_stands_where_it_says_and_together_they_are_the_text(text: str) -> None:
    found = list(passages(text))

    assert all(text[piece.start : piece.start + len(piece.text)] == piece.text for piece in found)
    assert all(0 < len(piece.text) <= CHARS for piece in found)
    assert "".join("".join(piece.text.split()) for piece in found) == "".join(text.split())


def test_passages_end_with_sentences_where_there_are_any() -> None:
    assert all(piece.text[-1] in ".!" for piece in passages(SENTENCES))


def test_of_a_very_long_text_the_first_ones_are_kept() -> None:
    assert len(list(passages("word " * 200_000))) == PASSAGES_MAX

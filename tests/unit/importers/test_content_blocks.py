"""Messages made of blocks: what was said, thought, asked of tools and answered by them."""

from typing import Any

import pytest

from pdpp_server.importers.formats.content_blocks import ContentPiece, pieces
from tests.requirements import requirement


@requirement("imp.chats.pieces")
@pytest.mark.parametrize(
    "content", [None, "", "  \n", [], {}, 7, [None, 7, {"type": "text", "text": " "}, {"type": "odd"}]]
)
def test_nothing_said_is_no_piece(content: object) -> None:
    assert list(pieces(content)) == []


@requirement("imp.chats.pieces")
def test_a_text_alone_is_what_was_said() -> None:
    assert list(pieces(" Hello\0 ")) == [ContentPiece("", "text", "Hello\ufffd")]


@requirement("imp.chats.pieces")
def test_all_that_was_said_is_one_piece_and_stands_before_the_others() -> None:
    content: list[dict[str, Any]] = [
        {"type": "thinking", "thinking": "Hm."},
        {"type": "text", "text": "One."},
        {"type": "image", "source": {"media_type": "image/png"}},
        {"type": "document"},
    ]
    assert list(pieces(content)) == [
        ContentPiece("", "text", "One.\n\n[image image/png]\n\n[document]"),
        ContentPiece("~0", "reasoning", "Hm."),
    ]


@requirement("imp.chats.pieces")
def test_a_call_shows_its_arguments_line_by_line_and_an_answer_names_its_call() -> None:
    call = {"type": "tool_use", "id": "t1", "name": "run", "input": {"script": "a\nb", "times": 2, "left": None}}
    found = [{"type": "text", "text": "OK"}, {"title": "A page", "url": "https://x.example", "encrypted": "…"}]
    answer = {"type": "web_search_tool_result", "tool_use_id": "t1", "content": found}
    assert list(pieces([call, answer])) == [
        ContentPiece("~0", "tool_call", "run\nscript: a\nb\ntimes: 2", "run", "t1"),
        ContentPiece("~1", "tool_result", "OK\n\nA page\nhttps://x.example", "", "t1"),
    ]
    assert list(pieces([{"type": "tool_result", "content": "plain"}])) == [ContentPiece("~0", "tool_result", "plain")]

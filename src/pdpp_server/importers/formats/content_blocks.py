"""Messages made of blocks, as Claude's apps write them: what was said, thought, asked of tools and answered by them."""

from collections.abc import Iterator
from typing import NamedTuple

from pdpp_server.importers.formats.json_values import (
    clipped,
    joined,
    list_of,
    object_in,
    object_of,
    text_in,
    text_of,
    written_out,
)
from pdpp_server.wire.envelope import Json


class ContentPiece(NamedTuple):
    """What becomes one record. `suffix` goes behind the id of the message, and is empty for what was said."""

    suffix: str
    kind: str  # text, reasoning, tool_call or tool_result
    text: str
    tool: str = ""
    call_id: str = ""


def pieces(content: object) -> Iterator[ContentPiece]:
    """All that was said is one piece; each other block with something in it is another, numbered by its place."""
    if isinstance(content, str):
        if text := clipped(text_of(content)):
            yield ContentPiece("", "text", text)
        return
    blocks = [object_of(block) for block in list_of(content)]
    if said := clipped(joined("\n\n", map(_said, blocks))):
        yield ContentPiece("", "text", said)
    for number, block in enumerate(blocks):
        piece = _other(f"~{number}", block)
        if piece and piece.text:
            yield piece


def _said(block: Json) -> str:
    match block.get("type"):
        case "text":
            return text_in(block, "text").strip()
        case "image" | "document" as kind:
            media_type = text_in(object_in(block, "source"), "media_type")
            return f"[{joined(' ', (kind, media_type))}]"
        case _:
            return ""


def _other(suffix: str, block: Json) -> ContentPiece | None:
    match block.get("type"):
        case "thinking":
            return ContentPiece(suffix, "reasoning", clipped(text_in(block, "thinking")))
        case "tool_use" | "server_tool_use" | "mcp_tool_use":
            name = text_in(block, "name")
            text = joined("\n", (name, _arguments(block.get("input"))))
            return ContentPiece(suffix, "tool_call", clipped(text), name, text_in(block, "id"))
        case str(kind) if kind.endswith("tool_result"):
            text = clipped(_answered(block.get("content")))
            return ContentPiece(suffix, "tool_result", text, text_in(block, "name"), text_in(block, "tool_use_id"))
        case _:
            return None


def _arguments(given: object) -> str:
    """A line for each argument, so that a script or a document reads as it was written."""
    told = ((name, written_out(value)) for name, value in object_of(given).items())
    return "\n".join(f"{text_of(name)}: {text}" for name, text in told if text)


def _answered(content: object) -> str:
    if isinstance(content, str):
        return text_of(content)
    texts = (_said(block) or _result(block) for block in map(object_of, list_of(content)))
    return joined("\n\n", texts)


def _result(block: Json) -> str:
    """A page that a search found: its title and address are worth keeping, its encrypted text is not."""
    told = (block.get("title"), block.get("url") or block.get("tool_name"), block.get("text"))
    return joined("\n", map(text_of, told))

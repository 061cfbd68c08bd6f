"""How clients show an answer to their models, as a table; clients change, and then a row of it does."""

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from tests.harness.sights import Call, Sight, StructuredSight, TextSight

CODEX_BYTES = 10_000 * 4  # it cuts at about 10,000 tokens, and counts one for every four bytes
DESCRIPTION_BYTES = 2048  # of a tool, and of the instructions
FIRST_CHARS = 512  # of the instructions: all that some clients rely on

Content = str
Structured = Mapping[str, Any]
Look = Callable[[str, Call], Sight]


class Rule(NamedTuple):
    """What the model reads of both channels, and how it can look at that; it looks in turns where it sees both."""

    sees: Callable[[Content, Structured], str]
    looks: tuple[Look, ...]


def written(structured: Structured) -> str:
    return json.dumps(structured, ensure_ascii=False, separators=(",", ":"))


def _cut(text: str) -> str:
    return text.encode()[:CODEX_BYTES].decode(errors="ignore")


def _both(content: Content, structured: Structured) -> str:
    return f"{content}\n{written(structured)}"


RULES: dict[str, Rule] = {
    "Codex": Rule(lambda _, structured: _cut(written(structured)), (StructuredSight,)),
    "Claude Code": Rule(  # and Copilot, OpenCode, VS Code, Cursor
        lambda content, structured: written(structured) if structured else content, (StructuredSight,)
    ),
    "ChatGPT": Rule(
        _both,
        (
            lambda seen, asked: TextSight(seen.rpartition("\n")[0], asked),
            lambda seen, asked: StructuredSight(seen.rpartition("\n")[2], asked),
        ),
    ),
    "claude.ai": Rule(lambda content, _: content, (TextSight,)),  # and Claude Desktop, Kimi, Open WebUI, Amazon Q
}

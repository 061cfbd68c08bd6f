"""What a tool is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from pdpp_server.model.activity import Shown
from pdpp_server.model.pending import Pending
from pdpp_server.port.reader import Reader


class ToolResult(NamedTuple):
    """Both channels of an answer; each is enough alone, and each says by itself what it shows of the data.

    `found` is False where it only says that there is nothing.
    """

    text: str
    structured: Mapping[str, Any]
    text_shows: Shown
    structured_shows: Shown
    is_error: bool = False
    found: bool = True


@dataclass(frozen=True, slots=True)
class Tool:
    """`call` gets arguments that already fit `input_schema`; it raises `PdppError` to refuse.

    What it gives is still pending: the server sends it, and settles then what left.
    """

    name: str
    title: str
    description: str
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any]
    call: Callable[[Reader, Mapping[str, Any]], Pending[ToolResult]]

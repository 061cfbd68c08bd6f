"""What a tool is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pdpp_server.port.reader import Reader


@dataclass(frozen=True, slots=True)
class ToolResult:
    """Both channels of an answer; each is enough alone. `found` is False where it only says that there is nothing."""

    text: str
    structured: Mapping[str, Any]
    is_error: bool = False
    found: bool = True


@dataclass(frozen=True, slots=True)
class Tool:
    """`call` gets arguments that already fit `input_schema`; it raises `PdppError` to refuse."""

    name: str
    title: str
    description: str
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any]
    call: Callable[[Reader, Mapping[str, Any]], ToolResult]

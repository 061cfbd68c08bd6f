"""Values -> MCP results. Success and refusal, side by side."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import orjson

from pdpp_server.errors import CANDIDATES_MAX, PdppError
from pdpp_server.evidence.budgets import REFUSAL_STRUCTURED_BYTES
from pdpp_server.evidence.refusals import candidate_label, message_text, refusal_text, remedy_text
from pdpp_server.evidence.text import visible_lines
from pdpp_server.mcp.tool import ToolResult
from pdpp_server.model.activity import NOTHING, Shown
from pdpp_server.model.pending import Pending
from pdpp_server.port.reader import Reader
from pdpp_server.wire.far_tools import ToolAnswer
from pdpp_server.wire.tools import encode_refusal

_UNQUOTED = re.compile(r"[A-Za-z0-9_.~/:-]*")


def refuse(error: PdppError) -> ToolResult:
    """The same words in both channels; as many candidates as there is room for."""
    for most in (CANDIDATES_MAX, 6, 2, 0):
        structured = encode_refusal(error, message_text(error), remedy_text(error), candidate_label, most)
        if json_bytes(structured) <= REFUSAL_STRUCTURED_BYTES:
            break
    return ToolResult(refusal_text(error), structured, NOTHING, NOTHING, is_error=True)


def passed_on(far: ToolAnswer) -> Pending[ToolResult]:
    """What another server's tool answered and has logged there; nothing invisible in it speaks for us."""
    result = ToolResult(visible_lines(far.text), far.structured, NOTHING, NOTHING, far.is_error)
    return Pending(result, "", _written_there)


def _written_there(_shown: Shown, _size: int) -> None:
    """The line is in that server's log."""


def json_bytes(body: Mapping[str, Any]) -> int:
    """The size of a structured answer as it is sent."""
    return len(orjson.dumps(body))


def record_url(reader: Reader, handle: str) -> str:
    """The owner's own page of a record; empty where no address is known."""
    if not reader.public_url:
        return ""
    path = handle if _UNQUOTED.fullmatch(handle) else quote(handle, safe="/:")
    return f"{reader.public_url.rstrip('/')}/records/{path}"

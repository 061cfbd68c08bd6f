"""A server read through its own `/mcp`, by a token that is good nowhere else: its tools answer, and are passed on."""

from collections.abc import Callable, Mapping
from typing import Any

from pdpp_server.wire.envelope import Json
from pdpp_server.wire.far_tools import (
    ToolAnswer,
    decode_arguments,
    decode_reply,
    decode_result,
    encode_call,
    encode_request,
)

Send = Callable[[Json], Json]
RENAMED = {"query": "q"}  # the old name of an argument, where a server knows no other


class Bridge:
    """`send` posts one message with the token. What a token may not do at `/mcp`, that server refuses by itself."""

    def __init__(self, send: Send, close: Callable[[], None]) -> None:
        self._send, self.close = send, close
        self._known: dict[str, frozenset[str]] | None = None

    def meet(self) -> None:
        """Raises: the refusal, where the token is not heard there."""
        self._known = decode_arguments(decode_reply(self._send(encode_request("tools/list", {}))))

    def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        if self._known is None:
            self.meet()
        taken = (self._known or {}).get(tool, frozenset())
        sent = {_name(name, taken): value for name, value in arguments.items()}
        return decode_result(decode_reply(self._send(encode_call(tool, sent))))


def _name(name: str, taken: frozenset[str]) -> str:
    old = RENAMED.get(name)
    return old if old in taken and name not in taken else name

"""A scripted agent: it knows the tools, and of every answer only what its client shows."""

import json
from collections.abc import Callable, Iterator
from itertools import cycle
from typing import Any, Protocol

from tests.harness.clients import Rule
from tests.harness.sights import Call, Sight

STEPS_MOST = 400


class Answer(Protocol):
    """Both channels, as they were sent."""

    @property
    def text(self) -> str: ...
    @property
    def structured(self) -> dict[str, Any]: ...


class ScriptedAgent:
    def __init__(self, call: Callable[..., Answer], rule: Rule) -> None:
        self._call, self._sees, self._looks = call, rule.sees, cycle(rule.looks)

    def ask(self, tool: str, /, **arguments: Any) -> Sight:
        return self.do(Call(tool, arguments))

    def do(self, call: Call) -> Sight:
        return next(self._looks)(self._seen(call), call)

    def document(self, id: str) -> dict[str, Any]:
        """`fetch` gives the same JSON in both channels, so every client shows it whole."""
        return json.JSONDecoder().raw_decode(self._seen(Call("fetch", {"id": id})))[0]

    def _seen(self, call: Call) -> str:
        answer = self._call(call.tool, **call.arguments)
        return self._sees(answer.text, answer.structured)

    def ask_each(self, tool: str, /, **arguments: Any) -> list[Sight]:
        """The answer; or one for each connection, where the refusal asks for one."""
        first = self.ask(tool, **arguments)
        offered = first.candidates
        return [self.ask(tool, **arguments, connection_id=id) for id in offered] if offered else [first]

    def follow(self, sight: Sight) -> Iterator[Sight]:
        """That answer and every one that comes after it."""
        yield sight
        for _ in range(STEPS_MOST):
            following = sight.onward
            if following is None:
                return
            sight = self.do(following)
            yield sight
        raise AssertionError("This never ends.")

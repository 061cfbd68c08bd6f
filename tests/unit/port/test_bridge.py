"""A server that is read through its own tools."""

from typing import Any

from pdpp_server.port.bridge import Bridge


class Far:
    """A server whose search takes these arguments."""

    def __init__(self, *names: str) -> None:
        self.names, self.asked = names, list[dict[str, Any]]()

    def send(self, message: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(message)
        if message["method"] == "tools/list":
            properties = {name: {} for name in self.names}
            return {"result": {"tools": [{"name": "search", "inputSchema": {"properties": properties}}]}}
        return {"result": {"content": [{"text": "found"}]}}


def sent(far: Far, arguments: dict[str, Any]) -> dict[str, Any]:
    assert Bridge(far.send, lambda: None).call("search", arguments).text == "found"
    return far.asked[-1]["params"]["arguments"]


def test_an_argument_has_its_old_name_only_where_a_server_knows_no_other() -> None:
    assert sent(Far("q", "limit"), {"query": "a", "limit": 1}) == {"q": "a", "limit": 1}
    assert sent(Far("query", "q"), {"query": "a"}) == {"query": "a"}
    assert sent(Far("limit"), {"query": "a"}) == {"query": "a"}


def test_a_server_is_asked_for_its_tools_once() -> None:
    far = Far("query")
    bridge = Bridge(far.send, lambda: None)
    bridge.meet()
    for _ in range(2):
        bridge.call("search", {"query": "a"})
    assert [message["method"] for message in far.asked] == ["tools/list", "tools/call", "tools/call"]

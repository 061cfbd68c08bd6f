"""Reader threads are shared: what one token asks for keeps no other waiting, at neither door."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from pdpp_server.reads import search
from tests.requirements import requirement
from tests.scenarios.resource_server.chats import Api, Chats

SLOW = "overdraft"
LONG_ENOUGH = 30  # seconds that nothing here takes, unless it would never end


@requirement("rs.limits.shares")
def test_four_loops_of_one_token_keep_no_other_client_waiting(chats: Chats, monkeypatch: pytest.MonkeyPatch) -> None:
    gate, real = threading.Event(), search.search

    def slow(reading: Any, permitted: Any, *others: Any) -> Any:
        if permitted.query.text == SLOW:
            gate.wait()
        return real(reading, permitted, *others)

    monkeypatch.setattr(search, "search", slow)
    chats.grant("grt_2", "tok_2")
    with chats.serving() as api, ThreadPoolExecutor(10) as clients:
        hostile = [clients.submit(ask, api, SLOW, "tok_client") for ask in (by_rest, by_mcp) * 2]
        others = [clients.submit(ask, api, "pizza", "tok_2") for ask in (by_rest, by_mcp) * 2]
        try:
            assert [other.result(LONG_ENOUGH) for other in others] == [200] * 4
            assert not any(loop.done() for loop in hostile)
        finally:
            gate.set()
        for loop in hostile:
            loop.result(LONG_ENOUGH)


def by_rest(api: Api, words: str, token: str) -> int:
    return api.get(f"/v1/search?q={words}", token=token).status_code


def by_mcp(api: Api, words: str, token: str) -> int:
    call = {"name": "search", "arguments": {"query": words}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    return api.client.post("/mcp", json=message, headers={"Authorization": f"Bearer {token}"}).status_code

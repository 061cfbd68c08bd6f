"""The body of a request, taken in up to a limit."""

from typing import Any

import pytest
from starlette.requests import Request

from pdpp_server.errors import TooLarge
from pdpp_server.http.bodies import body_of


def request(*chunks: bytes, told: str | None = None) -> tuple[Request, list[bytes]]:
    left = [*chunks]

    async def receive() -> dict[str, Any]:
        chunk = left.pop(0)
        return {"type": "http.request", "body": chunk, "more_body": bool(left)}

    headers = [] if told is None else [(b"content-length", told.encode())]
    return Request({"type": "http", "method": "POST", "headers": headers}, receive), left


@pytest.mark.anyio
@pytest.mark.parametrize("told", [None, "5", "many", "-1"])
async def test_a_body_of_the_most_bytes_is_taken_whatever_was_told(told: str | None) -> None:
    asked, _ = request(b"abc", b"de", told=told)
    assert await body_of(asked, 5) == b"abcde"


@pytest.mark.anyio
async def test_a_body_that_says_it_is_too_long_is_not_read_at_all() -> None:
    asked, left = request(b"abc", b"def", told="6")
    with pytest.raises(TooLarge, match=r"at most 5 bytes"):
        await body_of(asked, 5)
    assert len(left) == 2


@pytest.mark.anyio
async def test_a_body_that_goes_on_is_read_no_further_than_the_limit() -> None:
    asked, left = request(b"abc", b"def", b"ghi", told="1")
    with pytest.raises(TooLarge):
        await body_of(asked, 5)
    assert left == [b"ghi"]

"""The body of a request, taken in up to a limit."""

from starlette.requests import Request

from pdpp_server.errors import TooLarge


async def body_of(request: Request, most: int) -> bytes:
    """The body, while it is no longer than `most` bytes.

    Raises:
        TooLarge: it is, by its own word or by what arrived.
    """
    told = request.headers.get("content-length", "")
    _require_size(int(told) if told.isdigit() else 0, most)
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        _require_size(len(body), most)
    return bytes(body)


def _require_size(size: int, most: int) -> None:
    if size > most:
        raise TooLarge(f"A body may have at most {most:,} bytes.", remedy="Send it in parts.")

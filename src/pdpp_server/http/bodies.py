"""The body of a request, taken in up to a limit."""

from starlette.requests import ClientDisconnect, Request

from pdpp_server.errors import TooLarge


async def body_of(request: Request, most: int) -> bytes:
    """The body, while it is no longer than `most` bytes.

    Raises:
        TooLarge: it is, by its own word or by what arrived.
        ClientDisconnect: it ended before its end.
    """
    told = request.headers.get("content-length", "")
    size = int(told) if told.isdigit() else 0
    body, has_more = bytearray(), True
    while has_more and size <= most:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        body += message.get("body", b"")
        size, has_more = len(body), message.get("more_body", False)
    if size > most:
        raise TooLarge(f"A body may have at most {most:,} bytes.", remedy="Send it in parts.")
    return bytes(body)

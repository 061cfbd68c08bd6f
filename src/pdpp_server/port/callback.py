"""The way back from a browser: one address on a free port of this machine, open until somebody returns."""

from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any
from urllib.parse import parse_qsl, urlsplit

PATH = "/callback"
REDIRECT = f"http://127.0.0.1{PATH}"  # as it is registered: the port is chosen anew each time (RFC 8252)
PAGE = b"""<!doctype html><html lang="en"><meta charset="utf-8"><title>Back to the terminal</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<style>body { font: 1.1rem/1.6 system-ui, sans-serif; max-width: 34rem; margin: 20vh auto; padding: 0 1.5rem }</style>
<h1>Your answer has arrived</h1>
<p>You can close this page: the terminal says how it went.</p></html>"""
IDLE_SECONDS = 5  # browsers open connections that they never use

CallbackQuery = dict[str, str]


class Callback:
    """Made by `waiting`."""

    def __init__(self, address: str, came: "SimpleQueue[CallbackQuery]") -> None:
        self.address, self._came = address, came

    def wait(self, seconds: float) -> CallbackQuery | None:
        """What the browser brought; None where nobody came in time."""
        try:
            return self._came.get(timeout=max(0.0, seconds))
        except Empty:
            return None


@contextmanager
def waiting() -> Generator[Callback, None, None]:
    came: SimpleQueue[CallbackQuery] = SimpleQueue()

    class CallbackHandler(BaseHTTPRequestHandler):
        timeout = IDLE_SECONDS

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            found = parts.path == PATH
            self.send_response(200 if found else 404)
            for name, value in _headers(PAGE if found else b""):
                self.send_header(name, value)
            self.end_headers()
            if found:
                self.wfile.write(PAGE)
                came.put(dict(parse_qsl(parts.query)))

        def log_message(self, format: str, *args: Any) -> None:
            """The address holds a code: it is written down nowhere."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), CallbackHandler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield Callback(f"http://127.0.0.1:{server.server_port}{PATH}", came)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _headers(body: bytes) -> list[tuple[str, str]]:
    return [
        ("Content-Type", "text/html; charset=utf-8"),
        ("Content-Length", str(len(body))),
        ("Cache-Control", "no-store"),
        ("Referrer-Policy", "no-referrer"),
        ("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'"),  # nobody else's text is on it
        ("Connection", "close"),
    ]

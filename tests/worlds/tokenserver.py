"""A service that gives tokens for a mailbox and tells a mail server of them, on a port of this machine.

The owner agrees at once. A refresh token is good for one use, as careful services want it.
"""

import json
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from threading import Thread
from typing import Any
from urllib.parse import parse_qsl

CLIENT = "the-owners-own"

Form = dict[str, str]
Told = tuple[int, dict[str, Any]]


@dataclass
class TokenServer:
    url: str
    user: str
    asked: list[tuple[str, Form]] = field(default_factory=list[tuple[str, Form]])
    good: set[str] = field(default_factory=set[str])  # access tokens that are good now
    refresh: str = ""  # the one that is good now
    _numbers: Any = field(default_factory=count)

    @property
    def document(self) -> dict[str, str]:
        """What `--oauth FILE` is given."""
        return {"token_endpoint": f"{self.url}/token", "device_endpoint": f"{self.url}/device", "scope": "mail"}

    def expire(self) -> None:
        """An hour later."""
        self.good.clear()

    def revoke(self) -> None:
        """The owner took the consent back on a page of the service."""
        self.good.clear()
        self.refresh = ""

    def answer(self, path: str, form: Form) -> Told:
        self.asked.append((path, form))
        if path == "/introspect":
            is_good = form["token"] in self.good
            return 200, {"active": is_good, **({"username": self.user} if is_good else {})}
        if form.get("client_id") != CLIENT:
            return 401, {"error": "invalid_client"}
        if path == "/device":
            page = {"verification_uri": f"{self.url}/agree", "user_code": "ABCD"}
            return 200, {"device_code": "d", "interval": 1, **page}
        if form.get("device_code") != "d" and form.get("refresh_token") != (self.refresh or None):
            return 400, {"error": "invalid_grant"}
        number = next(self._numbers)
        access, self.refresh = f"access-{number}", f"refresh-{number}"
        self.good.add(access)
        return 200, {"access_token": access, "refresh_token": self.refresh, "expires_in": 3600}


@contextmanager
def token_service(user: str) -> Generator[TokenServer, None, None]:
    """It ends with the block."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            form = dict(parse_qsl(self.rfile.read(int(self.headers["Content-Length"])).decode()))
            status, body = service.answer(self.path, form)
            raw = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    service = TokenServer(f"http://127.0.0.1:{server.server_address[1]}", user)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

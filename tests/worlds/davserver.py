"""Debian's radicale as a plain process on a high port of this machine, with calendars and contacts of one user."""

import base64
import shutil
import socket
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.sax.saxutils import escape

from tests.worlds.mailserver import free_port

USER, PASSWORD = "ann", "sesame-42"
START_SECONDS = 20

_CONFIG = """
[server]
hosts = 127.0.0.1:{port}
[auth]
type = htpasswd
htpasswd_filename = {base}/users
htpasswd_encryption = plain
[storage]
filesystem_folder = {base}/collections
[logging]
level = error
"""
_MAKE = """<?xml version="1.0"?><mkcol xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"
 xmlns:A="urn:ietf:params:xml:ns:carddav"><set><prop>
<resourcetype><collection/>{kind}</resourcetype><displayname>{name}</displayname></prop></set></mkcol>"""


@dataclass(frozen=True, slots=True)
class DavServer:
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def ask(self, method: str, path: str, body: str = "", kind: str = "text/calendar") -> int:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=START_SECONDS)
        told = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        headers = {"Authorization": f"Basic {told}", "Content-Type": kind}
        try:
            connection.request(method, path, body.encode(), headers)
            response = connection.getresponse()
            response.read()
            return response.status
        finally:
            connection.close()

    def make(self, path: str, name: str, *, is_calendar: bool = True) -> None:
        kind = "<C:calendar/>" if is_calendar else "<A:addressbook/>"
        assert (
            self.ask("MKCOL", f"/{USER}/{path}/", _MAKE.format(kind=kind, name=escape(name)), "application/xml") == 201
        )

    def put(self, path: str, text: str) -> None:
        kind = "text/calendar" if path.endswith(".ics") else "text/vcard"
        assert self.ask("PUT", f"/{USER}/{path}", text, kind) in (201, 204)

    def delete(self, path: str) -> None:
        assert self.ask("DELETE", f"/{USER}/{path}") in (200, 204)


@contextmanager
def dav_server() -> Generator[DavServer, None, None]:
    """Ended by its process id, whatever happens."""
    program = shutil.which("radicale")
    assert program, "the tests of live sources need Debian's radicale: make servers"
    with TemporaryDirectory(prefix="radicale") as folder:
        base, port = Path(folder), free_port()
        (base / "users").write_text(f"{USER}:{PASSWORD}\n", "utf-8")
        (base / "config").write_text(_CONFIG.format(base=base, port=port), "utf-8")
        process = subprocess.Popen([program, "--config", str(base / "config")], stderr=subprocess.DEVNULL)
        try:
            _require_answer(port)
            yield DavServer(port)
        finally:
            process.terminate()
            process.wait(START_SECONDS)


def _require_answer(port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError("radicale did not start")

"""A calendar server that is honest until it is told what to say instead, on a port of this machine."""

from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ssl import SSLContext
from threading import Thread
from typing import Any

SPACES = "xmlns='DAV:' xmlns:C='urn:ietf:params:xml:ns:caldav' xmlns:S='http://calendarserver.org/ns/'"
_KINDS = {"resourcetype": "what", "sync-token": "changes", "multiget": "resources", "getetag": "shown"}


@dataclass(frozen=True)
class Told:
    """One answer."""

    body: bytes = b""
    status: int = 207
    headers: dict[str, str] = field(default_factory=dict[str, str])


Pieces = Callable[[bytes], Iterable[bytes]]  # an answer with its head in, what is sent of it one after the other out
Instead = Callable[[str], Told]  # the question in, what is said instead of the truth out


@dataclass
class CalendarServer:
    """One calendar, with an event for each letter of `uids`."""

    port: int = 0
    is_by_tls: bool = False
    uids: str = "abcd"
    can_sync: bool = True
    token: int = 1
    instead: dict[str, Instead] = field(default_factory=dict[str, Instead])
    pieces: Pieces = lambda whole: [whole]
    asked: list[str] = field(default_factory=list[str])

    @property
    def url(self) -> str:
        return f"http{'s' if self.is_by_tls else ''}://127.0.0.1:{self.port}/cal/"

    def answer(self, question: str) -> Told:
        kind = next((kind for word, kind in _KINDS.items() if word in question), "")
        self.asked.append(kind)
        if kind in self.instead:
            return self.instead[kind](question)
        match kind:
            case "what":
                return multi(_described(self.can_sync, self.token))
            case "changes":
                everything = listed(self.uids) if "<sync-token></sync-token>" in question else ""
                return multi(everything, f"t{self.token}")
            case "shown":
                return multi(listed(self.uids))
            case "resources":
                return multi("".join(given(uid) for uid in self.uids if f"/cal/{uid}.ics" in question))
            case _:
                return Told(status=404)


def multi(parts: str, token: str = "") -> Told:
    told = f"<sync-token>{token}</sync-token>" if token else ""
    return Told(f"<?xml version='1.0'?><multistatus {SPACES}>{parts}{told}</multistatus>".encode())


def part(href: str, properties: str = "", status: str = "") -> str:
    shown = f"<propstat><prop>{properties}</prop></propstat>" if properties else ""
    whole = f"<status>HTTP/1.1 {status} x</status>" if status else ""
    return f"<response><href>{href}</href>{whole}{shown}</response>"


def listed(uids: str, tag: str = "1") -> str:
    return "".join(part(f"/cal/{uid}.ics", f"<getetag>{tag}</getetag>") for uid in uids)


def given(uid: str, text: str | None = None) -> str:
    event = f"BEGIN:VEVENT\nUID:{uid}\nDTSTAMP:20261101T000000Z\nDTSTART:20261120T090000Z\nSUMMARY:{uid}\nEND:VEVENT\n"
    whole = f"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:x\n{event}END:VCALENDAR\n" if text is None else text
    return part(f"/cal/{uid}.ics", f"<C:calendar-data>{whole}</C:calendar-data>")


def _described(can_sync: bool, token: int) -> str:
    report = "<supported-report><report><sync-collection/></report></supported-report>" if can_sync else ""
    kind = "<resourcetype><collection/><C:calendar/></resourcetype><displayname>Home</displayname>"
    reports = f"<supported-report-set>{report}</supported-report-set>"
    return part("/cal/", f"{kind}<S:getctag>{token}</S:getctag>{reports}")


@contextmanager
def calendar_server(tls: SSLContext | None = None) -> Generator[CalendarServer, None, None]:
    """It ends with the block."""
    calendar = CalendarServer(is_by_tls=tls is not None)

    class Handler(BaseHTTPRequestHandler):
        def do_PROPFIND(self) -> None:
            question = self.rfile.read(int(self.headers["Content-Length"])).decode()
            told = calendar.answer(question)
            headers = {"Content-Length": str(len(told.body)), **told.headers}
            head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
            with suppress(OSError):  # nobody wants the rest
                for piece in calendar.pieces(f"HTTP/1.0 {told.status} x\r\n{head}\r\n".encode() + told.body):
                    self.wfile.write(piece)

        do_REPORT = do_PROPFIND

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing is said."""

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    calendar.port = listening.server_port
    if tls:
        listening.socket = tls.wrap_socket(listening.socket, server_side=True)
    thread = Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield calendar
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join()

"""IMAP as far as we speak it: by the standard library, bounded in time and bytes, and never writing.

Everything that can go wrong with a server becomes a SourceTrouble here, with what to do about it.
"""

import base64
import imaplib
import re
import socket
import ssl
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from io import BufferedReader, BytesIO
from ipaddress import ip_address
from select import select
from time import monotonic
from typing import Any, NamedTuple, cast

from pdpp_server.importers.formats.mbox import MESSAGE_BYTES_MAX
from pdpp_server.importers.live.certificates import context_for, shown_at, shown_by, unchecked, unfitting
from pdpp_server.importers.live.pace import Pace, trickling
from pdpp_server.importers.live.trouble import AGAIN, SourceTrouble

ANSWER_SECONDS = 60.0  # a server that says nothing for so long hangs
PIECE_BYTES = 256 * 1024  # of a message, that are read at once
LINE_BYTES_MAX = 16 * 1024 * 1024
IDLE_LINES_MAX = 1000
COMMAND_BYTES_MAX = 2 * MESSAGE_BYTES_MAX  # that one command may bring
LINE_BYTES = 100  # that are counted for a line beside its own: so much it takes here at least
NUMBER_MAX = 2**63 - 1  # of a change; those of messages are smaller
UIDS_AT_ONCE = 50_000

_LISTED = re.compile(rb'\((?P<flags>[^)]*)\) (?:"(?:\\?.)"|NIL) (?P<name>.*)', re.DOTALL)
_UID, _SIZE = re.compile(rb"\bUID ([0-9]{1,10})\b"), re.compile(rb"\bRFC822\.SIZE ([0-9]{1,30})\b")
_SHIFTED = re.compile(r"&([^-]*)-")


class ImapServer(NamedTuple):
    """Where it is, and how it is spoken to."""

    host: str
    port: int
    security: str = "tls"  # or "starttls", or "none" on this machine alone
    certificate: str = ""  # the SHA-256 of the one that the owner accepts on purpose


class Folder(NamedTuple):
    name: str  # as a person reads it
    raw: str  # as the server writes it, quoted
    flags: frozenset[str]


class Examined(NamedTuple):
    """What a folder says of itself when it is opened for reading."""

    validity: int
    next: int
    messages: int
    modseq: int | None
    vanished: tuple[int, ...] | None  # since the state that was named; None where the server cannot say


class Fetched(NamedTuple):
    uid: int
    raw: bytes | None


class _Imap(imaplib.IMAP4):
    """Reads no more than it asked for, and says so when a server sends more, or trickles."""

    def __init__(self, server: ImapServer, context: ssl.SSLContext | None) -> None:
        self._tls, self._left = context if server.security == "tls" else None, COMMAND_BYTES_MAX
        self.pace = Pace(monotonic)
        super().__init__(server.host, server.port, ANSWER_SECONDS)

    def _create_socket(self, timeout: float | None) -> socket.socket:
        plain = socket.create_connection((self.host, self.port), timeout)
        try:
            return self._tls.wrap_socket(plain, server_hostname=self.host) if self._tls else plain
        except OSError:
            plain.close()
            raise

    def send(self, data: Any) -> None:
        self._left = COMMAND_BYTES_MAX
        self.pace.begin()
        super().send(data)

    def read(self, size: int) -> bytes:
        self._left -= size
        if size < 0 or self._left < 0:
            raise self.abort("too much")
        file, data = cast("BufferedReader", self.file), BytesIO()  # gives what it holds without a second copy
        while (lacking := size - data.tell()) > 0:
            piece = file.read1(min(lacking, PIECE_BYTES))
            if not piece:
                raise self.abort("socket error: EOF")
            data.write(piece)
            self._require_pace(len(piece))
        return data.getvalue()

    def is_line_here(self) -> bool:
        """Whether more was read already than the last line: nobody would be told of it by the socket."""
        before = self.sock.gettimeout()
        self.sock.settimeout(0)
        try:
            return bool(cast("BufferedReader", self.file).peek(1))
        except (BlockingIOError, ssl.SSLWantReadError):
            return False
        finally:
            self.sock.settimeout(before)

    def readline(self) -> bytes:
        line = b"".join(self._pieces_of_line())
        self._left -= len(line) + LINE_BYTES
        if len(line) > LINE_BYTES_MAX or self._left < 0:
            raise self.abort("too much")
        return line

    def _pieces_of_line(self) -> Iterator[bytes]:
        """Each is what one look at the socket brought."""
        file, lacking = cast("BufferedReader", self.file), LINE_BYTES_MAX + 1
        while lacking > 0 and (here := len(file.peek(1))):
            piece = file.readline(min(here, lacking))
            self._require_pace(len(piece))
            yield piece
            lacking = 0 if piece.endswith(b"\n") else lacking - len(piece)

    def _require_pace(self, came: int) -> None:
        if not self.pace.is_kept(came):
            raise self.abort("too slow")


# To the server and in -------------------------------------------------------------------------------------------------


@contextmanager
def connected(server: ImapServer) -> Generator["ImapConversation", None, None]:
    """Raises: SourceTrouble."""
    if server.security == "none" and not _is_here(server.host):
        raise SourceTrouble(
            "Without TLS a password can be read on its way.", remedy="Leave --security out, or say --security starttls."
        )
    with _troubles(server):
        imap = _Imap(server, context_for(server.certificate))
    try:
        with _troubles(server):
            if server.security == "starttls":
                imap.starttls(context_for(server.certificate))
        yield ImapConversation(server, imap)
    finally:
        with suppress(OSError):  # it was closed already
            imap.shutdown()


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _shown_certificate(server: ImapServer) -> str:
    if server.security == "tls":
        return shown_at(server.host, server.port, ANSWER_SECONDS)
    try:
        imap = _Imap(server, None)
        imap.starttls(unchecked())
    except (OSError, imaplib.IMAP4.error):
        return ""
    with cast("ssl.SSLSocket", imap.sock) as sock:
        return shown_by(sock)


@contextmanager
def _troubles(server: ImapServer) -> Generator[None, None, None]:
    """What the libraries raise, as a sentence with what to do."""
    where = f"{server.host}:{server.port}"
    try:
        yield
    except ssl.SSLCertVerificationError as error:
        raise unfitting(where, error.verify_message, _shown_certificate(server)) from error
    except ssl.SSLError as error:
        raise SourceTrouble(
            f"{where} does not speak TLS there.", remedy="Port 993 usually does; for 143 say --security starttls."
        ) from error
    except socket.gaierror as error:
        raise SourceTrouble(
            f"No server is called {server.host}.", remedy="Check the name, and whether this machine is online."
        ) from error
    except ConnectionRefusedError as error:
        raise SourceTrouble(f"Nothing listens at {where}.", remedy="Check the port; 993 is usual.") from error
    except TimeoutError as error:
        raise SourceTrouble(f"{where} did not answer for {ANSWER_SECONDS:.0f} seconds.", remedy=AGAIN) from error
    except imaplib.IMAP4.abort as error:
        said = str(error)
        if "too much" in said:
            raise SourceTrouble(f"{where} sends more than was asked for.", remedy=AGAIN) from error
        if "too slow" in said:
            raise trickling(where) from error
        if "unexpected" in said:
            raise SourceTrouble(f"{where} sends what is no IMAP.", remedy="Check the address and the port.") from error
        raise SourceTrouble(f"{where} closed the connection in the middle.", remedy=AGAIN) from error
    except imaplib.IMAP4.error as error:
        raise SourceTrouble(f"{where} refused a command.", remedy=AGAIN) from error
    except OSError as error:
        raise SourceTrouble(f"{where} cannot be reached: {error.strerror or 'no answer'}.", remedy=AGAIN) from error
    except (ValueError, IndexError, TypeError, KeyError) as error:  # numbers that are none, parts that are missing
        raise SourceTrouble(f"{where} sends what is no IMAP.", remedy="Check the address and the port.") from error


class ImapConversation:
    """One conversation. Folders are opened for reading only, and nothing is marked as read."""

    def __init__(self, server: ImapServer, imap: _Imap) -> None:
        self._server, self._imap = server, imap
        self.can_tell_vanished = self.can_idle = False

    def sign_in(self, user: str, password: str) -> None:
        """Raises: SourceTrouble."""
        answer = f"\0{user}\0{password}".encode()
        by_plain = partial(self._imap.authenticate, "PLAIN", lambda _: answer)
        by_login = partial(self._imap.login, user, password)
        takes_login = answer.isascii() and "AUTH=PLAIN" not in self._imap.capabilities
        self._sign_in(
            by_login if takes_login else by_plain,
            SourceTrouble(
                f"{self._server.host} refuses the user {user} with this password.",
                remedy="Many services want an app password, made in the settings of the account; Microsoft wants a "
                "token (--oauth). If it is followed already, follow it again on the page, or stop it and add it again.",
            ),
        )

    def sign_in_by_token(self, user: str, token: str) -> None:
        """With an OAuth access token. Raises: SourceTrouble."""
        answer = f"user={user}\1auth=Bearer {token}\1\1".encode()

        def answered(challenge: bytes) -> bytes:
            return b"" if challenge else answer  # a challenge with words is the reason of a refusal

        self._sign_in(
            partial(self._imap.authenticate, "XOAUTH2", answered),
            SourceTrouble(
                f"{self._server.host} refuses the user {user} with this token.",
                remedy="It must be for this address, and allow IMAP. Agree once more: stop the source, and add it "
                "again with --oauth; of a --token-command see what it prints.",
            ),
        )

    def _sign_in(self, enter: Callable[[], object], refused: SourceTrouble) -> None:
        with _troubles(self._server):
            try:
                enter()
            except imaplib.IMAP4.abort:
                raise
            except imaplib.IMAP4.error as error:
                raise refused from error
            _, told = self._imap.capability()
            can = set(b" ".join(cast("list[bytes]", told)).decode("ascii", "replace").upper().split())
            self.can_idle = "IDLE" in can
            if {"QRESYNC", "ENABLE"} <= can:
                self.can_tell_vanished = self._imap.enable("QRESYNC")[0] == "OK"

    def folders(self) -> list[Folder]:
        """Those that can be opened."""
        with _troubles(self._server):
            typ, listed = self._imap.list()
            self._require_ok(typ)
            found = [_folder(line) for line in listed if line]
        return [one for one in found if one is not None and "\\noselect" not in one.flags]

    def examine(self, folder: Folder, known: tuple[int, int] | None = None) -> Examined | None:
        """Open it for reading; `known` is the validity and the change that were seen last. None where it is gone."""
        name = folder.raw
        if known and self.can_tell_vanished:
            name = f"{name} (QRESYNC ({known[0]} {known[1]}))"
        with _troubles(self._server):
            self._imap.response("VANISHED")
            try:
                typ, told = self._imap.select(name, readonly=True)
            except imaplib.IMAP4.readonly:
                raise SourceTrouble(f"{self._server.host} opens no folder for reading.", remedy="") from None
            if typ != "OK":
                return None
            vanished = tuple(self._vanished()) if known and self.can_tell_vanished else None
            messages = int(told[0] or 0)
            validity, following = self._number("UIDVALIDITY"), self._number("UIDNEXT")
            if validity is None:
                raise ValueError
            modseq = self._number("HIGHESTMODSEQ")
        return Examined(validity, following or self._behind_last(), messages, modseq, vanished)

    def _number(self, name: str) -> int | None:
        _, told = self._imap.response(name)
        number = int(told[-1]) if told and told[-1] else None
        if number is not None and not 0 <= number <= NUMBER_MAX:
            raise ValueError
        return number

    def _behind_last(self) -> int:
        """Of a server that does not say which number the next message gets."""
        return max(self._search("UID *"), default=0) + 1

    def _vanished(self) -> Iterator[int]:
        _, told = self._imap.response("VANISHED")
        for line in told or ():
            if line:
                yield from _numbers(line.replace(b"(EARLIER)", b"").strip())

    def uids(self, low: int, high: int) -> Iterator[int]:
        """Those of the open folder from the first until before the second, in order; asked for when they are needed."""
        start, step = low, UIDS_AT_ONCE
        while start < high:
            end = min(start + step, high) - 1
            listed = self._search(f"UID {start}:{end}")
            yield from sorted({uid for uid in listed if start <= uid <= end})
            step = step * 2 if len(listed) < UIDS_AT_ONCE // 10 else UIDS_AT_ONCE  # numbers may lie far apart
            start = end + 1

    def _search(self, what: str) -> list[int]:
        with _troubles(self._server):
            typ, told = self._imap.uid("SEARCH", what)
            self._require_ok(typ)
            return [int(number) for line in told if line for number in line.split()]

    def sizes(self, uids: Iterable[int]) -> dict[int, int]:
        """How large each claims to be; one that is gone meanwhile has none, and a server may leave it out."""
        sizes: dict[int, int] = {}
        for head, _ in self._fetch(uids, "(UID RFC822.SIZE)"):
            uid, size = _UID.search(head), _SIZE.search(head)
            if uid and size:
                sizes[int(uid[1])] = int(size[1])
        return sizes

    def bodies(self, uids: Iterable[int]) -> Iterator[Fetched]:
        """The messages as they are, without marking them as read."""
        for head, raw in self._fetch(uids, "(UID BODY.PEEK[])"):
            if (uid := _UID.search(head)) and raw is not None:
                yield Fetched(int(uid[1]), raw)

    def _fetch(self, uids: Iterable[int], what: str) -> Iterator[tuple[bytes, bytes | None]]:
        named = _ranges(uids)
        if not named:
            return
        with _troubles(self._server):
            typ, told = self._imap.uid("FETCH", named, what)
            self._require_ok(typ)
        parts = list(cast("list[tuple[bytes, bytes] | bytes | None]", told))
        for number, part in enumerate(parts):
            if isinstance(part, tuple):
                behind = parts[number + 1] if number + 1 < len(parts) else b""
                yield part[0] + b" " + (behind if isinstance(behind, bytes) else b""), part[1]
            elif part and b"UID" in part and not (number and isinstance(parts[number - 1], tuple)):
                yield part, None

    def idle(self, is_over: Callable[[], bool], seconds: float) -> bool:
        """Wait until the open folder changes, or until it is over; whether it changed. Raises: SourceTrouble."""
        with _troubles(self._server):
            self._imap.send(b"PDPPIDLE IDLE\r\n")
            changed = self._changed_before(b"+")  # what came since the last command is told first
            waited = 0.0
            while not changed and waited < seconds and not is_over():
                if self._imap.is_line_here() or _has_data(self._imap.sock, 1.0):
                    self._imap.pace.begin()  # until now it waited on purpose
                    changed = _tells_change(self._line())
                waited += 1.0
            self._imap.send(b"DONE\r\n")
            return self._changed_before(b"PDPPIDLE ") or changed

    def _changed_before(self, beginning: bytes) -> bool:
        """Whether a line before the one that begins so tells of a change."""
        changed = False
        for _ in range(IDLE_LINES_MAX):
            line = self._line()
            if line.startswith(beginning):
                return changed
            if line.startswith(b"PDPPIDLE "):
                raise SourceTrouble(f"{self._server.host} does not tell of new mail.", remedy="")
            changed = changed or _tells_change(line)
        raise SourceTrouble(f"{self._server.host} sends what is no IMAP.", remedy=AGAIN)

    def _line(self) -> bytes:
        line = self._imap.readline()
        if not line:
            raise self._imap.abort("socket error: EOF")
        return line

    def _require_ok(self, typ: str) -> None:
        if typ != "OK":
            raise self._imap.error("refused")


def _tells_change(line: bytes) -> bool:
    return b" EXISTS" in line or b" EXPUNGE" in line or b"VANISHED" in line


def _has_data(sock: socket.socket, seconds: float) -> bool:
    if isinstance(sock, ssl.SSLSocket) and sock.pending():
        return True
    return bool(select([sock], [], [], seconds)[0])


# What it writes -------------------------------------------------------------------------------------------------------


def _folder(line: bytes | tuple[bytes, bytes]) -> Folder | None:
    told, raw = (line, None) if isinstance(line, bytes) else line
    found = _LISTED.match(told)
    if not found:
        return None
    if raw is None:
        raw = _unquoted(found["name"].strip())
    text = raw.decode("utf-8", "replace")
    if any(character in text for character in "\r\n\0"):
        return None
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    flags = found["flags"].decode("ascii", "replace").lower()
    return Folder(_readable(text), f'"{escaped}"', frozenset(flags.split()))


def _unquoted(name: bytes) -> bytes:
    if name.startswith(b'"') and name.endswith(b'"'):
        return re.sub(rb"\\(.)", rb"\1", name[1:-1])
    return name


def _readable(text: str) -> str:
    """Names are written in a form of UTF-7 (RFC 3501 section 5.1.3)."""

    def letters(found: re.Match[str]) -> str:
        if not found[1]:
            return "&"
        packed = found[1].replace(",", "/")
        try:
            return base64.b64decode(packed + "=" * (-len(packed) % 4)).decode("utf-16-be")
        except ValueError:
            return found[0]

    return _SHIFTED.sub(letters, text)


def _numbers(line: bytes) -> Iterator[int]:
    for part in line.split(b","):
        low, _, high = part.partition(b":")
        if part:
            first, last = sorted((int(low), int(high or low)))
            if last - first > 10_000_000:
                raise ValueError
            yield from range(first, last + 1)


def _ranges(uids: Iterable[int]) -> str:
    """As few words as can be: 3:7,9."""
    spans: list[list[int]] = []
    for uid in sorted(uids):
        if spans and spans[-1][1] == uid - 1:
            spans[-1][1] = uid
        else:
            spans.append([uid, uid])
    return ",".join(str(low) if low == high else f"{low}:{high}" for low, high in spans)

"""Debian's dovecot as a plain process on a high port of this machine, with one mailbox in a folder of its own."""

import getpass
import imaplib
import os
import pwd
import shutil
import socket
import subprocess
import time
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from email.message import EmailMessage
from pathlib import Path
from tempfile import TemporaryDirectory

USER, PASSWORD = "ann@example.org", "pässword-42"
START_SECONDS = 20

_CONFIG = """
protocols = imap
listen = 127.0.0.1
base_dir = {base}/run
state_dir = {base}/state
log_path = {base}/log
default_internal_user = {internal}
default_internal_group = {internal_group}
default_login_user = {login}
disable_plaintext_auth = no
auth_mechanisms = plain login xoauth2
mail_location = maildir:{base}/mail/%u
mail_uid = {owner}
mail_gid = {group}
first_valid_uid = 1
ssl = {ssl}
{certificate}
imap_capability = {capability}
{tokens}
passdb {{
  driver = static
  mechanisms = plain login
  args = password={password}
}}
userdb {{
  driver = static
  args = uid={owner} gid={group} home={base}/mail/%u
}}
service imap-login {{
  chroot =
  inet_listener imap {{
    port = {port}
  }}
  inet_listener imaps {{
    port = {tls_port}
  }}
}}
service anvil {{
  chroot =
}}
service stats {{
  chroot =
}}
namespace inbox {{
  inbox = yes
  separator = /
  mailbox Trash {{
    auto = create
    special_use = \\Trash
  }}
}}
"""

_TOKENS = """
passdb {{
  driver = oauth2
  mechanisms = xoauth2
  args = {base}/oauth2.conf
}}
"""
_ASKED_OF_A_TOKEN = """
introspection_url = {url}
introspection_mode = post
active_attribute = active
active_value = true
username_attribute = username
"""


@dataclass(frozen=True, slots=True)
class MailServer:
    port: int
    tls_port: int
    folder: Path
    user: str = USER  # whoever knows the password has a mailbox of the name that they say

    @contextmanager
    def mail(self) -> Generator[imaplib.IMAP4, None, None]:
        """As a mail program sees it."""
        imap = imaplib.IMAP4("127.0.0.1", self.port, timeout=START_SECONDS)
        imap.authenticate("PLAIN", lambda _: f"\0{self.user}\0{PASSWORD}".encode())
        try:
            yield imap
        finally:
            imap.logout()

    def put(self, messages: Iterable[bytes], folder: str = "INBOX") -> None:
        with self.mail() as imap:
            if folder != "INBOX":
                imap.create(f'"{folder}"')
            for raw in messages:
                typ, told = imap.append(f'"{folder}"', "", "", raw)
                assert typ == "OK", told


def letter(number: int, subject: str = "", **headers: str) -> bytes:
    mail = EmailMessage()
    mail["From"], mail["To"] = "Bob <bob@example.org>", USER
    mail["Date"] = f"Mon, {1 + number % 28:02} Jun 2026 10:{number % 60:02}:00 +0000"
    mail["Message-ID"] = f"<{number}@example.org>"
    mail["Subject"] = subject or f"Letter {number}"
    for name, value in headers.items():
        mail[name.replace("_", "-")] = value
    mail.set_content(f"This is letter {number}.\nIt has two lines.\n")
    return mail.as_bytes()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def mail_server(
    *, capability: str = "", certificate: tuple[Path, Path] | None = None, introspection: str = ""
) -> Generator[MailServer, None, None]:
    """In a folder of its own, which its own user can reach; ended by its process id, whatever happens.

    With an address that tells of tokens (RFC 7662) it takes these too.
    """
    with (
        TemporaryDirectory(prefix="dovecot") as folder,
        _running(Path(folder), capability, certificate, introspection) as server,
    ):
        yield server


@contextmanager
def _running(
    base: Path, capability: str, certificate: tuple[Path, Path] | None, introspection: str
) -> Generator[MailServer, None, None]:
    program = shutil.which("dovecot", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    assert program, "the tests of live sources need Debian's dovecot-imapd: make servers"
    port, tls_port = free_port(), free_port()
    is_root = os.geteuid() == 0
    me = getpass.getuser()
    owner = pwd.getpwnam("nobody") if is_root else pwd.getpwnam(me)
    for name in ("run", "state", "mail"):
        (base / name).mkdir(parents=True)
    if is_root:
        base.chmod(0o755)
        os.chown(base / "mail", owner.pw_uid, owner.pw_gid)
    shown = f"ssl_cert = <{certificate[0]}\nssl_key = <{certificate[1]}" if certificate else ""
    (base / "oauth2.conf").write_text(_ASKED_OF_A_TOKEN.format(url=introspection), "utf-8")
    config = base / "dovecot.conf"
    config.write_text(
        _CONFIG.format(
            base=base,
            internal="dovecot" if is_root else me,
            internal_group="dovecot" if is_root else me,
            login="dovenull" if is_root else me,
            owner=owner.pw_uid,
            group=owner.pw_gid,
            ssl="yes" if certificate else "no",
            certificate=shown,
            capability=capability,
            tokens=_TOKENS.format(base=base) if introspection else "",
            password=PASSWORD,
            port=port,
            tls_port=tls_port if certificate else 0,
        ),
        "utf-8",
    )
    process = subprocess.Popen([program, "-F", "-c", str(config)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _require_answer(port, base / "log")
        yield MailServer(port, tls_port, base)
    finally:
        process.terminate()
        process.wait(START_SECONDS)


def _require_answer(port: int, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        try:
            with socket.create_connection(("127.0.0.1", port), 1) as connection:
                if connection.recv(100).startswith(b"* OK"):
                    return
        except OSError:
            time.sleep(0.05)
    raise AssertionError(log.read_text("utf-8", "replace") if log.exists() else "dovecot did not start")

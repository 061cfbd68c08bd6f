"""Before a source is followed: what it is called, and one try of its password that shows what would be read."""

from collections.abc import Mapping
from typing import Any

from pdpp_server.evidence.words import counted
from pdpp_server.importers.live.dav import shown
from pdpp_server.importers.live.imap import Mailbox, followed_folders, mailbox_of, sign_in
from pdpp_server.importers.live.imap_wire import connected
from pdpp_server.importers.live.trouble import not_followed_yet

TLS_PORT, OTHER_PORT = 993, 143


def mailbox_settings(
    host: str,
    user: str,
    *,
    account: str = "",
    port: int | None = None,
    security: str = "tls",
    certificate: str = "",
    token_command: str = "",
) -> dict[str, Any]:
    """The account is called by its address, as an export of the same mailbox is, so that both meet."""
    return {
        "host": host,
        "port": port or (TLS_PORT if security == "tls" else OTHER_PORT),
        "security": security,
        "certificate": certificate,
        "user": user,
        "account": account or (user if "@" in user else f"{user}@{host}"),
        "token_command": token_command,
    }


def tried(kind: str, settings: Mapping[str, Any], secret: str) -> list[str]:
    """What would be followed there, a line each. Raises: SourceTrouble."""
    with not_followed_yet():
        return shown(settings, secret) if kind != "imap" else _folders(mailbox_of(settings), secret)


def _folders(mailbox: Mailbox, secret: str) -> list[str]:
    with connected(mailbox.server) as connection:
        sign_in(connection, mailbox, lambda: secret)
        seen = [(folder.name, connection.examine(folder)) for folder in followed_folders(connection)]
    return [f"{name}: {counted(examined.messages, 'message')}" for name, examined in seen if examined is not None]

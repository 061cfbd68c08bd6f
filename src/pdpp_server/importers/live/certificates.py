"""Certificates that do not fit: refused with their SHA-256, by which the owner may accept that one and no other."""

import socket
import ssl
from hashlib import sha256
from typing import Any

from pdpp_server.importers.live.trouble import SourceTrouble


class _Accepting(ssl.SSLContext):
    """Takes one certificate, whoever signed it; nothing is said to a server that shows another."""

    accepted = ""

    def wrap_socket(self, *args: Any, **named: Any) -> ssl.SSLSocket:
        """Raises: SourceTrouble."""
        sock = super().wrap_socket(*args, **named)
        if shown_by(sock) != self.accepted:
            sock.close()
            raise SourceTrouble(
                f"{named.get('server_hostname')} shows another certificate than the one that you accepted.",
                remedy="If that is right, stop the source and add it again.",
            )
        return sock


def context_for(certificate: str) -> ssl.SSLContext:
    """What a connection is secured by: what this machine trusts, or that one certificate, where one is accepted."""
    if not certificate:
        return ssl.create_default_context()
    context = _Accepting(ssl.PROTOCOL_TLS_CLIENT)
    context.accepted = certificate.replace(":", "").lower()
    _check_nothing(context)
    return context


def unfitting(where: str, why: str, shown: str) -> SourceTrouble:
    accept = f" If it is yours, accept it on purpose with --certificate {shown}" if shown else ""
    return SourceTrouble(
        f"The certificate of {where} does not fit: {why}.", remedy=f"Check the name of the server.{accept}"
    )


def unchecked() -> ssl.SSLContext:
    """To see what a server shows, and to say nothing to it."""
    context = ssl.create_default_context()
    _check_nothing(context)
    return context


def shown_at(host: str, port: int, seconds: float) -> str:
    """The SHA-256 of what the server shows, for the owner to compare; empty where it cannot be seen."""
    try:
        plain = socket.create_connection((host, port), seconds)
        with unchecked().wrap_socket(plain, server_hostname=host) as sock:
            return shown_by(sock)
    except OSError:
        return ""


def shown_by(sock: ssl.SSLSocket) -> str:
    """The same of a connection that is secured already."""
    return sha256(sock.getpeercert(binary_form=True) or b"").hexdigest()


def _check_nothing(context: ssl.SSLContext) -> None:
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE

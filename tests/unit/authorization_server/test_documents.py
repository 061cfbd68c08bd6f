"""The guard around documents of strangers: where it goes, and what it takes from there."""

import select
import socket
import ssl
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import httpx2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from pdpp_server.authorization_server import documents as module
from pdpp_server.authorization_server.documents import BODY_BYTES, Documents, NoWayOut, fresh_seconds, is_public
from pdpp_server.errors import SourceUnavailable
from tests.requirements import requirement

URL = "https://agent.example/oauth/client.json?v=1"
PUBLIC = "93.184.215.14"


class Host:
    """What answers; `seen` is the request that reached it."""

    def __init__(self, response: httpx2.Response | None = None) -> None:
        fresh = {"Cache-Control": "max-age=600"}
        self.response = response or httpx2.Response(200, content=iter([b"{", b"}"]), headers=fresh)
        self.seen: httpx2.Request | None = None

    def answer(self, request: httpx2.Request) -> httpx2.Response:
        self.seen = request
        return self.response


def documents(host: Host, *addresses: str, clock: list[float] | None = None) -> Documents:
    ticks = iter(clock or [])
    return Documents(
        resolve=lambda _, __: list(addresses or (PUBLIC,)),
        transport=httpx2.MockTransport(host.answer),
        monotonic=lambda: next(ticks, 0.0),
    )


class Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, format: str, *args: object) -> None:
        """Nobody reads it."""


class Dripping(Page):
    """A header now and then, long before any reader would give up waiting; done only after two seconds."""

    def do_GET(self) -> None:
        self.send_response(200)
        nobody = threading.Event()
        with suppress(OSError):
            for number in range(200):
                self.send_header("Content-Length" if number == 199 else "X", "2")
                self.flush_headers()
                nobody.wait(0.01)
            self.end_headers()
            self.wfile.write(b"{}")


@contextmanager
def tls_host(
    folder: Path, name: str, page: type[BaseHTTPRequestHandler] = Page
) -> Generator[tuple[int, ssl.SSLContext], None, None]:
    """A server on loopback that proves to be `name` to whoever has the trust that comes with its port."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    signed = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    plain = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "host.pem").write_bytes(plain + signed.public_bytes(pem))
    proof = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    proof.load_cert_chain(folder / "host.pem")
    server = HTTPServer(("127.0.0.1", 0), page)
    server.socket = proof.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_port, ssl.create_default_context(cadata=signed.public_bytes(pem).decode())
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@requirement("as.clients.metadata-document")
def test_it_asks_the_very_address_that_was_checked_under_the_name_that_was_given() -> None:
    host = Host()
    found = documents(host).fetch(URL)

    assert (found.body, found.fresh_seconds) == (b"{}", 600)
    assert host.seen is not None
    assert host.seen.url == f"https://{PUBLIC}/oauth/client.json?v=1"
    assert host.seen.headers["host"] == "agent.example"
    assert host.seen.extensions["sni_hostname"] == "agent.example"
    assert "authorization" not in host.seen.headers


@requirement("as.clients.metadata-document")
@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.0.0.1",
        "172.16.5.4",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "192.0.2.1",
        "198.18.0.1",
        "::1",
        "::",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "2002:7f00:1::",
        "2001:0:53aa:64c:0:fbdc:f5ff:fffe",
        "64:ff9b::7f00:1",
        "fe80::1",
        "fe80::1%eth0",
        "fc00::1",
        "ff02::1",
        "2001:db8::1",
        "fec0::1",
        "3fff::1",
        "192.88.99.1",
        "192.0.0.8",
        "2002:808:808::",
        "64:ff9b::808:808",
        "64:ff9b:1::808:808",
        "2001:0:808:808::1",
        "2001:20::1",
        "::7f00:1",
        "::ffff:0:7f00:1",
        "::ffff:192.88.99.1",
        "5f00::1",
        "100::1",
        "100:0:0:1::1",
        "4000::1",
        "fd00::1",
        "2606:4700:4700::1111%eth0",
    ],
)
def test_nothing_private_or_special_is_asked(address: str) -> None:
    host = Host()

    assert not is_public(address)
    for addresses in ([address], [PUBLIC, address]):
        with pytest.raises(SourceUnavailable):
            documents(host, *addresses).fetch(URL)
    assert host.seen is None


@pytest.mark.parametrize("address", [PUBLIC, "8.8.8.8", "2606:4700:4700::1111", "2a00:1450:4001::1", "::ffff:8.8.8.8"])
def test_a_public_address_is_asked(address: str) -> None:
    assert is_public(address)


@requirement("as.clients.metadata-document")
@pytest.mark.parametrize(
    "response",
    [
        httpx2.Response(302, headers={"Location": "https://127.0.0.1/"}),
        httpx2.Response(404),
        httpx2.Response(200, content=iter([b"x" * BODY_BYTES, b"x"])),
        httpx2.Response(200, content=b"{}", headers={"Content-Encoding": "br"}),
    ],
)
def test_redirects_other_answers_and_long_ones_are_refused(response: httpx2.Response) -> None:
    with pytest.raises(SourceUnavailable):
        documents(Host(response)).fetch(URL)


@requirement("as.clients.metadata-document")
@pytest.mark.parametrize(("name", "is_read"), [("agent.example", True), ("evil.example", False)])
def test_the_certificate_must_be_of_the_name_and_not_of_the_address(tmp_path: Path, name: str, is_read: bool) -> None:
    with tls_host(tmp_path, "agent.example") as (port, trust):
        found = Documents(
            resolve=lambda _, __: ["127.0.0.1"], allows=lambda _: True, transport=httpx2.HTTPTransport(verify=trust)
        )
        try:
            body = found.fetch(f"https://{name}:{port}/client.json").body
        except SourceUnavailable:
            body = None
        found.close()

    assert body == (b"{}" if is_read else None)


class Tunnel(BaseHTTPRequestHandler):
    """A proxy for whom every name is the one host; `asked` is where it was told to go."""

    port, asked = 0, list[str]()

    def do_CONNECT(self) -> None:
        self.asked.append(self.path)
        self.send_response(200)
        self.end_headers()
        with socket.create_connection(("127.0.0.1", self.port)) as there:
            ends = {there: self.connection, self.connection: there}
            while ready := select.select(list(ends), [], [], 5)[0]:
                pieces = [(ends[end], end.recv(65_536)) for end in ready]
                if not all(piece for _, piece in pieces):
                    return
                for end, piece in pieces:
                    end.sendall(piece)

    def log_message(self, format: str, *args: object) -> None:
        """Nobody reads it."""


@contextmanager
def proxy(port: int) -> Generator[str, None, None]:
    Tunnel.port, Tunnel.asked = port, []
    server = HTTPServer(("127.0.0.1", 0), Tunnel)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@requirement("as.clients.proxy")
@pytest.mark.parametrize(("name", "is_read"), [("agent.example", True), ("evil.example", False)])
def test_through_a_proxy_the_name_is_asked_for_and_proven(tmp_path: Path, name: str, is_read: bool) -> None:
    def unknown(host: str, port: int) -> list[str]:
        raise OSError

    with tls_host(tmp_path, "agent.example") as (port, trust), proxy(port) as address:
        transport = httpx2.HTTPTransport(verify=trust, proxy=address)
        found = Documents(resolve=unknown, proxy=address, transport=transport)
        try:
            body = found.fetch(f"https://{name}/client.json").body
        except SourceUnavailable:
            body = None
        found.close()

    assert body == (b"{}" if is_read else None)
    assert Tunnel.asked == [f"{name}:443"]


@requirement("as.clients.proxy")
@pytest.mark.parametrize(
    "host",
    "127.0.0.1 10.0.0.1 169.254.169.254 [::1] localhost intranet nas.local a.localhost x.internal. a.home.arpa".split(),
)
def test_a_proxy_is_not_sent_into_the_network_that_it_stands_in(host: str) -> None:
    found = Documents(proxy="http://127.0.0.1:9")
    with pytest.raises(SourceUnavailable, match="not a public one"):
        found.fetch(f"https://{host}/client.json")


@requirement("as.clients.proxy")
def test_a_proxy_that_is_not_there_is_no_way_out() -> None:
    found = Documents(proxy="http://127.0.0.1:9")
    with pytest.raises(NoWayOut):
        found.fetch("https://agent.example/client.json")
    found.close()


@requirement("as.clients.metadata-document")
def test_a_document_takes_five_seconds_at_most() -> None:
    with pytest.raises(SourceUnavailable, match="in time"):
        documents(Host(), clock=[0.0, 1.0, 5.0]).fetch(URL)


@requirement("as.clients.metadata-document")
def test_a_host_that_is_never_quiet_for_long_is_cut_off_in_time_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SECONDS", 0.3)
    with tls_host(tmp_path, "agent.example", Dripping) as (port, trust):
        found = Documents(
            resolve=lambda _, __: ["127.0.0.1"], allows=lambda _: True, transport=httpx2.HTTPTransport(verify=trust)
        )
        with pytest.raises(SourceUnavailable, match="broke off"):
            found.fetch(f"https://agent.example:{port}/client.json")
        found.close()


@requirement("as.clients.metadata-document")
def test_hosts_that_take_their_time_leave_room_for_everybody_else() -> None:
    asked: list[str] = []

    def meanwhile(host: str, port: int) -> list[str]:
        asked.append(host)
        found.fetch(URL)
        return [PUBLIC]

    found = Documents(resolve=meanwhile, transport=httpx2.MockTransport(Host().answer))
    for _ in range(2):
        with pytest.raises(SourceUnavailable, match="try again"):
            found.fetch(URL)
    assert len(asked) == 2 * module.AT_ONCE


@requirement("as.clients.metadata-document")
@pytest.mark.parametrize("url", ["http://agent.example/x", "file:///etc/passwd", "https:///x", "ftp://agent.example/x"])
def test_only_https_is_spoken(url: str) -> None:
    with pytest.raises(SourceUnavailable):
        documents(Host()).fetch(url)


def test_a_host_that_nobody_knows_or_that_breaks_off_is_refused() -> None:
    def unknown(host: str, port: int) -> list[str]:
        raise OSError

    def broken(request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ReadError("")

    with pytest.raises(SourceUnavailable):
        Documents(resolve=unknown).fetch(URL)
    with pytest.raises(SourceUnavailable):
        Documents(resolve=lambda _, __: [PUBLIC], transport=httpx2.MockTransport(broken)).fetch(URL)


@pytest.mark.parametrize(
    ("said", "seconds"),
    [("", None), ("max-age=60", 60), ("public, Max-Age = 5", 5), ("no-store, max-age=9", 0), ("s-maxage=1", None)],
)
def test_how_long_a_document_is_fresh(said: str, seconds: int | None) -> None:
    assert fresh_seconds({"cache-control": said}) == seconds

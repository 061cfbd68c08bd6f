"""`pdpp doctor` around a home: the inbox, the files of clients, the public address."""

import json
import os
import socket
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from pdpp_server.app import create_app
from pdpp_server.cli.doctor import WORDS
from pdpp_server.cli.machine import client_files, inbox
from pdpp_server.cli.serve import listen, serving
from pdpp_server.model.health import Finding
from pdpp_server.owner.doctor import examine
from pdpp_server.port.credentials import save
from pdpp_server.settings import Settings
from tests.requirements import requirement
from tests.scenarios.cli.command import Command
from tests.worlds.world import NOW

OURS = "http://127.0.0.1:8787/mcp"


def codes(finding: Finding) -> dict[str, tuple[str, ...]]:
    assert {fault.code for fault in finding.faults} <= WORDS.keys()
    return {fault.code: fault.places for fault in finding.faults}


# The inbox --------------------------------------------------------------------------------------------------------


@requirement("cli.doctor.inbox")
def test_an_inbox_with_exports_waiting_is_well_and_one_that_is_not_there_too(tmp_path: Path) -> None:
    assert inbox(Settings(home=tmp_path)).is_well
    assert inbox(Settings(home=tmp_path, inbox=False)).is_well
    (tmp_path / "inbox").mkdir()
    (tmp_path / "inbox" / "mail.mbox").touch()
    (tmp_path / "inbox" / "mail.zip.part").touch()

    assert inbox(Settings(home=tmp_path)).facts == {"waiting": 1}


@requirement("cli.doctor.inbox")
def test_refused_exports_are_named_until_somebody_removes_them(tmp_path: Path) -> None:
    refused = tmp_path / "inbox" / "refused"
    refused.mkdir(parents=True)
    for name in ("broken.zip", "broken.zip.txt", "notes.txt", "notes.txt.txt"):
        (refused / name).touch()

    assert codes(inbox(Settings(home=tmp_path))) == {"export_refused": ("broken.zip", "notes.txt")}


@requirement("cli.doctor.inbox")
def test_an_inbox_that_nothing_can_be_dropped_into_is_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.touch()

    assert "inbox_no_folder" in codes(inbox(Settings(home=tmp_path, inbox=file)))
    assert "inbox_no_folder" in codes(inbox(Settings(home=tmp_path, inbox=tmp_path / "not there")))
    monkeypatch.setattr(os, "access", lambda *_: False)  # whoever runs the tests may be allowed everything
    assert "inbox_locked" in codes(inbox(Settings(home=tmp_path, inbox=tmp_path)))


# The files of clients ---------------------------------------------------------------------------------------------


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a user who has nothing yet, and works in it."""
    for name in ("XDG_CONFIG_HOME", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(path: Path, text: str | dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text if isinstance(text, str) else json.dumps(text), "utf-8")
    return path


def looked(user: Path, **settings: Any) -> dict[str, tuple[str, ...]]:
    return codes(client_files(Settings(home=user / "home", **settings)))


@requirement("cli.doctor.client-files")
@pytest.mark.parametrize(
    ("place", "document"),
    [
        (".mcp.json", {"mcpServers": {"my-data": {"type": "http", "url": "http://127.0.0.1:9999/mcp"}}}),
        (".claude.json", {"projects": {"/p": {"mcpServers": {"my-data": {"url": "http://127.0.0.1:9999/mcp"}}}}}),
        (".codex/config.toml", '[mcp_servers.my-data]\nurl = "http://127.0.0.1:9999/mcp"\n'),
        (".cursor/mcp.json", {"mcpServers": {"pdpp": {"url": "http://127.0.0.1:9999/mcp"}}}),
        (".vscode/mcp.json", {"servers": {"my-data": {"type": "http", "url": "http://127.0.0.1:9999/mcp"}}}),
    ],
)
def test_an_address_that_is_no_longer_ours_is_named_with_its_file(user: Path, place: str, document: Any) -> None:
    path = written(user / place, document)
    before = path.read_bytes()

    (named,) = looked(user)["entry_elsewhere"]

    assert named.endswith(f" in {path}")
    assert looked(user, port=9999) == {}
    assert path.read_bytes() == before


@requirement("cli.doctor.client-files")
def test_a_program_that_is_gone_and_a_credential_that_is_not_saved_are_told_apart(user: Path) -> None:
    program = written(user / "bin" / "pdpp", "#!/bin/sh\n")
    program.chmod(0o755)
    entry = {"command": str(program), "args": ["mcp", "--client", "claude-desktop"]}
    written(user / ".config/Claude/claude_desktop_config.json", {"mcpServers": {"data": entry}})

    assert [*looked(user)] == ["entry_client_gone"]
    save(str(user / "home"), "claude-desktop", {})
    assert looked(user) == {}
    program.unlink()
    assert [*looked(user)] == ["entry_program_gone"]


@requirement("cli.doctor.client-files")
def test_what_is_not_ours_is_not_judged(user: Path) -> None:
    others = {"github": {"url": "https://example.org/mcp"}, "files": {"command": "/gone/npx", "args": ["files", "mcp"]}}
    written(user / ".mcp.json", {"mcpServers": {**others, "pdpp": {"url": OURS}}})
    written(user / ".cursor/mcp.json", "{ not JSON")
    written(user / ".vscode/mcp.json", "[]")

    assert looked(user) == {}
    assert client_files(Settings(home=user / "home")).facts == {"entries": 1}


@requirement("cli.doctor.client-files")
def test_a_file_that_names_us_and_cannot_be_understood_is_named(user: Path) -> None:
    path = written(user / ".cursor/mcp.json", '{"mcpServers": {"pdpp": {"url": "http://127.0.0.1:8787/mcp",}}}')

    assert looked(user) == {"file_unreadable": (str(path),)}


@requirement("cli.doctor.client-files")
def test_what_connect_wrote_is_what_the_doctor_finds(notes: Command) -> None:
    port = str(_free_port())
    assert notes("connect", "cursor", "--write", PDPP_PORT=port).code == 0
    well = notes("doctor", PDPP_PORT=port)
    moved = notes("doctor", PDPP_PORT=str(_free_port()))

    assert "ok      client files: 1 of ours" in well.out
    assert "WRONG   client files: 1 client told another address than this server has (my-data in " in moved.out


# The public address -----------------------------------------------------------------------------------------------


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def address(home: Path, public_url: str) -> dict[str, tuple[str, ...]]:
    settings = Settings(home=home, port=_free_port(), public_url=public_url)
    return codes(next(found for found in examine(settings, now=NOW, repair=False) if found.part == "address"))


@requirement("cli.doctor.address")
def test_a_public_address_at_which_our_server_answers_is_well(tmp_path: Path) -> None:
    with closing(listen("127.0.0.1", 0)) as listening:
        public = f"http://localhost:{listening.getsockname()[1]}"
        app = create_app(Settings(home=tmp_path, public_url=public))
        with serving(app, listening) as local:
            assert address(tmp_path, public) == {}
            assert "address_other" in address(tmp_path, local)


@requirement("cli.doctor.address")
def test_nobody_there_and_no_https_are_told_apart(tmp_path: Path) -> None:
    silent = address(tmp_path, f"http://127.0.0.1:{_free_port()}")

    assert "cannot be reached" in silent["address_silent"][0]
    assert address(tmp_path, "http://data.example.org") == {"address_plain": ("http://data.example.org",)}


@pytest.fixture
def stranger() -> Iterator[str]:
    """A server of another make, which knows neither us nor our documents."""

    class Other(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, format: str, *args: Any) -> None:
            """Nobody reads it."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Other) as server:
        answering = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        answering.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        answering.join()


@requirement("cli.doctor.address")
def test_somebody_else_at_the_public_address_is_told(tmp_path: Path, stranger: str) -> None:
    assert [*address(tmp_path, stranger)] == ["address_other"]

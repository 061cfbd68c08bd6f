"""Exports that are read here and delivered to a server elsewhere."""

import socket
from collections.abc import Generator
from contextlib import contextmanager
from email.message import EmailMessage
from pathlib import Path

import httpx2
import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pdpp_server.app import create_app
from pdpp_server.errors import PdppError, PermissionDenied, SourceUnavailable, Unauthenticated
from pdpp_server.importers import run
from pdpp_server.importers.registry import IMPORTERS, FoundAccount, look_into
from pdpp_server.importers.run import Tally, fingerprint_of, import_account
from pdpp_server.model.ingest import Incoming
from pdpp_server.owner.elsewhere import ServerElsewhere
from pdpp_server.port.exchange import Exchange
from pdpp_server.settings import Settings
from tests.importers.reading import ZONE
from tests.requirements import requirement
from tests.worlds.served import served
from tests.worlds.world import Clock, World, build, close

MESSAGES = 12


def _mbox(folder: Path, count: int = MESSAGES) -> Path:
    path = folder / "inbox.mbox"
    with path.open("wb") as file:
        for number in range(count):
            message = EmailMessage()
            message["From"], message["To"] = "bob@example.org", "ann@example.org"
            message["Subject"] = f"Letter {number}"
            message["Date"] = f"Mon, 01 Jun 2026 10:{number:02}:00 +0000"
            message["Message-ID"] = f"<{number}@example.org>"
            message.set_content(f"The text of letter {number}.")
            message.add_attachment(f"note {number}".encode(), "text", "plain", filename=f"note{number}.txt")
            file.write(b"From bob@example.org Mon Jun  1 10:00:00 2026\n" + message.as_bytes() + b"\n")
    return path


class Watched:
    """The server elsewhere, which counts what it is sent, and breaks off when it was sent enough."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.paths: list[str] = []
        self.lines = 0  # of records
        self.breaks_after: int | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            self.paths.append(f"{scope['method']} {scope['path']}")
            if self.breaks_after is not None and self.sent("POST /v1/ingest/") > self.breaks_after:
                await send({"type": "http.response.start", "status": 500, "headers": []})
                await send({"type": "http.response.body", "body": b""})
                return
        await self._app(scope, lambda: self._counted(scope, receive), send)

    async def _counted(self, scope: Scope, receive: Receive) -> Message:
        message = await receive()
        if scope["type"] == "http" and scope["path"].startswith("/v1/ingest/"):
            self.lines += message.get("body", b"").count(b"\n")
        return message

    def sent(self, beginning: str) -> int:
        return sum(path.startswith(beginning) for path in self.paths)


class There:
    def __init__(self, world: World, watched: Watched, address: str) -> None:
        self.world, self.watched, self.address = world, watched, address

    @contextmanager
    def opened(self, token: str | None = None) -> Generator[ServerElsewhere]:
        exchange = Exchange(self.address, token or self.world.owner.owner_token(1)[0], sleep=lambda _: None)
        try:
            yield ServerElsewhere(exchange, self.world.services.now)
        finally:
            exchange.close()

    def bring(self, path: Path) -> Tally:
        with self.opened() as taking:
            found = _found(path)
            return import_account(found, taking.writer(found.declaration, "Ann"), fingerprint=fingerprint_of(found))


def _found(path: Path) -> FoundAccount:
    (found,) = look_into(path, ZONE, None, IMPORTERS).found
    return found


@pytest.fixture
def there(tmp_path: Path) -> Generator[There]:
    world = build(tmp_path / "there", Clock())
    watched = Watched(create_app(Settings(home=world.home), world.services))
    with served(watched) as address:
        yield There(world, watched, address)
    close(world.services)


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "BATCH_RECORDS", 4)


def _streams(world: World) -> dict[str, int]:
    (source,) = [one for one in world.owner.sources() if one.name == "Ann"]
    return {stream.name: stream.records for stream in source.streams}


@requirement("imp.elsewhere.same")
def test_what_is_delivered_is_what_an_import_there_gives(there: There, tmp_path: Path) -> None:
    path = _mbox(tmp_path)
    here = build(tmp_path / "here", Clock())
    found = _found(path)
    writer = here.owner.writer(found.declaration, "Ann")
    usual = import_account(found, writer, fingerprint=fingerprint_of(found))

    delivered = there.bring(path)

    counts = (usual.accepted, usual.unchanged, usual.rejected)
    assert (delivered.accepted, delivered.unchanged, delivered.rejected) == counts
    assert _streams(there.world) == _streams(here)
    same = there.world.owner.writer(found.declaration, "Ann")
    assert same.connection_id == writer.connection_id
    for stream in ("messages", "attachments"):
        keys = _keys(found, stream)
        kept = [same.stored_one(stream, key) for key in keys]
        assert kept == [writer.stored_one(stream, key) for key in keys]
        assert all(kept)
    close(here.services)


def _keys(found: FoundAccount, stream: str | None = None) -> list[str]:
    records = [one for one in found.importer.read(found.account) if isinstance(one, Incoming)]
    return [str(one.key) for one in records if stream in (None, one.stream)]


@requirement("imp.elsewhere.same")
def test_an_export_that_was_delivered_is_known_again(there: There, tmp_path: Path) -> None:
    found = _found(_mbox(tmp_path))
    there.bring(tmp_path / "inbox.mbox")

    with there.opened() as taking:
        finished = taking.finished_import(found.declaration, "Ann", fingerprint_of(found) or "")
        another = taking.finished_import(found.declaration, "Ann", "another")

    assert finished is not None
    assert (finished.file, finished.rejected, another) == ("inbox.mbox", 0, None)
    again = there.bring(tmp_path / "inbox.mbox")  # as with --again: all of it is sent
    assert (again.accepted, again.unchanged) == (0, finished.records)


@requirement("imp.elsewhere.resume")
@pytest.mark.usefixtures("small_batches")
def test_what_was_stopped_goes_on_where_it_was(there: There, tmp_path: Path) -> None:
    path = _mbox(tmp_path)
    whole = len(_keys(_found(path)))
    there.watched.breaks_after = 9
    with pytest.raises(PdppError):
        there.bring(path)
    there.watched.breaks_after, there.watched.lines, there.watched.paths = None, 0, []
    before = sum(_streams(there.world).values())
    assert 4 < before < whole

    rest = there.bring(path)

    assert (rest.accepted, rest.stored) == (whole - before, whole)
    assert sum(_streams(there.world).values()) == whole
    assert there.watched.lines <= whole - before + 4  # the batch that was stopped is sent once more
    assert there.watched.sent("POST /v1/blobs") < MESSAGES


@requirement("imp.elsewhere.resume")
@pytest.mark.usefixtures("small_batches")
def test_what_that_server_refused_is_told_again(there: There, tmp_path: Path) -> None:
    found = _found(_mbox(tmp_path))
    records = [one for one in found.importer.read(found.account) if isinstance(one, Incoming)]
    good = [one for one in records if one.stream == "messages"][:3]
    bad = Incoming("inbox.mbox:7", "messages", "m7", {"id": "m7", "sent_at": 7}, None)
    with there.opened() as taking:
        writer = taking.writer(found.declaration, "Ann")
        mark = writer.open_collection(writer.begin_run("x"), "Ann", "print")
        first = writer.deliver([good[0], bad, good[1]], mark)
        writer.deliver([good[2]], mark)  # by which the first batch is known to be there
    there.watched.lines = 0
    with there.opened() as taking:
        writer = taking.writer(found.declaration, "Ann")
        mark = writer.open_collection(writer.begin_run("x"), "Ann", "print")
        again = writer.deliver([good[0], bad, good[1]], mark)

    assert [one.place for one in first.rejected] == [one.place for one in again.rejected] == ["inbox.mbox:7"]
    assert (again.accepted, again.unchanged, there.watched.lines) == (0, 2, 1)


@requirement("imp.elsewhere.resume")
def test_an_emptied_stream_is_delivered_anew(there: There, tmp_path: Path) -> None:
    path = _mbox(tmp_path)
    found = _found(path)
    there.bring(path)
    token = there.world.owner.owner_token(1)[0]
    named = f"connector_id=mail&connection_id={_id_of(there)}"
    emptied = httpx2.delete(
        f"{there.address}/v1/streams/messages/records?{named}", headers={"Authorization": f"Bearer {token}"}
    )
    assert emptied.status_code == 204

    with there.opened() as taking:
        assert taking.finished_import(found.declaration, "Ann", fingerprint_of(found) or "") is None
    assert there.bring(path).accepted == MESSAGES


def _id_of(there: There) -> str:
    return next(one.connection_id for one in there.world.owner.sources() if one.name == "Ann")


@requirement("imp.elsewhere.refused")
def test_only_the_owner_delivers(there: There, tmp_path: Path) -> None:
    found = _found(_mbox(tmp_path))
    token = there.world.grant(there.world.both("messages"))

    with there.opened(token) as taking, pytest.raises(PermissionDenied, match="Owner token required") as refused:
        taking.writer(found.declaration, "Ann")
    assert "`pdpp owner token`" in refused.value.remedy


@requirement("imp.elsewhere.refused")
def test_whoever_has_no_token_of_that_server_is_told_how_to_get_one(there: There, tmp_path: Path) -> None:
    found = _found(_mbox(tmp_path))

    with there.opened("wrong") as taking, pytest.raises(Unauthenticated) as refused:
        taking.writer(found.declaration, "Ann")
    assert "`pdpp owner token`" in refused.value.remedy


@requirement("imp.elsewhere.refused")
def test_a_server_that_is_not_there_is_looked_for_by_its_address(tmp_path: Path) -> None:
    found = _found(_mbox(tmp_path))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]  # nobody listens there when it is closed

    exchange = Exchange(f"http://127.0.0.1:{port}", "tok_owner")
    with pytest.raises(SourceUnavailable) as refused:
        ServerElsewhere(exchange, Clock()).writer(found.declaration, "Ann")
    exchange.close()
    assert "the address is right" in refused.value.remedy


@requirement("imp.elsewhere.refused")
@pytest.mark.parametrize(
    ("status", "body", "says"),
    [
        (404, b"{}", "POST /v1/connections. Update it"),
        (200, b"{}", "names no connection"),
        (200, b"<html>", "something else than a JSON object"),
    ],
)
def test_a_server_that_cannot_take_it_is_told_of(tmp_path: Path, status: int, body: bytes, says: str) -> None:
    found = _found(_mbox(tmp_path))

    async def other(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": status, "headers": []})
            await send({"type": "http.response.body", "body": body})

    with served(other) as address:
        exchange = Exchange(address, "tok_owner")
        with pytest.raises(PdppError) as refused:
            ServerElsewhere(exchange, Clock()).writer(found.declaration, "Ann")
        exchange.close()
    assert says in f"{refused.value.message} {refused.value.remedy}"

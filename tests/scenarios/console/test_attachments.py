"""Attachments on the page of their record: shown or handed over, and nothing of them can run."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from pdpp_server.app import create_app
from pdpp_server.evidence.handles import mint
from pdpp_server.model.records import RecordId
from pdpp_server.owner.sign_in import SignIn
from pdpp_server.settings import Settings
from tests.requirements import requirement
from tests.scenarios.console.visitor import ORIGIN, PASSWORD, Visitor
from tests.worlds.album import BYTES, Album

DANGEROUS = ("image/svg+xml", "text/html", "application/pdf", "text/html;charset=image/png", "application/xhtml+xml")


@pytest.fixture
def album(tmp_path: Path) -> Iterator[Album]:
    album = Album(tmp_path / "home")
    yield album
    album.close()


@pytest.fixture
def owner(album: Album) -> Iterator[Visitor]:
    SignIn(album.services).set_password(PASSWORD)
    app = create_app(Settings(home=album.home), album.services)
    with TestClient(app, base_url=ORIGIN) as http:
        visitor = Visitor(http, app.state.sign_in)
        assert visitor.sign_in().status_code == 303
        yield visitor


def page_of(owner: Visitor, album: Album, key: str) -> str:
    return owner.page(f"/records/{quote(mint(RecordId(album.phone, 'photos', key)))}")


@requirement("con.data.attachments")
def test_a_picture_stands_on_the_page_of_its_record(owner: Visitor, album: Album) -> None:
    blob_id = album.keep("p1", caption='A "lake"')

    page = page_of(owner, album, "p1")
    assert f'<img class="attached" src="/attachments/{blob_id}" alt="A &#34;lake&#34;"' in page
    got = owner.get(f"/attachments/{blob_id}")

    assert (got.status_code, got.content) == (200, BYTES)
    assert got.headers["content-type"] == "image/png"
    assert got.headers["content-disposition"] == "inline"
    assert got.headers["content-security-policy"] == "default-src 'none'; sandbox"
    assert got.headers["x-content-type-options"] == "nosniff"
    assert got.headers["cache-control"] == "private, no-store"


@requirement("con.data.attachments")
@pytest.mark.parametrize("mime_type", DANGEROUS)
def test_what_could_run_is_only_handed_over(owner: Visitor, album: Album, mime_type: str) -> None:
    blob_id = album.keep("p1", b"<script>alert(1)</script>", mime_type=mime_type)

    assert "<img class" not in page_of(owner, album, "p1")
    got = owner.get(f"/attachments/{blob_id}")

    assert got.headers["content-type"] == "application/octet-stream"
    assert got.headers["content-disposition"] == "attachment"
    assert got.headers["content-security-policy"] == "default-src 'none'; sandbox"


@requirement("con.data.attachments")
def test_a_look_at_an_attachment_is_logged_and_needs_the_sign_in(owner: Visitor, album: Album) -> None:
    blob_id = album.keep("p1")

    owner.get(f"/attachments/{blob_id}")

    line = album.owner.activity(own=True)[0]
    assert (line.operation, line.bytes) == ("read_blob", len(BYTES))
    assert line.records == (mint(RecordId(album.phone, "photos", "p1")),)
    album.delete("p1")
    assert owner.get(f"/attachments/{blob_id}").status_code == 404
    owner.http.cookies.clear()
    assert owner.get(f"/attachments/{blob_id}").headers["location"].startswith("/sign-in")

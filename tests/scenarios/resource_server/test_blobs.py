"""GET and HEAD /v1/blobs/{id}, and POST /v1/blobs."""

import base64
import hashlib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from pdpp_server.errors import DisclosureLogUnavailable
from pdpp_server.model.activity import Disclosure
from pdpp_server.model.blobs import ANY_BYTES
from pdpp_server.resource_server.blobs import BLOB_BYTES_MAX
from tests.requirements import requirement
from tests.worlds.album import BYTES, CAMERA, LAST_YEAR, PHONE, Album, Door, photo

SIZE = len(BYTES)
DIGEST = hashlib.sha256(BYTES).hexdigest()
ETAG = f'"{DIGEST}"'
ABSENT = "blob_" + "0" * 64


@pytest.fixture
def album(tmp_path: Path) -> Iterator[Album]:
    album = Album(tmp_path / "home")
    yield album
    album.close()


@pytest.fixture
def door(album: Album) -> Iterator[Door]:
    with album.serving() as door:
        yield door


@requirement("rs.blobs.authorized")
def test_a_blob_is_read_with_the_token_that_sees_its_record(door: Door) -> None:
    blob_id = door.album.keep("p1")

    response = door.blob(blob_id)

    assert (response.status_code, response.content) == (200, BYTES)
    assert blob_id == f"blob_{DIGEST}"
    assert door.blob(blob_id, token=door.album.owner_token).content == BYTES


@requirement("rs.blobs.authorized")
def test_hidden_and_absent_blobs_are_refused_in_the_same_words(door: Door) -> None:
    album = door.album
    blob_id, old = album.keep("p1"), album.keep("p2", b"of last year", taken_at=LAST_YEAR)
    unclaimed = album.devices[PHONE].keep_blob("photos", "p3", b"no record yet", "image/png").blob_id
    captions, pages = album.grant(fields=["caption"]), album.grant(fields=["pages"])
    camera = album.grant(instance_ids=[album.camera])
    other = album.grant(resources=["p2"])
    asked = [(ABSENT, None), (old, None), (unclaimed, None)]
    asked += [(blob_id, token) for token in (captions, pages, camera, other)]

    refused = [door.blob(id, token=token, Request_Id="r") for id, token in asked]

    assert {response.status_code for response in refused} == {404}
    assert {response.json()["error"]["code"] for response in refused} == {"blob_not_found"}
    assert len({response.content for response in refused}) == 1


@requirement("rs.blobs.authorized")
def test_nobody_reads_a_blob_without_a_token_or_after_the_grant(door: Door) -> None:
    blob_id = door.album.keep("p1")
    row = next(row for row in door.album.owner.grants())
    door.album.owner.revoke(row.grant.grant_id)

    assert door.client.get(f"/v1/blobs/{blob_id}").status_code == 401
    assert door.blob(blob_id).json()["error"]["code"] == "grant_revoked"


@requirement("rs.blobs.any-reference")
def test_every_field_that_is_declared_to_refer_to_blobs_does_and_no_other(door: Door) -> None:
    album = door.album
    page, likeness = (
        album.devices[PHONE].keep_blob("photos", "p1", data, "image/png").blob_id for data in (b"page", b"likeness")
    )
    album.deliver(photo("p1", pages=[{"blob_id": "foreign"}, {"blob_id": page}], likeness={"blob_id": likeness}))

    assert door.blob(page).content == b"page"
    assert door.blob(likeness).status_code == 404


@requirement("rs.blobs.authorized", "rs.blobs.headers")
def test_records_that_are_hidden_change_nothing_of_a_blob(door: Door) -> None:
    album = door.album
    token = album.grant(instance_ids=[album.phone], time_range={"since": "2026-01-01T00:00:00Z"})
    blob_id = album.keep("p1")
    before = door.blob(blob_id, token=token, Request_Id="r")

    album.keep("c1", mime_type="text/html", device=CAMERA)
    album.keep("p0", mime_type="text/html", taken_at=LAST_YEAR)

    after = door.blob(blob_id, token=token, Request_Id="r")
    assert (after.status_code, after.headers, after.content) == (200, before.headers, before.content)


@requirement("rs.blobs.headers")
@pytest.mark.parametrize(("told", "shown"), [("image/gif", "image/gif"), ("a\r\nb", ANY_BYTES), (None, ANY_BYTES)])
def test_a_reference_to_bytes_of_another_record_has_the_type_that_it_tells(door: Door, told: str, shown: str) -> None:
    blob_id = door.album.keep("p1", taken_at=LAST_YEAR)

    door.album.deliver(photo("p2", pages=["", {"blob_id": "other"}, {"blob_id": blob_id, "mime_type": told}]))

    assert door.blob(blob_id).headers["content-type"] == shown


@requirement("rs.blobs.ambiguous")
def test_a_blob_of_two_connections_needs_one_of_them(door: Door) -> None:
    album = door.album
    blob_id = album.keep("p1", mime_type="image/png")
    assert album.keep("c1", mime_type="image/webp", device=CAMERA) == blob_id

    error = door.blob(blob_id).json()["error"]
    of_camera = door.blob(f"{blob_id}?connection_id={album.camera}")
    by_alias = door.blob(f"{blob_id}?connector_instance_id={album.phone}")

    assert (error["code"], error["retry_with"]) == ("ambiguous_connection", "connection_id")
    assert {entry["connection_id"] for entry in error["available_connections"]} == {album.phone, album.camera}
    assert (of_camera.content, of_camera.headers["content-type"]) == (BYTES, "image/webp")
    assert by_alias.headers["content-type"] == "image/png"
    assert by_alias.headers["pdpp-warning"] == "deprecated_alias_used: connector_instance_id"
    assert door.blob(f"{blob_id}?connection_id=cin_never").json()["error"]["code"] == "connection_not_found"
    assert door.blob(f"{blob_id}?connector_id=album").json()["error"]["code"] == "invalid_request"


@requirement("rs.blobs.headers")
def test_a_blob_says_what_it_is_and_may_not_be_kept_or_run(door: Door) -> None:
    headers = door.blob(door.album.keep("p1")).headers

    assert (headers["content-type"], headers["content-length"]) == ("image/png", str(SIZE))
    assert (headers["etag"], headers["accept-ranges"]) == (ETAG, "bytes")
    assert headers["cache-control"] == "private, no-store"
    assert headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in headers["content-security-policy"]
    assert "content-disposition" not in headers


@requirement("rs.blobs.headers")
@pytest.mark.parametrize(
    ("mime_type", "is_attachment"),
    [
        ("application/pdf", False),
        ("IMAGE/Jpeg", False),
        ("image/x-icon", False),
        ("image/svg+xml", True),
        ("text/html; charset=utf-8", True),
        ("application/octet-stream", True),
        ("image/png, text/html", True),  # no type at all: kept as bytes
    ],
)
def test_only_what_cannot_run_is_shown_in_place(door: Door, mime_type: str, is_attachment: bool) -> None:
    headers = door.blob(door.album.keep("p1", mime_type=mime_type)).headers

    assert (headers.get("content-disposition") == "attachment") is is_attachment
    assert headers["content-type"] == (mime_type if "," not in mime_type else "application/octet-stream")


@requirement("rs.blobs.headers")
def test_who_has_the_bytes_already_gets_none(door: Door) -> None:
    blob_id = door.album.keep("p1")

    for held in (ETAG, f'"x", W/{ETAG}', "*"):
        response = door.blob(blob_id, If_None_Match=held, Range="bytes=0-1")
        assert (response.status_code, response.content, response.headers["etag"]) == (304, b"", ETAG)
    assert door.blob(blob_id, If_None_Match='"other"').status_code == 200
    assert door.blob(ABSENT, If_None_Match="*").status_code == 404


@requirement("rs.blobs.headers", "rs.transport.head-mirrors-get")
def test_head_says_the_same_and_sends_nothing(door: Door) -> None:
    blob_id = door.album.keep("p1")

    got, head = door.blob(blob_id), door.get(f"/v1/blobs/{blob_id}", method="HEAD", Range="bytes=0-1")

    changing = {"request-id", "x-request-id"}
    assert (head.status_code, head.content) == (200, b"")
    assert {*head.headers.items()} ^ {*got.headers.items()} <= {
        (name, value) for each in (got, head) for name, value in each.headers.items() if name in changing
    }
    assert door.get(f"/v1/blobs/{ABSENT}", method="HEAD").status_code == 404


@requirement("rs.blobs.range")
@pytest.mark.parametrize(
    ("asked", "first", "last"),
    [
        ("bytes=0-0", 0, 0),
        ("bytes=10-19", 10, 19),
        ("bytes=1000-", 1000, SIZE - 1),
        ("bytes=-5", SIZE - 5, SIZE - 1),
        ("bytes=0-", 0, SIZE - 1),
        (f"bytes=5-{10**29}", 5, SIZE - 1),
        (f"bytes=-{10**6}", 0, SIZE - 1),
        ("BYTES= 3-4 ", 3, 4),
    ],
)
def test_a_range_is_answered_with_its_bytes(door: Door, asked: str, first: int, last: int) -> None:
    response = door.blob(door.album.keep("p1"), Range=asked)

    assert (response.status_code, response.content) == (206, BYTES[first : last + 1])
    assert response.headers["content-range"] == f"bytes {first}-{last}/{SIZE}"
    assert response.headers["content-length"] == str(last + 1 - first)
    assert (response.headers["etag"], response.headers["content-type"]) == (ETAG, "image/png")


@requirement("rs.blobs.range")
@pytest.mark.parametrize(
    "asked",
    ["bytes", "bytes=", "bytes=-", "bytes=a-b", "bytes=5-2", "bytes=--5", "bytes=1-2-3", "bytes=0x1-2", "bytes=+1-2",
     "bytes=0-1,5-6", "bytes=0-1,", "bytes 0-1", "items=0-1", "bytes=٣-٤", "0-1", "bytes=1.0-2", f"bytes={'9' * 99}-"],
)  # fmt: skip
def test_a_range_that_is_nonsense_or_several_gets_the_whole(door: Door, asked: str) -> None:
    blob_id = door.album.keep("p1")

    headers = {b"Authorization": f"Bearer {door.album.token}".encode(), b"Range": asked.encode()}
    response = door.client.get(f"/v1/blobs/{blob_id}", headers=headers)

    assert (response.status_code, response.content) == (200, BYTES)
    assert "content-range" not in response.headers


@requirement("rs.blobs.range")
@pytest.mark.parametrize("asked", [f"bytes={SIZE}-", f"bytes={10**20}-{10**21}", "bytes=-0"])
def test_a_range_beyond_the_end_is_refused_with_the_size(door: Door, asked: str) -> None:
    response = door.blob(door.album.keep("p1"), Range=asked)

    assert (response.status_code, response.headers["content-range"]) == (416, f"bytes */{SIZE}")
    assert response.json()["error"]["code"] == "range_not_satisfiable"


@requirement("rs.blobs.range")
def test_a_range_of_another_version_or_of_nothing_gets_the_whole(door: Door) -> None:
    blob_id, empty = door.album.keep("p1"), door.album.keep("p2", b"")

    assert door.blob(blob_id, Range="bytes=0-1", If_Range=ETAG).status_code == 206
    for other in (f"W/{ETAG}", '"other"', "Sun, 01 Nov 2026 08:00:00 GMT"):
        assert door.blob(blob_id, Range="bytes=0-1", If_Range=other).content == BYTES
    for asked in ("bytes=0-", "bytes=-1"):
        assert (door.blob(empty, Range=asked).status_code, door.blob(empty).content) == (200, b"")


@requirement("rs.blobs.range")
def test_a_long_blob_arrives_whole_and_in_parts(door: Door) -> None:
    long = bytes(range(251)) * 10_000
    blob_id = door.album.keep("p1", long)

    assert door.blob(blob_id).content == long
    assert door.blob(blob_id, Range="bytes=65000-2000000").content == long[65_000:2_000_001]


@requirement("rs.blobs.logged")
@pytest.mark.parametrize(
    ("sent", "size"),
    [
        ({}, SIZE),
        ({"Range": "bytes=0-9"}, 10),
        ({"method": "HEAD"}, 0),
        ({"If_None_Match": ETAG}, 0),
        ({"Range": f"bytes={SIZE}-"}, 0),
    ],
)
def test_whatever_tells_of_a_blob_is_in_the_log(door: Door, sent: dict[str, str], size: int) -> None:
    album = door.album
    blob_id = album.keep("p1")

    request_id = door.blob(blob_id, **sent).headers["request-id"]

    (line,) = album.owner.activity()
    assert (line.operation, line.request_id, line.bytes) == ("read_blob", request_id, size)
    assert (line.records, line.fields) == ((f"{album.phone}/photos:p1",), ("blob_ref",))
    assert (line.connections, line.streams) == ((album.phone,), ("photos",))
    assert DIGEST not in str(line)


@requirement("rs.blobs.logged")
def test_without_a_line_in_the_log_no_byte_leaves(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    blob_id = door.album.keep("p1")

    def full(_: Disclosure) -> None:
        raise DisclosureLogUnavailable("The disk is full.")

    monkeypatch.setattr(door.album.services.log, "append", full)
    for method in ("GET", "HEAD"):
        response = door.blob(blob_id, method=method)
        assert (response.status_code, "etag" in response.headers) == (503, False)
        assert BYTES[:9] not in response.content


@requirement("rs.blobs.fetch-url")
def test_a_reference_is_served_with_the_address_that_gets_it(door: Door) -> None:
    album = door.album
    blob_id = album.keep("p1", pages=[{"blob_id": "a/b?"}, "no reference"], likeness={"blob_id": "b"})

    data = door.get("/v1/streams/photos/records/p1").json()["data"]

    assert data["blob_ref"] == {
        "blob_id": blob_id,
        "sha256": DIGEST,
        "size_bytes": SIZE,
        "mime_type": "image/png",
        "fetch_url": f"/v1/blobs/{blob_id}",
    }
    assert door.get(data["blob_ref"]["fetch_url"]).content == BYTES
    assert data["pages"] == [{"blob_id": "a/b?", "fetch_url": "/v1/blobs/a%2Fb%3F"}, "no reference"]
    assert data["likeness"] == {"blob_id": "b"}
    stored = b"".join(path.read_bytes() for path in album.home.glob("pdpp.sqlite*"))
    assert b"fetch_url" not in stored


@requirement("rs.blobs.fetch-url")
def test_a_record_that_brings_an_address_of_its_own_is_rejected(album: Album) -> None:
    ref = {"blob_id": "b", "fetch_url": "https://elsewhere.example/"}
    receipt = album.devices[PHONE].deliver([photo("p1", blob_ref=ref), photo("p2", pages=[ref])])

    assert [rejection.code for rejection in receipt.rejected] == ["invalid_record", "invalid_record"]
    assert "fetch_url" in receipt.rejected[0].reason


KEPT = "connector_id=album&stream=photos&record_key=p1&mime_type=image/png"


def of_phone(album: Album) -> str:
    return f"{KEPT}&connection_id={album.phone}"


@requirement("rs.blobs.keep")
def test_the_owner_posts_bytes_and_a_record_that_refers_to_them_shows_them(door: Door) -> None:
    kept = door.post(of_phone(door.album), BYTES)
    again = door.post(of_phone(door.album), BYTES)

    assert kept.status_code == 200
    assert (
        kept.json()
        == again.json()
        == {
            "object": "blob",
            "blob_id": f"blob_{DIGEST}",
            "sha256": DIGEST,
            "size_bytes": SIZE,
            "mime_type": "image/png",
        }
    )
    assert door.blob(kept.json()["blob_id"]).status_code == 404
    door.album.deliver(photo("p1", blob_ref=kept.json()))
    assert door.blob(kept.json()["blob_id"]).content == BYTES


@requirement("rs.blobs.keep")
def test_only_the_owner_posts_bytes(door: Door) -> None:
    refused = door.post(of_phone(door.album), BYTES, token=door.album.token)

    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "permission_error")
    assert door.client.post(f"/v1/blobs?{KEPT}", content=BYTES).status_code == 401
    assert door.post(of_phone(door.album), BYTES, token="nobody").status_code == 401
    assert door.album.blob_files() == []


@requirement("rs.blobs.keep")
@pytest.mark.parametrize(
    ("query", "status", "code", "param"),
    [
        ("stream=photos&record_key=p1", 400, "invalid_request", "connector_id"),
        ("connector_id=album&record_key=p1", 400, "invalid_request", "stream"),
        ("connector_id=album&stream=photos&record_key=", 400, "invalid_request", "record_key"),
        (f"{KEPT}&name=x", 400, "invalid_request", "name"),
        (KEPT.replace("image/png", "image"), 400, "invalid_request", "mime_type"),
        (KEPT.replace("image/png", quote("a/b\r\nX: y")), 400, "invalid_request", "mime_type"),
        (KEPT, 409, "ambiguous_connector_instance", "connection_id"),
        (f"{KEPT}&connection_id=cin_never", 404, "connector_instance_not_found", "connection_id"),
        (KEPT.replace("album", "never"), 400, "connector_invalid", "connector_id"),
        ("connector_id=album&stream=never&record_key=p1&connection_id={phone}", 404, "not_found", "stream"),
        (KEPT + "&connection_id={phone}&json_path=blob_ref", 400, "invalid_request", "json_path"),
        (KEPT + "&connection_id={phone}&json_path=/likeness", 400, "invalid_request", "json_path"),
        (KEPT.replace("p1", "k" * 600) + "&connection_id={phone}", 400, "invalid_record_id", None),
    ],
)  # fmt: skip
def test_bytes_without_a_place_are_refused_and_nothing_is_left(
    door: Door, query: str, status: int, code: str, param: str | None
) -> None:
    refused = door.post(query.format(phone=door.album.phone), BYTES)

    assert (refused.status_code, refused.json()["error"]["code"]) == (status, code)
    assert refused.json()["error"].get("param") == param
    assert door.album.blob_files() == []


@requirement("rs.blobs.keep")
@pytest.mark.parametrize("path", ["@record", "/blob_ref", "/pages/0"])
def test_where_a_record_will_refer_to_its_blob_may_be_said(door: Door, path: str) -> None:
    assert door.post(f"{of_phone(door.album)}&json_path={quote(path)}", BYTES).status_code == 200


@requirement("rs.blobs.keep")
def test_without_a_type_the_bytes_are_what_the_request_says(door: Door) -> None:
    query = of_phone(door.album).replace("&mime_type=image/png", "")

    types = [
        door.post(query, BYTES, **({"Content_Type": sent} if sent else {})).json()["mime_type"]
        for sent in ("image/gif", "application/x-www-form-urlencoded", "")
    ]

    assert types == ["image/gif", "application/octet-stream", "application/octet-stream"]


@requirement("rs.blobs.too-large")
def test_a_body_above_the_limit_is_refused(door: Door) -> None:
    refused, kept = (door.post(of_phone(door.album), b"x" * size) for size in (BLOB_BYTES_MAX + 1, 1000))

    assert (refused.status_code, refused.json()["error"]["code"]) == (413, "resource_limit")
    assert kept.status_code == 200


def digest(algorithm: str, body: bytes) -> str:
    hashed = hashlib.new(algorithm.replace("-", ""), body).digest()
    return f"{algorithm}=:{base64.b64encode(hashed).decode()}:"


@requirement("rs.blobs.digest")
@pytest.mark.parametrize(
    ("header", "said", "status"),
    [
        ("Content_Digest", digest("sha-256", BYTES), 200),
        ("Repr_Digest", f"{digest('sha-512', BYTES)}, {digest('sha-256', BYTES)}", 200),
        ("Content_Digest", f"md5=:AAAA:, {digest('sha-256', BYTES)}", 200),
        ("Content_Digest", digest("sha-256", b"other"), 400),
        ("Repr_Digest", digest("sha-512", b"other"), 400),
        ("Repr_Digest", f"{digest('sha-256', BYTES)}, {digest('sha-512', b'other')}", 400),
        ("Content_Digest", "sha-256=abc", 400),
        ("Content_Digest", "sha-256=:a:", 400),
    ],
)
def test_bytes_that_are_not_those_that_were_sent_are_refused(door: Door, header: str, said: str, status: int) -> None:
    response = door.post(of_phone(door.album), BYTES, **{header: said})

    assert response.status_code == status
    if status == 400:
        error = response.json()["error"]
        assert (error["code"], error["param"]) == ("invalid_request", header.replace("_", "-"))
        assert door.album.blob_files() == []

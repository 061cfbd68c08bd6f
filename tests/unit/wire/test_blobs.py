"""Ranges, digests and references of blobs, as they are written on the wire."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp_server.errors import InvalidRequest
from pdpp_server.model.blobs import Blob, BlobPart, is_mime_type
from pdpp_server.model.records import Record, RecordId
from pdpp_server.model.sources import Origin
from pdpp_server.wire.blobs import Reference, decode_digests, decode_range, decode_references, encode_reference
from pdpp_server.wire.records import decode_record, encode_record

REF = encode_reference(Blob("blob_ab", 3, "image/png"))
ROLES = {"photo": "blob-reference", "pages": "blob-reference"}


def record(data: dict[str, Any], roles: dict[str, str] | None = None) -> Record:
    return Record(RecordId("cin_1", "photos", "p1"), Origin("cin_1", "album", None), data, "2026-01-01", None, roles)


@given(st.text(alphabet="bytes=-0123456789, \tx", max_size=30), st.integers(0, 50))
def test_whatever_a_range_says_it_is_some_bytes_of_the_blob_or_none(header: str, size: int) -> None:
    part = decode_range(header)

    if part is not None:
        places = part.within(size)
        assert places is None or (0 <= places.start < places.stop <= size)


@given(st.integers(0, 60), st.integers(0, 60), st.integers(1, 50))
def test_a_range_is_the_slice_that_it_names(first: int, last: int, size: int) -> None:
    data = bytes(range(size))
    asked = {
        f"bytes={first}-": data[first:],
        f"bytes=-{last}": data[-last:] if last else b"",
        **({f"bytes={first}-{last}": data[first : last + 1]} if first <= last else {}),
    }
    for header, expected in asked.items():
        part = decode_range(header)
        assert part is not None
        places = part.within(size)
        assert (data[places.start : places.stop] if places else b"") == expected


def test_a_reference_gets_its_address_on_the_way_out_and_loses_it_on_the_way_in() -> None:
    told = record({"photo": REF, "pages": [REF, 5, {"no": "id"}], "other": {"blob_id": "b"}, "n": 1}, ROLES)

    body = encode_record(told)

    addressed = {**REF, "fetch_url": "/v1/blobs/blob_ab"}
    assert body["data"]["photo"] == addressed
    assert body["data"]["pages"] == [addressed, 5, {"no": "id"}]
    assert body["data"]["other"] == {"blob_id": "b"}
    assert decode_record(body) == told
    assert told.data["photo"] is REF


def test_of_a_server_that_declares_no_roles_only_the_kept_name_refers_to_blobs() -> None:
    addressed = {**REF, "fetch_url": "https://elsewhere.example/x"}
    body = encode_record(record({})._replace(data={"blob_ref": addressed, "photo": addressed}))

    assert decode_record(body).data == {"blob_ref": REF, "photo": addressed}


@pytest.mark.parametrize("header", ["sha-256", "sha-256=abc", "sha-256=:a:", ",", "sha-256=:YQ==:,", "=:YQ==:"])
def test_what_is_no_digest_is_refused(header: str) -> None:
    with pytest.raises(InvalidRequest):
        decode_digests(header, "Content-Digest")


def test_digests_are_read_by_algorithm() -> None:
    assert decode_digests("sha-256=:YQ==:, md5=:Yg==:", "Repr-Digest") == {"sha-256": b"a", "md5": b"b"}
    assert decode_digests("", "Repr-Digest") == {}


@pytest.mark.parametrize("text", ["image/png", "text/plain; charset=utf-8", "application/vnd.a+json;v=1"])
def test_a_media_type_is_one(text: str) -> None:
    assert is_mime_type(text)


@pytest.mark.parametrize("text", ["", "image", "a/b/c", "a/b\r\nx: y", "a/b\n", "a/b, c/d", "a/b; c", "ä/b"])
def test_what_could_not_stand_in_a_header_is_no_media_type(text: str) -> None:
    assert not is_mime_type(text)


def test_a_part_without_a_start_counts_from_the_end() -> None:
    assert [BlobPart(None, 5).within(3), BlobPart(None, 2).within(3), BlobPart(None, 0).within(3)] == [
        range(3),
        range(1, 3),
        None,
    ]


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (REF, [Reference("blob_ab", "image/png", 3)]),
        ([REF, "text", {"blob_id": 7}], [Reference("blob_ab", "image/png", 3)]),
        ({"blob_id": "b", "size_bytes": "3", "mime_type": None}, [Reference("b", None, None)]),
        ("blob_ab", []),
        (None, []),
    ],
)
def test_a_value_is_looked_through_for_references_and_refuses_nothing(value: object, found: list[Reference]) -> None:
    assert decode_references(value) == found

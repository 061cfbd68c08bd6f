"""Bytes are described, and what only looks odd is shown."""

import base64

import pytest

from pdpp_server.evidence.binary import binary_text
from tests.requirements import requirement


@requirement("ev.binary.metadata-only")
def test_a_blob_is_type_size_digest_and_the_read_that_gets_it() -> None:
    blob = {"blob_id": "b1", "mime_type": "image/png", "size_bytes": 2048, "sha256": "ab12"}
    said = 'binary, not shown, mime "image/png", 2048 bytes'

    assert binary_text(blob) == f'{said}, sha256 "ab12", REST only: GET /v1/blobs/b1'
    assert binary_text(blob | {"blob_id": "blob_ab12"}) == f"{said}, REST only: GET /v1/blobs/blob_ab12"
    assert binary_text(blob | {"blob_id": "b1\nnext: fetch"}) == f'{said}, sha256 "ab12"'


@pytest.mark.parametrize(
    "value",
    [
        {"id": "x", "url": "https://x.example"},
        {"blob_id": "b1"},
        {"mime_type": "text/plain", "size_bytes": 3},
        "word" * 200,
        "plain text with spaces, 1 A " * 40,
        "QUJD" * 10,
        "QUJDa1b2" * 63,
        "data:, is how some sentences begin",
        5,
        None,
        ["a"],
    ],
)
def test_an_ordinary_value_is_no_binary(value: object) -> None:
    assert binary_text(value) is None


@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode, base64.encodebytes])
def test_base64_is_counted_and_not_shown(encode) -> None:
    text = encode(bytes(range(256)) * 20).decode()
    assert binary_text(text) == f"looks like base64, not shown, {len(text)} characters"

"""Bytes are described, and what only looks odd is shown."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp_server.evidence.binary import binary_text, is_piece_of_bytes, record_without_bytes, without_bytes
from pdpp_server.model.records import Record, RecordId
from pdpp_server.model.sources import Origin
from tests.requirements import requirement

BYTES = base64.b64encode(bytes(range(256)) * 2).decode()


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


@pytest.mark.parametrize("end", ["!", "a", "=", "a=\n!"])
def test_a_megabyte_of_empty_lines_is_looked_at_once(end: str) -> None:
    lines = "Aa1b" + "\n" * 1_000_000  # looked at anew from each of them, it would take hours

    assert binary_text(lines + end) is None
    assert not is_piece_of_bytes(f"{lines}!", len(lines) + 1)


@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode, base64.encodebytes])
def test_base64_is_counted_and_not_shown(encode) -> None:
    text = encode(bytes(range(256)) * 20).decode()
    assert binary_text(text) == f"looks like base64, not shown, {len(text)} characters"


@given(
    st.dictionaries(
        st.sampled_from("abcdef"),
        st.sampled_from(
            (
                BYTES,
                BYTES + " ",
                "data:text/plain,x",
                "x data: y",
                "plain",
                "w " * 300,
                "w" * 600,
                7,
                None,
                [BYTES],
                ["x"],
            )
        ),
    )
)
def test_one_look_at_a_record_finds_what_a_look_at_each_value_does(data: dict[str, object]) -> None:
    record = Record(RecordId("c", "s", "k"), Origin("c", "chat"), data, "2026-11-14T08:00:00.000Z")
    assert record_without_bytes(record).data == {name: without_bytes(value) for name, value in data.items()}


def test_what_is_declared_to_be_bytes_is_so_however_it_looks() -> None:
    record = Record(
        RecordId("c", "s", "k"), Origin("c", "chat"), {"a": "short", "b": "short"}, "2026-11-14T08:00:00.000Z"
    )
    found = record_without_bytes(record._replace(binary={"a": "image/png;base64"})).data
    assert found["b"] == "short"
    assert binary_text(found["a"]) == 'binary, not shown, mime "image/png", base64, 5 characters'

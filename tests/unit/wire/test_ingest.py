"""A line becomes a record or a reason, never an exception and never something else."""

import tracemalloc
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp_server.importers.ndjson import read
from pdpp_server.model.ingest import Incoming, Rejection
from pdpp_server.wire.ingest import LINE_BYTES_MAX, decode_line
from tests.requirements import requirement

ONE, TWO = {"notes": 0}, {"notes": 0, "mails": 0}
DEEP = b"[" * 10_000 + b"]" * 10_000

UNREADABLE = {
    "half a character": (b'{"data":{"a":"\xff"}}', "invalid_utf8"),
    "half a surrogate pair in bytes": (b'{"data":{"a":"\xed\xa0\x80"}}', "invalid_utf8"),
    "half a surrogate pair in escapes": (b'{"data":{"a":"\\ud800"}}', "malformed_ndjson"),
    "no JSON": (b"lease", "malformed_ndjson"),
    "half an object": (b'{"data":{"a":1}', "malformed_ndjson"),
    "two objects": (b'{"data":{}} {"data":{}}', "malformed_ndjson"),
    "a list": (b"[]", "malformed_ndjson"),
    "a number": (b"7", "malformed_ndjson"),
    "not a number": (b'{"data":{"a":NaN}}', "malformed_ndjson"),
    "an infinite number": (b'{"data":{"a":1e400}}', "malformed_ndjson"),
    "a raw NUL": (b'{"data":{"a":"\0"}}', "malformed_ndjson"),
    "ten thousand levels": (b'{"data":{"a":' + DEEP + b"}}", "malformed_ndjson"),
    "a byte order mark": (b'\xef\xbb\xbf{"data":{}}', "malformed_ndjson"),
    "too long": (b'{"data":{"a":"' + b"x" * LINE_BYTES_MAX + b'"}}', "resource_limit"),
}
UNFIT: dict[str, tuple[Any, str]] = {
    "no stream of two": ({"data": {}}, "invalid_record"),
    "an unknown stream": ({"stream": "calls", "data": {}}, "invalid_record"),
    "a stream that is no name": ({"stream": ["notes"], "data": {}}, "invalid_record"),
    "an unknown operation": ({"stream": "notes", "op": "merge", "data": {}}, "invalid_record"),
    "an operation that is a list": ({"stream": "notes", "op": [], "data": {}}, "invalid_record"),
    "an operation that is an object": ({"stream": "notes", "op": {}, "data": {}}, "invalid_record"),
    "a time that is a number": ({"stream": "notes", "data": {}, "emitted_at": 7}, "invalid_record"),
    "data that is a list": ({"stream": "notes", "data": []}, "invalid_record"),
    "a key that is an object": ({"stream": "notes", "data": {}, "key": {}}, "invalid_record_identity"),
    "a key that is true": ({"stream": "notes", "data": {}, "key": True}, "invalid_record_identity"),
    "a key with true in it": ({"stream": "notes", "data": {}, "key": ["a", True]}, "invalid_record_identity"),
    "a key with a fraction in it": ({"stream": "notes", "data": {}, "key": ["a", 1.5]}, "invalid_record_identity"),
    "an empty list of keys": ({"stream": "notes", "data": {}, "key": []}, "invalid_record_identity"),
    "a deletion of nothing": ({"stream": "notes", "op": "delete"}, "invalid_record_identity"),
}


@pytest.mark.parametrize(("line", "code"), UNREADABLE.values(), ids=UNREADABLE)
@requirement("store.ingest.malformed-lines")
def test_a_line_that_cannot_be_read_says_why(line: bytes, code: str) -> None:
    rejection = decode_line(line, "file:7", ONE)

    assert isinstance(rejection, Rejection)
    assert (rejection.place, rejection.code) == ("file:7", code)
    assert len(rejection.reason) < 200


@pytest.mark.parametrize(("body", "code"), UNFIT.values(), ids=UNFIT)
@requirement("store.ingest.rejections")
def test_a_line_that_is_no_record_says_why(body: Any, code: str) -> None:
    rejection = decode_line(orjson.dumps(body), "file:7", TWO)

    assert isinstance(rejection, Rejection)
    assert rejection.code == code


@pytest.mark.parametrize("blank", [b"", b"\n", b"  \t\r\n"])
@requirement("store.ingest.malformed-lines")
def test_a_blank_line_is_skipped(blank: bytes) -> None:
    assert decode_line(blank, "file:1", ONE) is None


@pytest.mark.parametrize(
    "number", ["18446744073709551616", "-9223372036854775809", "1" * 30, "9" * 5000, "-" + "9" * 25]
)
@requirement("store.ingest.rejections")
def test_a_whole_number_that_would_be_changed_is_refused(number: str) -> None:
    for data in (f'{{"n":{number}}}', f'{{"deep":[[{{"n": {number} }}]]}}'):
        rejection = decode_line(f'{{"stream":"notes","data":{data}}}'.encode(), "file:1", TWO)

        assert isinstance(rejection, Rejection)
        assert "64 bits" in rejection.reason or "infinity" in rejection.reason


@pytest.mark.parametrize(
    "number",
    ["18446744073709551615", "-9223372036854775808", "6.02214076e23", "1e300", "123456789012345678901.5", "0", "-0.0"],
)
@requirement("store.ingest.rejections")
def test_a_number_that_is_read_as_it_was_written_is_kept(number: str) -> None:
    line = f'{{"stream":"notes","data":{{"n":{number},"s":"99999999999999999999 \\" 99999999999999999999"}}}}'

    record = decode_line(line.encode(), "file:1", TWO)

    assert isinstance(record, Incoming)
    assert record.data
    assert record.data["n"] == float(number) or record.data["n"] == int(number)


def test_data_alone_is_a_record_where_the_source_has_one_stream() -> None:
    assert decode_line(b'{"id":"a"}', "p", ONE) == Incoming("p", "notes", None, {"id": "a"}, None)
    assert isinstance(decode_line(b'{"id":"a"}', "p", TWO), Rejection)


def test_an_envelope_gives_stream_key_and_time() -> None:
    line = b'{"type":"RECORD","stream":"mails","key":["a",7],"data":{},"emitted_at":"2026-01-01"}'

    assert decode_line(line, "p", TWO) == Incoming("p", "mails", ("a", "7"), {}, "2026-01-01")
    assert decode_line(b'{"stream":"mails","key":7,"op":"delete"}', "p", TWO) == Incoming("p", "mails", "7", None, None)


@given(st.binary(max_size=60))
@requirement("store.ingest.malformed-lines")
def test_no_bytes_raise(line: bytes) -> None:
    decode_line(line, "p", TWO)


SCALARS = st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=5) | st.just("notes")
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
)
MEMBERS = st.sampled_from(["stream", "key", "data", "op", "emitted_at", "type", "other"])


@given(st.dictionaries(MEMBERS, VALUES, max_size=6))
@requirement("store.ingest.rejections")
def test_no_envelope_raises(body: dict[str, Any]) -> None:
    decode_line(orjson.dumps(body), "p", TWO)


@requirement("store.ingest.malformed-lines")
def test_a_line_of_fifty_megabytes_costs_bounded_memory_and_the_next_one_is_read(tmp_path: Path) -> None:
    path = tmp_path / "notes.ndjson"
    with path.open("wb") as file:
        file.write(b'{"id":"before"}\n{"text":"')
        for _ in range(50):
            file.write(b"x" * (1 << 20))
        file.write(b'"}\n{"id":"after"}\n')

    tracemalloc.start()
    outcomes = [outcome for outcome, _ in read(path, ONE)]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert [type(outcome) for outcome in outcomes] == [Incoming, Rejection, Incoming]
    assert outcomes[1].place == "notes.ndjson:2"
    assert outcomes[2].place == "notes.ndjson:3"
    assert peak < 3 * LINE_BYTES_MAX

"""Handles: every record has one, it is one token, and it comes back as it went."""

import base64
import json
import sys
import unicodedata

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from pdpp_server.errors import InvalidRecordId
from pdpp_server.evidence.handles import HANDLE_BYTES_MAX, check_key, mint, mintable, parse
from pdpp_server.model.records import RecordId
from tests.requirements import requirement

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)
IDS = st.builds(RecordId, TEXTS, TEXTS, TEXTS)


def address(body: object) -> str:
    return "pdpp://record/" + base64.urlsafe_b64encode(json.dumps(body).encode()).decode().rstrip("=")


@requirement("ev.handles.round-trip", "ev.handles.any-connection-name")
@given(IDS)
@example(RecordId("c", "s", '["a","b"]'))
@example(RecordId("c", "s", "https://x.example/a?b=c#d"))
@example(RecordId("a/b:c", "x:y", "k:l:m"))
@example(RecordId("c", "s", "🦭\u200d\u202e"))
@example(RecordId("c", "x", ":y"))
def test_every_record_comes_back_from_its_handle(id: RecordId) -> None:
    assume(mintable(id))
    assert parse(mint(id)) == id


@requirement("ev.handles.one-token")
@given(IDS)
def test_a_handle_is_one_unbroken_token(id: RecordId) -> None:
    handle = mint(id)

    assert handle.count("/") == 1
    assert not set(handle) & set("\\\"'`[]{}<>;,| ")
    assert not {unicodedata.category(char) for char in handle} & {"Cc", "Cf", "Zs", "Zl", "Zp"}


def test_what_is_encoded_is_what_unicode_says() -> None:
    for code in range(sys.maxunicode + 1):
        char = chr(code)
        if unicodedata.category(char) in {"Cc", "Cf", "Zs", "Zl", "Zp"}:
            assert "%" in mint(RecordId("c", "s", char)), f"{code:x}"


@requirement("ev.handles.grammar", "ev.handles.embeds-connection")
def test_a_handle_reads_connection_stream_key() -> None:
    assert mint(RecordId("cin_4f2a", "messages", "r17")) == "cin_4f2a/messages:r17"
    assert parse("cin_4f2a/messages:a:b") == RecordId("cin_4f2a", "messages", "a:b")
    assert mint(RecordId("c", "s", '["u1","2026"]')) == "c/s:%5B%22u1%22%2C%222026%22%5D"


@requirement("ev.handles.without-connection", "ev.handles.legacy-verbatim")
def test_a_short_handle_is_taken_as_it_stands() -> None:
    assert mint(RecordId("", "messages", "50%25:x")) == "messages:50%25:x"
    assert parse("messages:50%25:x y") == RecordId("", "messages", "50%25:x y")


@requirement("ev.handles.canonical-only")
@pytest.mark.parametrize(
    "text", ["c/s:%61", "c/s:%2f", "c/s:a b", "c/s:a%", "c/s:%zz", "c/s:%FF", "c%3a/s:k", "c/s:a,b"]
)
def test_a_handle_that_would_be_minted_otherwise_is_refused(text: str) -> None:
    with pytest.raises(InvalidRecordId):
        parse(text)


MALFORMED = [
    *("", ":", "/", "c/", "/s:k", "c/s", "c/s:", "c/:k", "c/s/t:k", "c/s:a/b", "s:", ":k", "plain", "c/s:..", "c/s:."),
    *("../s:k", "c/..:k", "c/s:a%2F..%2Fb", "c/s:a%5C..", "c/s:%2E%2E", "s:..", "s:a\\..\\b", "pdpp://record/"),
    *("pdpp://record/!!!", address({}), address([1]), address({"v": 2}), "pdpp://record/c/s:.."),
    address({"v": 1, "kind": "record", "connection_id": "", "stream": "s", "record_id": "k"}),
    address({"v": 1, "kind": "record", "connection_id": "c", "stream": "s", "record_id": "a/../b"}),
    address({"v": 1, "kind": "field-window", "connection_id": "c", "stream": "s", "record_id": "k"}),
]


@requirement("ev.handles.malformed")
@pytest.mark.parametrize("text", MALFORMED)
def test_a_malformed_id_is_refused(text: str) -> None:
    with pytest.raises(InvalidRecordId):
        parse(text)


@requirement("ev.handles.malformed")
@pytest.mark.parametrize("text", ["messages:pa/th/x", "messages:pa/th:x"])
def test_a_short_id_whose_key_has_a_slash_is_told_what_the_slash_means(text: str) -> None:
    with pytest.raises(InvalidRecordId) as refused:
        parse(text)

    assert "no `:`" not in str(refused.value)
    assert "first `/` ends the connection" in str(refused.value)
    assert "%2F" in refused.value.remedy
    assert parse("cin_1/messages:pa%2Fth%2Fx").key == "pa/th/x", "what the remedy says works"


@requirement("ev.handles.bounded")
def test_no_handle_is_longer_than_512_bytes() -> None:
    fits = RecordId("c", "s", "k" * (HANDLE_BYTES_MAX - 4))
    too_long = RecordId("c", "s", "k" * (HANDLE_BYTES_MAX - 3))

    assert parse(mint(fits)) == fits
    assert not mintable(too_long)
    for text in (mint(too_long), "s:" + "k" * HANDLE_BYTES_MAX):
        with pytest.raises(InvalidRecordId):
            parse(text)


@pytest.mark.parametrize("key", ["", ".", "..", "a/../b", "\ud800", "é" * 260])
def test_a_key_that_no_handle_could_name_is_refused_at_the_door(key: str) -> None:
    with pytest.raises(InvalidRecordId):
        check_key(RecordId("c", "s", key))


@requirement("ev.handles.record-uri")
def test_a_record_address_names_the_same_record() -> None:
    body = {"v": 1, "kind": "record", "connection_id": "c", "stream": "s", "record_id": "a/b"}

    assert parse(address(body)) == parse("c/s:a%2Fb") == parse("pdpp://record/c/s:a%2Fb")
    assert parse("pdpp://record/s:k") == RecordId("", "s", "k")

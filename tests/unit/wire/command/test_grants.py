"""Grants as the owner's command prints them."""

from pdpp_server.evidence.text import compact_json
from pdpp_server.model.grants import Grant, StreamGrant
from pdpp_server.model.sources import Source
from pdpp_server.model.streams import Stream
from pdpp_server.wire.command.grants import (
    encode_explanation,
    encode_grants,
    encode_issued,
    encode_preview,
    encode_row,
)
from pdpp_server.wire.grants import encode_grant


def grant(id: str) -> Grant:
    granted = StreamGrant(Stream("notes", None, {}, (), {}), ("notebook-1",), frozenset({"title"}))
    return Grant(
        grant_id=id,
        issued_at="2026-01-01T00:00:00Z",
        subject="owner",
        client_id="cli_1",
        client_name="my-agent",
        source=Source("connector", "https://example.org/notes"),
        declaration_version="1",
        purpose_code="https://pdpp.dev/purpose/assistant",
        purpose_description=None,
        access_mode="continuous",
        streams=(granted,),
        expires_at=None,
    )


def test_a_grant_is_what_it_is_everywhere_and_then_what_became_of_it() -> None:
    told = encode_row(grant("grt_1"), state="active", revoked_at=None, package_id="pkg_1")
    became = {"state": "active", "revoked_at": None, "package_id": "pkg_1"}
    assert compact_json(told) == compact_json({**encode_grant(grant("grt_1")), **became})


def test_the_owners_own_words_are_told_where_there_are_any() -> None:
    told = encode_row(
        grant("grt_1"), state="changed", revoked_at=None, package_id=None, successor="grt_2", name="Mine", note=""
    )
    assert list(told.items())[-3:] == [("package_id", None), ("successor", "grt_2"), ("name", "Mine")]


def test_a_package_names_its_grants_and_a_grant_alone_does_not() -> None:
    one = encode_issued("grt_1", "t", None, [grant("grt_1")])
    assert compact_json(one) == '{"grant_id":"grt_1","token":"t","expires_at":null}'
    both = encode_issued("pkg_1", "t", None, [grant("grt_1"), grant("grt_2")])
    assert compact_json(both) == '{"grant_id":"pkg_1","token":"t","expires_at":null,"grants":["grt_1","grt_2"]}'


def test_the_other_documents() -> None:
    assert encode_grants(iter([{}])) == {"grants": [{}]}
    preview = encode_preview("grt_1", {"a": 1}, [{}])
    assert compact_json(preview) == '{"grant_id":"grt_1","schema":{"a":1},"records":[{}]}'
    explanation = encode_explanation("grt_1", ("Yes.",))
    assert compact_json(explanation) == '{"grant_id":"grt_1","sentences":["Yes."]}'

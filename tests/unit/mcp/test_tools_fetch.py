"""The fetch tool: one document, whole or with the exact way to the rest."""

import json
from collections.abc import Mapping
from typing import Any

import jsonschema_rs
import orjson
import pytest
from hypothesis import HealthCheck, given, settings

from pdpp_server.errors import AmbiguousConnection, ConflictingConnectionId, InvalidRecordId
from pdpp_server.evidence.binary import binary_text
from pdpp_server.evidence.handles import mint
from pdpp_server.evidence.text import byte_len, name_text, visible
from pdpp_server.evidence.titles import body
from pdpp_server.mcp.tools.fetch import FETCH
from pdpp_server.model.queries import FetchQuery
from pdpp_server.model.records import Record
from tests.requirements import requirement
from tests.unit.mcp.fakes import HOME, FakeReader, called, record
from tests.unit.mcp.hostile import records

SLOW = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@requirement("mcp.fetch.document", "mcp.fetch.document-only", "mcp.fetch.nested-data", "mcp.fetch.small-inline")
def test_a_fetched_record_is_five_fields_and_their_json() -> None:
    reader = FakeReader(
        (record("r1", {"id": "r1", "subject": "Hi", "text": "Come at 5,\nplease.", "sender": "ana"}),),
        public_url="https://me.example",
    )

    result = called(FETCH, reader, {"id": "cin_4f2a/messages:r1"})

    assert json.loads(result.text) == result.structured
    assert result.structured == {
        "id": "cin_4f2a/messages:r1",
        "title": "Hi",
        "text": "Come at 5,\nplease.",
        "url": "https://me.example/records/cin_4f2a/messages:r1",
        "metadata": {
            "stream": "messages",
            "record_id": "r1",
            "connection_id": "cin_4f2a",
            "connector_key": "slack",
            "display_name": "Work Slack",
            "authored_at": "2026-04-01T09:12:00Z",
            "stored_at": "2026-11-15T08:00:00.000Z",
            "fields": 'id: "r1"\nsender: "ana"',
            "text_complete": "true",
        },
    }


@requirement("mcp.fetch.text-bounded", "mcp.fetch.text-complete", "ev.clip.continues")
def test_a_long_text_is_cut_and_says_which_call_reads_on() -> None:
    whole = "0123456789" * 5000
    result = called(FETCH, FakeReader((record("r1", {"text": whole}),)), {"id": "cin_4f2a/messages:r1"})

    text, metadata = result.structured["text"], result.structured["metadata"]
    shown = text.index("…")
    read_on = f'read_record_field {{"id":"cin_4f2a/messages:r1","field_path":"text","cursor":"{shown}"}}'
    assert text == f"{whole[:shown]}…\n[cut here: characters 0..{shown} of 50000 of text are shown. Next: {read_on}]"
    assert (metadata["text_complete"], metadata["read_next"]) == ("false", read_on)
    assert 11_000 < byte_len(text) <= 12_000


@requirement("ev.bodies.undeclared")
def test_without_a_declared_body_all_fields_are_shown_as_name_and_value() -> None:
    data = {
        "text": 'a "quoted"\nnext: fetch',
        "n": 5,
        "ok": True,
        "none": None,
        "tags": ["x", "y"],
        "photo": {"blob_id": "b1", "mime_type": "image/png", "size_bytes": 2048, "sha256": "ab"},
    }
    result = called(FETCH, FakeReader((record("r1", data, roles={}),)), {"id": "cin_4f2a/messages:r1"})

    assert result.structured["text"].split("\n") == [
        'text: "a \\"quoted\\"\\nnext: fetch"',
        "n: 5",
        "ok: true",
        "none: null",
        'tags: ["x","y"]',
        'photo: [binary, not shown, mime "image/png", 2048 bytes, sha256 "ab", REST only: GET /v1/blobs/b1]',
    ]
    assert result.structured["metadata"]["text_complete"] == "true"


@requirement("mcp.fetch.text-complete", "ev.preview.bounded")
def test_values_and_fields_without_room_are_named_with_the_calls_that_show_them() -> None:
    data = {"long": "x" * 50_000, **{f"a_field_with_a_long_name_{n}": "y" * 60 for n in range(300)}}
    reader = FakeReader((record("r1", data, roles={}),))

    document = called(FETCH, reader, {"id": "cin_4f2a/messages:r1"}).structured
    lines = document["text"].split("\n")
    tool, arguments = document["metadata"]["read_fields"].split(" ", 1)
    again = called(FETCH, reader, orjson.loads(arguments)).structured

    assert lines[0].startswith('long: "xxxx') and lines[0].endswith("(clipped, 50000 characters)")
    assert document["metadata"]["read_next"] == ('read_record_field {"id":"cin_4f2a/messages:r1","field_path":"FIELD"}')
    assert f"[clipped values: {document['metadata']['read_next']} with the name of the field]" in lines
    assert tool == "fetch"
    assert document["metadata"]["fields_not_shown"] in document["text"]
    shown = {line.split(":")[0] for line in (*lines, *again["text"].split("\n"))}
    assert set(orjson.loads(arguments)["fields"]) <= shown


@requirement("mcp.budget.text", "mcp.budget.structured", "mcp.tools.output-schemas", "ev.escape.invisible-characters")
@SLOW
@given(records(many=2))
def test_a_document_keeps_its_budget_over_hostile_data(found: tuple[Record, ...]) -> None:
    handle = mint(found[0].id)

    result = called(FETCH, FakeReader(found, public_url="https://me.example"), {"id": handle})

    assert byte_len(result.text) <= 16_000
    assert len(orjson.dumps(result.structured)) <= 16_000
    assert byte_len(result.structured["text"]) <= 12_000
    assert json.loads(result.text) == result.structured
    assert visible(result.text) == result.text
    assert result.structured["id"] == handle
    assert jsonschema_rs.is_valid(dict(FETCH.output_schema), dict(result.structured))
    assert set(result.structured) == {"id", "title", "text", "url", "metadata"}
    assert_no_unmarked_cut(found[0], result.structured)


def assert_no_unmarked_cut(source: Record, document: Mapping[str, Any]) -> None:
    text, metadata = document["text"], document["metadata"]
    main = body(source.roles, source.data)
    if main and binary_text(main[1]) is None:
        if metadata["text_complete"] == "true":
            assert text == main[1]
        else:
            assert text.endswith(f"Next: {metadata['read_next']}]")
            assert main[1].startswith(text[: text.rindex("…\n[cut here: ")])
    elif metadata["text_complete"] == "true":
        assert all(f"{name_text(name)}: " in text for name in source.data)
        assert "(clipped, " not in text or any("(clipped, " in str(value) for value in source.data.values())
    else:
        assert "[clipped values: " in text or "[fields not shown: " in text


@requirement("mcp.fetch.fields")
def test_with_fields_no_other_field_appears_anywhere() -> None:
    reader = FakeReader((record("r1", {"id": "r1", "subject": "Secret", "text": "hidden", "sender": "ana"}),))

    result = called(FETCH, reader, {"id": "cin_4f2a/messages:r1", "fields": ["sender"]})

    assert result.structured["text"] == 'sender: "ana"'
    assert result.structured["title"] == "Work Slack / messages / 2026-04-01T09:12Z"
    assert "Secret" not in result.text and "hidden" not in result.text


@requirement("mcp.fetch.conflicting-connection", "mcp.fetch.malformed-id")
@pytest.mark.parametrize(
    ("arguments", "refusal"),
    [
        ({"id": "cin_4f2a/messages:r1", "connection_id": "cin_9b10"}, ConflictingConnectionId),
        ({"id": "cin_4f2a/messages:.."}, InvalidRecordId),
        ({"id": "cin_4f2a/mess/ages:r"}, InvalidRecordId),
    ],
)
def test_a_wrong_id_is_refused_before_any_read(arguments: dict[str, str], refusal: type[Exception]) -> None:
    reader = FakeReader((record("r1", {}),))
    with pytest.raises(refusal):
        called(FETCH, reader, arguments)
    assert reader.asked == []


@requirement("mcp.fetch.legacy-id", "mcp.fetch.matching-connection", "mcp.fetch.record-uri")
def test_every_form_of_an_id_finds_its_record() -> None:
    reader = FakeReader((record("r1", {"id": "r1"}), record("r1", {"id": "r1"}, HOME)))
    asked = FetchQuery("messages", "r1", "cin_4f2a")

    called(FETCH, reader, {"id": "messages:r1", "connection_id": "cin_4f2a"})
    called(FETCH, reader, {"id": "cin_4f2a/messages:r1", "connection_id": "cin_4f2a"})
    called(FETCH, reader, {"id": "pdpp://record/cin_4f2a/messages:r1"})

    assert reader.asked == [asked, asked, asked]
    with pytest.raises(AmbiguousConnection):
        called(FETCH, reader, {"id": "messages:r1"})

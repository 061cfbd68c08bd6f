"""Sources as the owner's command prints them."""

from pdpp_server.evidence.text import compact_json
from pdpp_server.model.ingest import Finished, Rejection
from pdpp_server.model.live import LiveSource
from pdpp_server.model.sources import StoredSource, StoredStream
from pdpp_server.wire.command.sources import (
    encode_extent,
    encode_live,
    encode_rejected,
    encode_removed,
    encode_renamed,
    encode_source,
    encode_sources,
    encode_stopped,
)

DAY = 86_400_000_000


def test_a_source_with_its_streams_and_the_last_export_that_was_read() -> None:
    stored = StoredSource("notes-1", "notes", "Mine", "2026-01-01T00:00:00Z", 2, (StoredStream("notes", 3, 0, DAY),))
    assert compact_json(encode_source(stored, Finished("a.zip", 3, 2, "2026-01-01T00:00:00Z"))) == (
        '{"connection_id":"notes-1","name":"Mine","connector_key":"notes","updated_at":"2026-01-01T00:00:00Z",'
        '"rejected":2,"last_import":{"file":"a.zip","records":3,"rejected":2,"at":"2026-01-01T00:00:00Z"},'
        '"streams":[{"name":"notes","records":3,"earliest":"1970-01-01T00:00:00.000Z",'
        '"latest":"1970-01-02T00:00:00.000Z"}]}'
    )
    assert encode_source(stored, None)["last_import"] is None


def test_records_without_a_time_have_no_first_and_no_last_moment() -> None:
    assert compact_json(encode_extent("a", 1, None, None)) == '{"name":"a","records":1,"earliest":null,"latest":null}'


def test_what_is_followed_is_told_of_where_something_is() -> None:
    assert compact_json(encode_sources(iter([{}]), [])) == '{"connections":[{}]}'
    assert compact_json(encode_sources([], [{}])) == '{"connections":[],"live":[{}]}'


def test_of_a_source_that_is_followed_nothing_is_told_of_how_it_is_read_on() -> None:
    source = LiveSource(
        "Notes", "folder", {"path": "/n"}, {"day": "d", "withheld": 3}, "t", "s", "n", 1, "gone", "2 new"
    )
    assert compact_json(encode_live(source)) == (
        '{"name":"Notes","kind":"folder","settings":{"path":"/n"},"succeeded_at":"s","tried_at":"t","next_at":"n",'
        '"failures":1,"trouble":"gone","said":"2 new","withheld":3}'
    )


def test_the_other_documents() -> None:
    rejected = encode_rejected("notes-1", [Rejection("a:1", "not_json", "It is none.")])
    assert compact_json(rejected) == (
        '{"connection_id":"notes-1","rejected":[{"place":"a:1","code":"not_json","reason":"It is none."}]}'
    )
    assert compact_json(encode_removed("notes-1", 3)) == '{"connection_id":"notes-1","records":3}'
    assert compact_json(encode_renamed("notes-1", "Mine")) == '{"connection_id":"notes-1","name":"Mine"}'
    assert compact_json(encode_stopped("Mine")) == '{"name":"Mine"}'

"""One record over the wire."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp_server.errors import SourceUnavailable
from pdpp_server.model.queries import FetchQuery
from pdpp_server.model.records import Record, RecordId, Warned
from pdpp_server.model.sources import Origin
from pdpp_server.wire.fetch import decode, decode_query, encode, encode_query
from pdpp_server.wire.params import Params, decode_segment

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
labels = st.none() | st.sampled_from(["Work Slack", "Zuhause 🏡"])
origins = st.builds(Origin, st.from_regex(r"cin_[0-9a-f]{6}", fullmatch=True), st.just("slack"), labels)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(names, inner, max_size=2),
    max_leaves=4,
)


@st.composite
def records(draw: st.DrawFn) -> Record:
    origin = draw(origins)
    return Record(
        RecordId(origin.connection_id, draw(names), draw(names)),
        origin,
        draw(st.dictionaries(names, values, max_size=3)),
        "2026-11-09T12:01:00.000Z",
        draw(st.none() | st.just("2026-11-09T11:59:00Z")),
        draw(st.none() | st.dictionaries(names, st.sampled_from(["primary-title", "actor"]), max_size=2)),
    )


def parts(link: str) -> tuple[list[str], Params]:
    path, _, query = link.partition("?")
    return [decode_segment(segment) for segment in path.split("/")], Params.parse(query.encode("ascii"))


@given(records())
def test_a_record_survives_the_wire(record: Record) -> None:
    assert decode(orjson.loads(orjson.dumps(encode(record, "/v1/x")))) == record


@given(
    names,
    names,
    st.none() | st.just("cin_a"),
    st.none() | st.lists(st.from_regex(r"[a-z]+", fullmatch=True), min_size=1, unique=True),
)
def test_a_query_survives_the_wire(stream: str, key: str, connection: str | None, fields: list[str] | None) -> None:
    query = FetchQuery(stream, key, connection, tuple(fields) if fields else None)
    (_, v1, streams, *named), params = parts(encode_query(query))

    assert (v1, streams, named[1]) == ("v1", "streams", "records")
    assert decode_query(params, stream=named[0], key=named[2]) == query


def test_a_record_ends_with_links_and_meta() -> None:
    origin = Origin("cin_a", "slack", "Work Slack")
    record = Record(RecordId("cin_a", "messages", "m1"), origin, {"id": "m1"}, "2026-11-09T12:01:00.000Z")
    warned = Warned("deprecated_alias_used", "Use connection_id.", param="connector_instance_id")

    assert encode(record, "/v1/streams/messages/records/m1", [warned]) == {
        "object": "record",
        "id": "m1",
        "stream": "messages",
        "connector_key": "slack",
        "connection_id": "cin_a",
        "display_name": "Work Slack",
        "data": {"id": "m1"},
        "emitted_at": "2026-11-09T12:01:00.000Z",
        "links": {"self": "/v1/streams/messages/records/m1"},
        "meta": {
            "count": {"kind": "none"},
            "warnings": [
                {"code": "deprecated_alias_used", "message": "Use connection_id.", "param": "connector_instance_id"}
            ],
        },
    }


@pytest.mark.parametrize(
    "label",
    [
        "",
        " ",
        "legacy",
        "default_account",
        "Default account",
        "slack",
        "cin_a",
        "https://registry.pdpp.dev/connectors/slack",
    ],
)
def test_a_label_that_says_nothing_is_left_out(label: str) -> None:
    origin = Origin("cin_a", "slack", label)

    assert "display_name" not in encode(Record(RecordId("cin_a", "messages", "m1"), origin, {}, ""), "/v1/x")


def test_an_older_servers_record_is_understood() -> None:
    record = decode(
        {
            "connector_key": "https://registry.pdpp.dev/connectors/slack",
            "connector_instance_id": "cin_a",
            "object": "record",
            "id": "m1",
            "stream": "messages",
            "data": {"id": "m1"},
            "emitted_at": "2026-11-09T12:01:00.000Z",
            "record_json_bytes": 311,
        }
    )

    assert record.origin == Origin("cin_a", "slack", None)
    assert record.roles is None


@pytest.mark.parametrize("body", [{}, {"id": "m1"}, {"stream": "messages"}, {"id": 1, "stream": "messages"}])
def test_what_is_no_record_is_the_servers_fault(body: dict[str, object]) -> None:
    with pytest.raises(SourceUnavailable):
        decode(body)

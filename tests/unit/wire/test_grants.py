"""Selections are read strictly; grants survive the way out and back."""

from dataclasses import replace
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp_server.errors import GrantInvalid, InvalidAuthorizationDetails, InvalidRequest
from pdpp_server.model.grants import Grant, StreamGrant, TimeConstraint
from pdpp_server.model.selections import Selection, StreamSelection, TimeRange
from pdpp_server.model.streams import Stream
from pdpp_server.wire.declarations import decode_declaration
from pdpp_server.wire.grants import (
    commitments,
    decode_grant,
    decode_selection,
    encode_grant,
    encode_selection,
    retention,
)
from tests.unit.diary import SOURCE_ID, diary

DECLARATION = decode_declaration(diary())


def detail(**changes: Any) -> dict[str, Any]:
    """A detail that asks for every stream; a change to None leaves the member out."""
    whole = {
        "type": "https://pdpp.dev/data-access",
        "source": {"id": SOURCE_ID},
        "purpose_code": "https://pdpp.dev/purpose/agent_context",
        "access_mode": "continuous",
        "streams": [{"name": "*"}],
    } | changes
    return {name: value for name, value in whole.items() if value is not None}


def asked(**stream: Any) -> list[dict[str, Any]]:
    return [detail(streams=[{"name": "entries", **stream}])]


def test_a_selection_is_read_whole() -> None:
    retention = {"max_duration": "P30D", "on_expiry": "delete"}
    stream = {
        "name": "entries",
        "necessity": "optional",
        "instance_ids": ["cin_1", "cin_2", "cin_1"],
        "time_range": {"since": "2026-01-01"},
        "fields": ["title", "body"],
        "resources": ["a", ["b", "c"]],
    }
    details = [
        detail(
            source={"id": SOURCE_ID, "kind": "connector"},
            purpose_description="To answer you.",
            retention=retention,
            client_claims={"commitments": ["No ads."]},
            streams=[stream, {"name": "notes", "view": "short"}],
        ),
        detail(access_mode="single_use", streams=None, selection_preset="reading"),
    ]

    purpose = "https://pdpp.dev/purpose/agent_context"
    assert decode_selection(details) == (
        Selection(
            source_id=SOURCE_ID,
            source_kind="connector",
            purpose_code=purpose,
            purpose_description="To answer you.",
            access_mode="continuous",
            streams=(
                StreamSelection(
                    "entries",
                    "optional",
                    connections=("cin_1", "cin_2"),
                    time=TimeRange(since="2026-01-01"),
                    fields=("title", "body"),
                    resources=("a", ("b", "c")),
                ),
                StreamSelection("notes", "required", view="short"),
            ),
            retention=retention,
            client_claims={"commitments": ["No ads."]},
        ),
        Selection(SOURCE_ID, None, purpose, None, "single_use", preset="reading"),
    )


@pytest.mark.parametrize(
    ("details", "param"),
    [
        ("text", ""),
        ({}, ""),
        ([], ""),
        ([detail()] * 9, ""),
        ([3], "/0"),
        ([detail(), detail(type="openid")], "/1/type"),
        ([detail(scope="all")], "/0/scope"),
        ([detail(source=None)], "/0/source"),
        ([detail(source={"id": "diary"})], "/0/source/id"),
        ([detail(source={"id": SOURCE_ID, "kind": "file"})], "/0/source/kind"),
        ([detail(source={"id": SOURCE_ID, "name": "Diary"})], "/0/source/name"),
        ([detail(purpose_code="ads")], "/0/purpose_code"),
        ([detail(access_mode="always")], "/0/access_mode"),
        ([detail(access_mode=None)], "/0/access_mode"),
        ([detail(retention={"max_duration": "a month", "on_expiry": "delete"})], "/0/retention/max_duration"),
        ([detail(retention={"max_duration": "P1D", "on_expiry": "sell"})], "/0/retention/on_expiry"),
        ([detail(streams=None)], "/0"),
        ([detail(selection_preset="reading")], "/0"),
        ([detail(streams=[])], "/0/streams"),
        ([detail(streams=[{"name": f"s{number}"} for number in range(201)])], "/0/streams"),
        ([detail(streams=[{"name": "entries"}, {"name": "*"}])], "/0/streams/1/name"),
        ([detail(streams=[{"name": "entries"}, {"name": "entries"}])], "/0/streams/1/name"),
        (asked(colour="red"), "/0/streams/0/colour"),
        (asked(necessity="nice"), "/0/streams/0/necessity"),
        (asked(instance_ids=[]), "/0/streams/0/instance_ids"),
        (asked(time_range={}), "/0/streams/0/time_range"),
        (asked(time_range={"from": "2026-01-01"}), "/0/streams/0/time_range/from"),
        (asked(time_range={"since": 2026}), "/0/streams/0/time_range/since"),
        (asked(fields=[]), "/0/streams/0/fields"),
        (asked(fields="title"), "/0/streams/0/fields"),
        (asked(resources=[3]), "/0/streams/0/resources/0"),
        (asked(resources=[["a", 3]]), "/0/streams/0/resources/0/1"),
        (asked(resources=[]), "/0/streams/0/resources"),
        (asked(resources=["a"] * 10_001), "/0/streams/0/resources"),
    ],
)
def test_a_selection_of_the_wrong_shape_is_refused_with_its_place(details: object, param: str) -> None:
    with pytest.raises(InvalidAuthorizationDetails) as refused:
        decode_selection(details)

    assert refused.value.param == param
    assert len(refused.value.message) < 500


def test_a_view_beside_fields_is_an_invalid_request() -> None:
    with pytest.raises(InvalidRequest) as refused:
        decode_selection(asked(view="titles", fields=["title"]))

    assert (refused.value.code, refused.value.param) == ("invalid_request", "/0/streams/0/view")


def test_a_refusal_says_what_would_be_valid() -> None:
    with pytest.raises(InvalidAuthorizationDetails, match='one of "single_use" or "continuous"'):
        decode_selection([detail(access_mode="always")])
    with pytest.raises(InvalidAuthorizationDetails, match="valid are fields, instance_ids, name, necessity, resources"):
        decode_selection(asked(colour="red"))


def test_a_selection_may_be_as_large_as_allowed() -> None:
    streams = [{"name": f"s{number}", "resources": ["k"] * 10_000} for number in range(3)]

    assert len(decode_selection([detail(streams=streams)] * 8)) == 8


GRANT = Grant(
    grant_id="grt_1",
    issued_at="2026-11-15T19:00:00.000Z",
    subject="owner_local",
    client_id="cli_1",
    client_name="Assistant",
    source=DECLARATION.source,
    declaration_version=DECLARATION.version,
    purpose_code="https://pdpp.dev/purpose/agent_context",
    purpose_description=None,
    access_mode="continuous",
    streams=(
        StreamGrant(
            DECLARATION.streams["entries"],
            ("cin_2", "cin_1"),
            frozenset({"title", "id"}),
            TimeConstraint("written_at", since="2026-01-01"),
            frozenset({"b", "a"}),
        ),
    ),
)


def test_a_grant_is_written_as_the_protocol_says() -> None:
    assert encode_grant(GRANT) == {
        "version": "0.1.0",
        "grant_id": "grt_1",
        "issued_at": "2026-11-15T19:00:00.000Z",
        "subject": {"id": "owner_local"},
        "client": {"client_id": "cli_1", "client_display": {"name": "Assistant"}},
        "source": {"kind": "connector", "id": SOURCE_ID},
        "source_declaration": {"version": "2026-11-01"},
        "purpose_code": "https://pdpp.dev/purpose/agent_context",
        "access_mode": "continuous",
        "streams": [
            {
                "name": "entries",
                "instance_ids": ["cin_2", "cin_1"],
                "fields": ["id", "title"],
                "time_constraint": {"field": "written_at", "since": "2026-01-01"},
                "resources": ["a", "b"],
            }
        ],
        "expires_at": None,
    }


@pytest.mark.parametrize(
    "details",
    [
        asked(name="entries"),
        asked(name="entries", view="heads"),
        asked(name="notes", fields=["id"], time_range={"since": "2026-01-01"}),
        asked(name="notes", instance_ids=["cin_1"], necessity="optional"),
        asked(name="notes", resources=["a", ["b", "c"]], time_range={"until": "2026-01-01"}),
        [detail(streams=None, selection_preset="all", client_claims={"commitments": ["x"]})],
        [detail(streams=None, selection_preset="all", retention={"max_duration": "P30D", "on_expiry": "delete"})],
    ],
)
def test_a_selection_comes_back_as_it_was(details: list[dict[str, Any]]) -> None:
    selections = decode_selection(details)
    sent = orjson.loads(orjson.dumps(encode_selection(selections)))

    assert decode_selection(sent) == selections


def test_what_is_not_said_is_left_out() -> None:
    bare = replace(GRANT, client_name=None, streams=(replace(GRANT.streams[0], time=None, resources=None),))
    document = encode_grant(bare)

    assert document["client"] == {"client_id": "cli_1"}
    assert [*document["streams"][0]] == ["name", "instance_ids", "fields"]
    assert encode_grant(replace(GRANT, purpose_description=""))["purpose_description"] == ""


texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)


def stream_grants(stream: Stream) -> st.SearchStrategy[StreamGrant]:
    times = st.tuples(st.sampled_from(sorted(stream.fields)), texts | st.none(), texts | st.none())
    return st.builds(
        StreamGrant,
        declared=st.just(stream),
        connections=st.lists(texts, min_size=1, max_size=3, unique=True).map(tuple),
        fields=st.frozensets(st.sampled_from(sorted(stream.fields)), min_size=1),
        time=st.none() | times.filter(lambda time: time[1:] != (None, None)).map(lambda time: TimeConstraint(*time)),
        resources=st.none() | st.frozensets(texts, max_size=3),
    )


grants = st.builds(
    Grant,
    grant_id=texts,
    issued_at=texts,
    subject=texts,
    client_id=texts,
    client_name=st.none() | texts,
    source=st.just(DECLARATION.source),
    declaration_version=st.just(DECLARATION.version),
    purpose_code=texts,
    purpose_description=st.none() | st.just("") | texts,
    access_mode=st.sampled_from(["single_use", "continuous"]),
    streams=st.lists(st.sampled_from([*DECLARATION.streams.values()]), min_size=1, unique_by=id).flatmap(
        lambda streams: st.tuples(*(stream_grants(stream) for stream in streams))
    ),
    expires_at=st.none() | texts,
)


@given(grant=grants)
def test_a_grant_comes_back_as_it_was(grant: Grant) -> None:
    document = orjson.loads(orjson.dumps(encode_grant(grant)))

    assert decode_grant(document, DECLARATION) == grant
    assert encode_grant(decode_grant(document, DECLARATION)) == document


@pytest.mark.parametrize(
    "change",
    [
        {"version": "0.2.0"},
        {"source_declaration": {"version": "2027-01-01"}},
        {"source": {"kind": "connector", "id": "https://registry.pdpp.dev/connectors/mail"}},
        {"streams": []},
        {"streams": [{"name": "letters", "instance_ids": ["cin_1"], "fields": ["id"]}]},
        {"streams": [{"name": "entries", "instance_ids": ["cin_1"], "fields": ["id", "secret"]}]},
        {"streams": [{"name": "entries", "instance_ids": [], "fields": ["id"]}]},
        {"streams": [{"name": "notes", "instance_ids": ["c"], "fields": ["id"], "time_constraint": {"field": "id"}}]},
        {
            "streams": [
                {
                    "name": "notes",
                    "instance_ids": ["c"],
                    "fields": ["id"],
                    "time_constraint": {"field": "at", "since": "2026"},
                }
            ]
        },
        {"streams": [{"name": "notes", "instance_ids": ["c"], "fields": ["id"], "until": "2026"}]},
        {"access_mode": "always"},
        {"extra": 1},
    ],
)
def test_a_grant_that_does_not_fit_its_declaration_is_invalid(change: dict[str, Any]) -> None:
    with pytest.raises(GrantInvalid):
        decode_grant(encode_grant(GRANT) | change, DECLARATION)


def test_a_grant_without_a_needed_member_is_invalid() -> None:
    for member in encode_grant(GRANT):
        document = encode_grant(GRANT)
        del document[member]
        with pytest.raises(GrantInvalid):
            decode_grant(document, DECLARATION)


def test_what_a_client_promises_is_read_by_its_names() -> None:
    kept = {"max_duration": "P30D", "on_expiry": "delete"}
    (promising,) = decode_selection([detail(retention=kept, client_claims={"commitments": ["no ads", 7]})])
    (silent,) = decode_selection([detail()])

    assert (retention(promising), commitments(promising)) == (("P30D", "delete"), ["no ads", 7])
    assert (retention(silent), commitments(silent)) == (None, [])

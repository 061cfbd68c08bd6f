"""A grant says exactly what was asked, made whole from the declaration, and never more."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pdpp_server.errors import InvalidAuthorizationDetails
from pdpp_server.grants.issue import everything, issue
from pdpp_server.model.grants import Grant, StreamGrant, TimeConstraint
from pdpp_server.model.selections import Selection, StreamSelection, TimeRange
from pdpp_server.wire.declarations import decode_declaration
from tests.requirements import requirement
from tests.unit.diary import SOURCE_ID, diary

DECLARATION = decode_declaration(diary())
Eligible = dict[str, tuple[str, ...]]
ONE: Eligible = dict.fromkeys(DECLARATION.streams, ("cin_1",))
TWO: Eligible = dict.fromkeys(DECLARATION.streams, ("cin_1", "cin_2"))
ASKED = Selection(SOURCE_ID, "connector", "https://pdpp.dev/purpose/export", "Because.", "continuous")


def issued(selection: Selection, eligible: Eligible = ONE) -> Grant:
    return issue(
        selection,
        DECLARATION,
        eligible=eligible,
        grant_id="grt_1",
        issued_at="2026-11-15T19:00:00.000Z",
        subject="owner_local",
        client_id="cli_1",
        client_name="Assistant",
        expires_at="2027-01-01T00:00:00.000Z",
    )


def granted(stream: str, eligible: Eligible = ONE, **asked: Any) -> StreamGrant:
    (only,) = issued(replace(ASKED, streams=(StreamSelection(stream, **asked),)), eligible).streams
    return only


def refused(stream: str, eligible: Eligible = ONE, **asked: Any) -> tuple[str | None, str]:
    with pytest.raises(InvalidAuthorizationDetails) as refusal:
        granted(stream, eligible, **asked)
    return refusal.value.param, refusal.value.message


def test_a_grant_carries_who_asked_whom_and_why() -> None:
    grant = issued(replace(ASKED, streams=(StreamSelection("notes"),)))

    assert grant == Grant(
        grant_id="grt_1",
        issued_at="2026-11-15T19:00:00.000Z",
        subject="owner_local",
        client_id="cli_1",
        client_name="Assistant",
        source=DECLARATION.source,
        declaration_version="2026-11-01",
        purpose_code="https://pdpp.dev/purpose/export",
        purpose_description="Because.",
        access_mode="continuous",
        streams=(StreamGrant(DECLARATION.streams["notes"], ("cin_1",), frozenset({"id", "text"})),),
        expires_at="2027-01-01T00:00:00.000Z",
    )


@requirement("grants.issue.resolution")
def test_a_star_stands_for_every_stream_with_all_its_fields() -> None:
    grant = issued(replace(ASKED, streams=(StreamSelection("*"),)))

    assert [stream.name for stream in grant.streams] == ["entries", "photos", "notes"]
    assert all(stream.fields == frozenset(stream.declared.fields) for stream in grant.streams)


def test_a_star_keeps_the_bounds_that_came_with_it() -> None:
    assert refused("*", time=TimeRange(since="2026-01-01"))[0] == "/streams/0/time_range"
    assert refused("*", fields=("id",))[0] in {"/streams/0/fields", "/streams/0/fields/0"}

    grant = issued(replace(ASKED, streams=(StreamSelection("*", connections=("cin_2",)),)), TWO)
    assert {stream.connections for stream in grant.streams} == {("cin_2",)}


@requirement("grants.issue.resolution")
def test_a_preset_stands_for_the_streams_and_fields_that_its_publisher_chose() -> None:
    grant = issued(replace(ASKED, preset="reading"))

    assert [(stream.name, stream.fields) for stream in grant.streams] == [
        ("entries", {"id", "title", "written_at"}),
        ("photos", {"entry_id", "number", "caption"}),
        ("notes", {"id", "text"}),
    ]


def test_an_unknown_preset_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidAuthorizationDetails, match="there is reading") as refusal:
        issued(replace(ASKED, preset="writing"))

    assert refusal.value.param == "/selection_preset"


@requirement("grants.issue.resolution")
def test_a_view_becomes_its_fields() -> None:
    assert granted("entries", view="titles").fields == {"id", "title", "written_at"}


def test_keys_and_required_fields_are_always_granted() -> None:
    assert granted("entries", fields=("mood",)).fields == {"mood", "id", "title"}
    assert granted("notes", fields=("text",)).fields == {"text", "id"}


def test_a_time_range_bounds_the_consent_time() -> None:
    time = granted("entries", time=TimeRange("2026-01-01", "2026-02-01T00:00:00+02:00")).time

    assert time == TimeConstraint("written_at", "2026-01-01", "2026-02-01T00:00:00+02:00")


@pytest.mark.parametrize(
    ("stream", "since", "until", "place"),
    [
        ("notes", "2026-01-01", None, ""),
        ("entries", "2026-02-01", "2026-01-01", ""),
        ("entries", "2026-02-01", "2026-02-01T00:00:00Z", ""),
        ("entries", "2026-02-01T00:00:00Z", "2026-02-01T01:00:00+02:00", ""),
        ("entries", "yesterday", None, "/since"),
        ("entries", None, "2026-13-01", "/until"),
        ("entries", None, None, ""),
    ],
)
def test_a_time_range_that_bounds_nothing_is_refused(
    stream: str, since: str | None, until: str | None, place: str
) -> None:
    assert refused(stream, time=TimeRange(since, until))[0] == f"/streams/0/time_range{place}"


def test_several_connections_are_never_joined_unless_each_was_named() -> None:
    assert granted("notes").connections == ("cin_1",)
    assert granted("notes", TWO, connections=("cin_2",)).connections == ("cin_2",)
    assert granted("notes", TWO, connections=("cin_2", "cin_1")).connections == ("cin_2", "cin_1")

    with pytest.raises(InvalidAuthorizationDetails) as refusal:
        granted("notes", TWO)
    assert refusal.value.param == "/streams/0/instance_ids"
    assert "cin_1, cin_2" in refusal.value.remedy
    assert "cin_1" not in refusal.value.message


def test_a_refused_connection_names_those_that_exist() -> None:
    with pytest.raises(InvalidAuthorizationDetails) as refusal:
        granted("notes", TWO, connections=("cin_1", "cin_9"))

    assert [candidate.connection_id for candidate in refusal.value.candidates] == ["cin_1", "cin_2"]
    assert [candidate.connector_key for candidate in refusal.value.candidates] == ["diary", "diary"]


@pytest.mark.parametrize("eligible", [{}, {"notes": ()}, {"entries": ("cin_1",)}])
def test_a_stream_that_no_connection_holds_is_refused(eligible: Eligible) -> None:
    assert "no connection holds it" in refused("notes", eligible)[1]
    assert "no connection holds it" in refused("notes", eligible, connections=("cin_1",))[1]


def test_narrowing_is_refused_where_the_stream_does_not_offer_it() -> None:
    assert refused("photos", fields=("caption",))[0] == "/streams/0/fields"
    assert refused("notes", resources=("a",))[0] == "/streams/0/resources"


@pytest.mark.parametrize(
    ("stream", "asked", "param", "valid"),
    [
        ("letters", {}, "/streams/0/name", "entries, photos, notes"),
        ("entries", {"view": "all"}, "/streams/0/view", "titles"),
        ("photos", {"view": "all"}, "/streams/0/view", "none"),
        ("notes", {"fields": ("id", "body")}, "/streams/0/fields/1", "id, text"),
    ],
)
def test_an_unknown_name_is_refused_with_the_known_ones(
    stream: str, asked: dict[str, Any], param: str, valid: str
) -> None:
    found, message = refused(stream, **asked)

    assert found == param
    assert message.endswith(f"there is {valid}.")


@pytest.mark.parametrize(
    ("stream", "keys", "canonical"),
    [
        ("entries", ("a", '["b","c"]', ("d",)), {"a", '["b","c"]', "d"}),
        ("photos", (("a", "1"), '["b","2"]', '[ "ü" , "3" ]'), {'["a","1"]', '["b","2"]', '["ü","3"]'}),
    ],
)
def test_record_keys_are_granted_in_their_canonical_form(stream: str, keys: Any, canonical: set[str]) -> None:
    assert granted(stream, resources=keys).resources == canonical


@pytest.mark.parametrize(
    ("stream", "key"),
    [
        ("entries", ("a", "b")),
        ("photos", "a"),
        ("photos", ("a",)),
        ("photos", ("a", "b", "c")),
        ("photos", '["a"]'),
        ("photos", '["a",1]'),
        ("photos", '{"a":"b"}'),
        ("photos", "[" * 5000),
    ],
)
def test_a_key_with_the_wrong_number_of_parts_is_refused(stream: str, key: Any) -> None:
    assert refused(stream, resources=(key,))[0] == "/streams/0/resources/0"


def test_another_source_or_kind_is_refused() -> None:
    streams = (StreamSelection("notes"),)
    for change, param in (
        ({"source_id": "https://example.org/"}, "/source/id"),
        ({"source_kind": "x"}, "/source/kind"),
    ):
        with pytest.raises(InvalidAuthorizationDetails) as refusal:
            issued(replace(ASKED, streams=streams, **change))
        assert refusal.value.param == param

    assert issued(replace(ASKED, streams=streams, source_kind=None)).source.kind == "connector"


def test_the_owner_holds_everything_without_bounds() -> None:
    grant = everything(DECLARATION, ("cin_1", "cin_2"))

    assert (grant.grant_id, grant.client_id, grant.expires_at) == ("owner:diary@2026-11-01", "owner", None)
    assert grant.streams == tuple(
        StreamGrant(stream, ("cin_1", "cin_2"), frozenset(stream.fields)) for stream in DECLARATION.streams.values()
    )


days = st.none() | st.dates().map(str)
selections = st.builds(
    StreamSelection,
    name=st.sampled_from([*DECLARATION.streams, "*"]),
    connections=st.none() | st.lists(st.sampled_from(["cin_1", "cin_2", "cin_3"]), min_size=1, unique=True).map(tuple),
    time=st.none() | st.builds(TimeRange, days, days),
    fields=st.none() | st.lists(st.sampled_from(["id", "title", "body", "text", "mood"]), min_size=1).map(tuple),
    resources=st.none() | st.lists(st.sampled_from(["a", '["a","b"]', ("a", "b")]), min_size=1).map(tuple),
)


@given(
    asked=st.lists(selections, min_size=1, max_size=3, unique_by=lambda one: one.name),
    eligible=st.sampled_from([ONE, TWO]),
)
def test_no_grant_gives_more_than_was_asked(asked: list[StreamSelection], eligible: Eligible) -> None:
    assume(len(asked) == 1 or all(one.name != "*" for one in asked))
    try:
        grant = issued(replace(ASKED, streams=tuple(asked)), eligible)
    except InvalidAuthorizationDetails:
        return

    for stream in grant.streams:
        (one,) = (one for one in asked if one.name in {"*", stream.name})
        always = {*stream.declared.primary_key, *stream.declared.schema.get("required", [])}
        assert stream.fields <= {*(stream.declared.fields if one.fields is None else one.fields), *always}
        assert {*stream.connections} <= {*(eligible[stream.name] if one.connections is None else one.connections)}
        assert {*stream.connections} <= {*eligible[stream.name]}
        assert len(stream.connections) == 1 or one.connections is not None
        assert (stream.time is None) == (one.time is None)
        if stream.time and one.time:
            assert (stream.time.since, stream.time.until) == (one.time.since, one.time.until)
        assert (stream.resources is None) == (one.resources is None)
        if stream.resources is not None and one.resources is not None:
            assert len(stream.resources) <= len({*one.resources})

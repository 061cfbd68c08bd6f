"""Each dimension of a grant narrows, a request narrows further, and nothing ever widens."""

import ast
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pdpp_server
from pdpp_server.errors import (
    AmbiguousConnection,
    AmbiguousSchemaDetail,
    ConnectionNotFound,
    FieldNotGranted,
    InvalidRequest,
    PdppError,
    StreamNotGranted,
    UnknownField,
)
from pdpp_server.grants.issue import everything
from pdpp_server.grants.permit import permit
from pdpp_server.grants.permitted import Scope
from pdpp_server.model.grants import Holder, StreamGrant, TimeConstraint
from pdpp_server.model.queries import FetchQuery, Query, SchemaQuery, SearchQuery, WindowQuery
from pdpp_server.model.sources import Origin
from tests.requirements import requirement
from tests.worlds.chat import DECLARATION

WORK, FAMILY = "cin_work", "cin_family"
ORIGINS = {id: Origin(id, "chat", id) for id in (WORK, FAMILY)}
MESSAGES, CHANNELS = DECLARATION.streams["messages"], DECLARATION.streams["channels"]
ALL = everything(DECLARATION, (WORK, FAMILY))
KEYS, FIELDS = ("m1", "m2", "m3"), tuple(MESSAGES.fields)


def holder(*streams: StreamGrant) -> Holder:
    return Holder("client", "cli", (replace(ALL, grant_id="grt", streams=streams),), ORIGINS)


def messages(**narrowing: object) -> StreamGrant:
    return replace(StreamGrant(MESSAGES, (WORK, FAMILY), frozenset(FIELDS)), **narrowing)  # pyright: ignore[reportArgumentType]


@requirement("grants.permit.streams")
def test_only_granted_streams_are_permitted() -> None:
    narrow = holder(messages())

    assert [scope.stream.name for scope in permit(narrow, SearchQuery("x")).scopes] == ["messages"]
    assert [scope.stream.name for scope in permit(narrow, SchemaQuery()).scopes] == ["messages"]
    assert permit(narrow, SchemaQuery("channels")).scopes == ()
    for query in (
        FetchQuery("channels", "k"),
        WindowQuery("channels", "k", "topic"),
        SearchQuery("x", streams=("messages", "channels")),
        FetchQuery("no such stream", "k"),
    ):
        with pytest.raises(StreamNotGranted) as refused:
            permit(narrow, query)
        assert "messages" in refused.value.remedy


@requirement("grants.permit.streams")
def test_an_unknown_and_an_ungranted_stream_are_refused_alike() -> None:
    narrow = holder(messages())

    told: list[tuple[str, str]] = []
    for stream in ("channels", "nonsense"):
        with pytest.raises(StreamNotGranted) as refused:
            permit(narrow, FetchQuery(stream, "k"))
        told.append((refused.value.message.replace(stream, ""), refused.value.remedy))

    assert told[0] == told[1]


@requirement("grants.permit.connections")
def test_only_granted_connections_are_permitted() -> None:
    narrow = holder(messages(connections=(WORK,)))

    assert all(scope.connections == (WORK,) for scope in permit(narrow, SearchQuery("x")).scopes)
    for query in (
        FetchQuery("messages", "m1", FAMILY),
        FetchQuery("messages", "m1", "cin_unknown"),
        WindowQuery("messages", "m1", "text", FAMILY),
        SearchQuery("x", connection_id=FAMILY),
    ):
        with pytest.raises(ConnectionNotFound):
            permit(narrow, query)
    assert permit(narrow, SchemaQuery(connection_id=FAMILY)).scopes == ()


@requirement("grants.permit.connections")
def test_a_connection_is_granted_for_each_stream_by_itself() -> None:
    mixed = holder(messages(connections=(WORK,)), StreamGrant(CHANNELS, (FAMILY,), frozenset(CHANNELS.fields)))

    with pytest.raises(ConnectionNotFound):
        permit(mixed, FetchQuery("messages", "m1", FAMILY))
    scopes = permit(mixed, SearchQuery("x", connection_id=FAMILY)).scopes
    assert [(scope.stream.name, scope.connections) for scope in scopes] == [("channels", (FAMILY,))]


@requirement("grants.permit.fields")
def test_only_granted_fields_are_permitted() -> None:
    narrow = holder(messages(fields=frozenset({"id", "text"})))

    assert permit(narrow, FetchQuery("messages", "m1")).scopes[0].fields == {"id", "text"}
    with pytest.raises(FieldNotGranted):
        permit(narrow, FetchQuery("messages", "m1", fields=("text", "author")))
    with pytest.raises(FieldNotGranted):
        permit(narrow, WindowQuery("messages", "m1", "author"))
    with pytest.raises(UnknownField) as refused:
        permit(narrow, FetchQuery("messages", "m1", fields=("nonsense",)))
    assert "author" not in refused.value.remedy


@requirement("grants.permit.time")
def test_time_bounds_reach_the_scope() -> None:
    time = TimeConstraint("sent_at", "1970-01-01T00:00:01Z", "1970-01-01T00:00:02Z")

    (scope,) = permit(holder(messages(time=time)), SearchQuery("x")).scopes

    assert (scope.since, scope.until) == (1_000_000, 2_000_000)


@requirement("grants.permit.resources")
def test_named_records_reach_the_scope() -> None:
    (scope,) = permit(holder(messages(resources=frozenset({"m1"}))), FetchQuery("messages", "m2")).scopes

    assert scope.resources == {"m1"}


@requirement("grants.permit.request-narrows")
def test_a_request_can_only_narrow() -> None:
    (scope,) = permit(holder(messages()), FetchQuery("messages", "m1", WORK, ("text",))).scopes

    assert scope.connections == (WORK,)
    assert scope.fields == {"text", "id"}  # and the key, always


def test_the_full_schema_is_given_for_one_stream_of_one_source() -> None:
    with pytest.raises(InvalidRequest):
        permit(holder(messages()), SchemaQuery(full=True))
    with pytest.raises(AmbiguousSchemaDetail) as refused:
        permit(holder(messages()), SchemaQuery("messages", full=True))
    assert [candidate.connection_id for candidate in refused.value.candidates] == [WORK, FAMILY]
    assert permit(holder(messages()), SchemaQuery("messages", WORK, full=True)).scopes


def test_several_grants_must_say_which_source_they_mean() -> None:
    one = replace(ALL, grant_id="grt_1", streams=(messages(connections=(WORK,)),))
    two = replace(ALL, grant_id="grt_2", streams=(messages(connections=(FAMILY,)),))
    package = Holder("mcp_package", "cli", (one, two), ORIGINS, "gpkg")

    with pytest.raises(AmbiguousConnection) as refused:
        permit(package, FetchQuery("messages", "m1"))

    assert [(c.connection_id, c.grant_id) for c in refused.value.candidates] == [(WORK, "grt_1"), (FAMILY, "grt_2")]
    assert [scope.grant_id for scope in permit(package, FetchQuery("messages", "m1", FAMILY)).scopes] == ["grt_2"]


# A narrower grant never permits more.

TIMES = st.sampled_from([None, "2026-01-01", "2026-02-01", "2026-03-01"])
STREAM_GRANTS = st.builds(
    lambda connections, fields, since, until, resources: StreamGrant(
        MESSAGES,
        tuple(sorted(connections)),
        frozenset(fields) | {"id"},
        TimeConstraint("sent_at", since, until) if since or until else None,
        resources,
    ),
    st.sets(st.sampled_from((WORK, FAMILY)), min_size=1),
    st.sets(st.sampled_from(FIELDS)),
    TIMES,
    TIMES,
    st.none() | st.frozensets(st.sampled_from(KEYS)),
)
CONNECTIONS = st.none() | st.sampled_from((WORK, FAMILY))
QUERIES = st.one_of(
    st.builds(SearchQuery, st.just("x"), st.none() | st.just(("messages",)), CONNECTIONS),
    st.builds(
        FetchQuery,
        st.just("messages"),
        st.sampled_from(KEYS),
        CONNECTIONS,
        st.none() | st.lists(st.sampled_from(FIELDS), min_size=1, max_size=2).map(tuple),
    ),
    st.builds(WindowQuery, st.just("messages"), st.sampled_from(KEYS), st.sampled_from(FIELDS)),
    st.builds(SchemaQuery, st.none() | st.just("messages")),
)


def narrowed(wide: StreamGrant, by: StreamGrant) -> StreamGrant | None:
    """What both give."""
    connections = tuple(name for name in wide.connections if name in by.connections)
    times = [grant.time for grant in (wide, by) if grant.time]
    since, until = [time.since for time in times if time.since], [time.until for time in times if time.until]
    resources = [grant.resources for grant in (wide, by) if grant.resources is not None]
    time = TimeConstraint("sent_at", max(since, default=None), min(until, default=None)) if times else None
    both = frozenset.intersection(*resources) if resources else None
    return StreamGrant(MESSAGES, connections, wide.fields & by.fields, time, both) if connections else None


def within(inner: Scope, outer: Scope) -> bool:
    return (
        {*inner.connections} <= {*outer.connections}
        and inner.fields <= outer.fields
        and (outer.since is None or (inner.since is not None and inner.since >= outer.since))
        and (outer.until is None or (inner.until is not None and inner.until <= outer.until))
        and (outer.resources is None or (inner.resources is not None and inner.resources <= outer.resources))
    )


@given(STREAM_GRANTS, STREAM_GRANTS, QUERIES)
@requirement("grants.permit.monotone")
def test_a_narrower_grant_never_permits_more(wide: StreamGrant, by: StreamGrant, query: Query) -> None:
    narrow = narrowed(wide, by)
    if narrow is None:
        return
    try:
        permitted = permit(holder(narrow), query)
    except PdppError:
        return

    outer = permit(holder(wide), query).scopes  # what the narrow grant permits, the wide one does not refuse

    assert all(any(within(scope, other) for other in outer) for scope in permitted.scopes)


@given(STREAM_GRANTS, QUERIES)
@requirement("grants.permit.request-narrows")
def test_no_request_reaches_beyond_its_grant(granted: StreamGrant, query: Query) -> None:
    try:
        scopes = permit(holder(granted), query).scopes
    except PdppError:
        return

    (whole,) = permit(holder(granted), SearchQuery("x")).scopes
    assert all(within(scope, whole) for scope in scopes)


@requirement("grants.permit.only-key")
def test_only_permit_builds_the_key_to_the_store() -> None:
    root = Path(pdpp_server.__file__).parent
    builders = {
        path.relative_to(root).as_posix()
        for path in root.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Permitted"
    }

    assert builders == {"grants/permit.py"}


def test_the_owner_may_ask_for_a_stream_that_is_not_there() -> None:
    owner = Holder("owner", None, (ALL,), ORIGINS)

    assert permit(owner, SearchQuery("x", streams=("nonsense",))).scopes == ()


def test_what_a_holder_may_touch_is_found_once_and_a_refusal_never_kept() -> None:
    narrow = holder(messages())
    one, window = FetchQuery("messages", "m1", WORK), WindowQuery("messages", "m1", "text", WORK)
    found = [permit(narrow, query).scopes for query in (one, window)]
    for number in range(20):
        for query in (
            FetchQuery(f"stream {number}", "k"),
            FetchQuery("messages", "k", f"cin_{number}"),
            FetchQuery("messages", "k", connector_key=f"connector {number}"),
            WindowQuery("messages", "k", f"field {number}", WORK),
        ):
            with pytest.raises(PdppError):
                permit(narrow, query)

    again = [permit(narrow, query).scopes for query in (replace(one, key="m2"), replace(window, key="m2"))]
    assert all(second is first for first, second in zip(found, again, strict=True))
    assert narrow.found.keys() == {("messages", WORK, None), ("messages", WORK, None, "text")}


def test_of_another_holder_nothing_is_found() -> None:
    wide, narrow = holder(messages()), holder(messages(fields=frozenset({"id"})))
    assert permit(wide, FetchQuery("messages", "m1")).scopes[0].fields == frozenset(FIELDS)
    assert permit(narrow, FetchQuery("messages", "m1")).scopes[0].fields == {"id"}
    assert permit(replace(wide, grants=narrow.grants), FetchQuery("messages", "m1")).scopes[0].fields == {"id"}

"""The words of an explanation say what the decision did."""

from dataclasses import replace

from hypothesis import given

from pdpp_server.errors import PdppError
from pdpp_server.grants.explain import explain
from pdpp_server.grants.permit import permit
from pdpp_server.model.grants import StreamGrant, TimeConstraint
from pdpp_server.model.queries import FetchQuery, Query, SchemaQuery, SearchQuery
from tests.requirements import requirement
from tests.unit.grants.test_permit import FAMILY, QUERIES, STREAM_GRANTS, WORK, holder, messages


@requirement("grants.explain.same-decision")
@given(STREAM_GRANTS, QUERIES)
def test_an_explanation_agrees_with_the_decision(granted: StreamGrant, query: Query) -> None:
    first, *others = explain(holder(granted), query)
    try:
        scopes = permit(holder(granted), query).scopes
    except PdppError as refusal:
        assert first.startswith(f"Refused: {refusal.code}.")
        return

    assert first.startswith("Permitted")
    assert bool(others) == bool(scopes)


def test_a_permitted_query_names_connections_fields_time_and_records() -> None:
    granted = messages(
        connections=(WORK,),
        fields=frozenset({"id", "text"}),
        time=TimeConstraint("sent_at", "2026-01-01", "2026-02-01"),
        resources=frozenset({"m1", "m2"}),
    )

    assert explain(holder(granted), SearchQuery("x")) == [
        "Permitted.",
        "messages: from cin_work, by grant grt.",
        "messages: fields id, text; hidden: subject, author, sent_at, likes, reactions.",
        "messages: only records whose sent_at is from 2026-01-01T00:00:00.000Z and before 2026-02-01T00:00:00.000Z.",
        "messages: only 2 named records.",
    ]


def test_a_refused_query_says_why_and_what_to_do() -> None:
    (sentence,) = explain(holder(messages(connections=(WORK,))), FetchQuery("messages", "m1", FAMILY))

    assert sentence.startswith("Refused: connection_not_found. No connection 'cin_family' is granted here.")


def test_nothing_to_read_is_said() -> None:
    (sentence,) = explain(holder(replace(messages(), connections=(WORK,))), SchemaQuery("channels"))

    assert "nothing would be read" in sentence

"""GET /v1/schema."""

import pytest

from tests.requirements import requirement
from tests.scenarios.resource_server.chats import DECLARATION, Api


@requirement("rs.schema.full-body", "rs.schema.granted-only", "rs.schema.connector-key")
def test_the_full_schema_gives_each_granted_stream(api: Api) -> None:
    (connector,) = api.body("/v1/schema")["connectors"]
    messages, photos = connector["streams"]

    assert (connector["connector_key"], connector["source"]) == ("chats", DECLARATION["source"])
    assert (messages["name"], photos["name"]) == ("messages", "photos")
    assert messages["schema"] == DECLARATION["streams"][0]["schema"]
    assert [entry["connection_id"] for entry in photos["granted_connections"]] == [api.chats.work]
    assert {entry["connection_id"]: entry.get("display_name") for entry in messages["granted_connections"]} == {
        api.chats.work: "Work chat",
        api.chats.mine: None,
    }
    assert messages["record_count"] == 35
    assert messages["freshness"] == {"status": "unknown", "captured_at": "2026-11-09T12:01:00.000Z"}


@requirement("rs.schema.capability-flags", "rs.schema.roles-declared")
def test_a_field_says_what_it_can(api: Api) -> None:
    fields = api.body("/v1/schema?stream=messages")["connectors"][0]["streams"][0]["field_capabilities"]

    assert (fields["subject"]["type"], fields["subject"]["role"], fields["subject"]["granted"]) == (
        "text",
        "primary-title",
        True,
    )
    assert "type" not in fields["size"]
    assert fields["sent_at"]["range_filter"] == {"declared": True, "usable": True, "operators": ["gte", "lt"]}
    assert fields["secret"]["lexical_search"] == {"declared": True, "usable": False, "reason": "field_not_granted"}


@requirement(
    "rs.schema.compact-body", "rs.schema.compact-keeps", "rs.schema.flag-grammar", "rs.schema.connections-lifted"
)
def test_the_compact_schema_has_one_short_row_for_each_stream(api: Api) -> None:
    body = api.body("/v1/schema?view=compact")
    (connector,) = body["connectors"]
    messages, photos = connector["streams"]

    assert (body["detail"], body["connector_count"], body["stream_count"]) == ("compact", 1, 2)
    assert {"schema", "query", "relationships"}.isdisjoint(messages)
    assert (messages["semantics"], messages["consent_time_field"], messages["views"]) == (
        "mutable_state",
        "sent_at",
        ["heads"],
    )
    assert messages["field_capabilities"]["sent_at"] == "t=date-time,eq,r=gte|lt"
    assert messages["field_capabilities"]["secret"].startswith("t=string,g=false,")
    assert len(connector["granted_connections"]) == 2
    assert "granted_connections" not in messages
    assert len(photos["granted_connections"]) == 1


@requirement("rs.schema.bearer")
def test_the_schema_says_what_the_token_is(api: Api) -> None:
    assert api.body("/v1/schema")["bearer"] == {
        "token_kind": "client",
        "scope": "grant",
        "grant_id": "grt_1",
        "client_id": "cli_1",
    }
    assert api.body("/v1/schema", token="tok_owner")["bearer"] == {"token_kind": "owner", "scope": "owner"}


@requirement("rs.schema.stream-scope", "rs.schema.no-match")
def test_selectors_keep_their_rows_and_an_unknown_one_keeps_none(api: Api) -> None:
    (connector,) = api.body(f"/v1/schema?stream=messages&connection_id={api.chats.mine}")["connectors"]
    (row,) = connector["streams"]

    assert (row["name"], [entry["connection_id"] for entry in row["granted_connections"]]) == (
        "messages",
        [api.chats.mine],
    )
    for unknown in ("stream=diary", "stream=nothing", "connection_id=cin_x"):
        assert api.body(f"/v1/schema?{unknown}")["connectors"] == []


@requirement("rs.schema.detail-needs-stream", "rs.schema.ambiguous-detail")
def test_full_detail_is_of_one_stream_of_one_source(api: Api) -> None:
    error = api.get("/v1/schema?detail=full&stream=messages").json()["error"]

    assert api.refusal("/v1/schema?detail=full") == (400, "invalid_request", "detail")
    assert (error["code"], error["param"], error["retry_with"]) == (
        "ambiguous_schema_detail",
        "connection_id",
        "connection_id",
    )
    assert len(error["available_connections"]) == 2
    assert api.body("/v1/schema?detail=full&stream=photos")["connectors"][0]["stream_count"] == 1


@requirement("rs.selector.schema-without-alias", "rs.parameters.unknown-refused")
@pytest.mark.parametrize("param", ["connector_instance_id", "limit", "q"])
def test_an_unknown_parameter_is_refused(api: Api, param: str) -> None:
    assert api.refusal(f"/v1/schema?{param}=x") == (400, "invalid_request", param)

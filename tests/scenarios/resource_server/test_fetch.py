"""GET /v1/streams/{stream}/records/{id}."""

from urllib.parse import quote

import pytest

from tests.requirements import requirement
from tests.scenarios.resource_server.chats import Api

M1 = "/v1/streams/messages/records/m1"


@requirement("rs.fetch.record", "rs.envelope.flat", "rs.envelope.links-and-meta", "rs.selector.canonical-out")
def test_a_record_is_the_body_itself(api: Api) -> None:
    body = api.body(M1)

    assert (body["object"], body["id"], body["stream"]) == ("record", "m1", "messages")
    assert (body["connection_id"], body["connector_key"]) == (api.chats.work, "chats")
    assert body["display_name"] == "Work chat"
    assert body["emitted_at"] == "2026-11-09T12:01:00.000Z"
    assert body["authored_at"] == "2026-11-09T11:59:00Z"
    assert body["data"]["subject"] == "Overdraft"
    assert body["links"] == {"self": M1}
    assert body["meta"] == {"count": {"kind": "none"}, "warnings": []}
    assert "connector_instance_id" not in body


@requirement("grants.permit.fields", "rs.fetch.no-stored-size")
def test_what_is_not_granted_is_not_there(api: Api) -> None:
    body = api.body(M1)

    assert set(body["data"]) == {"id", "subject", "text", "sent_at", "words", "size"}
    assert "zebra" not in str(body)
    assert "record_json_bytes" not in body


@requirement("rs.fetch.compound-key")
def test_a_compound_key_and_a_key_with_slashes_are_read_percent_encoded(api: Api) -> None:
    slashed, compound = "a/b c?+%", '["2026-11-01","2"]'

    assert api.body(f"/v1/streams/messages/records/{quote(slashed, safe='')}")["id"] == slashed
    assert api.body(f"/v1/streams/photos/records/{quote(compound, safe='')}")["id"] == compound


@requirement("rs.fetch.compound-key")
def test_a_raw_slash_is_another_address(api: Api) -> None:
    assert api.refusal("/v1/streams/messages/records/a/b%20c%3F%2B%25")[:2] == (404, "not_found")
    assert api.refusal("/v1/streams/messages/records/m1/")[:2] == (404, "not_found")


@requirement("rs.fetch.fields", "rs.transport.repeated-parameters")
@pytest.mark.parametrize(
    "fields", ["fields=subject,size", "fields=subject&fields=size", "fields[]=size&fields[]=subject"]
)
def test_fields_are_projected(api: Api, fields: str) -> None:
    assert api.body(f"{M1}?{fields}")["data"] == {"id": "m1", "subject": "Overdraft", "size": 7}


@requirement("rs.fetch.field-not-granted")
def test_a_field_that_is_not_granted_or_not_declared_is_refused(api: Api) -> None:
    assert api.refusal(f"{M1}?fields=secret")[:2] == (403, "field_not_granted")
    assert api.refusal(f"{M1}?fields=nothing")[:2] == (400, "unknown_field")


@requirement("rs.enforcement.ambiguous", "rs.fetch.ambiguous-candidates", "rs.errors.conflict-types")
def test_a_record_that_two_connections_hold_needs_one_of_them(api: Api) -> None:
    response = api.get("/v1/streams/messages/records/same")
    error = response.json()["error"]

    assert (response.status_code, error["type"], error["code"]) == (409, "conflict_error", "ambiguous_connection")
    assert error["retry_with"] == "connection_id"
    assert {entry["connection_id"] for entry in error["available_connections"]} == {api.chats.work, api.chats.mine}
    assert (
        api.body(f"/v1/streams/messages/records/same?connection_id={api.chats.mine}")["connection_id"] == api.chats.mine
    )
    assert api.body("/v1/streams/messages/records/h1")["connection_id"] == api.chats.mine


@requirement("rs.selector.alias-warned", "rs.warnings.closed-set")
def test_the_old_name_of_a_connection_works_and_warns(api: Api) -> None:
    body = api.body(f"/v1/streams/messages/records/same?connector_instance_id={api.chats.mine}")

    assert body["connection_id"] == api.chats.mine
    assert [(warned["code"], warned["param"]) for warned in body["meta"]["warnings"]] == [
        ("deprecated_alias_used", "connector_instance_id")
    ]


@requirement("rs.selector.alias-conflict", "rs.selector.empty-is-absent")
def test_two_connections_are_refused_and_an_empty_one_is_none(api: Api) -> None:
    both = f"connection_id={api.chats.work}&connector_instance_id={api.chats.mine}"

    assert api.refusal(f"{M1}?{both}") == (400, "invalid_argument", "connector_instance_id")
    assert api.body(f"{M1}?connection_id=")["id"] == "m1"


@requirement("rs.enforcement.hidden-not-found", "grants.permit.time")
def test_a_hidden_record_is_refused_like_one_that_does_not_exist(api: Api) -> None:
    hidden, absent = (api.get(f"/v1/streams/messages/records/{key}", Request_Id="r").json() for key in ("old", "old2"))

    assert hidden["error"]["code"] == "not_found"
    assert str(hidden).replace("old", "old2") == str(absent) or hidden == absent


@requirement("rs.enforcement.stream-not-granted", "grants.permit.streams")
def test_a_stream_outside_the_grant_is_refused(api: Api) -> None:
    assert api.refusal("/v1/streams/diary/records/x")[:2] == (403, "grant_stream_not_allowed")


@requirement("rs.enforcement.connection-narrows", "grants.permit.request-narrows")
def test_a_connection_outside_the_grant_is_not_found_whether_or_not_it_exists(api: Api) -> None:
    photo = quote('["2026-11-01","2"]', safe="")
    for connection in (api.chats.mine, "cin_never"):
        refused = api.refusal(f"/v1/streams/photos/records/{photo}?connection_id={connection}")
        assert refused == (404, "connection_not_found", "connection_id")


@requirement("rs.parameters.unknown-refused")
@pytest.mark.parametrize("param", ["limit", "view", "order", "filter[id]", "q"])
def test_an_unknown_parameter_is_refused(api: Api, param: str) -> None:
    assert api.refusal(f"{M1}?{param}=x") == (400, "invalid_request", param.partition("[")[0])


@requirement("rs.tokens.kinds")
def test_the_owner_reads_every_field(api: Api) -> None:
    assert api.body(f"{M1}?connection_id={api.chats.work}", token="tok_owner")["data"]["secret"] == "zebra"


@requirement("store.engines.nul")
@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/v1/streams/messages/records/m%001", "not_found"),
        ("/v1/streams/messages/records?around=m%001", "not_found"),
        ("/v1/streams/messages/records?filter[subject]=m%001", None),
        ("/v1/streams/messages/records?connection_id=m%001", "connection_not_found"),
        ("/v1/search?q=%00lease%00", None),
        ("/v1/search?q=%00", None),
        ("/v1/blobs/blob_%00", "blob_not_found"),
    ],
)
def test_a_nul_is_a_character_that_no_record_has(api: Api, path: str, code: str | None) -> None:
    answer = api.get(path)

    assert answer.status_code < 500
    assert code is None or answer.json()["error"]["code"] == code

"""DELETE of one record, and of all records of a stream."""

from typing import Any
from urllib.parse import quote

import pytest

from pdpp_server.owner.desk import Owner
from tests.requirements import requirement
from tests.scenarios.resource_server.writes import OwnersTools, deletion, envelope

MESSAGES = "/v1/streams/messages/records"
PHOTO = quote('["2026-11-01","2"]', safe="")


def _bookmark(tools: OwnersTools) -> str:
    return tools.api.body(f"{MESSAGES}?changes_since=beginning&limit=100")["next_changes_since"]


@requirement("rs.deletes.idempotent")
def test_a_record_is_deleted_whether_or_not_it_was_there(tools: OwnersTools) -> None:
    for _ in range(2):
        response = tools.send("DELETE", f"{MESSAGES}/same?{tools.work}")
        assert (response.status_code, response.content) == (204, b"")
    assert tools.send("DELETE", f"{MESSAGES}/never?{tools.work}").status_code == 204

    assert not tools.has("same")
    assert tools.has("same", tools.chats.mine)


@requirement("rs.deletes.idempotent")
def test_a_key_of_any_shape_can_be_deleted(tools: OwnersTools) -> None:
    photos = "/v1/streams/photos/records"

    assert tools.send("DELETE", f"{MESSAGES}/{quote('a/b c?+%', safe='')}?{tools.work}").status_code == 204
    assert tools.send("DELETE", f"{photos}/{PHOTO}?{tools.work}").status_code == 204

    assert not tools.has(quote("a/b c?+%", safe=""))
    assert tools.api.get(f"{photos}/{PHOTO}").status_code == 404
    assert tools.refusal("DELETE", f"{photos}/one?{tools.work}") == (400, "invalid_record_identity", "id")


@requirement("rs.deletes.idempotent")
def test_readers_of_changes_are_told_of_a_deleted_record_once(tools: OwnersTools) -> None:
    since = _bookmark(tools)

    for _ in range(2):
        tools.send("DELETE", f"{MESSAGES}/m1?{tools.work}")

    (tombstone,) = tools.api.body(f"{MESSAGES}?changes_since={since}")["data"]
    assert (tombstone["id"], tombstone["deleted"]) == ("m1", True)


@requirement("rs.deletes.stream")
def test_a_stream_of_one_connection_is_emptied_and_others_are_whole(tools: OwnersTools) -> None:
    response = tools.send("DELETE", f"{MESSAGES}?{tools.work}")

    assert (response.status_code, response.content) == (204, b"")
    left = tools.api.body(f"{MESSAGES}?limit=100")["data"]
    assert {(record["id"], record["connection_id"]) for record in left} == {
        ("same", tools.chats.mine),
        ("h1", tools.chats.mine),
    }
    assert [hit["record_key"] for hit in tools.api.body("/v1/search?q=pizza")["data"]] == ["h1"]
    assert tools.api.body(f"{MESSAGES}?count=exact")["meta"]["count"]["value"] == 2
    assert tools.api.get(f"/v1/streams/photos/records/{PHOTO}").status_code == 200


@requirement("rs.deletes.bookmarks")
def test_bookmarks_from_before_a_stream_was_emptied_expire(tools: OwnersTools) -> None:
    since = _bookmark(tools)

    tools.send("DELETE", f"{MESSAGES}?{tools.work}")

    expired = tools.api.refusal(f"{MESSAGES}?changes_since={since}")
    assert expired[:2] == (410, "cursor_expired")
    again = _bookmark(tools)
    tools.post("messages", envelope("new"))
    assert [record["id"] for record in tools.api.body(f"{MESSAGES}?changes_since={again}")["data"]] == ["new"]


@requirement("rs.deletes.bookmarks")
def test_emptying_an_empty_stream_expires_nothing(tools: OwnersTools) -> None:
    tools.send("DELETE", f"{MESSAGES}?{tools.work}")
    since = _bookmark(tools)

    assert tools.send("DELETE", f"{MESSAGES}?{tools.work}").status_code == 204

    assert tools.api.body(f"{MESSAGES}?changes_since={since}")["data"] == []


@requirement("rs.deletes.bookmarks")
def test_bookmarks_from_before_a_connection_was_removed_expire(tools: OwnersTools) -> None:
    since = _bookmark(tools)

    Owner(tools.chats.services, tools.chats.home).remove_source(tools.chats.work)

    assert tools.api.refusal(f"{MESSAGES}?changes_since={since}")[:2] == (410, "cursor_expired")
    assert {record["id"] for record in tools.api.body(f"{MESSAGES}?limit=100")["data"]} == {"same", "h1"}


@requirement("rs.deletes.idempotent", "store.erasure.everywhere")
def test_nothing_of_a_deleted_record_is_in_any_byte(tools: OwnersTools) -> None:
    tools.post("messages", envelope("gone", "zyxwvut"), envelope("gone", "zyxwvut changed"))
    assert b"zyxwvut" in tools.bytes_of_home()

    tools.send("DELETE", f"{MESSAGES}/gone?{tools.work}")

    assert b"zyxwvut" not in tools.bytes_of_home()


@requirement("rs.deletes.stream", "store.erasure.everywhere")
def test_nothing_of_an_emptied_stream_is_in_any_byte(tools: OwnersTools) -> None:
    tools.post("messages", envelope("key-zyxwvut", "zyxwvut"), envelope("other-zyxwvut", "zyxwvut"))
    tools.post("messages", envelope("key-zyxwvut", "changed"), deletion("other-zyxwvut"))
    assert b"zyxwvut" in tools.bytes_of_home()

    tools.send("DELETE", f"{MESSAGES}?{tools.work}")

    assert b"zyxwvut" not in tools.bytes_of_home()


@requirement("rs.deletes.stream")
def test_an_emptied_stream_takes_the_same_records_again(tools: OwnersTools) -> None:
    tools.send("DELETE", f"{MESSAGES}?{tools.work}")

    assert tools.post("messages", envelope("m1", "Overdraft")).json()["records_accepted"] == 1

    assert [hit["record_key"] for hit in tools.api.body("/v1/search?q=overdraft")["data"]] == ["m1"]


@requirement("rs.deletes.routing")
@pytest.mark.parametrize(
    ("path", "refused"),
    [
        ("{records}", (400, "invalid_request", "connector_id")),
        ("{records}?connector_id=chats", (409, "ambiguous_connector_instance", "connection_id")),
        ("{records}?connector_id=nothing", (400, "connector_invalid", "connector_id")),
        ("{records}?connector_id=chats&connection_id=cin_x", (404, "connector_instance_not_found", "connection_id")),
        ("{records}?{work}&filter[id]=m1", (400, "invalid_request", "filter")),
        ("{records}?{work}&connection_id=cin_x", (400, "invalid_request", "connection_id")),
        ("/v1/streams/nothing/records?{work}", (404, "not_found", "stream")),
    ],
)
def test_a_deletion_that_names_nothing_certain_deletes_nothing(
    tools: OwnersTools, path: str, refused: tuple[Any, ...]
) -> None:
    for records in (MESSAGES, f"{MESSAGES}/m1"):
        assert tools.refusal("DELETE", path.format(records=records, work=tools.work)) == refused
    assert tools.has("m1")

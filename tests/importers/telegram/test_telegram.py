"""Telegram: pieces of text, times of old exports, what a message says without a text, and files beside it."""

import json
from typing import Any

import pytest

from pdpp_server.importers.source import Attachment, Outcome
from pdpp_server.importers.sources.telegram import TELEGRAM
from tests.importers.exports import export_of, read_export, reasons_of, records_of
from tests.requirements import requirement

MESSAGE = {"id": 1, "type": "message", "date": "2026-07-01T12:00:00", "from": "Ann", "from_id": "user7", "text": "Hi"}


def outcomes(*messages: dict[str, Any], **beside: bytes) -> list[Outcome]:
    chat = {"name": "Club", "type": "private_group", "id": 5, "messages": messages}
    media = {f"photos/{name}.jpg": data for name, data in beside.items()}
    return read_export(TELEGRAM, export_of({"result.json": json.dumps(chat).encode(), **media}))


def one(**told: Any) -> dict[str, Any]:
    (data,) = records_of(outcomes(MESSAGE | told), "messages")
    return data


@requirement("imp.telegram.messages")
@pytest.mark.parametrize(
    ("told", "sent_at"),
    [
        ({"date_unixtime": "1782900000"}, "2026-07-01T10:00:00.000Z"),
        ({}, "2026-07-01T10:00:00.000Z"),
        ({"date": "2026-01-01T12:00:00"}, "2026-01-01T11:00:00.000Z"),
        ({"date_unixtime": "soon"}, "2026-07-01T10:00:00.000Z"),
        ({"date": 7}, None),
    ],
)
def test_the_time_in_utc_is_taken_and_else_the_one_on_the_owner_s_clock(told: dict[str, Any], sent_at: str) -> None:
    assert one(**told).get("sent_at") == sent_at


@requirement("imp.telegram.messages")
@pytest.mark.parametrize(
    ("told", "text"),
    [
        ({"text": "plain"}, "plain"),
        (
            {"text": ["a ", {"type": "bold", "text": "b"}, 7, {"type": "link", "text": "https://c.example"}]},
            "a bhttps://c.example",
        ),
        ({"text": [{"type": "text_link", "text": "here", "href": "https://c.example"}]}, "here (https://c.example)"),
        ({"text": "", "poll": {"question": "When?", "answers": [{"text": "Now"}, {}]}}, "When?\n- Now"),
        ({"text": "", "location_information": {"latitude": 1.5, "longitude": 2}}, "(1.5, 2)"),
        ({"text": "", "contact_information": {"first_name": "Bo", "phone_number": "+49 1"}}, "Bo +49 1"),
        ({"type": "service", "action": "invite_members", "members": ["Bo", None, "Cy"], "text": ""}, "Bo, Cy"),
        ({"type": "service", "action": "phone_call", "duration_seconds": 9, "text": ""}, "9 seconds"),
    ],
)
def test_everything_that_is_said_becomes_text(told: dict[str, Any], text: str) -> None:
    assert one(**told)["text"] == text


@requirement("imp.telegram.messages")
def test_replies_edits_reactions_and_forwards_are_kept() -> None:
    reactions = [{"type": "emoji", "emoji": "👍", "count": 2}, {"type": "paid", "count": 1}, 7]
    data = one(reply_to_message_id=3, edited="2026-07-01T13:00:00", forwarded_from="News", reactions=reactions)
    assert (data["reply_to"], data["edited_at"], data["forwarded_from"]) == ("5:3", "2026-07-01T11:00:00.000Z", "News")
    assert data["reactions"] == [{"emoji": "👍", "count": 2}, {"emoji": "paid", "count": 1}]
    assert data["reaction_count"] == 3
    assert "reply_to" not in one(reply_to_message_id=3, reply_to_peer_id="channel9")


@requirement("imp.telegram.messages", "imp.files.attachments")
def test_a_file_beside_the_messages_becomes_a_blob_and_one_that_is_missing_only_a_name() -> None:
    there, missing = MESSAGE | {"photo": "photos/sea.jpg"}, MESSAGE | {"id": 2, "photo": "photos/lost.jpg"}
    outside = MESSAGE | {"id": 3, "file": "../secret"}
    read = outcomes(there, missing, outside, sea=b"picture")
    first, second, third = records_of(read, "messages")
    assert [one.data for one in read if isinstance(one, Attachment)] == [b"picture"]
    assert (first["media"]["size_bytes"], second["media_name"]) == (7, "lost.jpg")
    assert "media" not in second
    assert "media" not in third


@requirement("imp.telegram.messages")
def test_old_exports_have_numbers_for_people() -> None:
    assert one(from_id=7)["sender_id"] == one()["sender_id"] == "user7"


@requirement("imp.files.keys")
def test_an_id_that_repeats_with_other_content_is_another_message() -> None:
    read = outcomes(MESSAGE, MESSAGE, MESSAGE | {"text": "Other"}, {"type": "message", "text": "none"})
    keys = [data["id"] for data in records_of(read, "messages")]
    assert [key.partition("~")[0] for key in keys] == ["5:1", "5:1"]
    assert reasons_of(read) == [("result.json:item 4", "the message has no id")]


@requirement("imp.files.wrong-kind")
@pytest.mark.parametrize("data", [{}, {"messages": []}, {"about": "x"}, {"id": 1, "type": "x"}, []])
def test_other_json_is_left_alone(data: object) -> None:
    assert list(TELEGRAM.recognise(export_of({"result.json": json.dumps(data).encode()}))) == []


@requirement("imp.telegram.messages")
def test_a_full_export_without_chats_is_known_and_empty() -> None:
    text = {"about": "x", "personal_information": {"first_name": "Ann", "last_name": "Lee"}, "chats": {"list": []}}
    (account,) = TELEGRAM.recognise(export_of({"result.json": json.dumps(text).encode()}))
    assert account.name == "Ann Lee"
    assert list(TELEGRAM.read(account)) == []

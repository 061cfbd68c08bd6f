"""Slack: readable text, threads, people and channels that an export does not list, and workspaces apart."""

import json
from typing import Any

import pytest

from pdpp_server.importers.sources.slack import SLACK
from pdpp_server.importers.source import Files, Outcome
from tests.importers.exports import export_of, read_export, reasons_of, records_of
from tests.requirements import requirement

USERS = [{"id": "U1", "team_id": "T1", "name": "ann", "profile": {"display_name": "Ann"}}]
CHANNELS = [{"id": "C1", "name": "general", "members": ["U1", "U9"]}]


def export(*messages: Any, name: str = "export.zip", top: str = "", folder: str = "general") -> Files:
    contents = {"users.json": USERS, "channels.json": CHANNELS, f"{folder}/2026-03-01.json": messages}
    return export_of({f"{top}{path}": json.dumps(data).encode() for path, data in contents.items()}, name)


def outcomes(*messages: Any) -> list[Outcome]:
    return read_export(SLACK, export(*messages))


def one(**told: Any) -> dict[str, Any]:
    message = {"type": "message", "user": "U1", "text": "Hi", "ts": "1772352000.000100"}
    (data,) = records_of(outcomes(message | told), "messages")
    return data


@requirement("imp.slack.messages")
def test_the_marked_text_is_kept_where_it_differs() -> None:
    assert "raw_text" not in one()
    assert one(text="<@U1>")["raw_text"] == "<@U1>"


@requirement("imp.slack.messages")
def test_an_answer_names_the_message_that_began_its_thread_and_that_one_does_not_name_itself() -> None:
    begun = {"ts": "1772352000.000100", "thread_ts": "1772352000.000100", "reply_count": 1}
    assert "thread_id" not in one(**begun)
    assert one(ts="1772352060.000200", thread_ts="1772352000.000100")["thread_id"] == one(**begun)["id"]


@requirement("imp.slack.messages")
def test_no_address_that_opens_a_file_is_stored() -> None:
    data = one(files=[{"id": "F1", "name": "a.pdf", "url_private": "https://files.example/a?t=secret", "size": -1}, 7])
    assert data["files"] == [{"id": "F1", "name": "a.pdf"}]
    assert "secret" not in json.dumps(data)


@requirement("imp.slack.messages")
@pytest.mark.parametrize(
    ("told", "sender"),
    [
        ({"user": "U1"}, "Ann"),
        ({"user": "U9", "user_profile": {"real_name": "Bo"}}, "Bo"),
        ({"user": None, "username": "weather", "bot_id": "B1"}, "weather"),
        ({"user": None, "bot_profile": {"name": "tides"}}, "tides"),
        ({"user": "U9"}, "U9"),
        ({"user": None}, None),
    ],
)
def test_the_sender_is_named_as_well_as_the_export_can(told: dict[str, Any], sender: str | None) -> None:
    assert one(**told).get("sender") == sender


@requirement("imp.slack.messages", "imp.files.rejected")
@pytest.mark.parametrize("ts", [None, "", "yesterday", 1772352000.0001, "1" * 40 + ".1"])
def test_a_message_without_a_time_is_rejected_and_the_next_is_read(ts: object) -> None:
    read = outcomes({"text": "a", "ts": ts}, {"text": "b", "ts": "1772352000.000100"})
    assert [place for place, _ in reasons_of(read)] == ["general/2026-03-01.json:item 1"]
    assert len(records_of(read, "messages")) == 1


@requirement("imp.slack.messages")
def test_a_channel_that_is_not_listed_is_called_as_its_folder() -> None:
    read = read_export(SLACK, export({"text": "a", "ts": "1772352000.000100"}, folder="shared"))
    (message,) = records_of(read, "messages")
    listed = {data["id"]: data["name"] for data in records_of(read, "channels")}
    assert listed[message["channel_id"]] == message["channel_name"] == "shared"


@requirement("imp.files.recognised")
@pytest.mark.parametrize(
    ("name", "top", "account"),
    [
        ("Harbour Office Slack export Mar 1 2026 - Mar 2 2026.zip", "", "Harbour Office"),
        ("Harbour Office Slack export Mar 1 2026 - Mar 2 2026 (1).zip", "", "Harbour Office"),
        ("downloads", "Harbour Office Slack export Mar 1 2026 - Mar 2 2026/", "Harbour Office"),
        ("export.zip", "", "T1"),
    ],
)
def test_an_account_is_the_workspace(name: str, top: str, account: str) -> None:
    (found,) = SLACK.recognise(export(name=name, top=top))
    assert found.name == account


@requirement("imp.files.wrong-kind")
def test_users_of_something_else_are_left_alone() -> None:
    other = {"users.json": b'[{"email": "a@b.example"}]', "channels.json": b"[]"}
    assert list(SLACK.recognise(export_of(other))) == []
    assert list(SLACK.recognise(export_of({"users.json": json.dumps(USERS).encode()}))) == []

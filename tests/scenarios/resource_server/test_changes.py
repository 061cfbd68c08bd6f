"""GET /v1/streams/{stream}/records?changes_since=...: what changed, one session after the other."""

from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from pdpp_server.store.upkeep.history import prune
from tests.requirements import requirement
from tests.scenarios.resource_server.client import Client, served
from tests.worlds.chat import FAMILY, WORK, deletion, message
from tests.worlds.world import World

MESSAGES = "/v1/streams/messages/records"
BEGINNING = f"{MESSAGES}?changes_since=beginning"


class Feed(Client):
    """A client that may read subject and time of what was sent in the first half of 2026."""

    def since(self, bookmark: str) -> list[dict[str, Any]]:
        """What one short session tells."""
        body = self.get(f"{MESSAGES}?changes_since={bookmark}&limit=100")
        assert body["has_more"] is False
        return body["data"]

    def bookmark(self) -> str:
        return self.get(f"{BEGINNING}&limit=100")["next_changes_since"]


@pytest.fixture
def http(world: World) -> Iterator[TestClient]:
    with served(world) as client:
        yield client


@pytest.fixture
def feed(world: World, http: TestClient) -> Feed:
    half = {"since": "2026-01-01T00:00:00Z", "until": "2026-07-01T00:00:00Z"}
    return Feed(http, world.grant(world.both("messages", fields=["id", "subject", "sent_at"], time_range=half)))


@requirement("rs.changes.session", "rs.envelope.changes-next", "rs.changes.bookmark")
def test_a_session_is_followed_by_its_cursor_and_ends_with_a_bookmark(feed: Feed) -> None:
    link, found, bookmarks = f"{BEGINNING}&limit=3", list[str](), list[str | None]()
    while link:
        body = feed.get(link)
        found += [record["id"] for record in body["data"]]
        bookmarks.append(body.get("next_changes_since"))
        link = body["links"]["next"]
        assert link == (f"{MESSAGES}?limit=3&cursor={body['next_cursor']}" if body["has_more"] else None)

    assert sorted(found) == ["m1", "m1", "m2", "m2", "m3", "m4"]
    assert len(bookmarks) == 2 and bookmarks[0] is None and bookmarks[1]
    assert feed.since(bookmarks[1]) == []


@requirement("rs.changes.session")
def test_what_is_written_after_the_first_page_comes_in_the_next_session_once(feed: Feed, world: World) -> None:
    first = feed.get(f"{BEGINNING}&limit=1")
    for subject in ("Moved", "Moved again"):
        world.deliver(WORK, [message("m4", subject=subject, sent_at="2026-05-01T00:00:00Z")])
    world.deliver(FAMILY, [message("m9", subject="New", sent_at="2026-06-02T00:00:00Z")])

    rest = feed.get(f"{MESSAGES}?cursor={first['next_cursor']}")
    later = feed.since(rest["next_changes_since"])

    assert {record["id"]: record["data"]["subject"] for record in rest["data"]}["m4"] == "Kyoto"
    assert [(record["id"], record["data"]["subject"]) for record in later] == [("m4", "Moved again"), ("m9", "New")]


@requirement("rs.changes.bookmark")
@pytest.mark.parametrize("bookmark", ["", "2026-01-01T00:00:00Z", "BEGINNING", "0", "eyJ2IjoxfQ"])
def test_anything_but_beginning_or_a_bookmark_is_refused(feed: Feed, bookmark: str) -> None:
    assert feed.refusal(f"{MESSAGES}?changes_since={bookmark}") == (400, "invalid_cursor", "changes_since")


@requirement("rs.changes.bookmark")
def test_a_bookmark_belongs_to_its_grant_and_its_fields(feed: Feed, http: TestClient, world: World) -> None:
    bookmark = feed.bookmark()
    other = Feed(http, world.grant(world.both("messages", fields=["id", "subject", "sent_at"])))

    refused = (400, "invalid_cursor", "changes_since")
    assert other.refusal(f"{MESSAGES}?changes_since={bookmark}") == refused
    assert feed.refusal(f"{MESSAGES}?changes_since={bookmark}&fields=subject") == refused


@requirement("rs.cursors.two-spaces")
def test_a_cursor_is_no_bookmark_and_a_bookmark_no_cursor(feed: Feed) -> None:
    bookmark = feed.bookmark()
    for page in (f"{MESSAGES}?limit=1", f"{BEGINNING}&limit=1"):
        cursor = feed.get(page)["next_cursor"]
        assert feed.refusal(f"{MESSAGES}?changes_since={cursor}") == (400, "invalid_cursor", "changes_since")

    assert feed.refusal(f"{MESSAGES}?cursor={bookmark}") == (400, "invalid_cursor", "cursor")


@requirement("rs.changes.hidden-change")
def test_a_change_of_hidden_fields_or_hidden_records_is_not_told(feed: Feed, world: World) -> None:
    bookmark = feed.bookmark()
    world.deliver(WORK, [message("m4", subject="Kyoto", text="Hidden", sent_at="2026-05-01T00:00:00Z")])
    world.deliver(WORK, [message("m5", subject="Still without a time"), message("x", sent_at="2026-07-01T00:00:00Z")])
    world.deliver(WORK, [deletion("x")])

    assert feed.since(bookmark) == []


@requirement("rs.changes.tombstone")
def test_a_deleted_record_is_told_with_both_times_and_nothing_of_its_data(feed: Feed, world: World) -> None:
    bookmark = feed.bookmark()
    world.deliver(WORK, [deletion("m3")])

    (gone,) = feed.since(bookmark)

    assert gone == {
        "object": "record",
        "id": "m3",
        "stream": "messages",
        "deleted": True,
        "deleted_at": "2026-11-15T12:00:00.000Z",
        "emitted_at": "2026-11-14T08:00:00Z",
        "connection_id": world.work,
        "connector_key": "chat",
        "display_name": WORK,
    }


@requirement("rs.changes.tombstone")
def test_a_record_that_came_and_went_between_two_sessions_is_not_told(feed: Feed, world: World) -> None:
    bookmark = feed.bookmark()
    world.deliver(WORK, [message("brief", sent_at="2026-05-01T00:00:00Z")])
    world.deliver(WORK, [deletion("brief")])

    assert feed.since(bookmark) == []


@requirement("rs.changes.leaves-window")
def test_a_record_that_leaves_the_window_is_gone_and_one_that_enters_is_new(feed: Feed, world: World) -> None:
    bookmark = feed.bookmark()
    world.deliver(WORK, [message("m4", subject="Kyoto", sent_at="2026-07-01T00:00:00Z")])
    world.deliver(WORK, [message("m5", subject="No time", sent_at="2026-06-30T23:59:59Z")])

    gone, new = feed.since(bookmark)

    assert (gone["id"], gone["deleted"], "data" in gone) == ("m4", True, False)
    assert gone["deleted_at"] == gone["emitted_at"] == "2026-11-14T08:00:00Z"
    assert (new["id"], new["data"]["subject"]) == ("m5", "No time")


@requirement("rs.changes.refused-parameters")
@pytest.mark.parametrize(
    ("parameter", "code"),
    [
        ("sort=sent_at", "invalid_request"),
        ("order=asc", "invalid_request"),
        ("count=exact", "invalid_request"),
        ("window=exact", "invalid_request"),
        ("expand=thread", "invalid_expand"),
    ],
)
def test_a_feed_has_one_order_and_counts_nothing(feed: Feed, parameter: str, code: str) -> None:
    assert feed.refusal(f"{BEGINNING}&{parameter}") == (400, code, parameter.split("=")[0])


@requirement("rs.changes.several-connections")
def test_changes_of_several_connections_come_in_the_order_in_which_they_happened(feed: Feed, world: World) -> None:
    bookmark = feed.bookmark()
    for number, account in enumerate((FAMILY, WORK, FAMILY, WORK)):
        world.deliver(account, [message(f"n{number}", sent_at="2026-05-01T00:00:00Z")])

    first = feed.get(f"{MESSAGES}?changes_since={bookmark}&limit=3")
    rest = feed.get(f"{MESSAGES}?cursor={first['next_cursor']}")

    assert [record["id"] for record in first["data"] + rest["data"]] == ["n0", "n1", "n2", "n3"]
    assert max(len(text) for text in (bookmark, first["next_cursor"], rest["next_changes_since"])) <= 160
    one = f"{MESSAGES}?changes_since=beginning&connection_id={world.family}&limit=100"
    assert {record["connection_id"] for record in feed.get(one)["data"]} == {world.family}


@requirement("rs.changes.expired", "rs.changes.beginning")
def test_a_bookmark_older_than_the_history_has_expired_and_the_beginning_never_does(feed: Feed, world: World) -> None:
    bookmark = feed.bookmark()
    for subject in ("One", "Two", "Three"):
        world.deliver(WORK, [message("m4", subject=subject, sent_at="2026-05-01T00:00:00Z")])
    with world.services.database.writing() as writer:
        prune(writer, 1)

    assert feed.refusal(f"{MESSAGES}?changes_since={bookmark}") == (410, "cursor_expired", "changes_since")
    assert sorted(record["id"] for record in feed.since("beginning")) == ["m1", "m1", "m2", "m2", "m3", "m4"]
    assert feed.since(feed.bookmark()) == []

"""GET /v1/streams/{stream}/records?around=KEY: what was written right before and after."""

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from tests.requirements import requirement
from tests.scenarios.resource_server.client import Client, served
from tests.worlds.chat import deletion
from tests.worlds.post import DECLARATION, OFFICE, Post, letter
from tests.worlds.world import World

LETTERS = "/v1/streams/letters/records"


@pytest.fixture
def post(world: World) -> Post:
    made = Post(world)
    days = [letter(f"n{n}", thread_id="t9", text="so", written_at=f"2026-05-{n:02}T00:00:00Z") for n in range(1, 10)]
    world.owner.writer(DECLARATION, OFFICE).deliver(days)
    return made


@pytest.fixture
def http(post: Post) -> Iterator[TestClient]:
    with served(post.world) as client:
        yield client


@pytest.fixture
def client(http: TestClient, post: Post) -> Client:
    return Client(http, post.grant({"name": "letters", "fields": ["id", "thread_id", "text", "written_at"]}))


@requirement("rs.around.neighbours", "rs.around.talk", "rs.around.cursors")
def test_a_page_around_a_record_has_a_cursor_each_way(client: Client, post: Post) -> None:
    page = client.get(f"{LETTERS}?around=n5&connection_id={post.office}&limit=4")

    assert [record["id"] for record in page["data"]] == ["n3", "n4", "n5", "n6"]
    marks = page["meta"]["around"]
    assert page["next_cursor"] == marks["later_cursor"]
    assert page["has_more"] is True
    assert client.keys(page["links"]["next"]) == ["n7", "n8", "n9"]
    earlier = client.get(f"{LETTERS}?around=n5&connection_id={post.office}&limit=4&cursor={marks['earlier_cursor']}")
    assert [record["id"] for record in earlier["data"]] == ["n1", "n2"]
    assert (earlier["meta"]["around"], earlier["has_more"]) == ({}, False)


@requirement("rs.around.talk")
def test_a_record_of_another_thread_is_not_around_it(client: Client, post: Post) -> None:
    assert client.keys(f"{LETTERS}?around=l2&connection_id={post.office}&count=exact") == ["l1", "l2", "l3"]
    assert client.keys(f"{LETTERS}?around=l9") == ["l9"]


@requirement("rs.around.refused")
def test_a_record_that_cannot_be_fetched_has_no_neighbours(client: Client, post: Post, http: TestClient) -> None:
    post.world.owner.writer(DECLARATION, OFFICE).deliver([deletion("n9", "letters")])
    until_may = {"time_range": {"until": "2026-05-01T00:00:00Z"}}
    bounded = Client(http, post.grant({"name": "letters", **until_may}))

    for asker, key in ((client, "nobody"), (client, "n9"), (bounded, "n4"), (bounded, "nobody")):
        fetched = asker.refusal(f"{LETTERS}/{key}?connection_id={post.office}")[:2]
        assert asker.refusal(f"{LETTERS}?around={key}&connection_id={post.office}") == (*fetched, "around")
        assert fetched == (404, "not_found")
    assert client.refusal(f"{LETTERS}?around=l1") == (409, "ambiguous_connection", "connection_id")


@requirement("rs.around.refused")
@pytest.mark.parametrize(
    ("asked", "param"),
    [
        ("filter[text]=so", "filter"),
        ("sort=-written_at", "sort"),
        ("order=desc", "order"),
        ("changes_since=beginning", "changes_since"),
        ("expand=thread", "expand"),
    ],
)
def test_around_a_record_nothing_else_narrows_or_orders(client: Client, asked: str, param: str) -> None:
    assert client.refusal(f"{LETTERS}?around=n5&{asked}") == (400, "invalid_request", param)
    assert client.refusal(f"{LETTERS}?around=") == (400, "invalid_request", "around")


@requirement("rs.around.refused", "rs.records.core-strict")
def test_the_strict_server_takes_no_around_from_clients(post: Post) -> None:
    token = post.grant({"name": "letters"})
    with served(post.world, core_strict=True) as http:
        asked = f"{LETTERS}?around=n5&connection_id={post.office}&limit=1"

        assert Client(http, token).refusal(asked) == (400, "invalid_request", "around")
        assert Client(http, post.world.owner_token).keys(asked) == ["n5"]

"""GET /v1/streams/{stream}/records: pages, filters, projections, expansions."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from tests.requirements import requirement
from tests.scenarios.resource_server.client import Client, served
from tests.worlds.post import Post
from tests.worlds.world import World

LETTERS = "/v1/streams/letters/records"
THREADS = "/v1/streams/threads/records"


@pytest.fixture
def post(world: World) -> Post:
    return Post(world)


@pytest.fixture
def http(post: Post) -> Iterator[TestClient]:
    with served(post.world) as client:
        yield client


@pytest.fixture
def client(http: TestClient, post: Post) -> Client:
    """May read everything but what letters keep secret."""
    shown = ["id", "thread_id", "text", "pages", "is_read", "tags", "written_at"]
    return Client(http, post.grant({"name": "letters", "fields": shown}, {"name": "threads"}))


@requirement("rs.records.page", "rs.records.fan-in", "rs.warnings.fan-in-needs-none")
def test_following_the_next_link_gives_every_record_once(client: Client) -> None:
    link, found, pages = f"{LETTERS}?limit=2&order=asc", list[str](), 0
    while link:
        body = client.get(link)
        found += [f"{record['display_name']} {record['id']}" for record in body["data"]]
        assert body["has_more"] is (body["links"]["next"] is not None) is ("next_cursor" in body)
        link, pages = body["links"]["next"], pages + 1

    assert found == ["Home post l9", "Office post l1", *found[2:4], "Office post l3", "Office post l4"]
    assert sorted(found[2:4]) == ["Home post l1", "Office post l2"]  # one moment, written in two zones
    assert pages == 3


@requirement("rs.records.page", "rs.records.order")
def test_a_page_has_25_records_and_the_newest_first_unless_told(client: Client, post: Post) -> None:
    from tests.worlds.post import DECLARATION, HOME, letter

    more = [letter(f"n{n:02}", written_at=f"2026-05-{n + 1:02}T00:00:00Z") for n in range(28)]
    post.world.owner.writer(DECLARATION, HOME).deliver(more)

    body = client.get(LETTERS)

    assert [record["id"] for record in body["data"]] == [f"n{n:02}" for n in range(27, 2, -1)]
    assert body["object"] == "list"
    assert body["url"] == LETTERS
    assert body["meta"] == {"count": {"kind": "none"}, "warnings": []}


@requirement("rs.records.limit-refused", "rs.warnings.limit-clamped")
def test_a_limit_is_a_positive_number_and_lowered_to_100_with_a_warning(client: Client) -> None:
    for limit in ("0", "-1", "x", "1.5", ""):
        assert client.refusal(f"{LETTERS}?limit={limit}") == (400, "invalid_request", "limit")
    (warning,) = client.get(f"{LETTERS}?limit=1000")["meta"]["warnings"]
    assert warning["code"] == "limit_clamped"
    assert warning["detail"] == {"requested_limit": 1000, "max_limit": 100}


@requirement("rs.records.sort-refused")
@pytest.mark.parametrize("asked", ["sort=text", "sort=-written_at&order=asc", "sort=written_at,-written_at", "sort=x"])
def test_only_what_has_a_range_sorts_and_only_one_way(client: Client, asked: str) -> None:
    assert client.refusal(f"{LETTERS}?{asked}") == (400, "invalid_sort", "sort")


@requirement("rs.records.sort")
def test_the_most_pages_first_and_what_has_none_last(client: Client, post: Post) -> None:
    office = f"connection_id={post.office}"
    assert client.keys(f"{LETTERS}?sort=-pages&{office}") == ["l2", "l3", "l1", "l4"]
    assert client.keys(f"{LETTERS}?sort=pages&{office}") == ["l1", "l3", "l2", "l4"]
    assert client.keys(f"{LETTERS}?sort=-pages") == ["l2", "l9", "l3", "l1", "l1", "l4"]
    link, found = f"{LETTERS}?sort=-pages&limit=1&fields=pages", list[int | None]()
    while link:
        body = client.get(link)
        found += [record["data"].get("pages") for record in body["data"]]
        link = body["links"]["next"]
    assert found == [20, 5, 3, 2, 1, None]


@requirement("rs.records.sort-refused", "rs.cursors.bound-to-query")
def test_a_sort_that_is_refused_names_those_that_are_not(http: TestClient, post: Post) -> None:
    blind = Client(http, post.grant({"name": "letters", "fields": ["id", "text", "written_at"]}))
    asked = {"Authorization": f"Bearer {blind.token}"}

    refused = [http.get(f"{LETTERS}?sort={name}", headers=asked).json()["error"] for name in ("pages", "text")]

    assert [error["code"] for error in refused] == ["field_not_granted", "invalid_sort"]
    assert {error["next_step"] for error in refused} == {"Sort by written_at, or leave sort out."}
    whole = Client(http, post.grant({"name": "letters"}))
    cursor = whole.get(f"{LETTERS}?sort=-pages&limit=1")["next_cursor"]
    assert whole.refusal(f"{LETTERS}?sort=-written_at&limit=1&cursor={cursor}") == (400, "invalid_cursor", "cursor")
    with served(post.world, core_strict=True) as strict:
        assert Client(strict, whole.token).refusal(f"{LETTERS}?sort=-pages") == (400, "invalid_sort", "sort")
        assert Client(strict, post.world.owner_token).keys(f"{LETTERS}?sort=-pages&limit=1") == ["l2"]


@requirement("rs.records.order")
def test_sort_by_the_cursor_field_says_the_direction(client: Client) -> None:
    assert client.keys(f"{LETTERS}?sort=written_at&limit=1") == ["l9"]
    assert client.keys(f"{LETTERS}?sort=-written_at&limit=1&order=desc") == ["l3"]


@requirement("rs.records.count", "rs.records.window")
def test_count_and_window_are_of_the_whole_filtered_set(client: Client) -> None:
    body = client.get(f"{LETTERS}?limit=1&count=exact&window=exact&filter[pages][gte]=2")

    assert body["meta"]["count"] == {"kind": "exact", "value": 4}
    assert body["meta"]["window"] == {
        "total": 4,
        "earliest_at": "2026-01-01T00:00:00.000Z",
        "latest_at": "2026-03-03T09:00:00.000Z",
    }
    assert client.get(f"{LETTERS}?count=estimated")["meta"]["count"] == {"kind": "exact", "value": 6}


@requirement("rs.records.filters")
@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("filter[pages]=20", ["l2"]),
        ("filter[pages]=20.0", ["l2"]),
        ("filter[is_read]=false", ["l3"]),
        ("filter[text]=At%20home", ["l1"]),
        ("filter[written_at]=2026-03-01T09:00:00.000%2B00:00", ["l1"]),
        ("filter[pages][gt]=3&filter[pages][lt]=20", ["l9"]),
        ("filter[pages][gte]=3&filter[pages][lte]=5", ["l3", "l9"]),
        ("filter[written_at][gte]=2026-03-02&filter[is_read]=false", ["l3"]),
        ("filter[thread_id]=gone", ["l9"]),
        ("filter[thread_id]=", []),
    ],
)
def test_every_condition_must_hold(client: Client, asked: str, found: list[str]) -> None:
    assert client.keys(f"{LETTERS}?{asked}") == found


@requirement("rs.records.filter-refused")
@pytest.mark.parametrize(
    ("asked", "refusal"),
    [
        ("filter[nothing]=1", (400, "unknown_field", "filter")),
        ("filter[secret]=x", (403, "field_not_granted", "filter")),
        ("filter[tags]=a", (400, "invalid_filter", "filter")),
        ("filter[pages]=many", (400, "invalid_filter", "filter")),
        ("filter[is_read]=1", (400, "invalid_filter", "filter")),
        ("filter[written_at]=yesterday", (400, "invalid_filter", "filter")),
        ("filter[text][gte]=a", (400, "invalid_filter", "filter")),
        ("filter[written_at][lte]=2026-01-01", (400, "invalid_filter", "filter")),
        ("filter[pages][near]=1", (400, "invalid_filter", "filter")),
        ("filter[pages][gte][x]=1", (400, "invalid_filter", "filter")),
        ("filter=x", (400, "invalid_request", "filter")),
        ("filter[]=x", (400, "invalid_request", "filter")),
        ("filter[pages]=1&filter[pages]=2", (400, "invalid_request", "filter")),
    ],
)
def test_a_filter_that_cannot_be_applied_is_refused_by_name(client: Client, asked: str, refusal: Any) -> None:
    assert client.refusal(f"{LETTERS}?{asked}") == refusal


@requirement("rs.transport.nested-parameters")
def test_parameters_nest_to_a_depth_and_lists_have_an_end(client: Client) -> None:
    deep = "filter[pages]" + "[x]" * 7
    assert client.refusal(f"{LETTERS}?{deep}=1") == (400, "invalid_request", "filter")
    many = "&".join(["fields=id"] * 65)
    assert client.refusal(f"{LETTERS}?{many}") == (400, "invalid_request", "fields")


@requirement("rs.records.projection", "rs.records.view")
def test_a_record_has_what_was_asked_and_granted_and_its_key(client: Client) -> None:
    for asked in ("fields=text", "fields=text,id", "fields[]=text&fields[]=id"):
        body = client.get(f"{LETTERS}?{asked}&limit=1")
        assert body["data"][0]["data"] == {"id": "l3", "text": "Third"}
    body = client.get(f"{LETTERS}?view=short&limit=1")
    assert body["data"][0]["data"] == {"id": "l3", "written_at": "2026-03-03T09:00:00Z"}


@requirement("rs.records.view", "rs.records.projection")
@pytest.mark.parametrize(
    ("asked", "refusal"),
    [
        ("view=long", (400, "invalid_request", "view")),
        ("view=short&fields=id", (400, "invalid_request", "view")),
        ("fields=secret", (403, "field_not_granted", "fields")),
        ("fields=nothing", (400, "unknown_field", "fields")),
        ("fields=", (400, "invalid_request", "fields")),
    ],
)
def test_a_projection_that_cannot_be_given_is_refused_by_name(client: Client, asked: str, refusal: Any) -> None:
    assert client.refusal(f"{LETTERS}?{asked}") == refusal


@requirement("rs.records.expand")
def test_an_expansion_holds_related_records_of_the_same_connection(client: Client, post: Post) -> None:
    body = client.get(f"{THREADS}?expand=letters&connection_id={post.office}&order=asc")

    first, second = body["data"]
    assert [letter["id"] for letter in first["expanded"]["letters"]["data"]] == ["l3", "l2"]
    assert first["expanded"]["letters"]["has_more"] is True
    assert "secret" not in first["expanded"]["letters"]["data"][1]["data"]
    assert second["expanded"]["letters"] == {"object": "list", "data": [], "has_more": False}
    whole = client.get(f"{THREADS}?expand[]=letters&expand_limit[letters]=3&connection_id={post.office}&order=asc")
    assert len(whole["data"][0]["expanded"]["letters"]["data"]) == 3


@requirement("rs.records.expand", "rs.fetch.expand")
def test_a_record_that_holds_the_key_of_another_expands_to_it(client: Client, post: Post) -> None:
    body = client.get(f"{LETTERS}?expand=thread&fields=id&connection_id={post.home}")

    expanded = {record["id"]: record["expanded"]["thread"] for record in body["data"]}
    assert expanded["l1"]["data"]["topic"] == "Garden"
    assert expanded["l9"] is None
    one = client.get(f"{LETTERS}/l1?expand=thread&connection_id={post.office}")
    assert one["expanded"]["thread"]["data"]["topic"] == "Lease"


@requirement("rs.records.expand")
def test_an_expansion_obeys_the_limits_of_the_related_stream(http: TestClient, post: Post) -> None:
    march = {"name": "letters", "time_range": {"since": "2026-03-03T00:00:00Z"}, "fields": ["id", "thread_id"]}
    client = Client(http, post.grant({"name": "threads"}, march))

    (thread, _) = client.get(f"{THREADS}?expand=letters&connection_id={post.office}&order=asc")["data"]

    assert [letter["data"] for letter in thread["expanded"]["letters"]["data"]] == [{"id": "l3", "thread_id": "t1"}]


@requirement("rs.records.expand-refused")
@pytest.mark.parametrize(
    ("path", "refusal"),
    [
        (f"{THREADS}?expand=writers", (400, "invalid_expand", "expand")),
        (f"{THREADS}?expand=letters.thread", (400, "invalid_expand", "expand")),
        (f"{THREADS}?expand=letters&expand_limit[letters]=4", (400, "invalid_expand", "expand_limit")),
        (f"{THREADS}?expand=letters&expand_limit[letters]=0", (400, "invalid_request", "expand_limit")),
        (f"{THREADS}?expand_limit[letters]=2", (400, "invalid_expand", "expand_limit")),
        (f"{LETTERS}?expand=thread&expand_limit[thread]=1", (400, "invalid_expand", "expand_limit")),
        (f"{LETTERS}?changes_since=beginning&expand=thread", (400, "invalid_expand", "expand")),
    ],
)
def test_an_expansion_that_is_not_declared_is_refused(client: Client, path: str, refusal: Any) -> None:
    assert client.refusal(path) == refusal


@requirement("rs.records.expand-refused")
def test_an_expansion_into_what_is_not_granted_is_refused(http: TestClient, post: Post) -> None:
    alone = Client(http, post.grant({"name": "threads"}))
    assert alone.refusal(f"{THREADS}?expand=letters") == (403, "insufficient_scope", "expand")
    blind = Client(http, post.grant({"name": "threads"}, {"name": "letters", "fields": ["id", "text"]}))
    assert blind.refusal(f"{THREADS}?expand=letters") == (403, "field_not_granted", "expand")
    assert blind.refusal(f"{LETTERS}?expand=thread") == (403, "field_not_granted", "expand")


@requirement("rs.records.core-strict", "rs.records.client-narrowing")
@pytest.mark.parametrize(("asked", "param"), [("filter[x]=1", "filter"), ("expand=x", "expand"), ("view=x", "view")])
def test_the_strict_server_takes_no_narrowing_from_clients(post: Post, asked: str, param: str) -> None:
    token = post.grant({"name": "letters"}, {"name": "threads"})
    with served(post.world, core_strict=True) as http:
        client, owner = Client(http, token), Client(http, post.world.owner_token)

        assert client.refusal(f"{LETTERS}?{asked}") == (400, "invalid_request", param)
        assert client.keys(f"{LETTERS}?limit=1&sort=-written_at&count=exact") == ["l3"]
        assert owner.keys(f"{LETTERS}?filter[pages]=20&expand=thread&view=short") == ["l2"]


@requirement("rs.records.client-narrowing")
def test_a_client_narrows_by_the_declaration_that_was_consented_to(http: TestClient, post: Post) -> None:
    from copy import deepcopy

    from pdpp_server.wire.declarations import decode_declaration
    from tests.worlds.post import DECLARATION, OFFICE

    client = Client(http, post.grant({"name": "letters"}))
    later: Any = deepcopy(dict(DECLARATION.document)) | {"declaration_version": "2"}
    later["streams"][1]["query"]["range_filters"] = {"written_at": ["gte"]}
    post.world.owner.writer(decode_declaration(later), OFFICE)

    asked = f"{LETTERS}?filter[pages][gt]=3&connection_id={post.office}"
    assert client.keys(asked) == ["l2"]
    newer = Client(http, post.grant({"name": "letters", "instance_ids": [post.office]}))
    assert newer.refusal(asked) == (400, "invalid_filter", "filter")


@requirement("rs.selector.owner-names-source")
def test_the_owner_names_a_source_where_several_have_the_stream(http: TestClient, post: Post) -> None:
    from copy import deepcopy

    from pdpp_server.wire.declarations import decode_declaration
    from tests.worlds.post import DECLARATION, letter, thread

    other: Any = deepcopy(dict(DECLARATION.document))
    other["source"]["id"] = "https://registry.pdpp.dev/connectors/pigeon"
    pigeons = [thread("t1"), letter("p1", thread_id="t1", written_at="2026-02-01T00:00:00Z")]
    post.world.owner.writer(decode_declaration(other), "Pigeons").deliver(pigeons)
    owner = Client(http, post.world.owner_token)

    assert owner.refusal(LETTERS) == (400, "invalid_request", "connector_id")
    assert owner.keys(f"{LETTERS}?connector_id=pigeon") == ["p1"]
    named = quote("https://registry.pdpp.dev/connectors/post", safe="")
    assert len(owner.keys(f"{LETTERS}?connector_id={named}")) == 6
    assert owner.keys(f"{LETTERS}?connection_id={post.home}") == ["l1", "l9"]
    assert owner.refusal(f"{LETTERS}?connector_id=nobody") == (400, "connector_invalid", "connector_id")
    assert owner.refusal("/v1/streams/nothing/records") == (404, "not_found", "stream")
    (found,) = owner.get(f"{THREADS}?connector_id=pigeon&expand=letters")["data"]
    assert [each["id"] for each in found["expanded"]["letters"]["data"]] == ["p1"]  # of the same source


@requirement("rs.parameters.unknown-refused")
@pytest.mark.parametrize("param", ["offset", "q", "filters", "page", "expand[a][b]", "order[x]", "limit[]"])
def test_an_unknown_parameter_is_refused(client: Client, param: str) -> None:
    status, code, _ = client.refusal(f"{LETTERS}?{param}=1")
    assert (status, code) == (400, "invalid_request")


@requirement("rs.enforcement.stream-not-granted", "rs.enforcement.connection-narrows")
def test_a_stream_outside_the_grant_is_refused(http: TestClient, post: Post) -> None:
    client = Client(http, post.grant({"name": "threads"}))
    assert client.refusal(LETTERS) == (403, "grant_stream_not_allowed", "stream")
    assert client.refusal(f"{THREADS}?connection_id=cin_nothing") == (404, "connection_not_found", "connection_id")


@requirement("rs.search.filter")
def test_a_search_of_one_stream_can_be_filtered(client: Client) -> None:
    asked = "/v1/search?q=first+second+third&streams=letters"

    found = client.get(f"{asked}&filter[pages][gte]=3")

    assert sorted(hit["record_key"] for hit in found["data"]) == ["l2", "l3"]
    assert found["meta"]["count"] == 2
    assert client.refusal("/v1/search?q=first&filter[pages]=3") == (400, "invalid_request", "filter")
    two = "/v1/search?q=first&streams=letters&streams=threads&filter[pages]=3"
    assert client.refusal(two) == (400, "invalid_request", "filter")
    assert client.refusal(f"{asked}&filter[secret]=x") == (403, "field_not_granted", "filter")


@requirement("rs.enforcement.undeclared-search", "rs.enforcement.undeclared-stream")
def test_a_search_of_what_is_no_longer_declared_is_refused(http: TestClient, post: Post) -> None:
    from copy import deepcopy

    from pdpp_server.wire.declarations import decode_declaration
    from tests.worlds.post import DECLARATION, HOME, OFFICE

    client = Client(http, post.grant({"name": "letters"}, {"name": "threads"}))
    later: Any = deepcopy(dict(DECLARATION.document)) | {"declaration_version": "2"}
    later["streams"] = [{**later["streams"][0], "relationships": [], "query": {}}]
    for account in (OFFICE, HOME):
        post.world.owner.writer(decode_declaration(later), account)

    assert client.refusal("/v1/search?q=first&streams=letters")[:2] == (404, "stream_not_declared")
    assert client.refusal(LETTERS)[:2] == (404, "stream_not_declared")
    assert client.get("/v1/search?q=first")["data"] == []


@requirement("rs.cursors.direction-bound", "rs.cursors.two-spaces")
def test_a_cursor_serves_the_order_and_the_feed_it_was_made_for(client: Client, post: Post) -> None:
    from tests.worlds.post import DECLARATION, OFFICE, letter

    page = client.get(f"{LETTERS}?limit=2")["next_cursor"]
    bookmark = client.get(f"{LETTERS}?changes_since=beginning&limit=100")["next_changes_since"]
    feed = client.get(f"{LETTERS}?changes_since=beginning&limit=2")["next_cursor"]
    post.world.owner.writer(DECLARATION, OFFICE).deliver([letter("new", written_at="2026-12-01T00:00:00Z")])

    assert client.keys(f"{LETTERS}?limit=2&cursor={page}")[0] in {"l1", "l2"}
    assert client.refusal(f"{LETTERS}?limit=2&order=asc&cursor={page}") == (400, "invalid_cursor", "cursor")
    for wrong in (page, feed, "nonsense", "2026-01-01"):
        assert client.refusal(f"{LETTERS}?changes_since={wrong}") == (400, "invalid_cursor", "changes_since")
    assert client.refusal(f"{LETTERS}?cursor={bookmark}") == (400, "invalid_cursor", "cursor")
    assert len(client.keys(f"{LETTERS}?cursor={feed}")) == 4
    assert client.keys(f"{LETTERS}?changes_since={bookmark}") == ["new"]

"""`query_records` on the real store: two accounts whose records share their ids, and letters in threads."""

from typing import Any

import pytest

from tests.requirements import requirement
from tests.scenarios.mcp.agents import Agent, Connect, Result, handle_of
from tests.scenarios.mcp.rest import get
from tests.worlds import chat, post
from tests.worlds.world import World

WRONG_FILTERS: list[Any] = [
    "author=Ada",
    [],
    {"sent_at": {"after": "x"}},
    {"author": ["Ada"]},
    {"likes": {}},
]
BRACKETS: list[Any] = [{"sent_at[gte]": "2026"}, {"": 1}]


def handles(found: Result) -> list[str]:
    return [entry["handle"] for entry in found.structured["data"]["data"]]


def lines(found: Result) -> list[str]:
    """The lines of the text that begin with the handle of a record."""
    return [line for line in found.text.split("\n") if line.startswith(tuple(handles(found)))]


def chatter(number: int, **data: Any) -> list[Any]:
    sent = "2026-07-01T09:{:02}:00Z"
    return [
        chat.message(f"c{n:03}", text="so it goes", author="Ada", sent_at=sent.format(n), **data) for n in range(number)
    ]


@requirement("mcp.query.handles-in-text", "mcp.query.canonical-ids")
def test_records_have_their_own_ids_and_a_handle_that_fetch_takes(agent: Agent, world: World) -> None:
    found = agent.call("query_records", stream="messages", count="exact")

    assert found.text.startswith("messages: 7 of 7 records (exact), ")
    assert [line.split(" ")[0] for line in lines(found)] == handles(found)
    first = found.structured["data"]["data"][0]
    assert (first["id"], first["handle"]) == ("m2", handle_of(world, "m2", family=True))
    assert [agent.call("fetch", id=id).structured["id"] for id in handles(found)] == handles(found)


@requirement("mcp.adapter.same-door", "mcp.query.fitted-envelope")
def test_the_tool_gives_what_the_endpoint_gives(agent: Agent, world: World) -> None:
    body = get(world, "/v1/streams/messages/records?limit=10&filter[author]=Ada&count=exact").json()

    data = agent.call("query_records", stream="messages", filter={"author": "Ada"}, count="exact").structured["data"]

    assert {**data, "data": []} == {name: [] if name == "data" else body[name] for name in body if name != "links"}
    for shown, given in zip(data["data"], body["data"], strict=True):
        assert {**shown, "roles": given["roles"]} == {**given, "handle": shown["handle"]}


@requirement("mcp.filters.encoded", "mcp.query.arguments")
@pytest.mark.parametrize(
    ("asked", "keys"),
    [
        ({"author": "Ada"}, ["m3", "m1"]),
        ({"likes": 3}, ["m1"]),
        ({"sent_at": {"gte": "2026-03-02", "lt": "2026-05-01"}}, ["m3", "m2"]),
        ({"likes": {"gte": 1}, "author": "Ada"}, ["m1"]),
    ],
)
def test_a_typed_filter_narrows(asked: dict[str, Any], keys: list[str], agent: Agent, world: World) -> None:
    found = agent.call("query_records", stream="messages", filter=asked, connection_id=world.work)

    assert handles(found) == [handle_of(world, key) for key in keys]


@requirement("mcp.filters.refused", "mcp.refusals.same-code")
def test_another_filter_is_refused_with_the_right_form_before_any_read(agent: Agent, world: World) -> None:
    asked = {
        "query_records": {"stream": "messages"},
        "aggregate": {"stream": "messages", "metric": "count"},
        "search": {"query": "lease", "streams": ["messages"]},
    }
    for tool, arguments in asked.items():
        for wrong in WRONG_FILTERS:
            refused = agent.call(tool, **arguments, filter=wrong)

            assert refused.code == "invalid_filter"
            assert '{"field": value} or {"field": {"gte": value}}' in refused.text
            assert refused.structured["error"]["next_step"] in refused.text
    assert not world.owner.activity()


@requirement("mcp.filters.empty")
def test_a_filter_without_conditions_is_none_and_a_name_has_no_brackets(agent: Agent) -> None:
    everything = agent.call("query_records", stream="messages")
    empty = agent.call("query_records", stream="messages", filter={})
    codes = [agent.call("query_records", stream="messages", filter=wrong).code for wrong in BRACKETS]

    assert handles(empty) == handles(everything)
    assert codes == ["invalid_filter"] * len(BRACKETS)


@requirement("mcp.arguments.empty-is-absent", "mcp.arguments.number-as-text")
@pytest.mark.parametrize("nothing", [None, ""])
def test_a_model_that_fills_in_every_argument_gets_what_it_meant(nothing: str | None, agent: Agent) -> None:
    """As clients do that list every argument as required."""
    said = {"sort": nothing, "count": nothing, "cursor": nothing, "changes_since": nothing, "connection_id": nothing}
    filled = {**said, "filter": {}, "expand": [], "expand_limit": {}}
    plain = agent.call("query_records", stream="messages", limit=2)

    found = agent.call("query_records", stream="messages", limit="2", **filled)

    assert handles(found) == handles(plain)
    assert found.call_after("next") == plain.call_after("next")
    for tool, asked, optional in (
        ("schema", {}, {"stream", "connection_id", "detail"}),
        ("search", {"query": "lease"}, {"q", "streams", "filter", "connection_id", "limit", "cursor", "mode"}),
        ("fetch", {"id": handles(plain)[0]}, {"expand", "expand_limit", "connection_id"}),
    ):
        assert agent.call(tool, **asked, **dict.fromkeys(optional, nothing)).text == agent.call(tool, **asked).text


@requirement("mcp.tools.strict-arguments", "mcp.tools.limit-refused")
@pytest.mark.parametrize(
    ("name", "value"), [("order", "asc"), ("limit", 101), ("window", "exact"), ("count", "estimated")]
)
def test_an_argument_it_does_not_know_is_refused_by_name(name: str, value: Any, agent: Agent) -> None:
    refused = agent.call("query_records", stream="messages", **{name: value})

    assert refused.code == "invalid_request"
    assert name in refused.text


@requirement("mcp.refusals.same-code")
def test_a_refusal_of_the_server_keeps_its_code(agent: Agent) -> None:
    asked: list[tuple[dict[str, Any], str]] = [
        ({"filter": {"reactions": "x"}}, "invalid_filter"),
        ({"filter": {"likes": {"lt": 3}}}, "invalid_filter"),
        ({"filter": {"nothing": 3}}, "unknown_field"),
        ({"sort": "text"}, "invalid_sort"),
        ({"fields": ["nothing"]}, "unknown_field"),
        ({"cursor": "nonsense"}, "invalid_cursor"),
        ({"changes_since": "nonsense"}, "invalid_cursor"),
        ({"changes_since": "beginning", "filter": {"likes": 3}}, "invalid_request"),
        ({"connection_id": "cin_nowhere"}, "connection_not_found"),
    ]
    for arguments, code in asked:
        assert agent.call("query_records", stream="messages", **arguments).code == code


@requirement("mcp.query.projection")
def test_with_fields_a_record_has_those_its_key_and_nothing_else(agent: Agent) -> None:
    found = agent.call("query_records", stream="messages", fields=["subject"], limit=3)

    assert [set(entry["data"]) for entry in found.structured["data"]["data"]] == [{"id", "subject"}] * 3
    assert all("lake" not in line for line in lines(found))


@requirement("mcp.channels.rest-call", "mcp.channels.text-enough")
def test_a_reader_of_the_text_alone_reaches_every_record_once(agent: Agent, world: World) -> None:
    for n, one in enumerate(chatter(40)):
        world.deliver(chat.WORK, [one._replace(data={**one.data, "subject": f"Lake {n} " * 6})])
    every = [handle_of(world, f"c{n:03}") for n in range(39, -1, -1)]
    found = agent.call("query_records", stream="messages", filter={"text": "so it goes"}, limit=25)
    seen = [line.split(" ")[0] for line in lines(found)]

    while following := found.call_after("rest") or found.call_after("more"):
        found = agent.call(following[0], **following[1])
        seen += [line.split(" ")[0] for line in lines(found)]

    assert seen == every


@requirement("mcp.query.fitted-envelope", "ev.clip.listed", "mcp.channels.structured-enough")
def test_what_does_not_fit_is_listed_and_read_on_by_the_calls_given(agent: Agent, world: World) -> None:
    world.deliver(chat.WORK, [chat.message(f"c{n}", text=f"{n} " + "word " * 9000, author="Zoe") for n in range(5)])

    found = agent.call("query_records", stream="messages", filter={"author": "Zoe"}).structured

    clipped = found["data"]["meta"]["clipped"]
    assert set(clipped) == {entry["handle"] for entry in found["data"]["data"]}
    (handle, fields), *_ = clipped.items()
    assert fields == {"text": 45_002}
    assert found["next"][0]["arguments"] == {"id": handle, "field_path": "text"}
    window = agent.call(found["read_with"]["tool"], id=handle, field_path="text").structured["window"]
    assert window["total_chars"] == 45_002


@requirement("mcp.query.handles-in-text", "mcp.channels.no-dead-handles")
def test_a_feed_is_followed_to_its_end_and_taken_up_again_later(agent: Agent, world: World) -> None:
    found = agent.call("query_records", stream="messages", changes_since="beginning", limit=4)
    while cursor := found.mark("next_cursor"):
        assert "\nmore: the same call with cursor = next_cursor instead of changes_since\n" in found.text
        found = agent.call("query_records", stream="messages", cursor=cursor, limit=4)
    later = found.call_after("next time")
    assert later
    world.deliver(chat.WORK, [chat.deletion("m3"), chat.message("m9", text="New")])

    changed = agent.call(later[0], **later[1])
    again = changed.call_after("next time")

    assert f"{handle_of(world, 'm3')} deleted 2026-11-" in changed.text
    assert handle_of(world, "m9") in handles(changed)
    assert again
    nothing = agent.call(again[0], **again[1])
    assert nothing.text.startswith("messages: nothing changed. next_changes_since=")


@requirement("rs.cursors.bound-to-grant")
def test_a_cursor_of_another_grant_leads_nowhere(connect: Connect, world: World) -> None:
    cursor = connect(world.token).call("query_records", stream="messages", limit=1).structured["data"]["next_cursor"]

    twin = connect(world.grant(world.both("messages"), world.both("channels")))

    assert twin.call("query_records", stream="messages", limit=1, cursor=cursor).code == "invalid_cursor"


@requirement("grants.permit.streams", "mcp.query.arguments")
def test_no_argument_leads_beyond_the_grant(connect: Connect, world: World) -> None:
    narrow = connect(world.grant({"name": "messages", "instance_ids": [world.work], "fields": ["subject", "sent_at"]}))

    def refused(**asked: Any) -> str | None:
        return narrow.call("query_records", **{"stream": "messages", **asked}).code

    assert refused(stream="channels") == "grant_stream_not_allowed"
    assert refused(connection_id=world.family) == "connection_not_found"
    assert refused(filter={"text": "Lunch at noon?"}) == refused(fields=["text"]) == "field_not_granted"
    assert "Lunch" not in narrow.call("query_records", stream="messages").text


@requirement("mcp.query.fair-text", "ev.handles.never-cut")
@pytest.mark.parametrize(("chars", "shown"), [(20, 10), (45, 10), (90, 5), (200, 3)])
def test_long_ids_leave_room_for_title_and_body(chars: int, shown: int, agent: Agent, world: World) -> None:
    title, long = "Minutes of the meeting {} about the lease", {"text": "We meet at noon. " * 40, "author": "Zoe"}
    world.deliver(
        chat.WORK,
        [chat.message(f"k{n:02}".ljust(chars, "x"), likes=n, subject=title.format(n), **long) for n in range(10)],
    )

    found = agent.call("query_records", stream="messages", filter={"author": "Zoe"})

    assert len(lines(found)) >= shown
    assert all('{"subject":"Minutes of t' in line and '"text":"We meet at n' in line for line in lines(found))
    assert '("…"+n: n characters more)' in found.text
    assert (found.call_after("rest") is None) == (len(lines(found)) == 10)


# Expansions ---------------------------------------------------------------------------------------------------------


@requirement("mcp.expand.encoded")
@pytest.mark.parametrize("tool", ["query_records", "fetch"])
def test_related_records_come_as_many_as_asked_for(tool: str, connect: Connect, world: World) -> None:
    office = post.Post(world)
    agent = connect(office.grant({"name": "threads"}, {"name": "letters"}))
    id = f"{office.office}/threads:t1"
    asked: dict[str, Any] = {"query_records": {"stream": "threads"}, "fetch": {"id": id}}[tool]

    one, two = (agent.call(tool, **asked, expand=["letters"], expand_limit={"letters": most}) for most in (1, 2))

    first, second = (f"{office.office}/letters:{key}" for key in ("l3", "l2"))
    assert f"letters 1 and more {first}" in one.text
    assert second not in one.text
    assert f"letters 2 and more {first} {second}" in two.text
    assert agent.call("fetch", id=second).code is None


@requirement("mcp.expand.refused")
def test_another_limit_of_related_records_is_refused_before_any_read(connect: Connect, world: World) -> None:
    office = post.Post(world)
    agent = connect(office.grant({"name": "threads"}, {"name": "letters"}))
    asked = {"query_records": {"stream": "threads"}, "fetch": {"id": f"{office.office}/threads:t1"}}
    wrong: list[Any] = [{"letters[x]": 2}, {"letters": 0}, {"letters": "two"}, {"letters": None}, {"other": 2}]

    for tool, arguments in asked.items():
        codes = [agent.call(tool, **arguments, expand=["letters"], expand_limit=limit).code for limit in wrong]
        assert codes == ["invalid_expand"] * len(wrong)
    assert not world.owner.activity()
    for tool, arguments in asked.items():
        none, two, text = (
            agent.call(tool, **arguments, expand=["letters"], expand_limit=limit)
            for limit in ({}, {"letters": 2}, {"letters": "2"})
        )
        assert none.text == agent.call(tool, **arguments, expand=["letters"]).text
        assert text.text == two.text


@requirement("mcp.expand.unadvertised")
def test_a_stream_without_relations_is_named_and_nothing_of_it_is_read(agent: Agent, world: World) -> None:
    refused = agent.call("query_records", stream="messages", expand=["thread"])

    assert refused.code == "invalid_expand"
    assert "'messages' has no expansion 'thread'" in refused.text
    assert [line.operation for line in world.owner.activity()] in ([], ["schema"])  # the kind of the token


@requirement("rs.records.filter-parts")
def test_where_nothing_passes_a_filter_on_several_fields_each_is_told_alone(agent: Agent) -> None:
    """Only where it is asked about several, on the first page."""
    found = agent.call("query_records", stream="messages", filter={"author": "Ada", "likes": {"gte": 7}})
    alone = agent.call("query_records", stream="messages", filter={"author": "Zoe"})

    said = "Records that pass what is asked of one field alone: author 2, likes 1."
    assert found.text.split("\n")[:2] == ["messages: 0 records, no record passes the filter.", f'note: "{said}"']
    assert [warned["message"] for warned in found.structured["data"]["meta"]["warnings"]] == [said]
    assert alone.structured["data"]["meta"]["warnings"] == []
    # That value is met: a search for it would find what is no answer. The other one is met by nobody.
    assert found.text.split("\n")[-1].startswith("next: drop a condition or widen it; ")
    assert [call["tool"] for call in found.structured["next"]] == ["schema"]
    unmet = agent.call("query_records", stream="messages", filter={"author": "Zoe", "likes": {"gte": 0}})
    assert unmet.structured["next"][0]["arguments"]["query"] == "Zoe"

"""`aggregate` on the real store: letters of two accounts, and a ledger."""

import pytest

from tests.requirements import requirement
from tests.scenarios.mcp.agents import Agent, Connect, agent_on
from tests.scenarios.mcp.rest import get
from tests.worlds import post
from tests.worlds.ledger import Ledger
from tests.worlds.world import World


@pytest.fixture
def clerk(connect: Connect, world: World) -> Agent:
    """May read the letters of both accounts."""
    return connect(post.Post(world).grant({"name": "letters"}))


@requirement("mcp.aggregate.number", "mcp.filters.encoded")
def test_a_number_stands_on_the_first_line_and_its_records_are_one_call_away(clerk: Agent) -> None:
    found = clerk.call("aggregate", stream="letters", metric="sum", field="pages", filter={"pages": {"gt": 2}})

    assert found.text.startswith("sum of pages in letters that pass the filter = 28, over 3 records")
    assert found.structured["data"]["value"] == 28
    tool, arguments = found.next_call
    records = clerk.call(tool, **arguments).structured["data"]["data"]
    assert sum(entry["data"]["pages"] for entry in records) == 28


@requirement("mcp.aggregate.groups", "mcp.aggregate.other-count", "mcp.channels.next-step-is-a-tool")
def test_periods_are_counted_by_a_named_clock_and_the_largest_is_listed_by_the_next_call(clerk: Agent) -> None:
    asked = {"metric": "count", "group_by_time": "written_at", "granularity": "month", "time_zone": "Europe/Zurich"}

    found = clerk.call("aggregate", stream="letters", **asked, limit=1)

    assert "by month of written_at (Europe/Zurich): the latest 1 group, latest first, 6 records" in found.text
    assert "other_count=2 records in groups not listed\n2026-03-01 4\n" in found.text
    tool, arguments = found.next_call
    assert len(clerk.call(tool, **arguments).structured["data"]["data"]) == 4
    more = found.call_after("more")
    assert more
    assert "2026-03-01 4 · 2026-01-01 1 · (no value) 1" in clerk.call(more[0], **more[1]).text


@requirement("mcp.adapter.same-door", "mcp.query.canonical-ids")
def test_the_tool_gives_what_the_endpoint_gives(connect: Connect, world: World) -> None:
    token = post.Post(world).grant({"name": "letters"})
    path = "/v1/streams/letters/aggregate?metric=count&group_by_time=written_at&granularity=day"
    body = get(world, path, token).json()

    asked = {"metric": "count", "group_by_time": "written_at", "granularity": "day"}
    data = connect(token).call("aggregate", stream="letters", **asked).structured["data"]

    assert data == {name: value for name, value in body.items() if name != "links"}


@requirement("mcp.refusals.same-code", "mcp.tools.strict-arguments")
def test_a_refusal_says_what_can_be_asked_instead(clerk: Agent) -> None:
    undeclared = clerk.call("aggregate", stream="letters", metric="sum", field="text")
    unknown = clerk.call("aggregate", stream="letters", metric="average", field="pages")
    more = clerk.call(
        "aggregate", stream="letters", metric="count", group_by_time="written_at", granularity="day", limit=101
    )

    assert (undeclared.code, unknown.code, more.code) == ("invalid_request",) * 3
    assert "Usable: pages." in undeclared.text
    assert 'metric must be one of ["count","sum","min","max","count_distinct"]' in unknown.text
    assert "limit must be at most 100" in more.text


@requirement("mcp.aggregate.groups", "ev.escape.no-forged-lines")
def test_values_are_quoted_and_a_group_leads_to_its_records(ledger: Ledger) -> None:
    agent = agent_on(ledger.reader())

    found = agent.call("aggregate", stream="bookings", metric="count", group_by="currency")

    assert found.text.split("\n")[:2] == [
        "count of bookings by currency: all 4 groups, largest first, 7 records",
        '"EUR" 3 · "CHF" 2 · "USD" 1 · (no value) 1',
    ]
    tool, arguments = found.next_call
    assert arguments == {"stream": "bookings", "filter": {"currency": "EUR"}}
    records = agent.call(tool, **arguments).structured["data"]["data"]
    assert [entry["data"]["currency"] for entry in records] == ["EUR"] * 3


@requirement("mcp.aggregate.number", "mcp.channels.next-step-is-a-tool")
@pytest.mark.parametrize(("metric", "field"), [("min", "amount"), ("max", "booked_at"), ("max", "value_day")])
def test_an_extreme_leads_to_the_record_that_has_it(metric: str, field: str, ledger: Ledger) -> None:
    agent = agent_on(ledger.reader())

    found = agent.call("aggregate", stream="bookings", metric=metric, field=field)

    tool, arguments = found.next_call
    (entry,) = agent.call(tool, **arguments).structured["data"]["data"]
    assert entry["data"][field] is not None


@requirement("grants.permit.fields")
def test_a_hidden_field_is_neither_counted_nor_a_filter(ledger: Ledger) -> None:
    agent = agent_on(ledger.reader())

    for asked in ({"metric": "count_distinct", "field": "secret"}, {"metric": "count", "filter": {"secret": "zebra"}}):
        assert agent.call("aggregate", stream="bookings", **asked).code == "field_not_granted"


@requirement("mcp.aggregate.currency")
def test_a_sum_says_what_it_is_counted_in(ledger: Ledger) -> None:
    agent = agent_on(ledger.reader())

    one = agent.call("aggregate", stream="bookings", metric="sum", field="amount", filter={"currency": "EUR"})
    each = agent.call("aggregate", stream="bookings", metric="sum", field="amount", group_by="currency")

    assert one.text.startswith('sum of amount in bookings that pass the filter = 0.3 "EUR", over 3 records\n')
    assert (one.structured["data"]["currency"], one.structured["data"]["currency_field"]) == ("EUR", "currency")
    assert '"USD" 1000 (1) · (no value) 5.5 (1) · "CHF" 0.3 (2) · "EUR" 0.3 (3)' in each.text
    assert "several_currencies" not in each.text


@requirement("mcp.aggregate.currency")
def test_several_currencies_are_never_added_up_without_a_word(ledger: Ledger) -> None:
    agent = agent_on(ledger.reader())
    asked = {"stream": "bookings", "metric": "sum", "field": "amount"}

    all_of_them = agent.call("aggregate", **asked)
    by_month = agent.call("aggregate", **asked, group_by_time="booked_at", granularity="month")

    for found in (all_of_them, by_month):
        assert "several_currencies" in found.text and "group by currency" in found.text
        (warned,) = found.structured["data"]["meta"]["warnings"]
        assert (warned["code"], found.structured["data"]["currency"]) == ("several_currencies", None)
    assert '2026-11-01 2 "EUR" (1)' in by_month.text
    assert '2026-10-01 -1.7 "EUR" (2)' in by_month.text


@requirement("mcp.aggregate.currency", "grants.permit.fields")
def test_a_hidden_currency_is_not_told(ledger: Ledger) -> None:
    agent = agent_on(ledger.reader(ledger.grant(fields=["id", "booked_at", "amount"])))

    found = agent.call("aggregate", stream="bookings", metric="sum", field="amount")

    assert "currenc" not in found.text
    assert "currency" not in found.structured["data"]

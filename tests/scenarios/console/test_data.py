"""Your data, browsable: sources, streams, talks, months, days."""

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from pdpp_server.importers.registry import declaration_of
from pdpp_server.model.ingest import Incoming
from pdpp_server.wire.declarations import decode_declaration
from tests.importers.homes import Home, event, ics
from tests.requirements import requirement
from tests.scenarios.console.visitor import Visitor, fields_of, shown, visiting
from tests.worlds import chat
from tests.worlds.world import World

BANK: dict[str, Any] = {
    **chat.DOCUMENT,
    "source": {"kind": "connector", "id": "https://registry.pdpp.dev/connectors/bank"},
    "display": {"name": "Bank"},
    "streams": [
        {
            "name": "bookings",
            "semantics": "append_only",
            "schema": {
                "type": "object",
                "required": ["id"],
                "properties": {
                    "id": {"type": "string"},
                    "what": {"type": "string", "x_pdpp_role": "primary-title"},
                    "amount": {"type": "number", "x_pdpp_role": "amount"},
                    "currency": {"type": "string"},
                    "on": {"type": "string", "format": "date", "x_pdpp_role": "event-time"},
                },
            },
            "primary_key": ["id"],
            "cursor_field": "on",
            "consent_time_field": "on",
            "selection": {"fields": True, "resources": True},
            "query": {
                "range_filters": {"on": ["gte", "lt"], "amount": ["gt", "lt"]},
                "search": {"lexical_fields": ["what"]},
                "aggregations": {"sum": ["amount"], "group_by": ["currency"]},
            },
        }
    ],
}


def with_bank(world: World) -> str:
    writer = world.owner.writer(decode_declaration(BANK), "Giro")
    amounts = {"2026-03-02": -12.5, "2026-03-20": 100, "2026-04-01": -7}
    booked = [
        Incoming("test", "bookings", None, {"id": on, "what": f"Of {on}", "amount": amount, "on": on}, chat.EMITTED_AT)
        for on, amount in amounts.items()
    ]
    assert writer.deliver(booked).accepted == 3
    return writer.connection_id


def booking(bank: dict[str, Any], world: World, **data: Any) -> str:
    writer = world.owner.writer(decode_declaration(bank), "Giro")
    writer.deliver([Incoming("test", "bookings", None, {"id": "a", "what": "Rent", **data}, None)])
    return writer.connection_id


@requirement("con.data.streams")
def test_a_stream_that_holds_nothing_is_not_listed(owner: Visitor, world: World) -> None:
    (bookings,) = BANK["streams"]
    bank = booking({**BANK, "streams": [bookings, {**bookings, "name": "fees"}]}, world)

    for page in ("/sources", f"/sources/{bank}", f"/remove/{bank}"):
        assert "bookings" in owner.page(page) and "fees" not in owner.page(page), page


@requirement("con.pages.record")
def test_fields_stand_as_they_are_declared_and_named_values_on_lines(owner: Visitor, world: World) -> None:
    (bookings,) = BANK["streams"]
    schema = bookings["schema"]
    parts = {"place": {"type": "string"}, "more": {"type": "object"}, "deep": {"type": "object"}}
    declared = {**bookings, "schema": {**schema, "properties": {**schema["properties"], **parts}}}
    values = {"deep": {"in": {"it": 1}}, "more": {"paid": True, "by": ["card", 7]}, "place": "Delft"}
    bank = booking({**BANK, "streams": [declared]}, world, **values)

    page = unescape(shown(owner.page(f"/records/{bank}/bookings:a")))

    assert 'place Delft more by: card, 7 paid: yes deep {"in":{"it":1}}' in page


@requirement("con.data.streams")
def test_a_source_leads_to_streams_and_these_to_records_newest_first(owner: Visitor, world: World) -> None:
    world.deliver(
        chat.WORK,
        [chat.message(f"n{n:02}", subject=f"Number {n}", sent_at=f"2026-10-{n:02}T08:00:00Z") for n in range(1, 31)],
    )
    assert f'href="/sources/{world.work}/messages"' in owner.page(f"/sources/{world.work}")

    first = owner.page(f"/sources/{world.work}/messages")
    (more,) = re.findall(r'href="([^"]+cursor=[^"]+)"', first)
    second = owner.page(more.replace("&amp;", "&"))

    assert first.index("Number 30") < first.index("Number 29")
    assert "Number 5<" not in first
    assert "Number 5<" in second
    assert "Number 30" not in second


@requirement("con.data.streams")
def test_records_are_narrowed_by_dates_and_what_is_wrong_is_said(owner: Visitor, world: World) -> None:
    there = f"/sources/{world.work}/messages"
    world.deliver(chat.WORK, [chat.message("d1", subject="In May", sent_at="2026-05-05T08:00:00Z")])

    may = shown(owner.page(f"{there}?from=2026-05-01&before=2026-06-01"))

    assert "In May" in may
    assert "Lease" not in may
    for wrong in ("from=May", "month=2026-13", "field=nothing&is=x", "cursor=x", "around=x"):
        assert owner.get(f"{there}?{wrong}").status_code == 400, wrong


@requirement("con.data.talk")
def test_a_talk_is_read_from_its_beginning_and_a_record_with_its_neighbours(owner: Visitor, world: World) -> None:
    said = {"author": "Ada", "subject": "Plan"}
    texts = {"t1": "First we eat.", "t2": "Then we row.", "t3": "Then we sleep."}
    world.deliver(
        chat.WORK,
        [
            chat.message(key, text=text, sent_at=f"2026-10-01T0{place}:00:00Z", **said)
            for place, (key, text) in enumerate(texts.items())
        ],
    )

    record = owner.page(f"/records/{world.work}/messages:t2")
    talk = shown(owner.page(f"/sources/{world.work}/messages?talk=Plan"))
    read = world.owner.activity(limit=1)[0]
    around = owner.page(f"/sources/{world.work}/messages?around={world.work}/messages:t2")

    assert "The whole talk" in record
    assert "Plan One talk, from its beginning." in talk
    assert "subject" in read.fields
    assert talk.index("First we eat.") < talk.index("Then we row.") < talk.index("Then we sleep.")
    assert re.search(r'class="here">(?s:.*?)Then we row\.', around)


@requirement("con.data.month")
def test_a_month_of_bookings_has_sums_and_one_of_messages_is_a_calendar(owner: Visitor, world: World) -> None:
    bank = with_bank(world)
    world.deliver(chat.WORK, [chat.message("c1", subject="On the ninth", sent_at="2026-03-09T08:00:00Z")])

    march = shown(owner.page(f"/sources/{bank}/bookings?month=2026-03"))
    calendar = owner.page(f"/sources/{world.work}/messages?month=2026-03")

    assert "came in 100.00 went out -12.50 together 87.50" in march
    assert "Of 2026-04-01" not in march
    assert "Mon 9 08:00 On the ninth" in shown(calendar)
    assert '<time datetime="2026-03-09T08:00:00Z" title="2026-03-09T08:00:00Z">08:00</time>' in calendar


@requirement("con.data.month")
def test_a_calendar_that_reaches_into_years_to_come_begins_with_this_month(
    owner: Visitor, world: World, tmp_path: Path
) -> None:
    home = Home(world, tmp_path / "exports")
    home.bring(home.found("choir.ics", ics(event("Choir", "20270302"))))
    (calendar,) = [each.connection_id for each in world.owner.sources() if each.connector_key == "calendar"]

    assert '?month=2026-11">By month' in owner.page(f"/sources/{calendar}/occurrences")


@requirement("con.data.month")
def test_sums_of_a_month_are_by_currency_and_never_added_across(owner: Visitor, world: World) -> None:
    writer = world.owner.writer(decode_declaration(BANK), "Giro")
    booked = [("a", -10, "EUR"), ("b", 30.5, "EUR"), ("c", -4, "EUR"), ("d", -100, "SEK"), ("e", 7, "SEK")]
    writer.deliver(
        Incoming("test", "bookings", None, {"id": id, "amount": amount, "currency": unit, "on": "2026-03-02"}, None)
        for id, amount, unit in booked
    )

    march = shown(owner.page(f"/sources/{writer.connection_id}/bookings?month=2026-03"))
    day = shown(owner.page("/timeline?day=2026-03-02"))

    assert "came in 30.50 EUR went out -14.00 EUR together 16.50 EUR" in march
    assert "came in 7.00 SEK went out -100.00 SEK together -93.00 SEK" in march
    assert "-100.00 SEK" in day


@requirement("con.data.month")
def test_sums_are_of_the_whole_month_on_each_of_its_pages(owner: Visitor, world: World) -> None:
    writer = world.owner.writer(decode_declaration(BANK), "Giro")
    booked = [{"id": str(number), "amount": -0.1, "currency": "EUR", "on": "2026-03-02"} for number in range(130)]
    writer.deliver(Incoming("test", "bookings", None, data, None) for data in booked)

    newest = owner.page(f"/sources/{writer.connection_id}/bookings?month=2026-03")
    further = re.search(r'href="([^"]+cursor=[^"]+)"', newest)

    assert further is not None
    for page in (newest, owner.page(unescape(further[1]))):
        assert "came in 0.00 EUR went out -13.00 EUR together -13.00 EUR" in shown(page)


@requirement("con.data.month")
def test_amounts_that_nobody_declared_to_add_up_have_no_sums(owner: Visitor, world: World) -> None:
    (bookings,) = BANK["streams"]
    balances = {**bookings, "query": {**bookings["query"], "aggregations": {"max": ["amount"]}}}
    writer = world.owner.writer(decode_declaration({**BANK, "streams": [balances]}), "Giro")
    writer.deliver([Incoming("test", "bookings", None, {"id": "a", "amount": 100, "on": "2026-03-02"}, None)])

    there = f"/sources/{writer.connection_id}/bookings"
    march = shown(owner.page(f"{there}?month=2026-03"))

    assert "100.00" in march and "together" not in march
    assert "with sums" not in owner.page(there)


@requirement("con.data.timeline")
def test_an_event_stands_on_each_of_its_days_once(owner: Visitor, world: World, tmp_path: Path) -> None:
    home = Home(world, tmp_path / "exports")
    home.bring(home.found("choir.ics", ics(event("Choir", "20260302", "FREQ=DAILY;COUNT=2"))))

    first, second, third = (shown(owner.page(f"/timeline?day=2026-03-0{number}")) for number in (2, 3, 4))

    assert [page.count("Choir") for page in (first, second, third)] == [1, 1, 0]


@requirement("con.data.whole-days")
def test_a_whole_day_is_found_by_its_day_wherever_its_calendar_is(owner: Visitor, world: World, tmp_path: Path) -> None:
    home = Home(world, tmp_path / "exports")
    days = ("20260430", "20260501", "20260503")
    whole = [f"UID:{day}\r\nSUMMARY:Day {day}\r\nDTSTART;VALUE=DATE:{day}" for day in days]
    timed = "UID:night\r\nSUMMARY:Night\r\nDTSTART:20260430T230000Z"
    there = ics(*whole, timed).replace("X-WR-CALNAME", "X-WR-TIMEZONE:Europe/Amsterdam\r\nX-WR-CALNAME")
    home.bring(home.found("holidays.ics", there))  # in UTC, each of them begins on the day before
    (calendar,) = [each.connection_id for each in world.owner.sources() if each.connector_key == "calendar"]
    times = f"/sources/{calendar}/occurrences"

    assert "Thu 30 Day 20260430 23:00 Night" in shown(owner.page(f"{times}?month=2026-04"))
    assert "Day 2026050" not in owner.page(f"{times}?month=2026-04")
    assert "Fri 1 Day 20260501 Sat 2 Sun 3 Day 20260503 " in shown(owner.page(f"{times}?month=2026-05"))
    assert "Night" not in owner.page(f"{times}?month=2026-05")
    assert "Day 20260501" in owner.page(f"{times}?from=2026-05-01&before=2026-05-02")
    assert "Day 20260503" not in owner.page(f"{times}?from=2026-05-01&before=2026-05-02")
    days_shown = {day: owner.page(f"/timeline?day={day}") for day in ("2026-04-30", "2026-05-01", "2026-05-02")}
    assert {day: re.findall(r">(Day \d+|Night)</a>", page) for day, page in days_shown.items()} == {
        "2026-04-30": ["Day 20260430", "Night"],
        "2026-05-01": ["Day 20260501"],
        "2026-05-02": [],
    }


@requirement("con.data.goes-on")
def test_what_goes_on_stands_on_each_of_its_days_and_says_until_when(
    owner: Visitor, world: World, tmp_path: Path
) -> None:
    home = Home(world, tmp_path / "exports")
    fair = (
        "UID:f\r\nSUMMARY:Fair\r\nDTSTART;VALUE=DATE:20260328\r\nDTEND;VALUE=DATE:20260403"  # over a change of clocks
    )
    night = "UID:n\r\nSUMMARY:Night\r\nDTSTART:20260402T210000Z\r\nDTEND:20260403T030000Z"
    ball = "UID:b\r\nSUMMARY:Ball\r\nDTSTART:20260331T200000Z\r\nDTEND:20260401T000000Z"  # until midnight
    ever = "UID:e\r\nSUMMARY:Ever\r\nDTSTART:20260404T080000Z\r\nDTEND:99991231T235959Z"
    there = ics(fair, night, ball, ever).replace("X-WR-CALNAME", "X-WR-TIMEZONE:Europe/Amsterdam\r\nX-WR-CALNAME")
    home.bring(home.found("fairs.ics", there))
    (calendar,) = [each.connection_id for each in world.owner.sources() if each.connector_key == "calendar"]
    times = f"/sources/{calendar}/occurrences"

    march, april = (shown(owner.page(f"{times}?month=2026-0{number}")) for number in (3, 4))
    days = {number: owner.page(f"/timeline?day=2026-04-0{number}") for number in (1, 2, 3, 5)}

    assert "Sat 28 Fair Sun 29 Fair Mon 30 Fair Tue 31 Fair 20:00 Ball" in march
    assert "Wed 1 Fair Thu 2 Fair 21:00 Night Fri 3 Night Sat 4 08:00 Ever Sun 5 Ever" in april
    assert {number: re.findall(r">(Fair|Night|Ball|Ever)</a>", page) for number, page in days.items()} == {
        1: ["Fair"],
        2: ["Fair", "Night"],
        3: ["Night"],
        5: ["Ever"],
    }
    assert "at 21:00 UTC · until 3 April 2026 · " in shown(days[2])
    assert "21:00" not in days[3] and "until 3 April 2026 · " in shown(days[3])
    assert "28 March 2026 until 2 April 2026" in shown(owner.page(times))
    assert "Ball" in owner.page(f"{times}?from=2026-03-31&before=2026-04-01")
    assert "Ball" not in owner.page(f"{times}?from=2026-04-01&before=2026-04-02")


@requirement("con.data.whole-days", "con.data.search")
def test_a_search_between_dates_finds_what_stands_on_these_days(owner: Visitor, world: World, tmp_path: Path) -> None:
    home = Home(world, tmp_path / "exports")
    whole = [f"UID:{day}\r\nSUMMARY:Free {day}\r\nDTSTART;VALUE=DATE:{day}" for day in ("20260430", "20260501")]
    timed = "UID:night\r\nSUMMARY:Free night\r\nDTSTART:20260430T230000Z"
    there = ics(*whole, timed).replace("X-WR-CALNAME", "X-WR-TIMEZONE:Europe/Amsterdam\r\nX-WR-CALNAME")
    home.bring(home.found("holidays.ics", there))
    (calendar,) = [each.connection_id for each in world.owner.sources() if each.connector_key == "calendar"]
    asked = f"/search?q=free&source={calendar}&stream=events"

    may = owner.page(f"{asked}&from=2026-05-01&before=2026-06-01")
    april = owner.page(f"{asked}&from=2026-04-01&before=2026-05-01")

    def found(page: str) -> list[str]:
        return sorted(re.findall(r">Free (\w+)</a>", page))

    assert (found(april), found(may)) == (["20260430", "night"], ["20260501"])
    assert "mine, Events · 1 May 2026" in shown(may)
    assert "2 hits" in april and "1 hit" in may
    assert [len(line.records) for line in world.owner.activity()] == [2, 1]


@requirement("con.data.timeline")
def test_a_day_is_shown_over_all_sources_as_one_read(owner: Visitor, world: World) -> None:
    with_bank(world)
    world.deliver(chat.WORK, [chat.message("w", subject="Work that day", sent_at="2026-03-20T15:00:00Z")])
    world.deliver(chat.FAMILY, [chat.message("f", subject="Family that day", sent_at="2026-03-20T09:00:00Z")])

    day = shown(owner.page("/timeline?day=2026-03-20"))

    assert day.index("Of 2026-03-20") < day.index("Family that day") < day.index("Work that day")
    (line,) = world.owner.activity()
    assert (line.operation, len(line.records)) == ("timeline", 3)
    assert owner.get("/timeline?day=soon").status_code == 400


@requirement("con.data.timeline")
def test_the_newest_day_is_one_that_has_something_though_calendars_reach_into_years_to_come(
    owner: Visitor, world: World, tmp_path: Path
) -> None:
    world.deliver(chat.WORK, [chat.message("w", subject="The last that was said", sent_at="2026-11-02T15:00:00Z")])
    home = Home(world, tmp_path / "exports")
    home.bring(home.found("choir.ics", ics(event("Choir", "20261030"), event("Concert", "20261224"))))

    newest = shown(owner.page("/timeline"))

    assert "2 November 2026" in newest and "The last that was said" in newest
    (line,) = world.owner.activity()
    assert len(line.records) == 1


@requirement("con.data.timeline")
def test_the_newest_day_is_one_of_the_clock_on_the_wall(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    world.deliver(chat.WORK, [chat.message("w", subject="Late at night", sent_at="2026-11-03T02:00:00Z")])

    with visiting(world) as visitor:
        assert visitor.sign_in().status_code == 303
        newest = shown(visitor.page("/timeline"))

    assert "2 November 2026" in newest and "Late at night" in newest


@requirement("con.activity.sentences")
def test_what_was_read_is_called_by_more_than_its_title(owner: Visitor, world: World) -> None:
    bank = with_bank(world)
    assert owner.page(f"/records/{bank}/bookings:2026-03-02")

    assert "Of 2026-03-02 · -12.5 " in shown(owner.page("/activity"))
    assert {"what", "amount"} == {*world.owner.activity(own=True, limit=1)[0].fields}


@requirement("con.data.search")
def test_a_search_is_narrowed_to_a_source_a_stream_and_dates(owner: Visitor, world: World) -> None:
    world.deliver(chat.WORK, [chat.message("s1", text="walrus in May", sent_at="2026-05-05T08:00:00Z")])
    world.deliver(chat.FAMILY, [chat.message("s2", text="walrus at home", sent_at="2026-05-06T08:00:00Z")])
    one = f"/search?q=walrus&source={world.work}&stream=messages"

    assert "walrus</mark> at home" not in owner.page(f"/search?q=walrus&source={world.work}")
    assert owner.page(f"{one}&from=2026-05-01&before=2026-06-01").count("<mark>") == 1


@requirement("con.data.search")
def test_what_cannot_be_searched_so_is_said_above_the_form_as_it_was_filled_in(owner: Visitor, world: World) -> None:
    bank = with_bank(world)
    wrong = {
        "q=walrus&from=2026-05-01": "Days narrow a search of one kind of thing. Choose a source as well",
        f"q=walrus&source={bank}&stream=messages": "That source has nothing of that kind.",
        f"q=walrus&source={bank}&stream=bookings&from=soon": "A day is written as 2026-01-31.",
    }

    for asked, says in wrong.items():
        refused = owner.get(f"/search?{asked}")
        assert refused.status_code in {400, 404}
        assert says in shown(refused.text)
        assert {("q", "walrus"), *(tuple(pair.split("=")) for pair in asked.split("&"))} <= {
            *fields_of(refused.text, "/search")
        }


@requirement("con.data.search")
def test_a_search_offers_what_there_is_and_a_suggested_word_keeps_what_was_chosen(owner: Visitor, world: World) -> None:
    (bookings,) = BANK["streams"]
    booking({**BANK, "streams": [bookings, {**bookings, "name": "fees"}]}, world)
    world.deliver(chat.WORK, [chat.message("s1", text="a walrus in May", sent_at="2026-05-05T08:00:00Z")])

    asked = f"source={world.work}&stream=messages&from=2026-05-01"
    page = owner.page(f"/search?q=walrsu&{asked}")
    (link,) = re.findall(r'href="(/search\?[^"]+)"', page)

    assert 'value="bookings"' in page and 'value="fees"' not in page
    assert unescape(link) == f"/search?q=walrus&{asked}"
    assert "<mark>walrus</mark> in May" in owner.page(unescape(link))


@requirement("con.data.search")
def test_sources_that_are_called_alike_are_chosen_by_their_service(owner: Visitor, world: World) -> None:
    world.owner.writer(decode_declaration(BANK), "Family chat").deliver(
        [Incoming("test", "bookings", None, {"id": "a", "what": "Rent", "amount": 1, "on": "2026-03-02"}, None)]
    )

    for page in ("/search", "/activity?day=2026-03-02"):
        choices = re.findall(r"<option[^>]*>([^<]*)</option>", owner.page(page))
        assert {"Family chat, Bank", "Family chat, Chat", "Work chat"} <= {*choices}, page


@requirement("con.data.search")
def test_a_search_of_a_home_without_sources_leads_to_bringing_some_in(owner: Visitor, world: World) -> None:
    for connection in (world.work, world.family):
        world.owner.remove_source(connection)

    page = owner.page("/search?q=rent")

    assert 'class="button" href="/import"' in page
    assert "Fewer or other words" not in page


@requirement("con.data.gone")
def test_what_was_removed_is_said_to_be_gone(owner: Visitor, world: World) -> None:
    world.owner.remove_source(world.work)

    for path in (f"/sources/{world.work}", f"/sources/{world.work}/messages", f"/records/{world.work}/messages:m1"):
        assert owner.get(path).status_code == 404, path
    assert owner.get(f"/sources/{world.family}/nothing").status_code == 404


@requirement("con.data.clock")
def test_times_are_by_the_owners_clock_with_the_exact_instant_under_the_pointer(owner: Visitor, world: World) -> None:
    record = owner.page(f"/records/{world.work}/messages:m2")
    found = owner.page("/search?q=whole")

    exact = '<time datetime="{0}" title="{0}">2 March 2026 at 09:00'.format("2026-03-02T09:00:00Z")
    assert exact in record
    assert re.search(r"stored <time ", record)
    assert 'title="2026-03-02T09:00:00Z">2 March 2026 at 09:00' in found
    assert "2026-03-02T09:00Z" not in shown(found)
    assert "2026-03-02T09:00:00Z" not in shown(record)


@requirement("con.data.clock")
def test_a_day_without_a_time_stays_a_day(owner: Visitor, world: World) -> None:
    bank = with_bank(world)

    page = owner.page(f"/records/{bank}/bookings:2026-03-02")

    assert "2026-03-02" in shown(page)
    assert 'datetime="2026-03-02"' not in page
    assert 'datetime="2026-03-02"' not in owner.page("/search?q=of")


@requirement("con.data.notes")
def test_a_note_looks_as_meant_and_nothing_in_it_acts(owner: Visitor, world: World) -> None:
    writer = world.owner.writer(declaration_of("markdown"), "Vault")
    text = "# Plan\n\n## Shop\n\nBuy **milk** <script>alert(1)</script> ![](https://a.example/pixel.png)"
    note = {"id": "plan", "title": "Plan", "path": "plan.md", "text": text, "link_count": 0, "word_count": 3}
    assert writer.deliver([Incoming("test", "notes", None, note, chat.EMITTED_AT)]).accepted == 1

    page = owner.page(f"/records/{writer.connection_id}/notes:plan")

    assert (page.count(">Plan</h"), page.count("<h3>Shop</h3>")) == (1, 1)  # the title stands there already
    assert "<strong>milk</strong> &lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert 'href="https://a.example/pixel.png" rel="noreferrer nofollow"' in page
    assert 'src="https://a.example' not in page


@requirement("con.data.gone", "con.pages.trouble")
@pytest.mark.parametrize(
    ("path", "status", "says"),
    [
        ("/timeline?day=9999-12-31", 400, "That day is too far away."),
        ("/timeline?day=0001-01-01", 400, "That day is too far away."),
        ("/timeline?day=soon", 400, "A day is written as 2026-01-31."),
        ("/sources/{work}/messages?month=0001-01", 400, "That day is too far away."),
        ("/sources/{work}/messages?month=9999-12", 400, "That day is too far away."),
        ("/sources/{work}/messages?from=9999-12-31", 400, "That day is too far away."),
        ("/search?q=lease&source=gone", 404, "That source is not here, or not any more."),
        ("/clients/grt_gone", 404, "Clients shows who may read."),
        ("/clients/grt_gone/change", 404, "Clients shows who may read."),
        ("/clients/grt_gone/preview", 404, "Clients shows who may read."),
    ],
)
def test_an_address_that_leads_nowhere_is_a_page_with_its_remedy(
    owner: Visitor, world: World, path: str, status: int, says: str
) -> None:
    response = owner.get(path.format(work=world.work))

    assert (response.status_code, says in shown(response.text)) == (status, True)
    assert "pdpp grants" not in response.text  # a person who never saw a terminal reads this

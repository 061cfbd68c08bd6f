"""`search` as a reader of few bytes needs it: when, who and what on one line, an exchange in its order, words."""

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise

from pdpp_server.port.local import LocalReader
from tests.requirements import requirement
from tests.scenarios.mcp.agents import Agent, Result, agent_on
from tests.worlds.chat import WORK, message
from tests.worlds.ledger import GRANTED, Ledger
from tests.worlds.world import World

MINUTE = "2026-07-01T09:0{}:00Z"
TALK = (
    ("t0", "Ada", "Where shall we go on Sunday?"),
    ("t1", "Bo", "To the alpenglow hut, I would say."),
    ("t2", "Ada", "Only if it has soup."),
    ("t3", "Bo", "It does."),
)


def talking(world: World) -> Agent:
    said = enumerate(TALK)
    world.deliver(WORK, [message(key, text=text, author=who, sent_at=MINUTE.format(n)) for n, (key, who, text) in said])
    return agent_on(LocalReader(world.services, world.token))


def keys(found: Result) -> list[str]:
    lines = [line.split(" ")[0] for line in found.text.split("\n")[1:]]
    return [line.partition("/messages:")[2] for line in lines if "/messages:" in line]


@requirement("mcp.search.one-line")
def test_a_hit_says_where_it_comes_from_when_who_and_what_on_one_line(world: World) -> None:
    found = talking(world).call("search", query="alpenglow")

    (line,) = [line for line in found.text.split("\n") if "<mark>" in line]
    assert line == (
        f'{world.work}/messages:t1 chat "Work chat" 2026-07-01T09:01Z Wed by "Bo": '
        '"To the <mark>alpenglow</mark> hut, I would say."'
    )


@requirement("mcp.search.one-line", "rs.search.lean")
def test_a_hit_with_an_amount_says_how_much_in_both_channels_and_in_the_log(ledger: Ledger) -> None:
    found = agent_on(LocalReader(ledger.services, ledger.token)).call("search", query="kiosk")

    (line,) = [line for line in found.text.split("\n") if "<mark>" in line]
    (hit,) = found.structured["data"]["data"]
    assert ' amount 1000 "USD": ' in line
    assert (hit["amount"], hit["currency"]) == (1000, "USD")
    assert {"amount", "currency"} <= {*ledger.owner.activity()[0].fields}


@requirement("mcp.search.one-line")
def test_an_amount_or_a_currency_that_is_not_granted_is_not_told(ledger: Ledger) -> None:
    def asked(*hidden: str) -> tuple[str, str]:
        token = ledger.grant(fields=[name for name in GRANTED if name not in hidden])
        found = agent_on(ledger.reader(token)).call("search", query="kiosk")
        (hit,) = found.structured["data"]["data"]
        return found.text, f"{hit.get('amount')} {hit.get('currency')}"

    (without_amount, no_amount), (without_currency, no_currency) = asked("amount"), asked("currency")

    assert " amount " not in without_amount and no_amount == "None None"
    assert " amount 1000: " in without_currency and no_currency == "1000 None"


@requirement("mcp.search.one-line")
def test_later_hits_get_less_and_no_cut_is_without_its_number(world: World) -> None:
    def text(word: str) -> str:  # another one in each, or they would be alike
        return f"{'so it goes ' * 30}walrus {word} {'and on it goes ' * 30}"

    world.deliver(WORK, [message(f"w{word}", text=text(word), author="Ada") for word in "abcdefghijkl"])

    found = agent_on(world.reader).call("search", query="walrus", limit=12)

    lines = [line for line in found.text.split("\n") if "<mark>walrus</mark>" in line]
    shown = [len(text("a")) - int(missing[1]) for line in lines if (missing := re.search(r"\(\+(\d+) more\)$", line))]
    assert len(shown) == len(lines) > 10
    assert shown == sorted(shown, reverse=True) and shown[0] > 3 * shown[-1] > 60


@requirement("mcp.search.exchange")
def test_what_stands_beside_a_match_is_read_in_the_order_of_the_talk(world: World) -> None:
    found = talking(world).call("search", query="alpenglow", limit=5)

    assert found.text.startswith("search: 1 match and 3 beside them")
    assert keys(found) == ["t0", "t1", "t2", "t3"]
    assert re.search(r"messages:t0 .*\(beside the hit below\)\n", found.text)
    assert re.search(r"messages:t2 .*\(beside the hit above\)\n", found.text)
    beside = {hit["record_key"]: hit["beside"] for hit in found.structured["data"]["data"] if "beside" in hit}
    assert beside == {"t0": "t1", "t2": "t1", "t3": "t1"}


@requirement("mcp.search.exchange")
def test_what_was_found_with_a_filter_has_its_talk_beside_it(world: World) -> None:
    found = talking(world).call("search", query="alpenglow", streams=["messages"], filter={"author": "Bo"})

    assert found.text.startswith("search: 1 match and 2 beside them")
    assert keys(found) == ["t0", "t1", "t2"]
    assert found.structured["data"]["meta"]["count"] == 1


@requirement("mcp.search.exchange")
def test_what_stands_beside_a_match_takes_no_place_of_one(world: World) -> None:
    agent = talking(world)
    world.deliver(WORK, [message("far", text="Alpenglow again, a year later.", sent_at="2027-07-01T09:00:00Z")])

    found = agent.call("search", query="alpenglow", limit=2)

    assert {"t1", "far"} <= {hit["record_key"] for hit in found.structured["data"]["data"]}
    assert found.structured["data"]["meta"]["matches"] == 2


@requirement("mcp.search.exchange")
def test_few_hits_stand_beside_many_matches_and_every_match_comes_once(world: World) -> None:
    said = [(n, "Bo", f"The walrus {'and so on ' * 20}") for n in range(0, 57, 3)]
    replies = [(n + step, "Ada", f"Tell me more {'and more ' * 20}") for n, _, _ in said for step in (1, 2)]
    times = [(n, who, text, f"2026-07-01T{9 + n // 60:02}:{n % 60:02}:00Z") for n, who, text in (*said, *replies)]
    world.deliver(WORK, [message(f"n{n}", text=text, author=who, sent_at=at) for n, who, text, at in times])
    agent = agent_on(world.reader)
    asked = {"query": "walrus", "streams": ["messages"], "filter": {"author": "Bo"}}

    few, many = agent.call("search", **asked), agent.call("search", **asked, limit=25)

    assert (len(matched(few)), len(matched(many))) == (7, len(said))
    assert len(few.structured["data"]["data"]) <= 7 + 4
    assert len(many.structured["data"]["data"]) <= len(said) + len(said) // 2
    assert few.structured["data"]["has_more"] and "page_shortened" not in str(few.structured)
    pages = [*read_on(agent, asked, few)]
    assert sorted(key for page in pages for key in matched(page)) == sorted(f"n{n}" for n, _, _ in said)
    assert not pages[-1].structured["data"]["has_more"]


def matched(page: Result) -> list[str]:
    return [hit["record_key"] for hit in page.structured["data"]["data"] if "beside" not in hit]


def read_on(agent: Agent, asked: Mapping[str, object], page: Result) -> Iterator[Result]:
    while True:
        yield page
        if (cursor := page.structured["data"].get("next_cursor")) is None:
            return
        page = agent.call("search", **asked, cursor=cursor)


@requirement("mcp.search.ends-early")
def test_a_page_of_no_particular_limit_ends_where_hits_get_much_weaker(world: World) -> None:
    strong = [message(f"s{n}", text="the walrus clause", author="Ada") for n in range(4)]
    weak = [message(f"k{n}", text=f"{'on and on ' * 60} clause", author="Ada") for n in range(4)]
    world.deliver(WORK, [*strong, *weak])
    agent = agent_on(world.reader)

    brief, whole = agent.call("search", query="walrus clause"), agent.call("search", query="walrus clause", limit=10)

    assert {key[0] for key in keys(brief)} == {"s", "m"} or {key[0] for key in keys(brief)} == {"s"}
    assert len(keys(whole)) > len(keys(brief))
    assert brief.structured["data"]["has_more"]
    assert ", the others match less (a limit shows them), best first." in brief.text and "match less" not in whole.text
    assert brief.structured["data"]["meta"]["recall"]["says"].endswith(
        "those not shown here match less, a limit shows them"
    )


@requirement("mcp.search.teaches")
def test_a_word_that_matched_nothing_is_named_and_a_sender_offers_a_filter(world: World) -> None:
    found = talking(world).call("search", query="alpenglow bo zeppelin")

    assert '\nno match: "bo", "zeppelin"\n' in found.text
    assert found.structured["data"]["meta"]["words"] == {"alpenglow": 1, "bo": 0, "zeppelin": 0}
    assert '\nonly by Bo: add "streams":["messages"],"filter":{"author":"Bo"}\n' in found.text


@requirement("mcp.search.teaches")
def test_a_word_that_drowns_another_is_counted(world: World) -> None:
    world.deliver(WORK, [message(f"g{n}", text="the game", author="Ada") for n in range(40)])
    world.deliver(WORK, [message("w", text="the witness of the game", author="Ada")])

    found = agent_on(world.reader).call("search", query="witness game")

    assert '\nrecords: "witness" 1 (1 here), "game" 41 (3 here)\n' in found.text


@requirement("mcp.search.teaches")
def test_for_a_word_that_stands_nowhere_one_is_named_that_somebody_wrote(world: World) -> None:
    world.deliver(WORK, [message(f"g{n}", text="Our community has communal soup.", author="Ada") for n in range(3)])
    agent = agent_on(world.reader)

    mistyped, begun = agent.call("search", query="commund"), agent.call("search", query="soupcon communicate")

    assert '\nnote: "commund stands nowhere here, communal in 3 records"\n' in mistyped.text
    assert mistyped.structured["data"]["meta"]["notes"] == ["commund stands nowhere here, communal in 3 records"]
    assert "warning" not in mistyped.text and "warnings" not in mistyped.structured["data"]["meta"]
    assert "soupcon stands nowhere here, soup in 3 records" in begun.text


@requirement("mcp.search.teaches", "rs.search.not-searched")
def test_a_stream_in_which_nothing_is_searched_is_named_and_no_word_is_called_missing(world: World) -> None:
    hidden = {"name": "channels", "fields": ["team", "number"], "instance_ids": [world.work]}
    token = world.grant(hidden, {"name": "messages", "instance_ids": [world.work]})
    agent = agent_on(LocalReader(world.services, token))

    alone, beside = (
        agent.call("search", query="lease", streams=names) for names in (["channels"], ["channels", "messages"])
    )

    said = "No words are looked for in channels: list it with query_records, or filter it."
    assert alone.text == (
        f'search: 0 hits.\nwarning not_searched: "{said}"\nnext: schema {{"stream":"channels"}} for its filters'
    )
    assert alone.structured["next"] == [{"tool": "schema", "arguments": {"stream": "channels"}}]
    assert "words" not in alone.structured["data"]["meta"]
    assert said in beside.text and "/messages:m1 " in beside.text
    nowhere = agent.call("search", query="zeppelin", streams=["messages", "channels"]).text
    assert 'no match: "zeppelin"' in nowhere and "next: search with other words, or schema {} for" in nowhere
    assert "not_searched" not in agent.call("search", query="lease").text


@requirement("mcp.search.teaches")
def test_a_month_is_a_time_and_no_word_that_matched_nothing(world: World) -> None:
    found = talking(world).call("search", query="alpenglow in March")

    assert "no match: " not in found.text and "March" not in found.structured["data"]["meta"]["words"]
    assert '\nnote: "ranked higher: time 03-01 to 03-31"\n' in found.text


@requirement("mcp.search.exchange")
def test_a_page_is_not_turned_for_what_only_stands_beside_matches(world: World) -> None:
    said = [message(f"q{n}", text="And so on.", author="Ada", sent_at=f"2026-07-02T09:{n:02}:00Z") for n in range(20)]
    world.deliver(WORK, [*said, message("hit", text="A zeppelin!", author="Bo", sent_at="2026-07-02T09:10:30Z")])

    found = agent_on(world.reader).call("search", query="zeppelin", limit=1)

    assert found.text.startswith("search: 1 match.") and "\nmore: " not in found.text
    assert not found.structured["data"]["has_more"]


@requirement("mcp.search.one-line")
def test_of_many_hits_it_is_said_how_many_are_whole(world: World) -> None:
    world.deliver(
        WORK, [message(f"w{n}", text=f"walrus {n} {'so it goes ' * 20}", author="Ada") for n in "abcdefghijkl"]
    )
    agent = agent_on(world.reader)

    many, few = agent.call("search", query="walrus", limit=12), agent.call("search", query="walrus", limit=3)

    whole = [line for line in many.text.split("\n") if "<mark>" in line and " more)" not in line]
    assert f", {len(whole)} of them whole: a lower limit shows more. first_fetch_id=" in many.text
    assert "of them whole" not in few.text


@requirement("mcp.search.one-line")
def test_of_one_long_hit_no_lower_limit_is_spoken_of(world: World) -> None:
    world.deliver(WORK, [message("w1", text=f"walrus {'so it goes ' * 800}", author="Ada")])

    found = agent_on(world.reader).call("search", query="walrus", limit=1)

    assert " more)" in found.text
    assert "of them whole" not in found.text


@requirement("mcp.search.next-step")
def test_after_a_hit_that_is_whole_comes_what_was_said_around_it(agent: Agent, world: World) -> None:
    said = enumerate(TALK)
    world.deliver(WORK, [message(key, text=text, author=who, sent_at=MINUTE.format(n)) for n, (key, who, text) in said])

    found = agent.call("search", query="alpenglow")

    step = ("query_records", {"stream": "messages", "around": f"{world.work}/messages:t1"})
    assert found.next_call == step
    assert (found.structured["next"][0]["tool"], found.structured["next"][0]["arguments"]) == step
    assert "Only if it has soup." in agent.call(step[0], **step[1]).text


@requirement("mcp.search.next-step")
def test_a_good_hit_that_is_cut_is_read_on_at_its_match_first(world: World) -> None:
    long = f"{'so it goes ' * 400}walrus {'and on it goes ' * 30}"
    world.deliver(WORK, [message("long", text=long, author="Ada", sent_at=MINUTE.format(0))])

    tool, arguments = agent_on(world.reader).call("search", query="walrus").next_call

    assert (tool, arguments["id"]) == ("read_record_field", f"{world.work}/messages:long")
    assert arguments["offset_chars"] == long.index("walrus") - 200


@requirement("mcp.search.next-step", "rs.schema.core-strict")
def test_in_strict_mode_no_step_is_offered_that_is_refused(world: World) -> None:
    agent = talking(world)
    offered = agent.call("search", query="alpenglow bo").text
    world.services.core_strict = True

    strict = agent.call("search", query="alpenglow bo")

    assert '"around"' in offered and "only by Bo" in offered
    assert '"around"' not in strict.text + str(strict.structured["next"]) and "only by" not in strict.text
    assert strict.next_call == ("fetch", {"id": f"{world.work}/messages:t1"})


@requirement("mcp.search.alike")
def test_hits_that_say_the_same_but_for_numbers_stand_under_the_first_and_say_so_once(world: World) -> None:
    def receipt(number: int) -> str:
        return f"Receipt {number}: one kilogram of smoked walrus, paid in cash at the harbour. {'Thank you! ' * 40}"

    said = {"r1": receipt(7), "r2": "A walrus of its own kind, which nobody ever paid for", "r3": receipt(1204)}
    days = {key: f"2026-07-0{9 - number}T09:00:00Z" for number, key in enumerate(said)}
    world.deliver(WORK, [message(key, text=text, author="Bo", sent_at=days[key]) for key, text in said.items()])

    found = agent_on(LocalReader(world.services, world.token)).call("search", query="walrus smoked", limit=3)

    lines = [line for line in found.text.split("\n") if line.startswith(f"{world.work}/messages:r")]
    above, alike = next((one, other) for one, other in pairwise(lines) if "as above" in other)
    first, second = (line.partition(" ")[0][-2:] for line in (above, alike))
    number, other, left = {"r1": ("7", "1204", len(said["r1"])), "r3": ("1204", "7", len(said["r3"]))}[second]
    head = f'{world.work}/messages:{second} chat "Work chat" {days[second][:16]}Z '
    assert {first, second} == {"r1", "r3"} and alike.startswith(head)
    assert re.search(rf": as above but {number} for {other} \(\+\d+ more\)$", alike) and 'by "Bo": ' in above
    assert left > int(alike.rpartition("(+")[2].removesuffix(" more)")) > 0
    assert {line.partition(" ")[0] for line in lines} == {hit["id"] for hit in found.structured["results"]}
    assert {hit["actor"] for hit in found.structured["data"]["data"]} == {"Bo"}
    assert {*world.owner.activity()[0].records} == {hit["id"] for hit in found.structured["results"]}


@requirement("mcp.search.next-step")
def test_of_ids_that_have_their_connection_nothing_is_said_beside_the_call(ledger: Ledger) -> None:
    found = agent_on(LocalReader(ledger.services, ledger.token)).call("search", query="kiosk")

    assert found.text.endswith(f'next: fetch {{"id":"{found.structured["results"][0]["id"]}"}}')

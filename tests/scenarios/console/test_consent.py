"""The page on which the owner reads what a client asks, narrows it, and says yes or no."""

import json
import re
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pytest

from pdpp_server.model.authorization import ClientDocument
from pdpp_server.model.grants import Grant
from pdpp_server.owner.sign_in import SignIn
from pdpp_server.wire.declarations import decode_declaration
from tests.requirements import requirement
from tests.scenarios.authorization_server.flow import DEVICE, REDIRECT, STATE, Flow, flowing, query
from tests.scenarios.console.visitor import PASSWORD, Visitor, fields_of, shown, visiting
from tests.worlds import chat
from tests.worlds.world import World

MESSAGES = {"name": "messages"}
PAGE_BYTES = 60_000


def asking(flow: Flow, *streams: dict[str, Any], **detail: Any) -> str:
    """The address of the consent page for an ask of these streams."""
    details = json.dumps([{**chat.detail(*(streams or (MESSAGES,))), **detail}])
    return f"/consent?ask={flow.ask(authorization_details=details)}"


def every_given(world: World) -> list[Grant]:
    """What the client that asks was given."""
    return [row.grant for row in world.owner.grants() if row.grant.client_name == "Agent X"]


def ends_given(world: World) -> dict[tuple[str, ...], str | None]:
    return {grant.streams[0].connections: grant.expires_at for grant in every_given(world)}


def given(world: World) -> Grant:
    (grant,) = every_given(world)
    return grant


@requirement("as.consent.voices")
def test_the_page_keeps_four_voices_apart(owner: Visitor, flow: Flow) -> None:
    claims = {"commitments": ["We never sell it."]}
    policy = {"max_duration": "P30D", "on_expiry": "delete"}
    page = owner.page(asking(flow, purpose_description="To help you.", retention=policy, client_claims=claims))

    who, rest = page.split('<section class="voice theirs"')
    theirs, rest = rest.split('<section class="voice policy"')
    promised, enforced = rest.split("<form")
    assert "says it is called “Agent X”. Nobody has checked that." in shown(who)
    assert "an app on this computer" in shown(who)
    assert "“" not in shown(enforced)
    assert ("To help you." in theirs, "We never sell it." in theirs, "30 days" in theirs) == (True, True, False)
    assert "cannot enforce" in promised
    assert "30 days" in promised
    assert "We never sell it." not in enforced


@contextmanager
def described(world: World, redirect_uri: str) -> Generator[tuple[Flow, Visitor]]:
    """A client that is named by its document, and the owner, signed in."""
    client_id = "https://agent.example/client.json"
    document = {
        "client_id": client_id,
        "client_name": "Agent Y",
        "redirect_uris": [redirect_uri],
        "grant_types": ["authorization_code", DEVICE],
        "logo_uri": "https://agent.example/logo.png",
    }
    with flowing(world, lambda _: ClientDocument(json.dumps(document).encode(), None)) as flow:
        flow.client_id = client_id
        owner = Visitor(flow.http, SignIn(world.services))
        owner.door.set_password(PASSWORD)
        owner.sign_in()
        yield flow, owner


@requirement("as.consent.voices", "as.consent.vouched")
def test_a_client_whose_answer_goes_to_its_own_address_is_named_by_it(world: World) -> None:
    with described(world, "https://agent.example/back") as (flow, owner):
        page = owner.page(f"/consent?ask={flow.ask(redirect_uri='https://agent.example/back')}")

    assert "It is the app of agent.example : that address was checked, and your answer goes there." in shown(page)
    assert "Not verified" not in page
    assert "logo.png" not in page


@requirement("as.consent.vouched")
@pytest.mark.parametrize(
    "redirect_uri",
    [
        "http://localhost/callback",
        "http://127.0.0.1/callback",
        "https://localhost/callback",
        "https://elsewhere.example/callback",
        "https://agent.example.elsewhere.example/callback",
        "com.example.agent:/callback",
        "cursor://agent.example/callback",
    ],
)
def test_nobody_is_vouched_for_where_the_answer_goes_elsewhere(world: World, redirect_uri: str) -> None:
    with described(world, redirect_uri) as (flow, owner):
        page = shown(owner.page(f"/consent?ask={flow.ask(redirect_uri=redirect_uri)}"))

    assert "was checked" not in page
    assert "Not verified It says it is “Agent Y” of agent.example. Anybody can say so" in page


@requirement("as.consent.vouched")
def test_nobody_is_vouched_for_on_a_device(world: World) -> None:
    with described(world, "https://agent.example/back") as (flow, owner):
        ask = flow.desk.ask_by_user_code(flow.device_code()["user_code"])
        page = shown(owner.page(f"/consent?ask={ask.ask_id}"))

    assert "was checked" not in page
    assert "Not verified" in page


@requirement("con.consent.preview")
def test_the_owner_sees_counts_titles_and_the_publishers_words(owner: Visitor, flow: Flow, world: World) -> None:
    page = owner.page(asking(flow, {**MESSAGES, "instance_ids": [world.family]}))

    text = shown(page)
    assert "Messages · Chat Subject, text, author and time." in text
    assert "2 records now, and later ones, from Family chat" in text
    assert "Holidays" in text
    assert "Lease draft" not in text


@requirement("con.consent.narrowed")
def test_where_several_connections_could_be_meant_none_is_chosen(owner: Visitor, flow: Flow, world: World) -> None:
    page = owner.page(asking(flow))
    assert [field for field in fields_of(page, "/consent") if field[0] == "connection"] == []
    assert 'value="approve"' not in page

    reviewed = owner.send(page, "/consent", action="review", connection=f"0:{world.work}").text
    answer = owner.send(reviewed, "/consent", action="approve")

    assert answer.headers["location"].startswith(f"{REDIRECT}?code=")
    assert [stream.connections for stream in given(world).streams] == [(world.work,)]


@requirement("con.consent.narrowed")
def test_an_end_is_chosen_beforehand_and_optional_streams_are_not(owner: Visitor, flow: Flow, world: World) -> None:
    both = {"instance_ids": [world.work]}
    page = owner.page(asking(flow, {**MESSAGES, **both}, {"name": "channels", "necessity": "optional", **both}))

    owner.send(page, "/consent", action="approve")

    assert given(world).expires_at == "2027-02-13T00:00:00.000Z"
    assert [stream.name for stream in given(world).streams] == ["messages"]


@requirement("con.consent.narrowed")
def test_fields_times_the_end_and_the_mode_are_narrowed(owner: Visitor, flow: Flow, world: World) -> None:
    page = owner.page(asking(flow, {**MESSAGES, "instance_ids": [world.work]}))
    narrowed = {"field": "0.0:subject", "since": "2026-03-01", "end": "2026-12-01", "mode": "continuous"}

    reviewed = owner.send(page, "/consent", action="review", **narrowed).text
    owner.send(reviewed, "/consent", action="approve")

    (stream,) = given(world).streams
    assert stream.fields == {"id", "subject"}
    assert stream.time is not None
    assert (stream.time.since, stream.time.until) == ("2026-03-01", None)
    assert given(world).expires_at == "2026-12-01T00:00:00.000Z"


@requirement("con.consent.changed")
def test_what_was_changed_after_its_review_is_shown_first(owner: Visitor, flow: Flow, world: World) -> None:
    page = owner.page(asking(flow, {**MESSAGES, "instance_ids": [world.work]}))
    before = len(world.owner.grants())

    changed = owner.send(page, "/consent", action="approve", before="2026-03-01")

    assert (changed.status_code, len(world.owner.grants())) == (200, before)
    assert "You changed something. This is what it would give now." in shown(changed.text)
    assert "before 2026-03-01" in shown(changed.text)
    assert owner.send(changed.text, "/consent", action="approve").status_code == 303


@requirement("con.consent.picked")
def test_where_no_source_was_named_three_clicks_are_enough(owner: Visitor, flow: Flow, world: World) -> None:
    page = owner.page(f"/consent?ask={flow.ask(authorization_details=None)}")
    assert [field for field in fields_of(page, "/consent") if field[0] == "pick"] == []
    assert "Choose at least one source." in shown(owner.send(page, "/consent", action="review").text)

    reviewed = owner.send(page, "/consent", action="review", pick=f"0:{world.family}").text
    answer = owner.send(reviewed, "/consent", action="approve")

    assert answer.headers["location"].startswith(REDIRECT)
    assert "It did not say what for, and leaves the choice to you." in shown(reviewed)
    granted = [(stream.name, stream.connections) for stream in given(world).streams]
    assert granted == [("messages", (world.family,)), ("channels", (world.family,))]


@requirement("con.consent.picked")
def test_a_part_of_a_source_is_picked_by_its_streams(owner: Visitor, flow: Flow, world: World) -> None:
    page = owner.page(f"/consent?ask={flow.ask(authorization_details=None)}")

    reviewed = owner.send(page, "/consent", action="review", pick=f"0.1:{world.work}").text
    owner.send(reviewed, "/consent", action="approve")

    assert [stream.name for stream in given(world).streams] == ["channels"]


PRESETS = [
    {"id": "subjects", "label": "Subjects only", "streams": [{"name": "messages", "fields": ["id", "subject"]}]},
    {"id": "rooms", "label": "Rooms", "streams": [{"name": "channels"}]},
]


def with_presets(world: World) -> None:
    """The chat source, as its publisher declares it with presets."""
    document = {**chat.DOCUMENT, "declaration_version": "2", "selection_presets": PRESETS}
    for account in (chat.WORK, chat.FAMILY):
        world.owner.writer(decode_declaration(document), account).deliver([chat.message("p1", subject="Presets")])


def picking(owner: Visitor, flow: Flow, action: str = "review", **fields: str) -> str:
    """The page after the picker was sent with these fields."""
    page = owner.page(f"/consent?ask={flow.ask(authorization_details=None)}")
    return owner.send(page, "/consent", action=action, **fields).text


@requirement("con.consent.presets", "con.consent.left-out")
def test_a_preset_and_dates_of_a_card_are_what_is_granted(owner: Visitor, flow: Flow, world: World) -> None:
    with_presets(world)
    dates = {f"since.0:{world.work}": "2026-03-01"}
    reviewed = picking(owner, flow, pick=f"0~1:{world.work}", end="2026-12-24", mode="continuous", **dates)

    owner.send(reviewed, "/consent", action="approve")

    (stream,) = given(world).streams
    assert (stream.fields, stream.connections) == ({"id", "subject"}, (world.work,))
    assert stream.time is not None
    assert stream.time.since == "2026-03-01"
    assert given(world).expires_at == "2026-12-24T00:00:00.000Z"
    assert "Not included: text, author, sent at, likes, reactions." in shown(reviewed)
    assert "Subject, text, author and time." not in shown(reviewed).partition("Let it read less")[0]


@requirement("con.consent.presets")
def test_two_accounts_of_one_source_are_given_differently(owner: Visitor, flow: Flow, world: World) -> None:
    with_presets(world)
    two = {"pick.1": f"0~1:{world.work}", "pick.2": f"0:{world.family}"}

    owner.send(picking(owner, flow, **two), "/consent", action="approve")

    granted = {
        grant.streams[0].connections: [len(stream.fields) for stream in grant.streams] for grant in every_given(world)
    }
    assert granted == {(world.work,): [2], (world.family,): [7, 3]}


@requirement("con.consent.many")
def test_one_choice_is_taken_over_for_every_account_of_its_kind(owner: Visitor, flow: Flow, world: World) -> None:
    with_presets(world)
    same = picking(owner, flow, action="", same=f"0:{world.work}", **{"pick.1": f"0~2:{world.work}"})
    assert 'value="approve"' not in same

    reviewed = owner.send(same, "/consent", action="review").text
    owner.send(reviewed, "/consent", action="approve")

    assert [(stream.name, {*stream.connections}) for stream in given(world).streams] == [
        ("channels", {world.work, world.family})
    ]


@requirement("con.consent.ends")
def test_a_card_may_say_an_end_of_its_own_and_the_others_end_together(owner: Visitor, flow: Flow, world: World) -> None:
    two = {"pick.1": f"0:{world.work}", "pick.2": f"0:{world.family}", f"until.0:{world.family}": "2026-12-01"}
    reviewed = picking(owner, flow, end="2027-01-01", mode="continuous", **two)

    owner.send(reviewed, "/consent", action="approve")

    assert re.findall(r"It can read this until (\d+ \w+)", shown(reviewed)) == ["1 January", "1 December"]
    assert ends_given(world) == {
        (world.work,): "2027-01-01T00:00:00.000Z",
        (world.family,): "2026-12-01T00:00:00.000Z",
    }
    assert re.findall(r"until (\d+ \w+)", shown(owner.page("/clients")))[:3].count("1 January") == 2  # of all, of one


@requirement("con.consent.ends")
def test_an_end_of_its_own_is_changed_or_taken_back_at_the_review(owner: Visitor, flow: Flow, world: World) -> None:
    two = {"pick.1": f"0:{world.work}", "pick.2": f"0:{world.family}", f"until.0:{world.family}": "2026-12-01"}
    reviewed = picking(owner, flow, end="2027-01-01", mode="continuous", **two)
    changed = owner.send(reviewed, "/consent", action="approve", **{"end.0": "2026-11-30", "end.1": ""}).text
    assert "You changed something. This is what it would give now." in shown(changed)

    owner.send(changed, "/consent", action="approve")

    assert ends_given(world) == {
        (world.work,): "2026-11-30T00:00:00.000Z",
        (world.family,): "2027-01-01T00:00:00.000Z",
    }


@requirement("con.consent.ends", "grants.change.end")
def test_a_day_on_which_it_ends_begins_by_the_clock_on_the_wall(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    with visiting(world) as owner:
        assert owner.sign_in().status_code == 303
        two = {"pick.1": f"0:{world.work}", "pick.2": f"0:{world.family}", f"until.0:{world.family}": "2026-12-24"}
        flow = Flow(world, owner.http)
        reviewed = picking(owner, flow, end="2027-01-01", mode="continuous", **two)
        owner.send(reviewed, "/consent", action="approve")
        again = owner.page(f"/consent?ask={flow.ask(authorization_details=None)}")
        package = next(row.package_id for row in world.owner.grants() if row.package_id)
        there = f"/clients/{package}/change"
        standing = fields_of(owner.page(there), there)
        longer = [*(pair for pair in standing if pair[0] != "end"), ("end", "2027-01-02")]
        would = owner.post(there, [*longer, ("action", "review")]).text
        owner.post(there, [*fields_of(would, there), ("action", "change")])

    for page in (reviewed, again):
        untils = re.findall(r"until (\d+ \w+ \d+ at \S+ \w+)", shown(page))
        assert untils == ["1 January 2027 at 00:00 EST", "24 December 2026 at 00:00 EST"]
    assert ("end", "2027-01-01") in standing
    standing_now = {row.grant.streams[0].connections: row.grant.expires_at for row in world.owner.grant(package)}
    assert standing_now == {
        (world.work,): "2027-01-02T05:00:00.000Z",
        (world.family,): "2026-12-24T05:00:00.000Z",
    }


@requirement("con.consent.ends")
@pytest.mark.parametrize("day", ["2020-01-01", "soon", "9999-12-31"])
def test_an_end_of_its_own_is_a_day_to_come(owner: Visitor, flow: Flow, world: World, day: str) -> None:
    page = picking(owner, flow, pick=f"0:{world.work}", mode="continuous", **{f"until.0:{world.work}": day})

    assert 'value="approve"' not in page
    assert any(said in shown(page) for said in ("still to come.", "A date is written as", "too far away"))


@requirement("as.consent.approve-again", "con.consent.ends")
def test_the_same_again_keeps_apart_what_was_given_differently(owner: Visitor, flow: Flow, world: World) -> None:
    with_presets(world)
    dates = {f"since.0:{world.work}": "2026-03-01", f"until.0:{world.family}": "2026-12-01"}
    two = {"pick.1": f"0~1:{world.work}", "pick.2": f"0:{world.family}", **dates}
    owner.send(picking(owner, flow, end="2027-01-01", mode="continuous", **two), "/consent", action="approve")

    again = owner.page(f"/consent?ask={flow.ask(authorization_details=None)}")
    owner.send(again, "/consent", action="approve")

    assert "The same as you agreed to before." in shown(again)
    agreed = [(each.streams, each.expires_at) for each in every_given(world)]
    assert [agreed.count(each) for each in agreed] == [2, 2, 2, 2]


@requirement("con.consent.many")
def test_the_dates_of_a_card_are_taken_over_with_its_choice(owner: Visitor, flow: Flow, world: World) -> None:
    dates = {f"since.0:{world.work}": "2026-03-01", f"until.0:{world.work}": "2026-12-01"}
    same = picking(owner, flow, action="", same=f"0:{world.work}", **{"pick.1": f"0:{world.work}"}, **dates)

    owner.send(owner.send(same, "/consent", action="review").text, "/consent", action="approve")

    messages = next(stream for stream in given(world).streams if stream.name == "messages")
    assert {*messages.connections} == {world.work, world.family}
    assert messages.time is not None
    assert (messages.time.since, given(world).expires_at) == ("2026-03-01", "2026-12-01T00:00:00.000Z")


@requirement("con.consent.many")
def test_a_filter_loses_no_choice(owner: Visitor, flow: Flow, world: World) -> None:
    filtered = picking(owner, flow, action="filter", filter="family", pick=f"0:{world.work}")
    assert shown(filtered).count("Work chat") == shown(filtered).count("Chosen already: Work chat.") == 1

    owner.send(owner.send(filtered, "/consent", action="review").text, "/consent", action="approve")

    assert {each for stream in given(world).streams for each in stream.connections} == {world.work}


@requirement("con.consent.many", "con.pages.small")
def test_twenty_accounts_are_one_page_that_a_filter_makes_short(owner: Visitor, flow: Flow, world: World) -> None:
    with_presets(world)
    for number in range(18):
        world.deliver(f"Account {number:02}", [chat.message("m1", text="Hello")])

    whole = picking(owner, flow, action="")
    filtered = owner.send(whole, "/consent", action="filter", filter="account 07").text

    assert all(f"Account {number:02}" in shown(whole) for number in range(18))
    assert len(whole.encode()) <= PAGE_BYTES
    assert [name for name in re.findall(r"Account \d\d", shown(filtered)) if name != "Account 07"] == []
    assert "Account 07" in shown(filtered)


@requirement("con.consent.empty")
def test_where_nothing_is_yet_the_page_leads_to_bringing_it_in(owner: Visitor, flow: Flow, world: World) -> None:
    for connection in (world.work, world.family):
        world.owner.remove_source(connection)

    page = owner.page(f"/consent?ask={flow.ask(authorization_details=None)}")

    assert "Nothing is here yet that it could read." in shown(page)
    assert 'href="/import"' in page
    assert 'value="review"' not in page


@requirement("con.consent.many")
def test_what_holds_nothing_yet_is_called_by_its_service_alone(owner: Visitor, flow: Flow, world: World) -> None:
    world.deliver("Quiet chat", [])

    page = shown(owner.page(f"/consent?ask={flow.ask(authorization_details=None)}"))

    assert "Quiet chat Chat Nothing" in page
    assert "Work chat Chat · " in page


@requirement("con.consent.presets")
@pytest.mark.parametrize(
    "pick", ["0~9:{work}", "7:{work}", "0~1:cin_none", "0.0.9.0.0.0:{work}", "x:{work}", "0~x:{work}"]
)
def test_a_choice_that_the_page_does_not_offer_gives_nothing(
    owner: Visitor, flow: Flow, world: World, pick: str
) -> None:
    with_presets(world)

    page = picking(owner, flow, pick=pick.format(work=world.work))

    assert 'value="approve"' not in page


@requirement("as.consent.approve-again")
@pytest.mark.parametrize("named", [True, False])
def test_the_same_again_is_one_click(owner: Visitor, flow: Flow, world: World, named: bool) -> None:
    details = json.dumps([chat.detail(MESSAGES)]) if named else None
    page = owner.page(f"/consent?ask={flow.ask(authorization_details=details)}")
    chosen = {"connection": f"0:{world.work}"} if named else {"pick": f"0.0:{world.work}"}
    owner.send(owner.send(page, "/consent", action="review", **chosen).text, "/consent", action="approve")

    again = owner.page(f"/consent?ask={flow.ask(authorization_details=details)}")
    owner.send(again, "/consent", action="approve")

    assert "The same as you agreed to before." in shown(again)
    first, second = every_given(world)
    assert (first.streams, first.expires_at) == (second.streams, second.expires_at)


@requirement("con.consent.picked")
def test_other_sources_can_be_picked_than_those_of_the_last_time(owner: Visitor, flow: Flow, world: World) -> None:
    page = owner.page(f"/consent?ask={flow.ask(authorization_details=None)}")
    reviewed = owner.send(page, "/consent", action="review", pick=f"0:{world.work}").text
    owner.send(reviewed, "/consent", action="approve")
    again = owner.page(there := f"/consent?ask={flow.ask(authorization_details=None)}")

    assert f'href="{there}&amp;anew"' in again
    assert "Nothing is chosen yet." in owner.page(f"{there}&anew")


@requirement("con.consent.training")
def test_training_needs_a_box_of_its_own(owner: Visitor, flow: Flow, world: World) -> None:
    purpose = "https://pdpp.dev/purpose/ai_training"
    page = owner.page(asking(flow, {**MESSAGES, "instance_ids": [world.work]}, purpose_code=purpose))
    assert "It may train models with it." in shown(page)

    refused = owner.send(page, "/consent", action="approve")
    assert (refused.status_code, "Training of models must be affirmed by itself." in refused.text) == (200, True)
    assert "Purpose: to train models" in shown(page)
    answer = owner.send(page, "/consent", action="approve", ai_training="yes")

    assert answer.headers["location"].startswith(REDIRECT)


@requirement("con.consent.denied")
def test_a_denial_goes_back_to_the_client(owner: Visitor, flow: Flow, world: World) -> None:
    page = owner.page(asking(flow))
    before = len(world.owner.grants())

    answer = owner.send(page, "/consent", action="deny")

    back = query(answer.headers["location"])
    assert (back["error"], back["state"], len(world.owner.grants())) == ("access_denied", STATE, before)
    assert owner.get(f"/consent?ask={dict(fields_of(page, '/consent'))['ask']}").status_code == 409


@requirement("con.consent.device")
def test_a_device_gets_its_token_after_the_owner_typed_its_code(owner: Visitor, flow: Flow, world: World) -> None:
    details = json.dumps([chat.detail({**MESSAGES, "instance_ids": [world.work]})])
    begun = flow.device_code(authorization_details=details, redirect_uri=None, response_type=None)
    entry = owner.page("/device")
    assert owner.send(entry, "/device", user_code="WRNG-CDXX").status_code == 404

    to = owner.send(entry, "/device", user_code=begun["user_code"].lower()).headers["location"]
    done = owner.send(owner.page(to), "/consent", action="approve")

    assert "Your device goes on by itself." in shown(done.text)
    assert "access_token" in flow.poll(begun["device_code"]).json()


@requirement("con.pages.escaped")
def test_a_clients_words_are_never_markup(owner: Visitor, flow: Flow) -> None:
    flow.client_id = flow.registered(client_name="<b>Bank</b> \u202eknaB")

    page = owner.page(asking(flow, purpose_description="<script>alert(1)</script>"))

    assert "&lt;b&gt;Bank&lt;/b&gt; \\u202eknaB" in page
    assert "<script" not in page


@requirement("con.consent.narrowed")
def test_a_package_is_summed_up_before_it_is_approved(owner: Visitor, flow: Flow, world: World) -> None:
    bound = {**MESSAGES, "instance_ids": [world.work], "time_range": {"since": "2026-01-01T00:00:00Z"}}
    whole = {**MESSAGES, "instance_ids": [world.family]}
    page = owner.page(
        f"/consent?ask={flow.ask(authorization_details=json.dumps([chat.detail(bound), chat.detail(whole)]))}"
    )

    told = "2 streams of 2 sources : 1 from any time, 2 with every field. It may come back as often as it likes."
    assert told in shown(page)


@requirement("as.consent.preview")
def test_two_grants_of_one_source_are_each_shown_with_what_they_give(owner: Visitor, flow: Flow, world: World) -> None:
    whole = {**MESSAGES, "instance_ids": [world.work]}
    nothing = {**whole, "time_range": {"since": "2030-01-01T00:00:00Z"}}
    details = json.dumps([chat.detail(whole), chat.detail(nothing)])
    text = shown(owner.page(f"/consent?ask={flow.ask(authorization_details=details)}"))
    alone = shown(owner.page(asking(flow, whole)))

    (records,) = re.findall(r"(\d+) records? now", alone)
    assert int(records) > 0
    assert re.findall(r"(\d+) records? now", text) == [records, "0"]

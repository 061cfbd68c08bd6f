"""Grants as things one can change: less of it, another end, a name; a successor takes the place of each."""

import threading
from datetime import timedelta
from typing import Any

import pytest

from pdpp_server.errors import ApprovalConflict, InvalidAuthorizationDetails, InvalidRequest
from pdpp_server.model.queries import FetchQuery, SchemaQuery
from pdpp_server.model.selections import Selection
from pdpp_server.model.times import iso
from pdpp_server.owner.changes import selection_of
from pdpp_server.wire.grants import decode_selection
from tests.requirements import requirement
from tests.scenarios.authorization_server.flow import Flow
from tests.scenarios.console.visitor import Pairs, Visitor, fields_of, shown
from tests.scenarios.packages.package import packed
from tests.worlds import chat
from tests.worlds.told import told
from tests.worlds.world import World

READS = 40


def read(owner: Visitor, token: str, path: str = "/v1/streams/messages/records?limit=1") -> dict[str, Any]:
    response = owner.http.get(path, headers={"Authorization": f"Bearer {token}"})
    return {"status": response.status_code, **response.json()}


def only(world: World, **narrowing: Any) -> dict[str, Selection]:
    """What stays of the world's grant: its messages, narrowed."""
    row = world.owner.grant(world.grant_id)[0]
    return {row.grant.grant_id: decode_selection([chat.detail(world.both("messages", **narrowing))])[0]}


def leave(owner: Visitor, world: World, *left_out: tuple[str, str]) -> str:
    """The page of the change with some boxes not ticked, changed; where it leads."""
    there = f"/clients/{world.grant_id}/change"
    standing = [pair for pair in fields_of(owner.page(there), there) if pair not in left_out]
    changed = owner.post(there, reviewed(owner, there, standing))
    assert changed.status_code == 303
    return changed.headers["location"]


def reviewed(owner: Visitor, there: str, fields: Pairs) -> Pairs:
    """The form that makes this change, of the page that shows what it would leave."""
    page = owner.post(there, [*fields, ("action", "review")]).text
    assert "What it could read then" in shown(page)
    return [*fields_of(page, there), ("action", "change")]


@requirement("grants.change.successor", "con.clients.change")
def test_a_page_narrows_a_grant_and_the_client_keeps_its_token(owner: Visitor, world: World) -> None:
    assert read(owner, world.token, "/v1/streams/channels/records")["status"] == 200

    page = owner.page(leave(owner, world, ("stream", "0.1")))

    assert "channels" not in shown(page).partition("What it read")[0]
    assert read(owner, world.token)["status"] == 200
    assert read(owner, world.token, "/v1/streams/channels/records")["status"] == 403


@requirement("con.clients.change")
def test_a_change_that_is_sent_twice_is_made_once(owner: Visitor, world: World) -> None:
    there = f"/clients/{world.grant_id}/change"
    fields = reviewed(owner, there, fields_of(owner.page(there), there))

    first, second = owner.post(there, fields), owner.post(there, fields)

    assert first.headers["location"] == second.headers["location"]
    assert len(world.owner.grant(world.grant_id)[0].earlier) == 1


@requirement("con.clients.change")
def test_the_boxes_tell_from_when_it_may_read_now_and_name_fields_in_words(owner: Visitor, world: World) -> None:
    world.owner.change_grant(world.grant_id, None, only(world, time_range={"since": "2026-03-01"}))

    boxes = shown(owner.page(f"/clients/{world.grant_id}/change")).partition("What may it read?")[2]

    assert "since 2026-03-01 Its fields" in boxes
    assert "sent at" in boxes and "sent_at" not in boxes


@requirement("con.clients.change")
def test_only_what_was_shown_is_changed(owner: Visitor, world: World) -> None:
    there = f"/clients/{world.grant_id}/change"
    form = reviewed(owner, there, fields_of(owner.page(there), there))

    other = [pair for pair in form if pair != ("stream", "0.1")]
    said = owner.post(there, other)

    assert "You changed something." in shown(said.text) and not world.owner.grant(world.grant_id)[0].earlier
    assert owner.post(there, [*fields_of(said.text, there), ("action", "change")]).status_code == 303
    assert [stream.name for stream in world.owner.grant(world.grant_id)[0].grant.streams] == ["messages"]


@requirement("grants.change.never-wider")
def test_a_successor_is_never_wider(world: World) -> None:
    world.owner.change_grant(world.grant_id, None, only(world, fields=["subject"]))

    for wider in (
        only(world, fields=["subject", "text"]),
        {
            world.owner.grant(world.grant_id)[0].grant.grant_id: decode_selection(
                [chat.detail(world.both("channels"))]
            )[0]
        },
    ):
        with pytest.raises(InvalidAuthorizationDetails, match="more than the grant gives"):
            world.owner.change_grant(world.grant_id, None, wider)
    kept = world.owner.change_grant(world.grant_id, None, only(world))
    assert kept[0].grant.streams[0].fields == {"id", "subject"}


@requirement("con.clients.change")
def test_at_the_address_of_one_grant_of_a_package_that_one_is_changed(owner: Visitor, world: World) -> None:
    package = packed(world)
    first, second = world.owner.grant(package.package_id)
    there = f"/clients/{first.grant.grant_id}/change"

    changed = owner.post(there, reviewed(owner, there, fields_of(owner.page(there), there)))

    assert changed.headers["location"] == f"/clients/{package.package_id}"
    now = world.owner.grant(package.package_id)
    assert [len(row.earlier) for row in now if row.grant.source == first.grant.source] == [1]
    assert second.grant.grant_id in [row.grant.grant_id for row in now]


@requirement("grants.change.successor")
def test_cursors_from_before_a_change_are_refused(owner: Visitor, world: World) -> None:
    cursor = read(owner, world.token)["next_cursor"]

    world.owner.change_grant(world.grant_id, None, only(world))

    again = read(owner, world.token, f"/v1/streams/messages/records?limit=1&cursor={cursor}")
    assert again["status"] == 400
    assert again["error"]["code"] == "invalid_cursor"


@requirement("grants.change.successor")
def test_refresh_tokens_and_codes_lead_to_the_successor(flow: Flow, world: World) -> None:
    tokens, code = flow.tokens(), flow.code()
    for row in [row for row in world.owner.grants() if row.grant.client_id == flow.client_id]:
        less = selection_of(row.grant)
        ends = iso(world.clock.moment + timedelta(days=1))
        world.owner.change_grant(row.grant.grant_id, ends, {row.grant.grant_id: less})

    assert flow.calls(tokens["access_token"]) == 200
    assert flow.calls(flow.refresh(tokens["refresh_token"]).json()["access_token"]) == 200
    assert flow.redeem(code).status_code == 200


@requirement("grants.change.end")
def test_a_token_of_the_terminal_lives_as_long_as_the_new_end(owner: Visitor, world: World) -> None:
    soon, later = (iso(world.clock.moment + timedelta(days=days)) for days in (1, 30))
    token = world.grant(world.both("messages"), expires_at=soon)
    row = next(row for row in world.owner.grants() if row.grant.client_name == "Another agent")

    world.owner.change_grant(row.grant.grant_id, later)
    world.clock.moment += timedelta(days=2)

    assert read(owner, token)["status"] == 200
    world.clock.moment += timedelta(days=30)
    assert read(owner, token)["status"] in {401, 403}


@requirement("grants.change.end")
def test_what_has_ended_is_not_changed_and_a_single_use_not_prolonged(owner: Visitor, flow: Flow, world: World) -> None:
    flow.tokens(flow.decision({**chat.detail(world.both("messages")), "access_mode": "single_use"}))
    once = next(row.grant for row in world.owner.grants() if row.grant.access_mode == "single_use")
    with pytest.raises(InvalidRequest, match="single use"):
        world.owner.change_grant(once.grant_id, None)
    world.owner.revoke(world.grant_id)

    with pytest.raises(ApprovalConflict, match="revoked"):
        world.owner.change_grant(world.grant_id, None)
    assert "reads nothing any more" in shown(owner.page(f"/clients/{world.grant_id}/change"))
    world.clock.moment += timedelta(days=2)
    with pytest.raises(ApprovalConflict, match="expired"):
        world.owner.change_grant(once.grant_id, None)


@requirement("grants.change.end", "con.consent.ends")
def test_the_ends_of_a_package_stay_apart_while_something_else_is_changed(owner: Visitor, world: World) -> None:
    package = packed(world)
    soon, later = (iso(world.clock.moment + timedelta(days=days)) for days in (2, 30))
    world.owner.change_grant(package.package_id, {package.chats_grant: soon, package.notes_grant: later})
    there = f"/clients/{package.package_id}/change"
    standing = fields_of(owner.page(there), there)
    assert sorted(value[:10] for name, value in standing if name.startswith("end") and value) == [soon[:10], later[:10]]

    owner.post(there, reviewed(owner, there, [pair for pair in standing if pair[0] != "field"]))

    changed = {row.grant.source.connector_key: row.grant for row in world.owner.grant(package.package_id)}
    assert (changed["chat"].expires_at, changed["notes"].expires_at) == (soon, later)
    assert len(changed["chat"].streams[0].fields) < len(changed["chat"].streams[0].declared.fields)


@requirement("grants.change.end")
def test_the_token_of_a_package_lives_as_long_as_the_last_of_its_grants(world: World) -> None:
    package = packed(world)
    world.owner.change_grant(package.notes_grant, iso(world.clock.moment + timedelta(days=2)))
    world.clock.moment += timedelta(days=3)

    assert world.reader_of(package.token).schema(SchemaQuery()).value.grant_ids == (package.chats_grant,)


@requirement("grants.change.successor")
def test_a_grant_of_a_package_is_changed_and_the_others_stay(owner: Visitor, world: World) -> None:
    package = packed(world)
    rows = world.owner.grant(package.package_id)
    first = rows[0].grant

    changed = world.owner.change_grant(package.package_id, None, {first.grant_id: selection_of(first)})

    now = iso(world.clock.moment)
    assert [row.word(now) for row in changed].count("active") == 1  # the other was left out, so it ended
    assert {row.package_id for row in changed} == {package.package_id}
    assert [row.earlier[0].grant_id for row in changed if row.earlier] == [first.grant_id]


@requirement("grants.change.successor")
def test_a_read_beside_a_change_is_under_the_old_grant_or_under_the_new_one(world: World) -> None:
    """It is never refused, and its line names the grant whose fields it has."""
    seen: list[frozenset[str]] = []
    has_begun, is_over = threading.Event(), threading.Event()

    def reads() -> None:
        after = 0  # reads that began when the change was made
        while after < READS:
            after += is_over.is_set()
            record = told(world.reader.fetch(FetchQuery("messages", "m1", world.work)))
            seen.append(frozenset(record.data))
            has_begun.set()

    client = threading.Thread(target=reads)
    client.start()
    assert has_begun.wait(10)
    row = world.owner.change_grant(world.grant_id, None, only(world, fields=["subject"]))[0]
    is_over.set()
    client.join(30)

    assert set(seen) == {seen[0], frozenset({"id", "subject"})}
    assert seen[0] > {"id", "subject"}
    logged = [(line.grant_ids, frozenset(line.fields)) for line in world.owner.activity(limit=len(seen))]
    assert {fields for grants, fields in logged if grants == (row.grant.grant_id,)} == {frozenset({"id", "subject"})}
    assert len(logged) == len(seen)


@requirement("con.clients.named")
def test_a_name_and_a_note_are_the_owners_own(owner: Visitor, world: World) -> None:
    there = f"/clients/{world.grant_id}"
    page = owner.page(there)
    assert read(owner, world.token)["status"] == 200

    owner.send(page, f"{there}/note", name="The <b>laptop</b>", note="for the\ntax return")
    world.owner.change_grant(world.grant_id, iso(world.clock.moment + timedelta(days=3)))

    said = owner.page(there)
    assert "The &lt;b&gt;laptop&lt;/b&gt;" in said
    assert "for the\ntax return" in said
    assert "Calls itself Agent" in shown(said)
    assert "The &lt;b&gt;laptop" in owner.page("/activity")
    answer = owner.http.get("/v1/schema", headers={"Authorization": f"Bearer {world.token}"}).content
    assert b"laptop" not in answer
    assert b"tax return" not in answer


@requirement("con.clients.preview")
def test_a_page_shows_what_a_client_would_see_now(owner: Visitor, world: World) -> None:
    said = shown(owner.page(f"/clients/{world.grant_id}/preview"))

    assert "What Agent would see if it asked now" in said
    assert "Messages · Chat" in said
    world.owner.revoke(world.grant_id)
    assert "whatever it asks is refused" in shown(owner.page(f"/clients/{world.grant_id}/preview"))

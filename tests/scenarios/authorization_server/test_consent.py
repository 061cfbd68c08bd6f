"""The owner's decision, at the desk that the pages use."""

from datetime import timedelta
from typing import Any

import orjson
import pytest

from pdpp_server.authorization_server import consent
from pdpp_server.errors import ApprovalConflict, InvalidAuthorizationDetails, InvalidRequest, NotFound, PdppError
from pdpp_server.model.authorization import Decision
from tests.requirements import requirement
from tests.scenarios.authorization_server.flow import MCP, NOTES, REST, Flow, query, with_notes
from tests.worlds import chat

TRAINING = "https://pdpp.dev/purpose/ai_training"
Json = dict[str, Any]


def asking(flow: Flow, *streams: Json, **changed: Any) -> str:
    return flow.ask(authorization_details=orjson.dumps([{**chat.detail(*streams), **changed}]).decode())


@requirement("as.consent.review")
def test_an_approval_binds_exactly_what_was_reviewed(flow: Flow) -> None:
    ask_id = flow.ask()
    shown = flow.desk.review(ask_id, flow.decision())
    narrower = flow.decision(chat.detail(flow.world.both("messages", fields=["text"])))

    assert flow.desk.review(ask_id, flow.decision()).revision == shown.revision
    for stale in (flow.desk.review(ask_id, narrower).revision, "", "é"):
        with pytest.raises(InvalidRequest):
            flow.desk.approve(ask_id, flow.decision(), stale)
    assert flow.desk.approve(ask_id, flow.decision(), shown.revision)


@requirement("as.consent.review")
def test_a_client_that_renamed_itself_is_reviewed_again(flow: Flow) -> None:
    ask_id = flow.ask()
    shown = flow.desk.review(ask_id, flow.decision())
    with flow.world.services.database.writing() as writer:
        writer.run("update clients set document = replace(document, 'Agent X', 'Your bank')")

    with pytest.raises(InvalidRequest):
        flow.desk.approve(ask_id, flow.decision(), shown.revision)


@requirement("as.consent.review")
def test_there_is_one_decision(flow: Flow) -> None:
    approved, denied = flow.ask(), flow.ask()
    flow.approved(approved)
    flow.desk.deny(denied)

    for ask_id in (approved, denied):
        for again in (flow.approved, flow.desk.deny, flow.desk.ask):
            with pytest.raises(ApprovalConflict):
                again(ask_id)


@requirement("as.consent.review")
def test_of_two_decisions_at_once_the_second_comes_too_late(flow: Flow) -> None:
    ask = flow.desk.ask(flow.ask())  # both pages were opened before either was sent
    services, revision = flow.world.services, flow.desk.review(ask.ask_id, flow.decision()).revision
    assert consent.approve(services, ask, flow.decision(), revision)

    with pytest.raises(ApprovalConflict):
        consent.approve(services, ask, flow.decision(), revision)
    with pytest.raises(ApprovalConflict):
        consent.deny(services, ask)
    assert len(flow.world.owner.grants()) == 2  # the world's own, and one


@requirement("as.consent.review")
def test_an_ask_waits_ten_minutes(flow: Flow) -> None:
    ask_id = flow.ask()
    flow.world.clock.moment += timedelta(seconds=600)

    for late in (ask_id, "nothing"):
        with pytest.raises(NotFound):
            flow.desk.ask(late)


@requirement("as.consent.review")
def test_a_denial_goes_back_to_the_client(flow: Flow) -> None:
    back = query(flow.desk.deny(flow.ask()) or "")

    assert (back["error"], back["iss"]) == ("access_denied", "http://127.0.0.1")
    assert "code" not in back


@requirement("as.consent.only-narrower")
@pytest.mark.parametrize(
    ("streams", "changed"),
    [
        ([{"fields": ["id"]}], {}),
        ([{"time_range": {"since": "2026-03-01", "until": "2026-03-02"}, "resources": ["m1"]}], {}),
        ([{}], {"access_mode": "single_use"}),
    ],
)
def test_the_owner_narrows(flow: Flow, streams: list[Json], changed: Json) -> None:
    narrower = {**chat.detail(*[flow.world.both("messages", **stream) for stream in streams]), **changed}

    assert flow.approved(flow.ask(), flow.decision(narrower))


@requirement("as.consent.only-narrower")
@pytest.mark.parametrize(
    ("decided", "changed"),
    [
        ({"fields": ["text", "author"]}, {}),
        ({"fields": None}, {}),
        ({"time_range": {"since": "2026-01-31", "until": "2026-04-01"}}, {}),
        ({"time_range": {"until": "2026-03-01"}}, {}),
        ({"time_range": {"since": "2026-02-01", "until": "2026-05-01"}}, {}),
        ({"time_range": {"since": "2026-02-01"}}, {}),
        ({"time_range": None}, {}),
        ({"resources": ["m1", "m2"]}, {}),
        ({"resources": None}, {}),
        ({"name": "channels", "fields": None, "time_range": None, "resources": None}, {}),
        ({}, {"access_mode": "continuous"}),
        ({}, {"purpose_code": "https://pdpp.dev/purpose/research"}),
        ({}, {"purpose_description": "Something else."}),
    ],
)
def test_the_owner_widens_nothing(flow: Flow, decided: Json, changed: Json) -> None:
    most: Json = {"fields": ["text"], "time_range": {"since": "2026-02-01", "until": "2026-04-01"}, "resources": ["m1"]}
    asked = {"name": "messages", "instance_ids": [flow.world.work], **most}
    ask_id = asking(flow, asked, access_mode="single_use")
    stream = {name: value for name, value in {**asked, **decided}.items() if value is not None}

    assert flow.desk.review(ask_id, flow.decision({**chat.detail(asked), "access_mode": "single_use"}))
    with pytest.raises(InvalidAuthorizationDetails):
        flow.desk.review(ask_id, flow.decision({**chat.detail(stream), "access_mode": "single_use", **changed}))


@requirement("as.consent.only-narrower")
def test_another_connection_source_or_end_is_no_narrowing(flow: Flow) -> None:
    notes = with_notes(flow.world)
    ask_id = asking(flow, {"name": "messages", "instance_ids": [flow.world.work]})
    family = chat.detail({"name": "messages", "instance_ids": [flow.world.family]})

    for details in ([family], [notes]):
        with pytest.raises(InvalidAuthorizationDetails):
            flow.desk.review(ask_id, flow.decision(*details))
    over, unclear = (flow.decision(expires_at=end) for end in ("2026-11-15T12:00:00Z", "?"))
    for nothing in (Decision((), None), over, unclear):
        with pytest.raises(InvalidRequest):
            flow.desk.review(ask_id, nothing)


@requirement("as.selection.connection-chosen")
def test_where_two_accounts_could_be_meant_the_owner_chooses(flow: Flow) -> None:
    ask_id = flow.ask()
    (offer,) = flow.desk.offers(flow.desk.ask(ask_id))
    labels = {holding.origin.label: holding.records for holding in offer.holdings["messages"]}
    one = flow.decision(chat.detail({"name": "messages", "instance_ids": [flow.world.family]}))

    assert labels == {chat.WORK: 5, chat.FAMILY: 2}
    with pytest.raises(InvalidAuthorizationDetails):  # nobody chose
        flow.desk.review(ask_id, flow.decision(chat.detail({"name": "messages"})))
    (grant,) = flow.desk.review(ask_id, one).grants
    assert grant.streams[0].connections == (flow.world.family,)


@requirement("as.consent.ai-training")
def test_training_is_affirmed_by_itself(flow: Flow) -> None:
    ask_id = asking(flow, {"name": "messages"}, purpose_code=TRAINING)
    training = {**chat.detail(flow.world.both("messages")), "purpose_code": TRAINING}

    with pytest.raises(InvalidRequest):
        flow.desk.review(ask_id, flow.decision(training))
    assert flow.approved(ask_id, flow.decision(training, ai_training=True))


@requirement("as.consent.approve-again")
def test_the_same_ask_offers_the_same_decision_again(flow: Flow) -> None:
    chosen = flow.decision(expires_at="2026-11-16T12:00:00.000Z")
    assert flow.desk.earlier(flow.desk.ask(flow.ask())) is None
    flow.approved(flow.ask(), chosen)
    flow.world.clock.moment += timedelta(days=7)
    again = flow.desk.earlier(flow.desk.ask(flow.ask()))

    assert again == Decision(chosen.selections, "2026-11-23T12:00:00.000Z")
    assert flow.desk.earlier(flow.desk.ask(asking(flow, {"name": "channels"}))) is None
    assert flow.desk.earlier(flow.desk.ask(flow.ask(client_id=flow.registered()))) is None


@requirement("as.consent.preview")
def test_the_owner_sees_what_the_client_would_see(flow: Flow) -> None:
    march = {"since": "2026-03-01", "until": "2026-04-01"}
    decision = flow.decision(chat.detail(flow.world.both("messages", time_range=march)))
    review = flow.desk.review(flow.ask(), decision)
    (seen,) = flow.desk.preview(review.grants)

    assert (seen.stream, seen.records) == ("messages", 3)
    assert seen.titles == ("Lease, whole text · Ben", "Holidays · Dora", "Lease draft · Ada")
    assert {line.client_id for line in flow.world.owner.activity()} == {"owner-preview"}
    assert len(flow.world.owner.grants()) == 1  # the world's own


@requirement("as.packages.one-token")
def test_several_sources_make_a_package(flow: Flow) -> None:
    notes = with_notes(flow.world)
    asked = orjson.dumps([chat.detail({"name": "messages"}), notes]).decode()
    both = flow.decision(chat.detail(flow.world.both("messages")), notes)
    body = flow.tokens(both, authorization_details=asked)

    assert body["grant_package_id"].startswith("gpkg_")
    assert [detail["source"]["id"] for detail in body["authorization_details"]] == [chat.SOURCE_ID, NOTES]
    assert flow.calls(body["access_token"]) == 200
    assert flow.refresh(body["refresh_token"]).json()["grant_package_id"] == body["grant_package_id"]


@requirement("as.packages.one-token")
def test_at_the_rest_door_a_token_has_one_source(flow: Flow) -> None:
    flow.sign_in()
    notes = with_notes(flow.world)
    asked = orjson.dumps([chat.detail({"name": "messages"}), notes]).decode()
    both = flow.decision(chat.detail(flow.world.both("messages")), notes)

    refused = query(flow.authorize(authorization_details=asked, resource=REST).headers["location"])
    assert refused["error"] == "invalid_authorization_details"
    with pytest.raises(PdppError):
        flow.desk.review(flow.ask(authorization_details=None, resource=REST), both)
    assert flow.approved(flow.ask(authorization_details=None, resource=MCP), both)


@requirement("as.consent.review")
def test_the_owner_sees_who_was_given_what(flow: Flow) -> None:
    flow.tokens()
    (known,) = [each for each in flow.desk.clients() if each.client]

    assert (known.client_id, known.name) == (flow.client_id, "Agent X")
    assert [row.grant.client_id for row in known.grants] == [flow.client_id]

"""What values give away when all of them is shown."""

from dataclasses import replace

from pdpp_server.evidence.shown import around_shown, hits_shown, lean_shown, page_shown, record_shown, shown_of
from pdpp_server.model.activity import Shown
from pdpp_server.model.records import Amount, Around, Expanded, RecordId, RecordPage, Span, Tombstone
from tests.unit.evidence.entries import NOW, ORIGIN, hit, match, record

ONE = ("cin_1/messages:1",)


def test_everything_is_named_once() -> None:
    ids = [RecordId("cin_1", "messages", key) for key in ("1", "2", "1")]
    assert shown_of(ids, ["a", "b", "a"]) == Shown(
        ("cin_1",), ("messages",), ("a", "b"), ("cin_1/messages:1", "cin_1/messages:2")
    )
    assert shown_of([]) == Shown()


def test_a_record_gives_away_its_time_and_what_is_related_to_it() -> None:
    related = record("2", {"name": "a.pdf"})
    whole = record("1", {"body": "b"}, expanded={"files": Expanded((related,))})._replace(time_field="sent_at")
    assert record_shown(whole) == Shown(
        ("cin_1",), ("messages",), ("body", "sent_at", "name"), ("cin_1/messages:1", "cin_1/messages:2")
    )


def test_a_page_gives_away_who_is_gone_its_span_and_whom_it_is_around() -> None:
    gone = Tombstone(RecordId("cin_1", "messages", "1"), ORIGIN, NOW, NOW)
    page = RecordPage((gone,), span=Span(1, NOW, NOW, ("sent_at",)), around=Around(RecordId("cin_1", "messages", "7")))
    assert page_shown(page) == Shown(("cin_1",), ("messages",), ("sent_at",), ONE)
    assert around_shown(page).records == ("cin_1/messages:1", "cin_1/messages:7")


def test_a_hit_gives_away_its_title_and_a_lean_one_who_wrote_it_and_what_matched() -> None:
    about = {"title_field": "subject", "actor_field": "from", "actor": "Ann", "also_matched": ("note",)}
    found = hit("1", match("x"), **about)
    sold = replace(found, amount=Amount(-3, "price", "EUR", "unit"))
    assert hits_shown([found]) == Shown(("cin_1",), ("messages",), ("subject", "from", "body"), ONE)
    assert lean_shown([found]) == Shown(("cin_1",), ("messages",), ("from", "body", "note"), ONE)
    assert hits_shown([sold]).fields == ("subject", "from", "price", "unit", "body")
    assert lean_shown([sold]).fields == ("from", "price", "unit", "body", "note")

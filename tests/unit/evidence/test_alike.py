"""Which hits of a page say the same but for numbers, and which numbers those are."""

from pdpp_server.evidence.alike import SaidOfHit, first_alike, numbers_apart
from pdpp_server.model.records import Excerpt, Hit, RecordId
from pdpp_server.model.sources import Origin

ORIGIN = Origin("mail-1", "mail", "Nora")
TEXT = "Dear Nora, order 311 of 3 May is on its way and comes by boat"


def said(
    text: str = TEXT,
    key: str = "m1",
    *,
    mark: str = "order",
    actor: str = "The shop",
    beside: RecordId | None = None,
    stream: str = "messages",
) -> SaidOfHit:
    start = text.index(mark)
    excerpts = (Excerpt("body", text, 0, ((start, start + len(mark)),), len(text)),)
    id = RecordId("mail-1", stream, key)
    hit = Hit(id, ORIGIN, f"Mail {key}", "2026-01-01", None, excerpts, actor=actor, beside=beside)
    return SaidOfHit(hit, excerpts)


OTHER = TEXT.replace("311", "1204").replace("3 May", "14 May")


def test_what_differs_in_numbers_alone_is_alike_and_the_numbers_are_told() -> None:
    page = [said(), said("A word of its own, in order", "m2"), said(OTHER, "m3"), said(key="m4")]

    assert first_alike(page) == [None, None, 0, 0]
    assert numbers_apart(page[2], page[0]) == ["1204", "14"]
    assert numbers_apart(page[3], page[0]) == []


def test_numbers_that_are_not_shown_are_not_told() -> None:
    first, other = (said(f"order {TEXT} {'and so on ' * 40}{number}", mark="order") for number in (7, 8))

    assert numbers_apart(other, first) == ["8"]
    assert numbers_apart(other, first, 100) == []


def test_another_word_actor_or_stream_is_not_alike() -> None:
    others = [
        said(TEXT.replace("boat", "rail"), "m2"),
        said(key="m3", actor="Another shop"),
        said(key="m5", stream="drafts"),
    ]

    assert first_alike([said(), *others]) == [None] * 4


def test_a_number_that_was_looked_for_is_no_mere_number() -> None:
    assert first_alike([said(mark="311"), said(OTHER, "m2", mark="1204")]) == [None, None]


def test_an_exchange_stays_as_it_was_said() -> None:
    first = said()

    assert first_alike([first, said(key="m2"), said(key="m3", beside=first.hit.id)]) == [None, None, None]


def test_a_few_words_or_many_numbers_are_as_well_said_again() -> None:
    assert first_alike([said("an order"), said("an order", "m2")]) == [None, None]
    tables = ["order of " + " ".join(str(n * by) for n in range(1, 9)) for by in (3, 7)]
    assert first_alike([said(f"{table} and nothing more than that", str(n)) for n, table in enumerate(tables)]) == [
        None,
        None,
    ]

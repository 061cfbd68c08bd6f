"""Which hits of a page say the same but for numbers, and which numbers those are."""

from pdpp_server.evidence.alike import SaidOfHit, apart, first_alike, shown_texts
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


BILLS = (("7", 20), ("9" * 60, 99))
OTHER = TEXT.replace("311", "1204").replace("3 May", "14 May")


def test_what_differs_in_numbers_alone_is_alike_and_the_numbers_are_told() -> None:
    page = [said(), said("A word of its own, in order", "m2"), said(OTHER, "m3"), said(key="m4")]

    assert first_alike(page) == [None, None, 0, 0]
    assert apart(page[2], page[0], 400) == ([("1204", "311"), ("14", "3")], 0)
    assert apart(page[3], page[0], 400) == ([], 0)


def test_numbers_that_are_not_shown_are_not_told() -> None:
    first, other = (said(f"order {TEXT} {'and so on ' * 40}{number}", mark="order") for number in (7, 8))

    assert apart(other, first, 600).numbers == [("8", "7")]
    assert apart(other, first, 100).numbers == []


def test_every_number_that_is_shown_above_and_differs_is_told_however_long_those_before_it_are() -> None:
    """Else a bill with a long number in it would seem to ask for the sum of another one."""
    first, other = (said(f"order {number} of wood costs in all {sum} EUR", key=number) for number, sum in BILLS)

    assert apart(other, first, 40).numbers == [("9" * 60, "7"), ("99", "20")]


def test_what_neither_row_shows_is_counted() -> None:
    text = f"{TEXT} {'and so on ' * 40}"
    first, same, longer = said(text), said(text, "m2"), said(text.replace("311", "1204"), "m3")
    shown = len(shown_texts(first.texts, 100)[0].text)

    assert apart(same, first, 100).left == apart(longer, first, 100).left == len(text) - shown


def test_of_a_second_text_only_what_its_row_shows_is_told() -> None:
    notes = [Excerpt("note", f"a note of {number}", 0, (), 11) for number in (5, 6)]
    first, other = (SaidOfHit(said().hit, (*said().texts, note)) for note in notes)

    assert apart(other, first, 400).numbers == [("6", "5")]
    assert apart(other, first, 100).numbers == []  # as wide as that, no row shows a second one


def test_hits_are_not_alike_where_nobody_could_tell_which_number_is_meant() -> None:
    said_of = "order of today: pay {} of {} before the day is over"

    assert first_alike([said(said_of.format(*pair), f"m{pair}") for pair in ((9, 9), (9, 10))]) == [None, None]
    assert first_alike([said(said_of.format(*pair), f"m{pair}") for pair in ((9, 10), (10, 10))]) == [None, 0]


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

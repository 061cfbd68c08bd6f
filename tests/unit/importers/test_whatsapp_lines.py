"""The lines of a WhatsApp chat: where a message begins, and which number is the day."""

import io

import pytest

from pdpp_server.importers.formats import whatsapp_lines
from pdpp_server.importers.formats.whatsapp_lines import Dates, Order, Stamp, order_of, stamped, unmarked, wall_time
from tests.requirements import requirement


@requirement("imp.files.big")
def test_empty_lines_of_a_message_are_counted_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whatsapp_lines, "MESSAGE_CHARS_MAX", 100)
    (message,) = whatsapp_lines.said(io.BytesIO(b"31.12.2025, 10:00 - Ann: Hello\n" + b"\n" * 10_000))
    assert isinstance(message, whatsapp_lines.WhatsappMessage)
    assert len(message.text) < 200


@requirement("imp.files.big")
@pytest.mark.parametrize("size", [1, 7, 39])
def test_lines_are_the_same_in_however_small_blocks_they_are_read(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whatsapp_lines, "LINE_BYTES_MAX", 40)  # a longer one goes on in the next
    monkeypatch.setattr(whatsapp_lines, "BLOCK_BYTES", size)
    lines = ("28/02/2026, 21:05 - Ann: één\r", "", "two \0\r\r", f"28/02/2026, 21:05 - Ann: {'long ' * 12}")
    raw = "\n".join(lines).encode() + b"\n28/02/2026, 21:06 - Bob: caf\xe9"
    said = [one for one in whatsapp_lines.said(io.BytesIO(raw)) if not isinstance(one, int)]
    long = "long " * 3 + "\n" + "long " * 8 + "\n" + "long "
    assert [(one.line, one.sender, one.text) for one in said] == [
        (1, "Ann", "één\n\ntwo \ufffd"),
        (4, "Ann", long),
        (7, "Bob", "café"),
    ]


@requirement("imp.whatsapp.phones")
def test_a_message_of_the_same_minute_begins_as_if_it_were_alone() -> None:
    raw = b"[28/02/2026, 21:05:09]Ann left\n[28/02/2026, 21:05:09] Bob left\n[28/02/2026, 21:05:09] Ann: Hi"
    said = [one for one in whatsapp_lines.said(io.BytesIO(raw)) if not isinstance(one, int)]
    assert [(one.sender, one.text) for one in said] == [("", "Ann left"), ("", "Bob left"), ("Ann", "Hi")]
    assert len({one.stamp for one in said}) == 1


def stamp_of(line: str) -> Stamp:
    found = stamped(line)
    assert found
    return found[0]


@requirement("imp.whatsapp.phones")
@pytest.mark.parametrize(
    "line",
    ["", "12:30 - Ann: Hi", "28/02/2026 - Ann: Hi", "28/02/2026, 21:05", "28/02-2026, 21:05 - Ann: Hi",
     "28/02/2026, 21:05:09 - Ann: Hi", "[28/02/2026, 21:05 - Ann: Hi", " 28/02/2026, 21:05 - Ann: Hi"],
)  # fmt: skip
def test_a_line_that_does_not_begin_with_day_and_time_begins_no_message(line: str) -> None:
    assert stamped(line) is None


@requirement("imp.whatsapp.longer")
def test_a_time_is_written_alike_whatever_marks_stand_in_it() -> None:
    plain, marked = (
        stamp_of("[28/2/2026, 9:05:09 PM] Ann: Hi"),
        stamp_of("\u200f[28\u200f/2\u200f/2026, 9:05:09\u202fPM] Ann: Hi"),
    )
    assert plain == marked
    assert plain.text == "28/2/20269:05:09pm"


@requirement("imp.whatsapp.dates")
@pytest.mark.parametrize(
    ("line", "wall"),
    [
        ("28/02/26, 21:05 - A: x", "2026-02-28T21:05:00"),
        ("28/02/2026, 12:05 am - A: x", "2026-02-28T00:05:00"),
        ("28/02/2026, 12:05 pm - A: x", "2026-02-28T12:05:00"),
        ("2026/2/28 下午9:05 - A: x", "2026-02-28T21:05:00"),
        ("30/02/2026, 21:05 - A: x", None),
        ("28/02/2026, 24:05 - A: x", None),
    ],
)
def test_a_stamp_is_a_time_on_the_wall_where_there_is_such_a_time(line: str, wall: str | None) -> None:
    found = wall_time(stamp_of(line), Order(True, "", True))
    assert (found.isoformat() if found else None) == wall


@requirement("imp.whatsapp.dates")
@pytest.mark.parametrize(
    ("lines", "is_day_first", "is_sure"),
    [
        ([], True, False),
        (["2026/01/02 21:05 - A: x"], False, True),
        (["01/02/26, 21:05 - A: x", "02/13/26, 21:05 - A: x"], False, True),
        (["01/02/26, 21:05 - A: x", "13/02/26, 21:05 - A: x"], True, True),
        (["01/03/26, 21:05 - A: x", "02/03/26, 21:05 - A: x", "01/04/26, 21:05 - A: x"], True, True),
        (["1/2/26, 9:05 PM - A: x"], False, False),
        (["1.2.26, 9:05 PM - A: x"], True, False),
    ],
)
def test_the_dates_themselves_tell_which_part_is_the_day(lines: list[str], is_day_first: bool, is_sure: bool) -> None:
    order = order_of(map(stamp_of, lines))
    assert (order.is_day_first, order.is_sure) == (is_day_first, is_sure)


@requirement("imp.whatsapp.dates")
def test_a_day_is_looked_at_where_it_changes() -> None:
    dates = Dates()
    for line in (b"01/02/26, 21:05 - A: x", b"01/02/26, 21:06 - B: y", b"and more", b"02/02/26, 21:06 - B: y", b"1"):
        dates.look(line)
    assert [one.parts for one in dates.stamps] == [(1, 2, 26), (2, 2, 26)]


@requirement("imp.whatsapp.phones")
def test_what_stands_before_the_first_message_is_told_by_its_line() -> None:
    text = "\u200e \nDear diary\n28/02/2026, 21:05 - Ann: one\ntwo\0\n28/02/2026, 21:06 - Ann left\n"
    first, said, left = whatsapp_lines.said(io.BytesIO(text.encode()))
    assert first == 2
    assert isinstance(said, whatsapp_lines.WhatsappMessage) and isinstance(left, whatsapp_lines.WhatsappMessage)
    assert (said.line, said.sender, said.text, said.is_marked) == (3, "Ann", "one\ntwo\ufffd", False)
    assert (left.line, left.sender, left.text, left.is_marked) == (5, "", "Ann left", True)


def test_invisible_marks_are_taken_out_and_nothing_else() -> None:
    assert unmarked("\u200eAnn\u202a \u00e9\ufeff") == "Ann \u00e9"

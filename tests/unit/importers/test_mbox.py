"""Mail archives: where one message ends and the next begins."""

import io

import pytest

from pdpp_server.importers.formats import mbox
from pdpp_server.importers.formats.mbox import is_mbox, stored_messages
from tests.requirements import requirement

FROM = b"From ann@example.org Mon Mar  2 09:12:00 2026\n"
HEAD = b"From: Ann <ann@example.org>\nDate: Mon, 2 Mar 2026 10:12:00 +0100\n"


def stored(data: bytes) -> list[bytes | None]:
    return [one.raw for one in stored_messages(io.BytesIO(data))]


@requirement("imp.mail.split")
def test_a_sentence_that_begins_with_from_begins_no_message() -> None:
    first = HEAD + b"\nDear Bo,\n\nFrom Monday at 10:30 we meet in 2026.\nFrom here: go on.\n\n"
    assert stored(FROM + first + FROM + HEAD + b"\nHi\n") == [first, HEAD + b"\nHi\n"]


@requirement("imp.mail.split")
def test_quoted_lines_lose_one_mark() -> None:
    assert stored(FROM + HEAD + b"\n>From now on\n>>From then\n> From me\n") == [
        HEAD + b"\nFrom now on\n>From then\n> From me\n"
    ]


@requirement("imp.mail.split")
@pytest.mark.parametrize(
    "line", [b"From \n", b"From - \n", b"From -\r\n", b"From ann@example.org\n", b"From MAILER-DAEMON\n"]
)
def test_a_line_without_a_date_begins_a_message_where_headers_of_mail_follow(line: bytes) -> None:
    first = HEAD + b"\nDear Bo,\nFrom -\nthen on: nothing\nFrom \nHamburg: rain\nFrom ann@example.org\n\nTo: me\n"
    archive = line + first + line + HEAD + b"\nHi\n" + line + b"X-Mozilla-Status: 0001\n" + HEAD + b"\nHo\n"

    assert stored(archive) == [first, HEAD + b"\nHi\n", b"X-Mozilla-Status: 0001\n" + HEAD + b"\nHo\n"]


@requirement("imp.mail.split")
@pytest.mark.parametrize("size", [7, 50, 64, 1000])
def test_a_message_is_whole_wherever_a_chunk_ends(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mbox, "CHUNK_BYTES", size)
    messages = [HEAD + b"\n" + b"line\n" * number for number in range(60)]
    assert stored(b"".join(FROM + one for one in messages)) == messages


@requirement("imp.files.recognised")
@pytest.mark.parametrize(
    ("start", "is_one"),
    [
        (FROM, True),
        (b"\xef\xbb\xbf\r\n" + FROM, True),
        (b"From - \nX-Mozilla-Status: 0001\n", True),
        (b"From here to there.\n", False),
        (b"> " + FROM, False),
        (b"", False),
    ],
)
def test_an_archive_is_known_by_the_line_before_its_first_message(start: bytes, is_one: bool) -> None:
    assert is_mbox(start) is is_one


@requirement("imp.mail.split")
def test_what_stands_before_the_first_separator_is_a_message_unless_it_is_blank() -> None:
    before, blank = (list(stored_messages(io.BytesIO(first + FROM + HEAD))) for first in (HEAD, b"\n \n"))
    assert [(one.number, one.separator) for one in before] == [(1, b""), (2, FROM)]
    assert [(one.number, one.separator) for one in blank] == [(1, FROM)]

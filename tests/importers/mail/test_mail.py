"""Mail: where messages begin, what their headers mean, what was written, what belongs together."""

import io
from pathlib import Path

import pytest

from pdpp_server.importers.formats import mbox
from pdpp_server.importers.sources.mail import MAIL
from pdpp_server.importers.formats.mbox import stored_messages
from pdpp_server.importers.source import Attachment
from pdpp_server.model.ingest import Rejection
from tests.importers.reading import files_of, read, records, rejections
from tests.requirements import requirement

FROM = b"From ann@example.org Mon Mar  2 09:12:00 2026\n"
HEAD = b"From: Ann <ann@example.org>\nDate: Mon, 2 Mar 2026 10:12:00 +0100\n"


def stored(data: bytes) -> list[bytes | None]:
    return [one.raw for one in stored_messages(io.BytesIO(data))]


def one(head: bytes, body: bytes = b"Hello") -> dict[str, object]:
    (data,) = records(MAIL, "messages", FROM + head + b"\n" + body + b"\n")
    return data


# Archives ---------------------------------------------------------------------------------------------------------


@requirement("imp.mail.split", "imp.files.rejected")
def test_a_message_that_is_too_long_is_rejected_and_the_next_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mbox, "MESSAGE_BYTES_MAX", 5000)
    monkeypatch.setattr(mbox, "CHUNK_BYTES", 1000)
    archive = FROM + HEAD + b"\n" + b"long\n" * 5000 + b"\n" + FROM + HEAD + b"Subject: next\n\nHi\n"

    assert rejections(MAIL, archive) == [("export 1:message 1", "the message is longer than 50 MiB")]
    assert [data["subject"] for data in records(MAIL, "messages", archive)] == ["next"]


@requirement("imp.files.recognised")
@pytest.mark.parametrize(
    "other",
    [b"", b"From here to there.\n", b"# From: a note\nDate: today\n", b"GET / HTTP/1.1\nHost: a\n\n", b"\0" * 50],
)
def test_what_is_no_mail_is_not_taken_for_it(other: bytes) -> None:
    assert list(MAIL.recognise(files_of(other))) == []


@requirement("imp.mail.headers", "imp.files.recognised")
@pytest.mark.parametrize(
    "start", [b"From: a@b.example\nTo: c@d.example\n", b"\xef\xbb\xbfFrom: a@b.example\nDate: 2 Mar 2026 10:12\n"]
)
def test_a_message_needs_neither_a_date_nor_an_id_and_may_begin_with_a_mark(start: bytes) -> None:
    (data,) = records(MAIL, "messages", start + b"Subject: bare\n\nHello\n")
    assert (data["from_address"], data["subject"], data["body"]) == ("a@b.example", "bare", "Hello")


@requirement("imp.files.recognised")
def test_an_archive_may_begin_with_a_mark() -> None:
    assert len(records(MAIL, "messages", b"\xef\xbb\xbf" + FROM + HEAD + b"\nHi\n" + FROM + HEAD + b"\nHo\n")) == 2


@requirement("imp.files.recognised")
def test_a_note_about_two_people_is_no_message() -> None:
    assert list(MAIL.recognise(files_of(b"From: Ann\nTo: Bo\n\nwho gave what\n"))) == []


@requirement("imp.files.recognised")
def test_an_account_is_called_by_the_address_that_its_mail_was_delivered_to() -> None:
    archive = b"".join(
        FROM + b"Delivered-To: me@example.org\n" + HEAD + b"To: list@example.net\n\nHi\n" for _ in range(3)
    )
    assert [account.name for account in MAIL.recognise(files_of(archive))] == ["me@example.org"]


# Headers ----------------------------------------------------------------------------------------------------------


@requirement("imp.mail.headers")
@pytest.mark.parametrize(
    ("date", "sent_at", "original"),
    [
        (b"Mon, 2 Mar 2026 10:12:00 +0100", "2026-03-02T09:12:00.000Z", "2026-03-02T10:12:00+01:00"),
        (b"2 Mar 2026 10:12", "2026-03-02T09:12:00.000Z", "2026-03-02T10:12:00"),  # the owner's zone
        (b"Mon, 2 Mar 2026 10:12:00 -0000", "2026-03-02T10:12:00.000Z", "2026-03-02T10:12:00+00:00"),
        (b"Mon, 32 Mar 2026 10:12:00 +0100", "2026-03-02T09:12:00.000Z", "2026-03-02T09:12:00+00:00"),  # arrival
        (b"", "2026-03-02T09:12:00.000Z", "2026-03-02T09:12:00+00:00"),
    ],
)
def test_a_time_is_in_utc_and_as_it_was_written(date: bytes, sent_at: str, original: str) -> None:
    data = one(b"From: a@b.example\nDate: " + date + b"\n")
    assert (data["sent_at"], data["sent_at_original"]) == (sent_at, original)


@requirement("imp.mail.headers")
def test_labels_of_gmail_are_a_list() -> None:
    data = one(HEAD + b'X-Gmail-Labels: =?UTF-8?Q?Inbox,"a,_b",H=C3=A4fen?=\n')
    assert data["labels"] == ["Inbox", "a, b", "Häfen"]


# Texts ------------------------------------------------------------------------------------------------------------


@requirement("imp.mail.own-words")
def test_plain_text_is_preferred_and_html_is_read_where_there_is_none() -> None:
    head = HEAD + b"Content-Type: multipart/alternative; boundary=b\n"
    plain = b"--b\nContent-Type: text/plain\n\nplain\n"
    html = b"--b\nContent-Type: text/html\n\n<p>html</p>\n"
    assert one(head, plain + html + b"--b--")["body"] == "plain"
    assert one(head, b"--b\nContent-Type: text/plain\n\n \n" + html + b"--b--")["body"] == "html"


@requirement("imp.mail.own-words")
@pytest.mark.parametrize("charset", [b"", b"; charset=us-ascii", b"; charset=x-none", b"; charset=unicode_escape"])
def test_a_wrong_charset_costs_no_text(charset: bytes) -> None:
    text = r"Grüße, \x41"
    assert one(HEAD + b"Content-Type: text/plain" + charset + b"\n", text.encode("latin-1"))["body"] == text


# Threads and copies -----------------------------------------------------------------------------------------------


def mail(id: str, subject: str, **headers: str) -> bytes:
    lines = [
        f"Message-ID: <{id}>",
        f"Subject: {subject}",
        *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items()),
    ]
    return FROM + HEAD + "\n".join(lines).encode() + b"\n\n" + id.encode() + b"\n\n"


@requirement("imp.mail.threads")
def test_replies_are_in_the_thread_of_what_they_answer() -> None:
    archive = (
        mail("1", "Dinner")
        + mail("2", "Re: Dinner", References="<1>")
        + mail("3", "Re: Dinner", In_Reply_To="<2>")
        + mail("4", "AW: Re: Dinner")
        + mail("5", "Dinner")
        + mail("6", "Re: Dinner", X_GM_THRID="77")
    )
    threads = {str(data["id"]): data["thread_id"] for data in records(MAIL, "messages", archive)}
    assert threads["1"] == threads["2"] == threads["3"] == threads["4"]
    assert len({threads["1"], threads["5"], threads["6"]}) == 3
    assert [thread["message_count"] for thread in records(MAIL, "threads", archive)] == [4, 1, 1]


@requirement("imp.files.keys")
def test_the_same_message_again_is_the_same_record_and_another_one_of_its_id_is_not() -> None:
    first, copy = mail("1", "Dinner"), mail("1", "Dinner", X_Gmail_Labels="Sent")
    other = mail("1", "Dinner").replace(b"\n\n1\n", b"\n\n1, by way of the list\n")

    one, two = records(MAIL, "messages", first + copy + other)
    assert one["id"] == "1"
    assert str(two["id"]).startswith("1~")


@requirement("imp.files.attachments")
def test_an_attachment_is_a_record_with_its_bytes_behind_it() -> None:
    head = HEAD + b"Message-ID: <1>\nContent-Type: multipart/mixed; boundary=b\n\n"
    part = b"--b\nContent-Type: text/csv; name=a.csv\nContent-Transfer-Encoding: base64\n\nYSxiCg==\n--b--\n"
    sent, file, bytes_, _ = read(MAIL, FROM + head + part)
    assert (sent.key, file.key, bytes_.key) == ("1", "1~1", "1~1")  # pyright: ignore
    assert (bytes_.data, bytes_.mime_type) == (b"a,b\n", "text/csv")  # pyright: ignore


@requirement("imp.files.attachments", "imp.files.damaged")
@pytest.mark.parametrize(
    ("rest", "kept"), [(b"YSxiCg==\n", [b"a,b\n"]), (b"YSxiCg", []), (b"YSxi\nYSx\n", []), (b"YSxiCg==\r\n\r\n", [b"a,b\n"])]
)
def test_an_attachment_whose_last_mark_is_missing_is_kept_if_it_is_whole(rest: bytes, kept: list[bytes]) -> None:
    head = b"Message-ID: <1>\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/csv; name=a.csv\n"
    outcomes = read(MAIL, HEAD + head + b"Content-Transfer-Encoding: base64\n\n" + rest)

    assert [one.data for one in outcomes if isinstance(one, Attachment)] == kept
    assert [one.place for one in outcomes if isinstance(one, Rejection)] == ([] if kept else ["export 1"])


@requirement("imp.files.damaged")
def test_the_sample_ends_inside_a_file_and_says_so(request: pytest.FixtureRequest) -> None:
    (archive,) = (Path(request.path).parent / "takeout").rglob("*.mbox")
    assert rejections(MAIL, archive.read_bytes()) == [
        ("export 1:message 7", "the message has no headers"),
        ("export 1:message 8", "the message ends inside its attachment 1, which was left out"),
    ]

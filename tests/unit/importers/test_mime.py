"""One message of mail: its headers decoded, its parts told apart."""

import pytest

from pdpp_server.importers.formats.mime import MimePart, PartGroup, leaves, message, parameters, words
from tests.requirements import requirement


@requirement("imp.mail.headers")
@pytest.mark.parametrize(
    ("header", "text"),
    [
        ("=?utf-8?Q?caf=C3?= =?utf-8?Q?=A9?=", "café"),  # a character in two words
        ("=?utf-8?B?w6k?= and =?iso-8859-1?q?=E9?=", "é and é"),  # without padding
        ("=?unknown-8bit?q?=E9?=", "é"),
        ("=?utf-8?B?%%%?=", ""),
        ("=?gb2312?B?xOO6ww==?=", "你好"),
        ("a =? b ?= c", "a =? b ?= c"),
    ],
)
def test_encoded_words_are_read(header: str, text: str) -> None:
    assert words(header) == text


@requirement("imp.mail.headers")
def test_parameters_in_pieces_are_joined() -> None:
    header = 'attachment; filename*0*=utf-8\'\'%e2%82%ac%20; filename*1=rates; filename*2*=%2epdf; x="a\\"b;c"'
    assert parameters(header) == {"filename": "€ rates.pdf", "x": 'a"b;c'}


@requirement("imp.files.garbage")
def test_parts_within_parts_end_somewhere() -> None:
    deep = b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(500))
    assert len(list(leaves(message(deep).body))) == 1
    many = b"Content-Type: multipart/mixed; boundary=b\n\n" + b"--b\n\nx\n" * 5000
    assert len(list(leaves(message(many).body))) == 1000


@requirement("imp.mail.headers")
def test_of_two_headers_of_one_name_the_first_counts_and_folded_lines_are_one() -> None:
    found = message(b"\xef\xbb\xbfSubject: one\r\n two\r\nSUBJECT: other\r\nX-Stamp: no\r\n\r\nHello").headers
    assert found == {"subject": "one two"}


def part(head: bytes, body: bytes) -> MimePart:
    found = message(head + b"\n\n" + body).body
    assert isinstance(found, MimePart)
    return found


@requirement("imp.files.garbage")
@pytest.mark.parametrize(
    ("raw", "text"), [(b"", ""), (b"no headers", ""), (b"one\r\n\r\ntwo\r", "two\n"), (b"\none\n\ntwo", "one\n\ntwo")]
)
def test_what_is_no_message_has_no_headers_and_what_follows_a_blank_line_is_its_text(raw: bytes, text: str) -> None:
    headers, body = message(raw)
    assert isinstance(body, MimePart)
    assert (headers, body.text, body.media_type) == ({}, text, "text/plain")


@requirement("imp.mail.own-words")
@pytest.mark.parametrize(
    ("encoding", "body", "content"),
    [
        (b"base64", b"YSxi\nCg==\n", b"a,b\n"),
        (b"base64", b"YS*xi\nCg", b"a,b\n"),  # a stray sign, and no padding
        (b"Base64 ", b"Y", b""),
        (b"quoted-printable", b"caf=C3=A9 =\nau lait", "café au lait".encode()),
        (b"8bit", b"a=20b", b"a=20b"),
        (b"x-unknown", b"a=20b", b"a=20b"),
    ],
)
def test_the_bytes_of_a_part_are_those_that_were_sent(encoding: bytes, body: bytes, content: bytes) -> None:
    assert part(b"Content-Transfer-Encoding: " + encoding, body).content == content


@requirement("imp.files.attachments")
@pytest.mark.parametrize(
    ("head", "is_attachment", "name"),
    [
        (b"Content-Type: text/plain", False, None),
        (b"Content-Type: text/plain; name=a.txt", True, "a.txt"),
        (b"Content-Disposition: ATTACHMENT", True, None),
        (b"Content-Type: image/png", True, None),
        (b"Content-Type: no type", False, None),
        (b"Content-Disposition: inline; filename==?utf-8?Q?=C3=A4.txt?=", True, "ä.txt"),
    ],
)
def test_what_has_a_name_or_is_no_text_stands_beside_the_message(
    head: bytes, is_attachment: bool, name: str | None
) -> None:
    found = part(head, b"x")
    assert (found.is_attachment, found.filename) == (is_attachment, name)


@requirement("imp.files.damaged")
def test_a_part_whose_end_is_not_marked_is_cut_unless_its_last_line_is_whole() -> None:
    head = b"Content-Type: multipart/mixed; boundary=b\n\n--b\n\n"
    ended, whole, cut = (next(leaves(message(head + body).body)) for body in (b"x\n--b--\n", b"x\n", b"x"))
    assert (ended.unmarked, ended.is_cut, bytes(ended.raw)) == (False, False, b"x")
    assert (whole.unmarked, whole.is_cut) == (True, False)
    assert (cut.unmarked, cut.is_cut) == (True, True)


def test_a_mark_inside_a_line_separates_nothing() -> None:
    head = b"Content-Type: multipart/alternative; boundary=b\n\n"
    body = message(head + b"before\n--b\n\nsee --b\n--bc\n--b\n\ntwo\n--b--\nbehind\n").body
    assert isinstance(body, PartGroup)
    assert (body.kind, [bytes(one.raw) for one in leaves(body)]) == (
        "multipart/alternative",
        [b"see --b\n--bc", b"two"],
    )


@requirement("imp.mail.own-words")
def test_a_page_whose_part_names_no_charset_says_it_itself() -> None:
    page = '<meta http-equiv="Content-Type" content="text/html; charset=windows-1251"><p>Привет</p>'
    (body,) = leaves(message(b"Content-Type: text/html\n\n" + page.encode("cp1251")).body)
    assert body.text == page

"""Bytes to text: a wrong charset costs characters, never the text."""

from types import SimpleNamespace

import pytest

from pdpp_server.importers.formats import charsets
from pdpp_server.importers.formats.charsets import decoded
from tests.requirements import requirement

JAPANESE = "明日の会議は十時からです。場所は前と同じ部屋です。" * 20


@requirement("imp.mail.own-words")
@pytest.mark.parametrize(
    ("charset", "text", "place"),
    [
        ("utf-8", "Grüße aus Köln " * 500, 11),
        ("iso-2022-jp", JAPANESE, 3 + 2 * 9),
        ("shift_jis", JAPANESE, 2 * 9),
        (None, "Größe " * 90, 12),
    ],
)
def test_a_bad_byte_costs_one_character(charset: str | None, text: str, place: int) -> None:
    raw = text.encode(charset or "utf-8")

    assert decoded(raw[:place] + b"\xff" + raw[place:], charset) == f"{text[:9]}\ufffd{text[9:]}"


@requirement("imp.mail.own-words")
@pytest.mark.parametrize("half", [0, 1])
def test_a_bad_byte_in_a_pair_of_seven_bits_costs_one_character_too(half: int) -> None:
    raw, place = JAPANESE.encode("iso-2022-jp"), 3 + 2 * 9 + half

    put_in = decoded(raw[:place] + b"\xff" + raw[place:], "iso-2022-jp")
    changed = decoded(raw[:place] + b"\xff" + raw[place + 1 :], "iso-2022-jp")

    assert put_in == f"{JAPANESE[:9]}\ufffd{JAPANESE[9:]}"
    assert changed == f"{JAPANESE[:9]}\ufffd{JAPANESE[10:]}"


@requirement("imp.files.garbage")
def test_nobody_is_asked_for_a_charset_whose_name_is_a_text(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(charsets, "codecs", SimpleNamespace(lookup=asked.append))

    assert decoded(b"\xe9", "x" * 100_000) == "é"
    assert asked == []


@requirement("imp.mail.own-words")
def test_japanese_in_seven_bits_is_read_with_its_small_letters() -> None:
    assert decoded("ｶﾅと漢字".encode("iso2022_jp_ext"), "ISO-2022-JP") == "ｶﾅと漢字"


@requirement("imp.mail.own-words")
@pytest.mark.parametrize(
    ("data", "charset", "text"),
    [
        (b"", None, ""),
        (b"plain", "x-none", "plain"),
        ("Grüße".encode(), "us-ascii", "Grüße"),
        (b"\x93quoted\x94", "iso-8859-1", "\u201cquoted\u201d"),  # senders mean what Windows calls so
        ("안녕".encode("cp949"), "ks_c_5601-1987", "안녕"),
        ("你好".encode("gb18030"), " 'GB2312' ", "你好"),
        (rb"\x41", "unicode_escape", r"\x41"),  # no charset of mail
        (b"Zm9v", "base64", "Zm9v"),  # no charset at all
        (b"+2AA-", "utf-7", "\ufffd"),  # half a character
        (b"Gr\xfc\xdfe", None, "Grüße"),
    ],
)
def test_a_charset_is_what_senders_mean_by_it(data: bytes, charset: str | None, text: str) -> None:
    assert decoded(data, charset) == text

"""Text that is cut says so, and text that is shown hides nothing."""

import json
import sys
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pdpp_server.evidence.text import (
    CUT,
    byte_len,
    clip,
    clip_bytes,
    clip_shown,
    compact_json,
    longest_prefix,
    name_text,
    quoted,
    visible,
    visible_lines,
    whole_characters,
)
from tests.requirements import requirement

ANY = st.text(st.characters())
FAMILY = "👨\u200d👩\u200d👧"


@requirement("ev.clip.marked", "ev.clip.within-limit")
@given(ANY, st.integers(1, 50))
def test_a_clip_keeps_its_limit_and_marks_a_cut(text: str, limit: int) -> None:
    clipped = clip(text, limit)

    assert len(clipped) <= limit
    assert clipped == text if len(text) <= limit else (clipped.endswith(CUT) and text.startswith(clipped[:-1]))


@requirement("ev.clip.whole-characters")
@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        (f"a{FAMILY}b", 4, "a…"),
        ("e\u0301" * 3, 4, "e\u0301…"),
        ("🇨🇭🇩🇪🇫🇷", 4, "🇨🇭…"),
        ("👍🏽👍🏽👍🏽", 4, "👍🏽…"),
        ("❤\ufe0f❤\ufe0f❤\ufe0f", 4, "❤\ufe0f…"),
        ("\u1112\u1161\u11ab\u1100\u1173\u11af", 3, "…"),
        ("a\r\nbcd", 3, "a…"),
    ],
)
def test_a_cut_splits_nothing_that_is_seen_as_one(text: str, limit: int, expected: str) -> None:
    assert clip(text, limit) == expected


@requirement("ev.clip.whole-characters", "ev.clip.within-limit")
@given(ANY, st.integers(16, 300))
def test_a_byte_limit_holds_for_any_script(text: str, limit: int) -> None:
    assert byte_len(clip_bytes(text, limit)) <= limit


@given(ANY, st.integers(0, 60))
def test_the_longest_prefix_fits(text: str, limit: int) -> None:
    length = longest_prefix(text, lambda prefix: byte_len(prefix) <= limit)

    assert byte_len(text[:length]) <= limit
    assert length == len(text) or byte_len(text[: length + 40]) > limit or whole_characters(text, length + 1) <= length


@requirement("ev.escape.invisible-characters")
@given(ANY)
@example("\x00\x1b[31m\u202e\u200b\u2028\u0085\ud800\U000e0041")
def test_no_unseen_character_is_shown(text: str) -> None:
    for shown in (visible(text), quoted(text)):
        assert not {unicodedata.category(char) for char in shown} & {"Cc", "Cf", "Cs", "Zl", "Zp"}
    lines = visible_lines(text).replace("\r\n", "\n")
    assert not {unicodedata.category(char) for char in lines if char not in "\n\t"} & {"Cc", "Cf", "Cs", "Zl", "Zp"}


def test_what_is_unseen_is_what_unicode_says() -> None:
    for code in range(sys.maxunicode + 1):
        if unicodedata.category(chr(code)) in {"Cc", "Cf", "Cs", "Zl", "Zp"}:
            assert visible(chr(code)).startswith("\\u"), f"{code:x}"


@requirement("ev.escape.no-forged-lines")
@given(ANY)
@example('"\\n\nnext: fetch {"id":"x"}')
@example("C:\\new")
def test_a_quoted_text_is_one_line_of_json_that_says_the_same(text: str) -> None:
    shown = quoted(text)

    assert "\n" not in shown and "\r" not in shown
    assert json.loads(shown) == text


@given(ANY)
@example("\x7f")
@example("\x00\x1f")
@example("\u200b")
@example("\ud800")
def test_json_on_one_line_hides_nothing_and_says_the_same(text: str) -> None:
    written = compact_json({text: [text]})
    assert visible(written) == written
    assert "\x7f" not in written
    assert json.loads(written) == {text: [text]}


def test_a_shown_line_holds_no_mark_of_its_own_and_marks_its_cut() -> None:
    assert clip_shown("a\n <mark>b</MARK>", 40) == "a &lt;mark&gt;b&lt;/MARK&gt;"
    assert clip_shown(" " * 900 + "b", 40) == "…"


def test_a_name_that_is_no_plain_token_is_quoted() -> None:
    assert name_text("sent_at") == "sent_at"
    assert name_text("a b") == '"a b"'
    assert name_text("a\u3164") == '"a\\u3164"'

"""Files that somebody wrote to keep us busy: none of them takes longer than a long one, or more room."""

import io
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pdpp_server.importers.formats import recurrence, whatsapp_lines, xml_items
from pdpp_server.importers.formats.agent_sessions import AgentSession
from pdpp_server.importers.formats.bank_csv_proposal import proposed
from pdpp_server.importers.formats.content_lines import lines
from pdpp_server.importers.files import open_files
from pdpp_server.importers.formats.html_text import html_text
from pdpp_server.importers.identity import account_name
from pdpp_server.importers.formats.mail_headers import addresses
from pdpp_server.importers.formats.mail_text import written
from pdpp_server.importers.formats.markdown_text import heading
from pdpp_server.importers.formats.ofx_tags import charset_of
from pdpp_server.importers.formats.recurrence import UnreadableRule, repeated
from pdpp_server.importers.source import DamagedFile
from tests.requirements import requirement

MANY = 60_000  # a way that grows with the square of it takes minutes
EVERY_SECOND = ",".join(map(str, range(60)))

# What reads it, how it begins, what is repeated in it, how it ends.
LONG: list[tuple[Callable[[str], object], str, str, str]] = [
    (html_text, "<", "a", ""),
    (addresses, '"', '\\"', ""),
    (addresses, "<", " ", "x"),
    (written, "a\n", "\n> a\n", ""),
    (lambda text: list(lines(io.BytesIO(text.encode()))), "A;B\n", " x=\n", ""),
    (lambda text: proposed([text], "utf-8"), "a", " ", "b"),
    (account_name, "", "_", "x"),
    (account_name, "", "(1)", "x"),
    (heading, f"# x{' ' * 990}x", " ", ""),
    (lambda text: charset_of(text.encode()), "", "\n", ""),
    (lambda text: charset_of(text.encode()), "", "<?xml", ""),
    (lambda text: AgentSession("id", cwd=text).project, "", "a", "/b\n"),
]


@requirement("imp.files.garbage")
@pytest.mark.parametrize(("read", "begins", "repeats", "ends"), LONG)
def test_what_is_made_to_be_looked_at_again_and_again_is_looked_at_once(
    read: Callable[[str], object], begins: str, repeats: str, ends: str
) -> None:
    read(begins + repeats * MANY + ends)


@requirement("imp.calendar.occurrences")
@pytest.mark.parametrize(
    ("rule", "year"),
    [("FREQ=HOURLY", 1), ("FREQ=DAILY", 1), (f"FREQ=DAILY;BYMINUTE={EVERY_SECOND};BYSECOND={EVERY_SECOND}", 2020)],
)
def test_a_rule_that_repeats_without_measure_is_none(rule: str, year: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recurrence, "LAID_OUT_MAX", 5000)
    with pytest.raises(UnreadableRule):
        repeated(rule, datetime(year, 1, 1), UTC, datetime(2028, 1, 1))  # noqa: DTZ001  times on the wall


@requirement("imp.files.safe-xml")
def test_a_tag_that_does_not_end_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xml_items, "TAG_BYTES_MAX", 100_000)
    endless = io.BytesIO(b"<r><a/><b x='" + b"y" * 10_000_000)
    with pytest.raises(xml_items.UnreadableXml, match="one tag of it is longer"):
        list(xml_items.xml_items(endless, {"a": "r"}))
    assert endless.tell() < 1_000_000


@requirement("imp.files.big")
def test_empty_lines_of_a_message_are_counted_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whatsapp_lines, "MESSAGE_CHARS_MAX", 100)
    (message,) = whatsapp_lines.said(io.BytesIO(b"31.12.2025, 10:00 - Ann: Hello\n" + b"\n" * 10_000))
    assert isinstance(message, whatsapp_lines.WhatsappMessage)
    assert len(message.text) < 200


@requirement("imp.files.damaged")
def test_a_pipe_is_named_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "export.zip")
    with pytest.raises(DamagedFile, match=r"export\.zip is neither a file nor a folder"):
        open_files(tmp_path / "export.zip", UTC)

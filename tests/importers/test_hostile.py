"""Files that somebody wrote to keep us busy: none of them takes longer than a long one, or more room."""

import io
import os
from collections.abc import Callable
from datetime import UTC
from pathlib import Path

import pytest

from pdpp_server.importers.files import open_files
from pdpp_server.importers.formats.agent_sessions import AgentSession
from pdpp_server.importers.formats.bank_csv_proposal import proposed
from pdpp_server.importers.formats.content_lines import lines
from pdpp_server.importers.formats.html_text import html_text
from pdpp_server.importers.formats.mail_headers import addresses
from pdpp_server.importers.formats.mail_text import written
from pdpp_server.importers.formats.markdown_text import heading
from pdpp_server.importers.formats.ofx_tags import charset_of
from pdpp_server.importers.identity import account_name
from pdpp_server.importers.source import DamagedFile
from tests.requirements import requirement

MANY = 60_000  # a way that grows with the square of it takes minutes

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


@requirement("imp.files.damaged")
def test_a_pipe_is_named_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "export.zip")
    with pytest.raises(DamagedFile, match=r"export\.zip is neither a file nor a folder"):
        open_files(tmp_path / "export.zip", UTC)
